// task_steps.hpp — the life of a task where it is not plain: refusals, clean-up polls, checkpoints, masks, joins. Definitions
//                 for basic_kernel.hpp; what every task does is in hot_steps.hpp.
// Laws:    TSK-1..3, TSK-6, TSK-8, BUD-3..5, CAN-7..9, CAN-12, REG-6..8
// Threads: see basic_kernel.hpp
// Cancel:  checkpoint() acknowledges; begin_poll() counts clean-up and forces what has overrun it
#pragma once

#include <utility>

#include "calm/check/probe.hpp"
#include "calm/kernel/kernel.hpp"

namespace calm::kernel {

// --- admission ---

/// Needs: a turn of the gate, which ends with it; the task is nullptr or was taken for this.
template <lockfree::AtomicsPolicy Atomics>
Made<TaskId> BasicKernel<Atomics>::refuse_spawn(Worker& worker, Region& region, RegionId id, GateTurn<Atomics>& turn,
                                                Task* task) {
  const GateView gate = turn.found();
  Status refused = Errc::resource_exhausted;
  if (region.generation.get() != generation_of(id)) {
    refused = Errc::stale_handle;
  } else if (gate.closed()) {
    CALM_PROBE("spawn: the region closed meanwhile");
    refused = Errc::region_not_open;
  } else if (gate.tasks() >= region.limits.tasks) {
    refused = Errc::admission_limit;
  }
  turn.end(gate);
  if (task != nullptr) tasks_.give_back(worker.index(), *task);
  return {.status = refused};
}

/// A task with a deadline. Needs: nobody has scheduled it yet.
template <lockfree::AtomicsPolicy Atomics>
Made<TaskId> BasicKernel<Atomics>::schedule_watched(Worker& worker, Task& task, TaskId id, Deadline deadline) {
  host_.watch(worker, id, deadline.time());
  host_.schedule(worker, task);
  return {.id = id};
}

// --- wakes and polls ---

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::wake_waiter(Worker& worker, std::uint64_t waiter) noexcept {
  if (const TaskId id = TaskId::from_bits(waiter)) (void)wake(worker, id);
}

template <lockfree::AtomicsPolicy Atomics>
PollStart BasicKernel<Atomics>::claim_used_up(Worker& worker, Task& task, TaskId id, std::uint64_t cause) {
  return claim<false>(worker, task, id, cause);
}

template <lockfree::AtomicsPolicy Atomics>
PollStart BasicKernel<Atomics>::begin_poll_slowly(Worker& worker, Task& task, TaskLife now, std::uint64_t cause) {
  const TaskId id = task.id_of(now);
  if (now.has(TaskFlag::cleanup)) return begin_cleanup_poll(worker, task, now, cause);
  // The budget first, then the word: a request puts its clean-up deadline there only after it has changed the word.
  const bool used_up_budget = budget_used_up(task, worker.now());
  now = task.word.look();
  if (used_up_budget && !now.in(cancelled_states)) {
    request_own(worker, task, id,
                exhausted_kind(task.terms().polls.raw() == 0 ? BudgetAxis::polls : BudgetAxis::deadline));
  }
  if (task.is_masked()) count_mask_poll(worker, task, id);
  note(worker, trace::EventKind::poll, id, {}, 0, cause);

  now = task.word.look();
  if (!now.in(cancelled_states)) {
    if (now.has(TaskFlag::metered)) count_poll(task);
    return PollStart::run;
  }
  bool used_up = false;
  {
    const Locked<Operation::acknowledge> held(shards_, worker.order(), task.home());
    if (!now.has(TaskFlag::started)) {  // TSK-8: the first poll is a checkpoint
      acknowledge(worker, held, task, now.generation());
      return PollStart::drop;
    }
    auto& terms = task.terms();
    used_up = now.has(TaskFlag::expired) || terms.cleanup_polls >= terms.cleanup_quota ||
              task.deadline().reached(worker.now());
    if (!used_up) ++terms.cleanup_polls;
  }
  if (used_up && region_of(task).cleanup_mode == CleanupMode::bounded) return force(worker, task, id);
  return PollStart::run;
}

/// A finalizer, or a task of one: masked, with polls of its own (REG-5).
template <lockfree::AtomicsPolicy Atomics>
PollStart BasicKernel<Atomics>::begin_cleanup_poll(Worker& worker, Task& task, TaskLife now, std::uint64_t cause) {
  const TaskId id = task.id_of(now);
  if (task.is_masked()) count_mask_poll(worker, task, id);
  note(worker, trace::EventKind::poll, id, {}, 0, cause);
  if (task.terms().polls.raw() == 0) {
    if (!now.in(cancelled_states)) request_own(worker, task, id, CancelKind::poll_quota);
    if (region_of(task).cleanup_mode == CleanupMode::bounded) return force(worker, task, id);
  } else {
    count_poll(task);
  }
  // A request does not keep a finalizer from running: it is masked.
  if (!now.has(TaskFlag::started)) (void)task.word.flag(now.generation(), TaskFlag::started, true);
  return PollStart::run;
}

// --- checkpoints and masks ---

template <lockfree::AtomicsPolicy Atomics>
bool BasicKernel<Atomics>::is_cancel_requested(TaskId id) const noexcept {
  const Task* const task = tasks_.find(id.index());
  if (task == nullptr) return false;
  const TaskLife life = task->word.look();
  return life.generation() == generation_of(id) && life.in(cancelled_states);
}

template <lockfree::AtomicsPolicy Atomics>
bool BasicKernel<Atomics>::ancestor_cancelled(const Task& task) const noexcept {
  for (const Region* region = &region_of(task); region != nullptr; region = region->parent) {
    if (region->cancelled.get()) return true;
  }
  return false;
}

/// A checkpoint that has something to see: the task was requested to stop, or a walk is running.
/// Gives: true when it was, and is to see so; `life` says so too.
template <lockfree::AtomicsPolicy Atomics>
inline bool BasicKernel<Atomics>::sees_request(Worker& worker, const Task& task, TaskLife& life) {
  if (life.has(TaskFlag::cleanup) || task.is_masked()) return false;
  return life.in(cancelled_states) || sees_walk(worker, task, life);
}

template <lockfree::AtomicsPolicy Atomics>
bool BasicKernel<Atomics>::sees_walk(Worker& worker, const Task& task, TaskLife& life) {
  if (!ancestor_cancelled(task)) [[likely]]
    return false;
  CALM_PROBE("checkpoint: an ancestor is cancelled and the walk has not come here yet");
  {
    const Locked<Operation::cancel> walk_is_over(shards_, worker.order());
  }
  life = task.word.look();
  return life.in(cancelled_states);
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::see_cancel(Worker& worker, Task& task, TaskLife life) {
  if (!sees_request(worker, task, life)) return {};
  if (life.state() == TaskState::cancel_requested) {
    const Locked<Operation::acknowledge> held(shards_, worker.order(), task.home());
    acknowledge(worker, held, task, life.generation());
  }
  return Errc::cancelled;
}

/// One guard for both: the step and the reason.
template <lockfree::AtomicsPolicy Atomics>
Reason BasicKernel<Atomics>::acknowledged(Worker& worker, TaskId id) {
  Task* const task = find(id);
  if (task == nullptr) return {};
  const bool walking = walking_.load(std::memory_order_acquire) != 0;  // [K1] as in checkpoint()
  TaskLife life = task->word.look();
  if (!walking && !life.in(cancelled_states)) {
    if constexpr (!Atomics::shared) worker.set_clear(worker.running() == id);
    return {};
  }
  if (!sees_request(worker, *task, life)) return {};
  const Locked<Operation::acknowledge> held(shards_, worker.order(), task->home());
  if (life.state() == TaskState::cancel_requested) acknowledge(worker, held, *task, life.generation());
  return task->terms().reason;
}

/// CancelRequested becomes Cancelling, once.
template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::acknowledge(Worker& worker, TaskHeld, Task& task, std::uint32_t generation) noexcept {
  TaskLife was = task.word.look();
  const bool alone = is_alone_in_guard(worker);
  while (was.generation() == generation && was.state() == TaskState::cancel_requested) {
    if (!task.word.step(was, was.with(TaskState::cancelling), alone)) continue;
    note(worker, trace::EventKind::cancel_ack, task.id_of(was), region_of(task).id(),
         trace::argument_of(argument_of(task.terms().reason)), 0, alone);
    return;
  }
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::enter_mask(Worker& worker, TaskId id) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  if (!being_polled(task->word.look())) return Errc::invalid_transition;
  const std::uint8_t depth = task->mask_depth();
  if (depth == mask_depth_max) {
    task->set_mask_depth(0);
    (void)task->word.flag(generation_of(id), TaskFlag::unmasked, true);
    host_.report(worker, {.kind = FindingKind::mask_too_deep, .region = region_of(*task).id(), .task = id});
    return {};
  }
  if (depth == 0) task->set_mask_polls(0);
  task->set_mask_depth(static_cast<std::uint8_t>(depth + 1));
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::leave_mask(Worker& /*worker*/, TaskId id) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  if (!being_polled(task->word.look())) return Errc::invalid_transition;
  const std::uint8_t depth = task->mask_depth();
  if (depth == 0) return task->word.look().has(TaskFlag::unmasked) ? Status() : Status(Errc::invalid_transition);
  task->set_mask_depth(static_cast<std::uint8_t>(depth - 1));
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
bool BasicKernel<Atomics>::is_masked(TaskId id) const noexcept {
  const Task* const task = find(id);
  return task != nullptr && (task->is_masked() || task->word.look().has(TaskFlag::cleanup));
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::count_mask_poll(Worker& worker, Task& task, TaskId id) {
  const auto polls = static_cast<std::uint16_t>(task.mask_polls() + 1);
  task.set_mask_polls(polls);
  if (polls <= mask_polls_max) return;
  task.set_mask_depth(0);
  (void)task.word.flag(generation_of(id), TaskFlag::unmasked, true);
  host_.report(worker, {.kind = FindingKind::mask_too_long, .region = region_of(task).id(), .task = id});
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::spend(Worker& worker, TaskId id, std::uint64_t cost) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  const TaskLife life = task->word.look();
  if (!being_polled(life)) return Errc::invalid_transition;
  if (life.in(cancelled_states) || !life.has(TaskFlag::metered)) return {};
  auto& budget = task->terms().cost;
  const std::uint64_t left = budget.raw();
  if (left == UINT64_MAX) return {};
  if (cost > left) {
    request_own(worker, *task, id, CancelKind::cost_budget);
    return Errc::budget_exhausted;
  }
  budget.set(left - cost);
  return {};
}

// --- waiting for a task, and letting it go ---

/// Under A: of two joiners one is first, and an end under cancellation, which leaves the region's id where the waiter
/// stood, is before or after. An end that takes no lock looks at the waiter only when the flag is there.
template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::await_end(Worker& worker, TaskId id, TaskId waiter) {
  Task* const task = find(id);
  if (task == nullptr || find(waiter) == nullptr) return Errc::stale_handle;
  const Locked<Operation::acknowledge> held(shards_, worker.order(), task->home());
  const TaskLife life = task->word.look();
  if (life.generation() != generation_of(id)) return Errc::stale_handle;
  if (life.state() == TaskState::completed) return {};
  if (life.has(TaskFlag::awaited)) return Errc::busy;
  task->terms().waiter.set(waiter.bits());
  if (task->word.flag_unless_completed(life.generation(), TaskFlag::awaited)) return Errc::would_block;
  CALM_PROBE("await_end: the task ended meanwhile");
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
bool BasicKernel<Atomics>::forget_end(Worker& /*worker*/, TaskId id) {
  Task* const task = find(id);
  if (task == nullptr) return false;
  TaskLife was = task->word.look();
  while (was.generation() == generation_of(id) && was.has(TaskFlag::awaited) && was.state() != TaskState::completed) {
    if (task->word.step(was, was.without(TaskFlag::awaited))) return true;
  }
  return false;
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::release(Worker& worker, TaskId id) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  const TaskLife was = task->word.flag(generation_of(id), TaskFlag::handle, false);
  if (was.generation() != generation_of(id) || !was.has(TaskFlag::handle)) return Errc::stale_handle;
  if (was.has(TaskFlag::left)) recycle(worker, *task, was);
  return {};
}

/// Nothing of the kernel points to the task any more. Needs: Completed.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::let_go(Worker& worker, Task& task, TaskLife life) {
  if (!life.has(TaskFlag::handle) || task.word.leave()) recycle(worker, task, life);
}

/// Needs: nothing of the kernel or of a user names this life any more.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::recycle(Worker& worker, Task& task, TaskLife life) {
  if (!task.terms().reason) {
    reuse(worker, task, life);
    return;
  }
  // Who still looks at the reason of an ended life does it under A.
  const Locked<Operation::acknowledge> held(shards_, worker.order(), task.home());
  (void)task.terms().forget_cancellation();
  reuse(worker, task, life);
}

// --- queries ---

template <lockfree::AtomicsPolicy Atomics>
TaskState BasicKernel<Atomics>::state(TaskId id) const noexcept {
  const Task* const task = tasks_.find(id.index());
  if (task == nullptr) return TaskState::completed;
  const TaskLife life = task->word.look();
  return life.generation() == generation_of(id) ? life.state() : TaskState::completed;
}

template <lockfree::AtomicsPolicy Atomics>
std::optional<OutcomeKind> BasicKernel<Atomics>::outcome_of(TaskId id) const noexcept {
  const Task* const task = tasks_.find(id.index());
  if (task == nullptr) return std::nullopt;
  const TaskLife life = task->word.look();
  if (life.generation() != generation_of(id) || life.state() != TaskState::completed) return std::nullopt;
  return life.outcome();
}

template <lockfree::AtomicsPolicy Atomics>
std::optional<Budget> BasicKernel<Atomics>::budget_of(TaskId id) const noexcept {
  const Task* const task = find(id);
  if (task == nullptr) return std::nullopt;
  return task->budget();
}

template <lockfree::AtomicsPolicy Atomics>
std::optional<Cancellation> BasicKernel<Atomics>::cancellation_of(Worker& worker, TaskId id) {
  Task* const task = tasks_.find(id.index());
  if (task == nullptr) return std::nullopt;
  const Locked<Operation::acknowledge> held(shards_, worker.order(), task->home());
  if (task->word.look().generation() != generation_of(id)) return std::nullopt;
  const auto& terms = task->terms();
  if (!terms.reason) return std::nullopt;
  return Cancellation{terms.reason, terms.epoch, terms.cleanup_left()};
}

template <lockfree::AtomicsPolicy Atomics>
std::optional<Witness> BasicKernel<Atomics>::witness_of(Worker& worker, TaskId id) {
  Task* const task = tasks_.find(id.index());
  if (task == nullptr) return std::nullopt;
  const Locked<Operation::acknowledge> held(shards_, worker.order(), task->home());
  const TaskLife life = task->word.look();
  const auto& terms = task->terms();
  if (life.generation() != generation_of(id) || !terms.reason) return std::nullopt;
  CancelPhase phase = CancelPhase::requested;
  RegionId region;
  switch (life.state()) {
    case TaskState::created:
    case TaskState::running:
    case TaskState::cancel_requested:
      break;
    case TaskState::cancelling:
      phase = CancelPhase::cancelling;
      break;
    case TaskState::finalizing:
      phase = CancelPhase::finalizing;
      break;
    case TaskState::completed:
      if (!life.has(TaskFlag::witnessed)) return std::nullopt;
      phase = CancelPhase::completed;
      region = RegionId::from_bits(terms.waiter.get());  // the region's slot may have another life by now
      break;
  }
  if (!region) region = region_of(*task).id();
  return Witness{id, region, terms.epoch, phase, terms.reason};
}

}  // namespace calm::kernel
