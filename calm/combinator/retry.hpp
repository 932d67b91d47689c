// retry.hpp — does work again that failed, with a pause between, until it gives a value or there is no point in it.
// Laws:    COM-1, BUD-3, CAN-7, I7
// Threads: attempts run in the task that waits, one after the other
// Cancel:  ends the attempt under way, or the pause, and with it the whole: a cancellation is never retried
//
//   const calm::Retry patient{.backoff = calm::Backoff::exponential(10ms).capped(1s).jittered(50), .attempts = 5};
//   auto page = co_await calm::retry(cx, patient, load, url);
//
// Only errors are retried, those that `again` allows: a cancellation is an order, an exception a bug. What each failed attempt
// ended with is in the notes of the outcome.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "calm/combinator/backoff.hpp"
#include "calm/combinator/contest.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/error.hpp"
#include "calm/model/outcome.hpp"
#include "calm/model/time.hpp"
#include "calm/time/timeout.hpp"

namespace calm {

struct Retry {
  Backoff backoff = Backoff::fixed();
  std::uint32_t attempts = 3;                 ///< all in all, 1 at least
  Duration attempt_time = Duration::max();    ///< for each attempt; beyond it that one fails with `timeout`
  Duration total_time = Duration::max();      ///< for all of them with their pauses
  std::function<bool(const Error&)> again{};  ///< which errors are worth another attempt; all by default
};

namespace combinator {

/// Gives: the pause before the next attempt; nothing when there is to be none.
template <class C>
std::optional<Duration> next_pause(C cx, const Retry& retry, std::uint32_t failures, const Error& error, Time last) {
  if (failures >= retry.attempts) return std::nullopt;
  if (retry.again && !retry.again(error)) return std::nullopt;
  const Duration pause = retry.backoff.after(failures, retry.backoff.has_jitter() ? cx.entropy() : 0);
  // A pause that outlasts what is left of time could only end in a cancellation: the error says more.
  const Time next = cx.now() + pause;
  if (next >= last || cx.budget().deadline.reached(next)) return std::nullopt;
  return pause;
}

template <class T, class C, class F, class... Arguments>
Task<T> run_retry(C cx, Retry retry, F callable, Arguments... arguments) {
  CALM_REQUIRE(COM_1, retry.attempts >= 1);
  const Time last = cx.now() + retry.total_time;
  Notes notes;
  for (std::uint32_t failures = 0;;) {
    const Time until = std::min(last, cx.now() + retry.attempt_time);
    Outcome<T> end = co_await outcome(timeout_at(cx, until, callable, arguments...));
    if (end.is_err()) {
      note_loser(notes, "retry: attempt", failures, cx::without_value(end), {}, true);
      const std::optional<Duration> pause = next_pause(cx, retry, ++failures, end.error(), last);
      if (pause) {
        co_await sleep(cx, *pause);
        continue;
      }
    }
    notes.merge(end.notes());
    Outcome<T> told = std::move(end).with_notes(std::move(notes));
    if constexpr (std::is_void_v<T>) {
      co_await std::move(told);
      co_return;
    } else {
      co_return co_await std::move(told);
    }
  }
}

}  // namespace combinator

/// Runs `callable(cx, arguments...)` until it gives a value. Callable and arguments are kept, and the arguments copied for
/// each attempt.
/// Gives: the value of the first attempt that has one.
/// Fails: with the error of the last attempt, when attempts, time or the budget's deadline allow no further one; as an attempt
///        that was cancelled or threw; std::bad_alloc.
template <class... Caps, class F, class... Arguments>
CALM_CORO_WRAPPER auto retry(CxOf<Caps...> cx, Retry retry, F callable, Arguments... arguments)
    -> Task<cx::TaskValue<F, CxOf<Caps...>, Arguments...>> {
  static_assert(cx::has_cap<cap::time, Caps...>, "calm: this context has no clock, cap::time was not passed (CTX-2)");
  static_assert(cx::has_cap<cap::entropy, Caps...>,
                "calm: the jitter of a retry is drawn from the context, cap::entropy was not passed (CTX-2)");
  using T = cx::TaskValue<F, CxOf<Caps...>, Arguments...>;
  return combinator::run_retry<T>(cx, std::move(retry), std::move(callable), std::move(arguments)...);
}

}  // namespace calm
