// careful_caller.cpp — calls to something slow or broken: a few at a time, at an even pace, not at all while it fails; and
// what many calls come to.
#include <calm/calm.hpp>

#include <chrono>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

calm::Task<int> look_up(calm::Cx cx, int key) {
  co_await calm::sleep(cx, calm::Duration::microseconds(100) * key);
  if (key == 3) co_await calm::fail(calm::Errc::io);
  co_return key* key;
}

// [task_set]
// Tasks are started as work comes in, two at a time, and their ends are taken as they come. One that fails stops nobody.
calm::Task<std::string> look_up_all(calm::TaskSet<int>& set) {
  const calm::Cx cx = set.cx();
  for (int key = 1; key <= 4; ++key) (void)co_await set.spawn(cx, look_up, key);
  int sum = 0;
  int failed = 0;
  while (true) {
    std::optional<calm::Finished<int>> done = co_await set.next(cx);
    if (!done) break;  // none runs, and every end was taken
    if (done->end.is_ok()) sum += done->end.value();
    if (done->end.is_err()) ++failed;
  }
  co_return "sum " + std::to_string(sum) + ", failed " + std::to_string(failed);
}

calm::Task<> fan_out(calm::Cx cx) {
  const calm::TaskSetOptions two{.limit = 2};
  const std::string text = co_await calm::with_task_set<int>(cx, look_up_all, two);
  std::cout << "task set: " << text << '\n';
}
// [/task_set]

// [map_reduce]
calm::Task<std::string> spell(calm::Cx cx, int letter) {
  co_await calm::sleep(cx, calm::Duration::microseconds(100) * (4 - letter));  // the first takes longest
  co_return std::string(1, static_cast<char>('a' + letter));
}

calm::Task<> combine(calm::Cx cx) {
  // Strings do not commute; they are combined in the order of the inputs, whichever call ends first.
  const calm::Monoid words{std::string(), std::plus<std::string>()};
  std::vector<int> letters{0, 1, 2, 3};
  const std::string word = co_await calm::map_reduce(cx, std::move(letters), spell, words);
  std::cout << "map_reduce: " << word << '\n';
}
// [/map_reduce]

// [bulkhead]
calm::Task<> no_more_than_two(calm::Cx cx) {
  calm::Bulkhead bulkhead(cx, {.limit = 1, .waiting = 1});
  const auto calls = [&bulkhead](calm::Cx inner) -> calm::Task<int> {
    const calm::Outcome<int> end = co_await calm::outcome(bulkhead.call(inner, look_up, 2));
    co_return end.is_ok() ? 0 : 1;
  };
  // Three call at once: one is let in, one waits, one is told `full`.
  const auto thrice = [&](calm::TaskSet<int>& set) -> calm::Task<int> {
    for (int i = 0; i < 3; ++i) (void)co_await set.spawn(cx, calls);
    int refused = 0;
    while (true) {
      std::optional<calm::Finished<int>> done = co_await set.next(cx);
      if (!done) break;
      refused += done->end.value();
    }
    co_return refused;
  };
  const int refused = co_await calm::with_task_set<int>(cx, thrice);
  std::cout << "bulkhead: refused " << refused << '\n';
}
// [/bulkhead]

// [rate_limiter]
calm::Task<> at_an_even_pace(calm::Cx cx) {
  calm::RateLimiter limiter(cx, {.tokens = 1, .per = 2ms, .burst = 3});
  const calm::Time start = cx.now();
  for (int i = 0; i < 5; ++i) co_await limiter.acquire(cx);  // three at once, the others 2 ms apart
  std::cout << "rate limiter: 4 ms later: " << (cx.now() - start >= calm::Duration(4ms) ? "yes" : "no") << '\n';
}
// [/rate_limiter]

// [circuit_breaker]
calm::Task<> not_while_it_fails(calm::Cx cx) {
  calm::CircuitBreaker breaker(cx, {.failures = 2, .open_for = 1ms});
  for (int i = 0; i < 2; ++i) (void)co_await calm::outcome(breaker.call(cx, look_up, 3));
  const calm::Outcome<int> refused = co_await calm::outcome(breaker.call(cx, look_up, 1));  // it is not called
  std::cout << "circuit breaker: " << to_string(refused.error().code()) << ", because of "
            << calm::to_string(*refused.error().cause()) << '\n';
  co_await calm::sleep(cx, 1ms);
  const int answer = co_await breaker.call(cx, look_up, 1);  // a probe, and a good one
  std::cout << "circuit breaker: " << answer << ", " << to_string(breaker.state()) << '\n';
}
// [/circuit_breaker]

}  // namespace

calm::Task<> careful_caller(calm::Cx cx) {
  co_await fan_out(cx);
  co_await combine(cx);
  co_await no_more_than_two(cx);
  co_await at_an_even_pace(cx);
  co_await not_while_it_fails(cx);
}

int main() { return calm::run(careful_caller); }

// [prints]
// prints:
//   task set: sum 21, failed 1
//   map_reduce: abcd
//   bulkhead: refused 1
//   rate limiter: 4 ms later: yes
//   circuit breaker: open_circuit, because of io
//   circuit breaker: 1, closed
// [/prints]
