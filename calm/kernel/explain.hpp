// explain.hpp — why a region does not close, and how a task stands: one call, one answer in words.
// Laws:    OBS-1 ("why is this region not closing"), OBS-3 (the story of a cancellation with its budgets), REG-4, REG-5,
//          OBL-11 (what Finalizing waits for)
// Threads: pure functions over a snapshot
// Cancel:  explain_task() tells it
//
// Texts are lines without a newline at the end. An id that the snapshot does not have gets a text that says so.
#pragma once

#include <string>

#include "calm/kernel/snapshot.hpp"
#include "calm/kernel/snapshot_index.hpp"

namespace calm::kernel {

/// Gives: the region's state and what it waits for, through all regions below it: tasks and what they hold, bodies,
///        finalizers, promises that others hold; then why it was cancelled, the law and what to do next.
[[nodiscard]] std::string explain_region(const Snapshot& snapshot, RegionId id);

/// Gives: the task's state, where it waits and what it holds; what is left of its budget; why, in which epoch it was
///        cancelled and what its clean-up may still use.
[[nodiscard]] std::string explain_task(const Snapshot& snapshot, TaskId id);

/// Gives: one line of a list: `t40 in r1/r12: Running, parked at worker.cpp:88, waits for c3, holds o5 send permit (…)`.
[[nodiscard]] std::string straggler_text(const Snapshot& snapshot, const SnapshotIndex& index, const TaskView& task);

/// Gives: `waits for 2 tasks, 1 region, its body`, or that nobody has closed it.
[[nodiscard]] std::string waits_text(const SnapshotIndex& index, const RegionView& region);

}  // namespace calm::kernel
