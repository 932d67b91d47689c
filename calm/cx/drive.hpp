// drive.hpp — one dispatch of a task: what a host does with an entry of its queue.
// Laws:    TSK-8, CAN-8, CAN-9, OUT-5, GHO-1
// Threads: by the worker that took the entry
// Cancel:  drops what the kernel says must be dropped
#pragma once

#include <cstdint>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/kernel/kernel.hpp"

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

/// The poll is over, as far as the task's own code goes: the kernel hears what counted promises it made and settled (OBL-2).
template <lockfree::AtomicsPolicy Atomics>
void leave_poll(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker, TaskId task) noexcept {
  for (std::uint8_t kind = 0; kind < kernel::counted_kind_count; ++kind) {
    std::int32_t& promises = worker.promises(kind);
    for (; promises > 0; --promises) {
      const Status counted = kernel.count(worker, task, kernel::counted_kinds[kind]);
      CALM_REQUIRE(OBL_2, counted.is_ok(), task.bits());  // 65535 of a kind are too many
    }
    for (; promises < 0; ++promises) (void)kernel.uncount(worker, task, kernel::counted_kinds[kind], task);
  }
  worker.set_running({});
}

/// Polls the task that this queue entry is for. Gives: false when the entry was stale.
template <lockfree::AtomicsPolicy Atomics>
bool drive(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker, TaskId task, std::uint64_t cause = 0) {
  const kernel::PollStart start = kernel.begin_poll(worker, task, cause);
  if (start == kernel::PollStart::stale) return false;
  if (start == kernel::PollStart::later) return true;
  const auto* const record = kernel.find(task);
  CALM_INVARIANT(TSK_6, record != nullptr, task.bits());  // it is being polled
  auto& root = *static_cast<TaskRoot*>(record->frame);
  if (root.is_pinned() && root.home() != worker.index() && root.port().has_ghosts()) {
    kernel.report(worker, {.kind = kernel::FindingKind::wrong_thread,
                           .region = root.region(),
                           .task = task,
                           .site = root.await_point().site,
                           .must_fail = true});
  }
  if (start == kernel::PollStart::unwind) {
    const RegionId left = root.drop_inside_scope(worker, task);
    leave_poll(kernel, worker, task);
    const Status parked = kernel.unwound(worker, task, left);
    CALM_INVARIANT(CAN_8, parked.is_ok(), task.bits());
    return true;
  }
  if (start == kernel::PollStart::run && root.poll(worker, task) == TaskRoot::Progress::parked) {
    leave_poll(kernel, worker, task);
    (void)kernel.end_poll(worker, task);
    return true;
  }
  ChildEnd end = ok();
  if (start == kernel::PollStart::drop) {
    root.drop(worker, task);
  } else {
    end = root.end();
  }
  leave_poll(kernel, worker, task);
  end = acknowledged_end(kernel, worker, task, std::move(end));
  root.store(end);
  root.leave_crew(worker);
  (void)kernel.complete(worker, task, std::move(end));
  root.let_go();
  return true;
}

}  // namespace calm::cx
