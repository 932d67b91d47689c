// channel_bench.hpp — what the tests of channels share: a run with a channel, a cancel of oneself, a look at what a task has
// promised.
// Laws:    none of its own
// Threads: one
// Cancel:  cancel_myself() asks for one, seen at the next await point
#pragma once

#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <utility>

#include "calm/channel/mpsc.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "calm/model/obligation_kind.hpp"
#include "tests/law/program_bench.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {

/// Runs `body(scope)` in a scope of the lab. Its children may fail, the body may not.
template <class F>
lab::LabReport run_in_scope(F body) {
  bool finished = false;
  lab::LabReport report = run_clean([&body, &finished](Cx cx) -> Task<void> {
    const auto inside = [&body, &finished](Scope& scope) -> Task<void> {
      co_await body(scope);
      finished = true;
    };
    (void)co_await outcome(scope(cx, inside, {.policy = FoldPolicy::collect}));
  });
  EXPECT_TRUE(finished) << "the body did not come to its end";
  return report;
}

/// The same with both ends of a channel: `body(scope, sender, receiver)`.
template <class T, class F>
void with_channel(std::uint32_t capacity, F body) {
  (void)run_in_scope([capacity, &body](Scope& scope) -> Task<void> {
    Mpsc<T> made = std::move(mpsc<T>(scope.cx(), capacity)).value();
    co_await body(scope, std::as_const(made.sender), made.receiver);
  });
}

/// The task that calls it is cancelled at its next await point, wherever that is.
inline void cancel_myself(CxOf<> cx) {
  const cx::TaskRoot& root = *cx::context_of(cx).root();
  (void)root.port().request_cancel(root.worker(), root.id(), {.message = "by itself"});
}

/// Lets everybody else go on until they wait: time passes only when nobody can run.
inline auto settle(Cx cx) { return sleep(cx, Duration::nanoseconds(1)); }
/// The same; on workers until `holds()`, because time passes there whoever can run.
template <std::predicate F>
Task<void> settle_until(Cx cx, F holds) {
  co_await settle(cx);
  co_await catch_up(cx, holds);
}

/// Gives: how many send permits the task has open, as the kernel counts them (OBL-2). Needs: it has suspended since.
inline std::uint32_t permits_of(Cx cx) {
  const kernel::Snapshot snapshot = look(cx);
  const kernel::TaskView* const task = snapshot.find(cx.task());
  for (std::size_t i = 0; task != nullptr && i < kernel::counted_kind_count; ++i) {
    if (kernel::counted_kinds[i] == ObligationKind::send_permit) return task->counted[i];
  }
  return 0;
}

}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
