// quiescence.hpp — whether a kernel is idle or quiet, and if not, everything that is in the way, in words.
// Laws:    QUI-1, QUI-2 (what its diagnostic names)
// Threads: pure functions over a snapshot
// Cancel:  not applicable
#pragma once

#include <string>
#include <vector>

#include "calm/kernel/snapshot.hpp"
#include "calm/model/error_code.hpp"

namespace calm::kernel {

/// Gives: ok when nothing is runnable or pending: what is there will not move by itself, only somebody outside can move it.
/// Fails: tasks_still_active when a poll is due or under way; obligations_unresolved when the reactor or the lease keeper
///        still works on a promise and will answer; timers_pending when a timer will fire. Parked tasks, promises that
///        tasks hold and finalizers that wait for their region's children are not pending: nothing is on its way to them.
[[nodiscard]] Status idle(const Snapshot& snapshot) noexcept;

/// Gives: ok when there is nothing left to do.
/// Fails: the first of: tasks_still_active, a task is not Completed; obligations_unresolved, a promise is Reserved, with a
///        record or counted; regions_not_closed; timers_pending; channel_not_drained.
[[nodiscard]] Status quiescent(const Snapshot& snapshot) noexcept;

/// Gives: every error that quiescent() has, in its order; none when the kernel is quiet.
[[nodiscard]] std::vector<Errc> failing_clauses(const Snapshot& snapshot);

/// Gives: all that keeps the kernel from being quiet, a line each and no newline at the end: which clauses fail; tasks with
///        their region, state and await site and what they hold; promises that no task holds; regions and what each waits
///        for; timers; channels; the law; what to do next. `calm: quiet at 12s` when there is nothing.
[[nodiscard]] std::string diagnose(const Snapshot& snapshot);

}  // namespace calm::kernel
