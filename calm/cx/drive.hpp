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

// --- a poll, as the task sees it ---

/// Says what others may know of what the wait has said, and gives that: they do not look into its frames.
[[gnu::always_inline]] inline WaitState TaskRoot::publish(WaitState state) noexcept {
  const bool parked = state == WaitState::pending;
  if (parked) {
    const trace::ResourceId resource = live_.wait->resource();
    runs_or_waits_.set(port().is_shared() ? what_ends(*live_.wait, resource) : resource.bits());
  }
  return state;
}

/// Where nothing can be cancelled and nobody follows the task; what Port::step() does then.
[[gnu::always_inline]] inline WaitState TaskRoot::ask_plainly() noexcept {
  stand_ = Stand::waits;
  return publish(live_.wait->step(*this, failure()));
}

template <bool first>
[[gnu::always_inline]] inline void TaskRoot::begin_poll_here(kernel::Worker& worker) noexcept {
  polled_.set(worker.tick());
  if constexpr (first) {
    CALM_SLOW(SCH_10, awaits_ == 0, awaits_);
    awaits_ = one_move;
  } else {
    count_move();
  }
  be_with(worker);
}

[[gnu::always_inline]] inline bool TaskRoot::poll_after_yield(kernel::Worker& worker) noexcept {
  polled_.set(worker.tick());
  count_move();
  CALM_SLOW(BUD_5, !has_limits(), id().bits());  // one that has them is never quiet
  CALM_SLOW(TSK_6, is_worker(runs_or_waits_.get()) && &worker_in(runs_or_waits_.get()) == &worker, id().bits());
  CALM_SLOW(TSK_5, live_.wait == nullptr, id().bits());
  handover_.run(live_.leaf->coroutine());
  return stand_ == Stand::gave_way;
}

template <bool first>
[[gnu::always_inline]] inline TaskRoot::Progress TaskRoot::poll_here(kernel::Worker& worker) noexcept {
  begin_poll_here<first>(worker);
  if constexpr (!first) {
    if (has_limits()) [[unlikely]]
      count_for_limits();
    if (is_between_yields() && is_quiet()) {
      live_.wait = nullptr;
    } else if (live_.wait != nullptr || stand_ == Stand::gave_way) {
      const WaitState state = is_quiet() ? ask_plainly() : ask_wait();
      if (state == WaitState::pending) return parked();
      if (!tell_frame(state)) return Progress::ended;
    } else if (!has_first_frame()) {
      return Progress::ended;
    }
  } else if (!has_first_frame()) {
    return Progress::ended;
  }
  handover_.run(live_.leaf->coroutine());
  return after_frames();
}

/// The wait has said so. Gives: false when no frame is left that could be told.
[[gnu::always_inline]] inline bool TaskRoot::tell_frame(WaitState state) noexcept {
  Awaiter* const waited = std::exchange(live_.wait, nullptr);
  if (state != WaitState::failed) return true;
  return (waited != nullptr && waited->deliver(failure())) || unwind_to_asker();
}

[[gnu::always_inline]] inline TaskRoot::Progress TaskRoot::after_frames() noexcept {
  if (stand_ == Stand::ended) {
    if (keeps_) [[unlikely]]
      let_callable_go();
    return Progress::ended;
  }
  if (stand_ == Stand::waits) return Progress::parked;
  if (is_between_yields()) return Progress::again;
  return go_on();
}

// --- and as its host does ---

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

/// The worker runs no task any more.
inline void leave_task(kernel::Worker& worker) noexcept {
  worker.set_running({});
  worker.set_polled(nullptr);
}

/// The poll is over, as far as the task's own code goes.
template <lockfree::AtomicsPolicy Atomics>
void leave_poll(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker, TaskId task) noexcept {
  if (worker.has_promises()) [[unlikely]]
    tell_promises(kernel, worker, task);
  leave_task(worker);
}

/// What there is to do with a task that the kernel wants dropped, or that has not ended plainly. Needs: it has left its crew.
template <lockfree::AtomicsPolicy Atomics>
void end_task(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker, TaskRoot& root, TaskId task, ChildEnd end) {
  if (root.about_to_end()) {
    end = acknowledged_end(kernel, worker, task, std::move(end));
    (void)root.store(ChildEnd(end));
  }
  (void)kernel.complete(worker, task, std::move(end));
  root.let_go();
}

/// The same for a poll that is none: its frames are dropped, in part or all of them.
template <lockfree::AtomicsPolicy Atomics>
void drop_frames(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker, TaskRoot& root, TaskId task, bool all) {
  if (all) {
    root.drop(worker, task);
    leave_poll(kernel, worker, task);
    root.leave_crew(worker);
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

/// It has given its value and has nothing to say beside it: it leaves its crew and its region, for who is alone in one step.
/// Gives: false when there is more to it, and end_task() has to see to that.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline bool end_plainly(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker,
                                               kernel::TaskRecord<Atomics>& record, TaskRoot& root, TaskId task) {
  using Region = typename kernel::BasicKernel<Atomics>::Region;
  Crew* const crew = root.only_crew();
  if (crew != nullptr && kernel.begin_alone(worker)) {
    const bool leaves = crew->may_leave_alone() && kernel.may_complete_alone(record, task);
    typename kernel::BasicKernel<Atomics>::Departure departure;
    if (leaves) {
      crew->leave_alone();
      departure = kernel.complete_alone(worker, *static_cast<Region*>(crew->region()), record, task);
    }
    kernel.end_alone(worker);
    if (leaves) [[likely]] {
      root.forget_crew();
      kernel.tell(worker, departure);
      return true;
    }
  }
  root.leave_crew(worker);
  return kernel.complete_plainly(worker, record, task);
}

/// How a worker leaves the task it has polled: it runs none then.
struct LeaveTask {
  static constexpr bool to_joiner = false;
  void operator()(kernel::Worker& worker) const noexcept { leave_task(worker); }
};
/// The same for a poll inside another one, which joins the task: the worker goes on with that.
struct ReturnToOuter {
  static constexpr bool to_joiner = true;
  const kernel::Worker::Poll& outer;
  void operator()(kernel::Worker& worker) const noexcept { worker.return_from_inner_poll(outer); }
};

/// The task has ended, and its frames are gone. Gives: true when it has given its value, has nothing to say beside that, and the
///        kernel has let it go.
template <lockfree::AtomicsPolicy Atomics, class Leave>
[[gnu::always_inline]] inline bool after_end(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker,
                                             kernel::TaskRecord<Atomics>& record, TaskRoot& root, TaskId task,
                                             Leave leave) {
  leave(worker);
  if (root.ended_plainly()) [[likely]] {
    const bool plainly = end_plainly(kernel, worker, record, root, task);
    if (plainly && Leave::to_joiner) [[likely]] {
      root.let_go_to_joiner();
    } else if (plainly) {
      root.let_go();
    } else {
      end_task(kernel, worker, root, task, ok());
    }
    return plainly;
  }
  if (root.ended_cancelled(worker)) {
    root.leave_crew(worker);
    const ChildEnd& end = root.store(std::move(worker.failure()));  // as whoever joins will read it
    if (kernel.complete_cancelled(worker, record, task, end)) {
      root.let_go();
    } else {
      end_task(kernel, worker, root, task, ChildEnd(end));
    }
    return false;
  }
  ChildEnd end = root.take_end(worker);
  root.leave_crew(worker);
  end_task(kernel, worker, root, task, std::move(end));
  return false;
}

/// The frames have given control back. Gives: parked or again: the kernel has to hear of that, see end_poll(), and the worker
///        has not left the task; ended: nothing is left to do.
template <lockfree::AtomicsPolicy Atomics, class Leave = LeaveTask>
[[gnu::always_inline]] inline TaskRoot::Progress after_poll(kernel::BasicKernel<Atomics>& kernel,
                                                            kernel::Worker& worker, kernel::TaskRecord<Atomics>& record,
                                                            TaskRoot& root, TaskId task, TaskRoot::Progress progress,
                                                            Leave leave = {}) {
  if (worker.has_promises()) [[unlikely]]
    tell_promises(kernel, worker, task);
  if (progress == TaskRoot::Progress::ended) (void)after_end(kernel, worker, record, root, task, leave);
  return progress;
}

/// The task suspends. Needs: what after_poll() gave.
template <lockfree::AtomicsPolicy Atomics, class Leave = LeaveTask>
[[gnu::always_inline]] inline void end_poll(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker,
                                            kernel::TaskRecord<Atomics>& record, TaskRoot::Progress progress,
                                            Leave leave = {}) noexcept {
  if (progress == TaskRoot::Progress::ended) return;
  leave(worker);
  if (progress == TaskRoot::Progress::parked) {
    kernel.end_poll(worker, record);
  } else {
    kernel.end_poll_woken(worker, record);
  }
}

/// A task that stays on one worker is polled on another.
template <lockfree::AtomicsPolicy Atomics>
void look_for_ghosts(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker, const TaskRoot& root,
                     TaskId task) noexcept {
  if (!root.is_pinned() || root.home() == worker.index()) return;
  kernel.report(worker, {.kind = kernel::FindingKind::wrong_thread,
                         .region = root.region(),
                         .task = task,
                         .site = root.await_point().site,
                         .must_fail = true});
}

/// Goes on with a poll that the kernel has begun so.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline void go_on(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker,
                                         kernel::TaskRecord<Atomics>& record, TaskId task, kernel::PollStart start) {
  if (start == kernel::PollStart::stale || start == kernel::PollStart::later) return;
  auto& root = *static_cast<TaskRoot*>(record.frame);
  if (root.port().has_ghosts()) look_for_ghosts(kernel, worker, root, task);
  worker.set_polled(&record);
  root.set_id(task);  // which it may not know before its first poll
  if (start != kernel::PollStart::run) [[unlikely]]
    return drop_frames(kernel, worker, root, task, start == kernel::PollStart::drop);
  const TaskRoot::Progress progress = root.poll(worker, task);
  end_poll(kernel, worker, record, after_poll(kernel, worker, record, root, task, progress));
}

/// Polls the task that this queue entry is for, which has this record. Gives: false when the entry was stale.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline bool drive(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker,
                                         kernel::TaskRecord<Atomics>& record, TaskId task, std::uint64_t cause = 0) {
  const kernel::PollStart start = kernel.begin_poll(worker, record, task, cause);
  go_on(kernel, worker, record, task, start);
  return start != kernel::PollStart::stale;
}
/// The same for who has its id alone.
template <lockfree::AtomicsPolicy Atomics>
bool drive(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker, TaskId task, std::uint64_t cause = 0) {
  auto* const record = kernel.find(task);
  return record != nullptr && drive(kernel, worker, *record, task, cause);
}

}  // namespace calm::cx
