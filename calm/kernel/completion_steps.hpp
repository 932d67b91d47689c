// completion_steps.hpp — how a task ends: by itself, under cancellation, by force. Definitions for basic_kernel.hpp.
// Laws:    TSK-1, TSK-2, TSK-8, CAN-8, CAN-9, OUT-4, OBL-5, REG-4, REG-9
// Threads: see basic_kernel.hpp
// Cancel:  a task that overruns its clean-up is dropped at a suspension point, never while something borrows from it
#pragma once

#include <utility>

#include "calm/check/probe.hpp"
#include "calm/kernel/kernel.hpp"

namespace calm::kernel {

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::complete(Worker& worker, TaskId id, ChildEnd end) {
  Task* const task = tasks_.find(id.index());
  if (task == nullptr) return Errc::stale_handle;
  TaskLife done;
  if (end_plainly(*task, id, end.kind(), &end, done)) return leave_region(worker, *task, id, done, &end);
  return complete_slowly(worker, *task, id, std::move(end));
}

/// Out of the way: the plain way makes no ChildEnd.
template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::complete_slowly(Worker& worker, Task& task, TaskId id, Ok<Unit> end) {
  return complete_slowly(worker, task, id, ChildEnd(end));
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::tell_of_leaving(Worker& worker, std::uint64_t waiter, RegionId region, bool last) {
  wake_waiter(worker, waiter);
  if (last) advance_after_last(worker, region);
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::complete_slowly(Worker& worker, Task& task, TaskId id, ChildEnd end) {
  Afterwards afterwards;
  TaskLife done;
  {
    const Locked<Operation::complete_task> held(shards_, worker.order());
    TaskLife was = task.word.look();
    if (was.generation() != generation_of(id)) return Errc::stale_handle;
    const bool never_polled = was.state() == TaskState::created && was.wake() != lockfree::WakeState::done;
    if (!never_polled && !being_polled(was)) return Errc::invalid_transition;
    if (const Status legal = check_completion(was.state(), end.kind()); !legal) return legal;
    // One that was never polled is claimed first: a poll may be about to begin.
    while (never_polled && !task.word.step(was, was.with(lockfree::WakeState::running))) {
      if (was.generation() != generation_of(id) || was.state() != TaskState::created) return Errc::invalid_transition;
    }

    Region& region = region_of(task);
    const bool acknowledged = was.in(TaskState::cancelling | StateMask<TaskState>(TaskState::finalizing));
    if (acknowledged) end = final_end(held, task, was, region, std::move(end));
    // TSK-8: Finalizing settles what the task still holds. Requests are kept out by A, hand-overs by C.
    while (was.state() == TaskState::cancelling && !task.word.step(was, was.with(TaskState::finalizing))) {
    }
    settle_held(worker, held, task, id, end.is_cancelled());
    settle_counted(worker, held, task, id, end.is_cancelled());

    was = task.word.look();
    do {
      done = was.with(TaskState::completed).with(lockfree::WakeState::done).with(end.kind());
      if (acknowledged) done = done.with(TaskFlag::witnessed);
    } while (!task.word.step(was, done));
    leave_region_held(worker, held, task, id, done, end, afterwards, held.is_alone());
  }
  let_go(worker, task, done);
  return {};
}

/// What follows when it is Completed, with `done` as its word. Needs: let_go() when the locks are gone.
template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::leave_region_held(Worker& worker, AllHeld held, Task& task, TaskId id, TaskLife done,
                                                    const ChildEnd& end, Afterwards& afterwards, bool alone) noexcept {
  Region& region = region_of(task);
  note_write(worker, trace::EventKind::complete, id, region.id(), id, trace::argument_of(end.kind()), 0, alone);
  if (done.has(TaskFlag::witnessed)) {
    note(worker, trace::EventKind::cancel_done, id, region.id(), trace::argument_of(argument_of(task.terms().reason)),
         0, alone);
  }

  const bool cleanup = done.has(TaskFlag::cleanup);
  if (!cleanup && cancels_siblings(region.policy, end, {region.id(), id})) {
    cancel_with(worker, held, region, {.kind = CancelKind::fail_fast, .region = region.id(), .task = id});
  }
  GateTurn<Atomics> turn(region.gate, shards_.company(worker.order()), alone);
  const GateView gate = turn.found();
  region.fold.add(end, task.creation, region.id());
  if (cleanup) {
    region.cleanup_tasks.remove(task);
    --region.cleanup_live;
    turn.end(gate);
    let_advance(held, region);
  } else {
    ChildList::remove(task);
    const GateView left = gate.without_task();
    turn.end(left);
    if (left.last_one_left()) let_advance(held, region);
  }
  auto& terms = task.terms();
  if (done.has(TaskFlag::awaited)) wake_waiter(worker, terms.waiter.get());
  if (terms.reason) terms.waiter.set(region.id().bits());
  advance_all(worker, held, afterwards);
}

/// Most of a cancelled region ends like this. What complete_slowly() would make of the end is this end, so none is made.
/// Finalizing has nothing to settle (TSK-8): it would be over before anyone could see it, and its step is left out.
template <lockfree::AtomicsPolicy Atomics>
bool BasicKernel<Atomics>::complete_cancelled(Worker& worker, Task& task, TaskId id, const ChildEnd& end) {
  Afterwards afterwards;
  Reason reason;  // of a life that nobody can ask about
  TaskLife done;
  {
    const Locked<Operation::complete_task> held(shards_, worker.order());
    TaskLife was = task.word.look();
    const bool only_cancelled = was.is(id) && was.state() == TaskState::cancelling && being_polled(was) &&
                                !was.has(TaskFlag::cleanup) && !was.has(TaskFlag::forced);
    const bool holds = was.has(TaskFlag::holds) || task.holds_record() || task.has_counted();
    if (!only_cancelled || holds || !task.terms().reason.same_story(end.reason())) return false;
    do {
      done = was.with(TaskState::completed)
                 .with(lockfree::WakeState::done)
                 .with(OutcomeKind::cancelled)
                 .with(TaskFlag::witnessed);
    } while (!task.word.step(was, done, held.is_alone()));
    leave_region_held(worker, held, task, id, done, end, afterwards, held.is_alone());
    // The guard is at hand. Where guards cost nothing recycle() does it.
    if (Atomics::shared && !done.has(TaskFlag::handle)) reason = task.terms().forget_cancellation();
  }
  let_go(worker, task, done);
  return true;
}

/// What an acknowledged cancellation makes of an end (CAN-9, CAN-8).
template <lockfree::AtomicsPolicy Atomics>
ChildEnd BasicKernel<Atomics>::final_end(AllHeld, const Task& task, TaskLife life, const Region& region,
                                         ChildEnd end) const noexcept {
  if (end.is_panicked()) return end;
  Notes notes = end.notes();
  if (life.has(TaskFlag::forced) && region.escalation == Escalation::panic) {
    return ChildEnd(panicked(forced_panic_)).with_notes(std::move(notes));
  }
  return ChildEnd(cancelled(task.terms().reason)).with_notes(std::move(notes));
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::begin_finalizing(Worker& worker, TaskId id) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  const Locked<Operation::acknowledge> held(shards_, worker.order(), task->home());
  TaskLife was = task->word.look();
  while (was.generation() == generation_of(id)) {
    if (was.state() != TaskState::cancelling || !being_polled(was)) return Errc::invalid_transition;
    if (task->word.step(was, was.with(TaskState::finalizing))) return {};
  }
  return Errc::stale_handle;
}

/// The clean-up budget is used up: the frame goes, bottom-up. Needs: the poll of this caller.
template <lockfree::AtomicsPolicy Atomics>
PollStart BasicKernel<Atomics>::force(Worker& worker, Task& task, TaskId id) {
  const bool in_call = !host_.take_frames_back(task);  // before any lock: it may ask others
  Afterwards afterwards;
  const Locked<Operation::cancel> held(shards_, worker.order());
  Region& region = region_of(task);
  cancel_owned_regions(worker, held, region, id, task.terms().reason);
  const FrameUse use = in_call ? FrameUse::borrowers : use_of_frame(held, region, id);
  // What is left of the frame does not run again, whatever the clock of the next worker says.
  if (use != FrameUse::none) (void)task.word.flag(generation_of(id), TaskFlag::expired, true);
  if (use == FrameUse::bodies) {
    CALM_PROBE("force: bodies run in the frame");
    advance_all(worker, held, afterwards);
    return PollStart::unwind;
  }
  if (use == FrameUse::borrowers) {
    CALM_PROBE("force: something still borrows from the frame");
    if (in_call && !task.word.flag(generation_of(id), TaskFlag::told, true).has(TaskFlag::told)) {
      host_.report(worker, {.kind = FindingKind::stalled,
                            .region = region.id(),
                            .task = id,
                            .site = host_.await_point(task).site,
                            .in_call = true});
    }
    // It is not polled again, so nobody may wait for what it holds (section 0, the rule that is never traded; OBL-5).
    settle_held(worker, held, task, id, true);
    advance_all(worker, held, afterwards);
    schedule_if(worker, task, task.word.end_poll());
    return PollStart::later;
  }
  TaskLife was = task.word.look();
  for (;;) {
    TaskLife dropped = was.with(TaskFlag::forced);
    if (was.state() == TaskState::cancel_requested) dropped = dropped.with(TaskState::cancelling);
    if (task.word.step(was, dropped)) break;
  }
  note(worker, trace::EventKind::forced, id, region.id(), trace::argument_of(argument_of(task.terms().reason)));
  host_.report(worker,
               {.kind = FindingKind::forced, .region = region.id(), .task = id, .site = host_.await_point(task).site});
  return PollStart::drop;
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::unwound(Worker& worker, TaskId id, RegionId region_id) {
  Afterwards afterwards;
  const Locked<Operation::complete_task> held(shards_, worker.order());
  Task* const task = find(id);
  Region* const region = find_region(region_id);
  if (task == nullptr || region == nullptr) return Errc::stale_handle;
  const TaskLife life = task->word.look();
  const bool runs_body = region->owner == id && region->gate.look().body();
  const bool innermost = owned_from(region->first_child, id) == nullptr;
  if (!being_polled(life) || !life.in(cancelled_states) || !runs_body || !innermost) return Errc::invalid_transition;
  leave_body(held, *region, cancelled(task->terms().reason));
  advance_all(worker, held, afterwards);
  if (state(region_id) != RegionState::closed) {
    settle_held(worker, held, *task, id, true);
    advance_all(worker, held, afterwards);
  }
  schedule_if(worker, *task, task->word.end_poll());
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::deadline_reached(Worker& worker, TaskId id) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  Afterwards afterwards;
  const Locked<Operation::cancel> held(shards_, worker.order());
  const TaskLife life = task->word.look();
  if (life.generation() != generation_of(id)) return Errc::stale_handle;
  if (life.state() == TaskState::completed || life.has(TaskFlag::cleanup)) return {};
  Region& region = region_of(*task);
  if (!life.in(cancelled_states)) {
    if (task->terms().deadline.raw() > worker.now().ns()) return {};
    const CancelSpec asked{.kind = CancelKind::deadline, .region = region.id(), .task = id};
    const ReasonSpec spec = spec_of(asked, region, worker.now());
    request(worker, held, *task, life.generation(), make_reason(held, region, spec), cleanup_of(spec), true);
    return {};
  }
  overrun(worker, held, *task, life);
  return {};
}

/// It may be too late for most: what has ended has left, and only what is under cancellation still is what the host was told of.
template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::deadline_reached(Worker& worker, RegionId id) {
  const Locked<Operation::cancel> held(shards_, worker.order());
  Region* const region = find_region(id);
  if (region == nullptr) return Errc::stale_handle;
  if (!region->gate.look().closed()) return {};
  visit_tasks(held, *region, [&](Task& task) {
    const TaskLife life = task.word.look();
    if (life.in(cancelled_states)) overrun(worker, held, task, life);
  });
  return {};
}

/// If the time for clean-up is over, the next poll drops the frames. Needs: under cancellation and not Completed.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::overrun(Worker& worker, AllHeld, Task& task, TaskLife life) noexcept {
  const Region& region = region_of(task);
  if (!task.deadline().reached(worker.now()) || region.cleanup_mode == CleanupMode::soft) return;
  if (life.has(TaskFlag::forced)) return;
  (void)task.word.flag(life.generation(), TaskFlag::expired, true);
  // The wake tells who parks it next to queue it again; one that runs cannot be forced and is reported.
  const auto woken = task.word.wake();
  schedule_if(worker, task, woken.enqueue);
  if (being_polled(woken.was)) {
    host_.report(worker, {.kind = FindingKind::stalled,
                          .region = region.id(),
                          .task = task.id_of(life),
                          .site = host_.await_point(task).site});
  }
}

}  // namespace calm::kernel
