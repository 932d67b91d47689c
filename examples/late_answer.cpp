// late_answer.cpp — an answer that comes in time, one that does not, and ticks that were missed and come all the same.
#include <calm/calm.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;

namespace {

// [timeout]
calm::Task<int> ask(calm::Cx cx, calm::Duration needs) {
  co_await calm::sleep(cx, needs);
  co_return 42;
}

calm::Task<> ask_twice(calm::Cx cx) {
  // The work runs right here, under a context whose waits end when the time is over.
  const int answer = co_await calm::timeout(cx, 10s, ask, calm::Duration(5ms));
  std::cout << "in time: " << answer << '\n';
  const calm::Outcome<int> late = co_await calm::outcome(calm::timeout(cx, 20ms, ask, calm::Duration(1h)));
  std::cout << "late: " << to_string(late.kind()) << ' ' << calm::to_string(late.error()) << '\n';
}
// [/timeout]

// [interval]
calm::Task<> tick_with_a_pause(calm::Cx cx) {
  const calm::Time start = cx.now();
  calm::Interval every_10ms(cx, 10ms, calm::MissedTicks::burst);
  co_await calm::sleep_until(cx, start + 25ms);  // busy with something else: two ticks are missed
  for (int i = 0; i < 3; ++i) {
    const calm::Tick tick = co_await every_10ms.tick(cx);
    std::cout << "the tick for 10 ms * " << (tick.due - start).ns() / 10'000'000 << '\n';
  }
}
// [/interval]

}  // namespace

calm::Task<> late_answer(calm::Cx cx) {
  co_await ask_twice(cx);
  co_await tick_with_a_pause(cx);
}

int main() { return calm::run(late_answer); }

// [prints]
// prints:
//   in time: 42
//   late: Err timeout: the work was not done in time
//   the tick for 10 ms * 1
//   the tick for 10 ms * 2
//   the tick for 10 ms * 3
// [/prints]
