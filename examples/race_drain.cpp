// race_drain.cpp — the first of two answers; the other one has put everything back before the race is over.
#include <calm/calm.hpp>

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>
#include <tuple>

using namespace std::chrono_literals;

namespace {

// [race]
calm::Task<std::string> ask(calm::Cx cx, std::string server, calm::Duration needs) {
  co_await calm::sleep(cx, needs);
  co_return "answer of " + server;
}

/// Holds something that must be given back, and takes its time for that.
calm::Task<std::string> ask_with_lease(calm::Cx cx, calm::Duration needs) {
  const auto lease = [](calm::Cx /*cx*/) -> calm::Task<int> { co_return 7; };
  const auto use = [needs](calm::Cx inner, int& /*lease*/) -> calm::Task<std::string> {
    std::string answer = co_await ask(inner, "the far one", needs);
    co_return answer;
  };
  const auto give_back = [](calm::Cx inner, int& number) -> calm::Task<> {
    co_await calm::sleep(inner, 20ms);
    std::cout << "lease " << number << " is given back\n";
  };
  std::string answer = co_await calm::bracket(cx, lease, use, give_back);
  co_return answer;
}

calm::Task<> race_two(calm::Cx cx) {
  // Each branch becomes a fiber. The loser is cancelled, and drained before this line ends.
  const std::string first = co_await calm::race(cx, ask_with_lease(cx, 1h), ask(cx, "the near one", 5ms));
  std::cout << "first: " << first << '\n';
}
// [/race]

// [notes]
calm::Task<std::string> breaks_when_cancelled(calm::Cx cx) {
  const calm::Outcome<void> end = co_await calm::outcome(calm::never(cx));
  if (end.is_cancelled()) throw std::runtime_error("could not clean up");
  co_return "";
}

calm::Task<> race_a_broken_one(calm::Cx cx) {
  const calm::Outcome<std::string> end =
      co_await calm::outcome(calm::race(cx, breaks_when_cancelled(cx), ask(cx, "the near one", 5ms)));
  std::cout << to_string(end) << '\n';
  for (const calm::Note& note : end.notes()) {  // NOLINT(calm-long-loop): one for the loser
    std::cout << "  beside it: " << calm::to_string(note) << '\n';
  }
}
// [/notes]

// [join]
calm::Task<> join_two(calm::Cx cx) {
  auto both = co_await calm::join(cx, ask(cx, "one", 5ms), ask(cx, "two", 2ms));
  std::cout << std::get<0>(both) << ", " << std::get<1>(both) << '\n';
  const auto refuses = [](calm::Cx /*cx*/) -> calm::Task<int> { co_return calm::err(calm::Errc::full); };
  const auto joins = [refuses](calm::Cx inner) -> calm::Task<> {
    (void)co_await calm::join(inner, ask(inner, "three", 1h), refuses);
  };
  const calm::Outcome<void> end = co_await calm::outcome(joins(cx));
  std::cout << "not all: " << to_string(end) << '\n';
}
// [/join]

}  // namespace

calm::Task<> race_drain(calm::Cx cx) {
  co_await race_two(cx);
  co_await race_a_broken_one(cx);
  co_await join_two(cx);
}

int main() { return calm::run(race_drain); }

// [prints]
// prints:
//   lease 7 is given back
//   first: answer of the near one
//   Ok("answer of the near one")
//     beside it: Panicked: race: branch 0: could not clean up
//   answer of one, answer of two
//   not all: Err(full)
// [/prints]
