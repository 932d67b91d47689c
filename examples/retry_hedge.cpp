// retry_hedge.cpp — work that fails at first, answers that are late, and votes of which two of three are enough.
#include <calm/calm.hpp>

#include <chrono>
#include <iostream>
#include <vector>

using namespace std::chrono_literals;

namespace {

// [retry]
/// Is busy twice, then has time.
class Server {
 public:
  calm::Task<int> answer(calm::Cx cx) {
    const int number = ++asked_;
    co_await calm::yield(cx);
    if (number <= 2) co_return calm::err(calm::Errc::busy);
    co_return 42;
  }

 private:
  int asked_ = 0;
};

calm::Task<> ask_until_it_answers(calm::Cx cx) {
  Server server;
  const auto ask = [&server](calm::Cx inner) -> calm::Task<int> {
    const int answer = co_await server.answer(inner);
    co_return answer;
  };
  calm::Retry patient{.backoff = calm::Backoff::exponential(10ms).capped(1s).jittered(50), .attempts = 5};
  patient.again = [](const calm::Error& error) { return error.code() == calm::Errc::busy; };
  const calm::Outcome<int> end = co_await calm::outcome(calm::retry(cx, patient, ask));
  std::cout << "answer: " << to_string(end) << '\n';
  for (const calm::Note& note : end.notes()) {  // NOLINT(calm-long-loop): one for each attempt
    std::cout << "  before: " << note.text() << '\n';
  }
}
// [/retry]

// [hedge]
calm::Task<> ask_again_when_late(calm::Cx cx) {
  int asked = 0;
  const auto slow_at_first = [&asked](calm::Cx inner) -> calm::Task<int> {
    const int number = ++asked;
    co_await calm::sleep(inner, number == 1 ? calm::Duration(1h) : calm::Duration(5ms));
    co_return number;
  };
  const int answer = co_await calm::hedge(cx, 20ms, slow_at_first);
  std::cout << "attempt " << answer << " of " << asked << " was first\n";
}
// [/hedge]

// [quorum]
calm::Task<int> vote(calm::Cx cx, calm::Duration needs, int value) {
  co_await calm::sleep(cx, needs);
  co_return value;
}

calm::Task<> two_votes_are_enough(calm::Cx cx) {
  const std::vector<int> votes = co_await calm::quorum(cx, 2, vote(cx, 2ms, 1), vote(cx, 1h, 2), vote(cx, 1ms, 3));
  std::cout << "votes: " << votes[0] << " and " << votes[1] << '\n';
  const auto refuses = [](calm::Cx /*cx*/) -> calm::Task<int> { co_return calm::err(calm::Errc::full); };
  const int any = co_await calm::first_ok(cx, refuses, vote(cx, 1ms, 4));
  std::cout << "any: " << any << '\n';
}
// [/quorum]

}  // namespace

calm::Task<> retry_hedge(calm::Cx cx) {
  co_await ask_until_it_answers(cx);
  co_await ask_again_when_late(cx);
  co_await two_votes_are_enough(cx);
}

int main() { return calm::run(retry_hedge); }

// [prints]
// prints:
//   answer: Ok(42)
//     before: retry: attempt 0: Err(busy)
//     before: retry: attempt 1: Err(busy)
//   attempt 2 of 2 was first
//   votes: 1 and 3
//   any: 4
// [/prints]
