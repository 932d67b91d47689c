// hedge.hpp — asks again when the answer is late, without giving up the first question; the first value is the answer.
// Laws:    COM-1, COM-2, I5
// Threads: attempts are fibers of the task that waits
// Cancel:  a cancel of the task goes to all attempts; it ends when all have ended
//
//   auto page = co_await calm::hedge(cx, 20ms, load, url);   // a second load() begins after 20 ms, if need be
//
// For work that may be done twice: reads, and writes that are idempotent. A failed attempt does not end it, and the next one
// still begins at its own time; for attempts one after the other see retry.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "calm/combinator/branches.hpp"
#include "calm/combinator/quorum.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/time.hpp"

namespace calm {

/// How often to ask, and how late an answer must be for that.
struct Hedge {
  Duration delay;              ///< between the beginnings of two attempts
  std::uint32_t attempts = 2;  ///< all in all
};

namespace combinator {

/// One attempt, which waits for its time.
template <class T, class C, class F, class... Arguments>
Task<T> attempt_after(C cx, Duration delay, F callable, Arguments... arguments) {
  if (delay > Duration()) co_await sleep(cx, delay);
  if constexpr (std::is_void_v<T>) {
    co_await callable(cx, std::move(arguments)...);
  } else {
    co_return co_await callable(cx, std::move(arguments)...);
  }
}

/// Gives: the attempts, each with copies of its own. Fails: std::bad_alloc.
template <class T, class C, class F, class... Arguments>
std::vector<Task<T>> attempts_of(C cx, Hedge hedge, const F& callable, const Arguments&... arguments) {
  std::vector<Task<T>> attempts;
  attempts.reserve(hedge.attempts);
  for (std::uint32_t number = 0; number < hedge.attempts; ++number) {
    attempts.push_back(attempt_after<T, C, F, Arguments...>(cx, hedge.delay * number, callable, arguments...));
  }
  return attempts;
}

}  // namespace combinator

/// Runs `callable(cx, arguments...)`, and after each delay once more beside it, until one has come to a value. Callable and
/// arguments are copied for each attempt; what they refer to outlives the call.
/// Gives: that value; the other attempts have been cancelled with RaceLost and drained.
/// Fails: when all attempts have failed, with the fold of their ends, as first_ok(); empty, for 0 attempts; std::bad_alloc.
template <class... Caps, class F, class... Arguments>
CALM_CORO_WRAPPER auto hedge(CxOf<Caps...> cx, Hedge hedge, F callable, Arguments... arguments)
    -> Task<cx::TaskValue<F, CxOf<Caps...>, Arguments...>> {
  static_assert(cx::has_cap<cap::time, Caps...>, "calm: this context has no clock, cap::time was not passed (CTX-2)");
  using T = cx::TaskValue<F, CxOf<Caps...>, Arguments...>;
  return first_ok_all(cx, combinator::attempts_of<T>(cx, hedge, callable, arguments...));
}

/// The same for two attempts.
template <class... Caps, class F, class... Arguments>
CALM_CORO_WRAPPER auto hedge(CxOf<Caps...> cx, Duration delay, F callable, Arguments... arguments)
    -> Task<cx::TaskValue<F, CxOf<Caps...>, Arguments...>> {
  return hedge(cx, Hedge{delay}, std::move(callable), std::move(arguments)...);
}

}  // namespace calm
