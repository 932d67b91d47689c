// drive.hpp — one dispatch of a task: what a host does with an entry of its queue.
// Laws:    TSK-8, CAN-8, CAN-9, OUT-5, GHO-1
// Threads: by the worker that took the entry
// Cancel:  drops what the kernel says must be dropped
#pragma once

#include <cstdint>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/crew.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/mem/fetch_ahead.hpp"

namespace calm::cx {

/// Gives: how the task ends when the frames say `end`: an acknowledged cancellation wins over Ok and Err (CAN-9). What
///        the kernel makes of it in complete() is the same; a joiner reads this one.
template <lockfree::AtomicsPolicy Atomics>
ChildEnd acknowledged_end(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker, TaskId task, ChildEnd end) {
  const TaskState state = kernel.state(task);
  if (end.is_panicked() || (state != TaskState::cancelling && state != TaskState::finalizing)) return end;
  const auto cancellation = kernel.cancellation_of(worker, task);
  if (!cancellation) return end;
  return ChildEnd(cancelled(cancellation->reason)).with_notes(end.notes());
}

/// The kernel hears what counted promises the task made and settled in this poll (OBL-2).
template <lockfree::AtomicsPolicy Atomics>
[[gnu::noinline]] void tell_promises(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker,
                                     TaskId task) noexcept {
  for (std::uint8_t kind = 0; kind < kernel::counted_kind_count; ++kind) {
    std::int32_t& promises = worker.promises(kind);
    for (; promises > 0; --promises) {
      const Status counted = kernel.count(worker, task, kernel::counted_kinds[kind]);
      CALM_REQUIRE(OBL_2, counted.is_ok(), task.bits());  // 65535 of a kind are too many
    }
    for (; promises < 0; ++promises) (void)kernel.uncount(worker, task, kernel::counted_kinds[kind], task);
  }
}

/// The poll is over, as far as the task's own code goes.
template <lockfree::AtomicsPolicy Atomics>
void leave_poll(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker, TaskId task) noexcept {
  if (worker.has_promises()) [[unlikely]]
    tell_promises(kernel, worker, task);
  worker.set_running({});
  if constexpr (Atomics::shared) worker.set_polled(nullptr);
}

/// What there is to do with a task that the kernel wants dropped, or that has not ended plainly.
template <lockfree::AtomicsPolicy Atomics>
void end_task(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker, TaskRoot& root, TaskId task, ChildEnd end) {
  if (root.about_to_end()) {
    end = acknowledged_end(kernel, worker, task, std::move(end));
    root.store(end);
  }
  root.leave_crew(worker);
  (void)kernel.complete(worker, task, std::move(end));
  root.let_go();
}

/// The same for a poll that is none: its frames are dropped, in part or all of them.
template <lockfree::AtomicsPolicy Atomics>
void drop_frames(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker, TaskRoot& root, TaskId task, bool all) {
  if (all) {
    root.drop(worker, task);
    leave_poll(kernel, worker, task);
    return end_task(kernel, worker, root, task, ok());
  }
  const RegionId left = root.drop_inside_scope(worker, task);
  leave_poll(kernel, worker, task);
  const Status parked = kernel.unwound(worker, task, left);
  CALM_INVARIANT(CAN_8, parked.is_ok(), task.bits());
}

/// Has the processor fetch what the next polls touch: more tasks wait than its caches hold, and each is somewhere else. A part
/// is asked for when the one that points to it is there. Needs: the next of a queue that is linked, and the caller's alone.
template <lockfree::AtomicsPolicy Atomics>
void look_ahead(const kernel::TaskRecord<Atomics>* next) noexcept {
  if (next == nullptr) return;
  static_cast<const TaskRoot*>(next->frame)->fetch_leaf();
  next = next->queue_link;
  if (next == nullptr) return;
  mem::fetch_ahead(next->frame, sizeof(TaskRoot));
  next = next->queue_link;
  if (next != nullptr) mem::fetch_ahead(next, sizeof(*next));
}

/// Polls the task that this queue entry is for, which has this record. Gives: false when the entry was stale.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline bool drive(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker,
                                         kernel::TaskRecord<Atomics>& record, TaskId task, std::uint64_t cause = 0) {
  const kernel::PollStart start = kernel.begin_poll(worker, record, task, cause);
  if (start == kernel::PollStart::stale) return false;
  if (start == kernel::PollStart::later) return true;
  auto& root = *static_cast<TaskRoot*>(record.frame);
  if (root.port().has_ghosts() && root.is_pinned() && root.home() != worker.index()) {
    kernel.report(worker, {.kind = kernel::FindingKind::wrong_thread,
                           .region = root.region(),
                           .task = task,
                           .site = root.await_point().site,
                           .must_fail = true});
  }
  if (start != kernel::PollStart::run) [[unlikely]] {
    drop_frames(kernel, worker, root, task, start == kernel::PollStart::drop);
    return true;
  }
  if constexpr (Atomics::shared) worker.set_polled(&record);
  const TaskRoot::Progress progress = root.poll(worker, task);
  leave_poll(kernel, worker, task);
  if (progress == TaskRoot::Progress::parked) {
    kernel.end_poll(worker, record);
    return true;
  }
  if (progress == TaskRoot::Progress::again) {
    kernel.end_poll_woken(worker, record);
    return true;
  }
  if (root.ended_plainly()) [[likely]] {
    root.leave_crew(worker);
    if (kernel.complete_plainly(worker, record, task)) [[likely]] {
      root.let_go();
      return true;
    }
  } else if (const ChildEnd* const end = root.cancelled_end()) {
    // It is stored already, as whoever joins will read it.
    root.leave_crew(worker);
    if (kernel.complete_cancelled(worker, record, task, *end)) {
      root.let_go();
      return true;
    }
  }
  end_task(kernel, worker, root, task, root.end());
  return true;
}
/// The same for who has its id alone.
template <lockfree::AtomicsPolicy Atomics>
bool drive(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker, TaskId task, std::uint64_t cause = 0) {
  auto* const record = kernel.find(task);
  return record != nullptr && drive(kernel, worker, *record, task, cause);
}

}  // namespace calm::cx
