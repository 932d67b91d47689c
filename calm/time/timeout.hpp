// timeout.hpp — work that must be done by a time: its own end, or the error `timeout`.
// Laws:    I5 (nothing of it is left), CAN-7, BUD-3, BUD-5, CAN-4
// Threads: by the task that awaits it, in its own poll
// Cancel:  a cancel of the task reaches the work as if there were no timeout, and its end is that cancellation, also when
//          the time is over meanwhile
//
// The work runs in the task that awaits it, under a context that says Timeout from that time on: every wait under it ends
// then, scopes in it drain and close, finalizers and releases run, and only then the error comes. A value that the work
// has come to is never thrown away for it. For a part of a task that should end as Cancelled instead, see
// Cx::with_deadline(); for a scope and all that is in it, ScopeOptions::budget.
#pragma once

#include <type_traits>
#include <utility>

#include "calm/cx/context.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/error.hpp"
#include "calm/model/outcome.hpp"
#include "calm/model/time.hpp"

namespace calm {
namespace time {

/// Gives: true when the story of a cancellation is that the time was over.
[[nodiscard]] bool tells_of_lateness(const Reason& reason) noexcept;
/// Gives: true when it is that it was this time, or later. A task of the work may know so before the one who awaits the work:
/// it is on another worker, which has read the clock since.
[[nodiscard]] bool tells_of_lateness(const Reason& reason, Time until) noexcept;

template <class T, class... Caps, class F, class... Arguments>
Task<T> end_by(CxOf<Caps...> cx, Time until, F callable, Arguments... arguments) {
  const cx::Context& outer = cx::context_of(cx);
  const cx::InnerContext inner(outer);
  const cx::Limit limit(inner, *outer.root(), outer.region(), tighten(Budget::infinite(), Deadline(until)),
                        CancelKind::timeout);
  Outcome<T> end = co_await outcome(callable(CxOf<Caps...>(inner), std::move(arguments)...));
  outer.root()->add_notes(end.notes());
  if (end.is_cancelled() && tells_of_lateness(end.reason()) &&
      (limit.is_used_up() || tells_of_lateness(end.reason(), until))) {
    co_await checkpoint(cx);  // what cancels the task itself goes first
    co_await fail(Error(Errc::timeout, "the work was not done in time"));
  }
  if constexpr (std::is_void_v<T>) {
    if (end.is_panicked()) std::rethrow_exception(end.panic().exception());
    if (!end.is_ok()) co_await fail_with(std::move(end));
    co_return;
  } else {
    co_return std::move(end);
  }
}

}  // namespace time

/// Runs `callable(cx, arguments...)`, which gives a Task, and ends it at a time: `co_await timeout_at(cx, t, fetch, url)`.
/// Gives: how the work ended, when it ended by itself or comes to a value all the same.
/// Fails: timeout, when the work ended because the time was over, after everything in it has ended; std::bad_alloc.
template <class... Caps, class F, class... Arguments>
CALM_CORO_WRAPPER auto timeout_at(CxOf<Caps...> cx, Time until, F callable, Arguments... arguments)
    -> Task<cx::TaskValue<F, CxOf<Caps...>, Arguments...>> {
  static_assert(cx::has_cap<cap::time, Caps...>, "calm: this context has no clock, cap::time was not passed (CTX-2)");
  using T = cx::TaskValue<F, CxOf<Caps...>, Arguments...>;
  return time::end_by<T>(cx, until, std::move(callable), std::move(arguments)...);
}

/// The same for a time from now; one that is not above 0 is over at once.
template <class... Caps, class F, class... Arguments>
CALM_CORO_WRAPPER auto timeout(CxOf<Caps...> cx, Duration duration, F callable, Arguments... arguments)
    -> Task<cx::TaskValue<F, CxOf<Caps...>, Arguments...>> {
  return timeout_at(cx, cx.now() + duration, std::move(callable), std::move(arguments)...);
}

}  // namespace calm
