// task_steps.hpp — the life of a task: admission, wakes, polls, checkpoints, masks, the end. Definitions for kernel.hpp.
// Laws:    TSK-1..3, TSK-6, TSK-8, BUD-3..5, CAN-7..9, CAN-12, REG-6..8
// Threads: see kernel.hpp
// Cancel:  checkpoint() acknowledges; begin_poll() counts clean-up and forces what has overrun it
#pragma once

#include <utility>

#include "calm/check/probe.hpp"
#include "calm/kernel/kernel.hpp"

namespace calm::kernel {

template <lockfree::AtomicsPolicy Atomics>
inline typename BasicKernel<Atomics>::Task* BasicKernel<Atomics>::find(TaskId id) const noexcept {
  Task* const task = tasks_.find(id.index());
  return task != nullptr && task->word.look().generation() == generation_of(id) ? task : nullptr;
}

template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::note(Worker& worker, trace::EventKind kind, TaskId task, RegionId region,
                                       trace::ResourceId resource, std::uint64_t argument,
                                       std::uint64_t cause) noexcept {
  worker.record({.kind = kind,
                 .access = resource ? trace::Access::write : trace::Access::none,
                 .task = task,
                 .region = region,
                 .resource = resource,
                 .cause = cause,
                 .argument = argument});
}

template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::schedule_if(Worker& worker, Task& task, bool enqueue) noexcept {
  if (enqueue) host_.schedule(worker, task);
}

template <lockfree::AtomicsPolicy Atomics>
inline bool BasicKernel<Atomics>::budget_used_up(const Task& task, Time now) noexcept {
  return task.polls.get() == 0 || task.deadline_ns.seen() <= now.ns();
}

template <lockfree::AtomicsPolicy Atomics>
inline bool BasicKernel<Atomics>::being_polled(TaskLife life) noexcept {
  return life.wake() == lockfree::WakeState::running || life.wake() == lockfree::WakeState::running_woken;
}

// --- admission ---

template <lockfree::AtomicsPolicy Atomics>
inline TaskLife BasicKernel<Atomics>::next_life(const Task& task) noexcept {
  const std::uint32_t generation = task.word.look().generation();
  return {generation == 0 ? Generation::first : generation, TaskState::created, lockfree::WakeState::queued};
}

template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::prepare(Task& task, const Region& region, const TaskSpec& spec,
                                          Worker& worker) noexcept {
  task.region.set(region.index());
  task.frame = spec.frame;
  task.last_round.set(worker.round());
  task.mask_depth.set(0);
  task.mask_polls.set(0);
}

template <lockfree::AtomicsPolicy Atomics>
Made<TaskId> BasicKernel<Atomics>::spawn(Worker& worker, RegionId id, const TaskSpec& spec) {
  if (spec.cleanup) return spawn_cleanup(worker, id, spec);
  Region* const region = find_region(id);
  if (region == nullptr) return {.status = Errc::stale_handle};
  if (region->gate.look().closed()) return {.status = Errc::region_not_open};
  Budget asked = spec.budget;
  if (spec.spawner) {
    const Task* const spawner = find(spec.spawner);
    if (spawner == nullptr) return {.status = Errc::stale_handle};
    asked = meet(asked, spawner->budget());
  }
  if (const Status room = worker.recorder().room(1); !room) return {.status = room};
  Task* const task = tasks_.take(worker.index());

  const GateView gate = region->gate.lock();
  Status refused;
  if (region->generation.get() != generation_of(id)) {
    refused = Errc::stale_handle;
  } else if (gate.closed()) {
    CALM_PROBE("spawn: the region closed meanwhile");
    refused = Errc::region_not_open;
  } else if (gate.tasks() >= region->limits.tasks) {
    refused = Errc::admission_limit;
  } else if (task == nullptr || gate.tasks() == GateView::count_max) {
    refused = Errc::resource_exhausted;
  }
  if (!refused) {
    region->gate.unlock(gate);
    if (task != nullptr) tasks_.give_back(worker.index(), *task);
    return {.status = refused};
  }
  prepare(*task, *region, spec, worker);
  task->creation = region->children_made++;
  task->set_budget(child_budget(region->budget, asked));
  TaskLife life = next_life(*task);
  if (spec.handle) life = life.with(TaskFlag::handle);
  task->word.renew(life);
  region->tasks.append(*task);
  const TaskId made = task->id_of(life);
  const std::uint64_t deadline = task->deadline_ns.get();
  note(worker, trace::EventKind::spawn, made, id, id, task->creation, spec.cause);
  region->gate.unlock(gate.with_task());

  if (deadline != UINT64_MAX) host_.watch(worker, made, Time::at_ns(deadline));
  host_.schedule(worker, *task);
  return {.id = made};
}

// --- wakes and polls ---

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::wake(Worker& worker, TaskId id) noexcept {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  schedule_if(worker, *task, task->word.wake().enqueue);
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::wake_waiter(Worker& worker, std::uint64_t waiter) noexcept {
  if (const TaskId id = TaskId::from_bits(waiter)) (void)wake(worker, id);
}

template <lockfree::AtomicsPolicy Atomics>
PollStart BasicKernel<Atomics>::begin_poll(Worker& worker, TaskId id, std::uint64_t cause) {
  Task* const task = tasks_.find(id.index());
  if (task == nullptr) return PollStart::stale;
  TaskLife now;
  const auto may_start = [&] { return !budget_used_up(*task, worker.now()); };
  if (!task->word.begin_poll(generation_of(id), now, may_start)) return PollStart::stale;
  task->last_round.set(worker.round());
  const bool plain = now.state() == TaskState::running && !now.has(TaskFlag::cleanup);
  if (!plain || task->mask_depth.get() != 0 || budget_used_up(*task, worker.now())) [[unlikely]]
    return begin_poll_slowly(worker, *task, now, cause);
  if (const std::uint64_t left = task->polls.get(); left != UINT64_MAX) task->polls.set(left - 1);
  note(worker, trace::EventKind::poll, id, {}, {}, 0, cause);
  return PollStart::run;
}

template <lockfree::AtomicsPolicy Atomics>
PollStart BasicKernel<Atomics>::begin_poll_slowly(Worker& worker, Task& task, TaskLife now, std::uint64_t cause) {
  const TaskId id = task.id_of(now);
  if (now.has(TaskFlag::cleanup)) return begin_cleanup_poll(worker, task, now, cause);
  // The budget first, then the word: a request puts its clean-up deadline there only after it has changed the word.
  const bool used_up_budget = budget_used_up(task, worker.now());
  now = task.word.look();
  if (used_up_budget && !now.in(cancelled_states)) {
    request_own(worker, task, id, exhausted_kind(task.polls.get() == 0 ? BudgetAxis::polls : BudgetAxis::deadline));
  }
  if (task.mask_depth.get() != 0) count_mask_poll(worker, task, id);
  note(worker, trace::EventKind::poll, id, {}, {}, 0, cause);

  now = task.word.look();
  if (!now.in(cancelled_states)) {
    if (const std::uint64_t left = task.polls.get(); left != UINT64_MAX) task.polls.set(left - 1);
    return PollStart::run;
  }
  bool used_up = false;
  {
    const Locked<Operation::acknowledge> held(shards_, worker.order(), task.home());
    if (!now.has(TaskFlag::started)) {  // TSK-8: the first poll is a checkpoint
      acknowledge(worker, held, task, now.generation());
      return PollStart::drop;
    }
    used_up = task.cleanup_polls >= task.cleanup_quota || task.deadline().reached(worker.now());
    if (!used_up) ++task.cleanup_polls;
  }
  if (used_up && region_of(task).cleanup_mode == CleanupMode::bounded) return force(worker, task, id);
  return PollStart::run;
}

/// A finalizer, or a task of one: masked, with polls of its own (REG-5).
template <lockfree::AtomicsPolicy Atomics>
PollStart BasicKernel<Atomics>::begin_cleanup_poll(Worker& worker, Task& task, TaskLife now, std::uint64_t cause) {
  const TaskId id = task.id_of(now);
  if (task.mask_depth.get() != 0) count_mask_poll(worker, task, id);
  note(worker, trace::EventKind::poll, id, {}, {}, 0, cause);
  const std::uint64_t left = task.polls.get();
  if (left == 0) {
    if (!now.in(cancelled_states)) request_own(worker, task, id, CancelKind::poll_quota);
    if (region_of(task).cleanup_mode == CleanupMode::bounded) return force(worker, task, id);
  } else if (left != UINT64_MAX) {
    task.polls.set(left - 1);
  }
  // A request does not keep a finalizer from running: it is masked.
  if (!now.has(TaskFlag::started)) (void)task.word.flag(now.generation(), TaskFlag::started, true);
  return PollStart::run;
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::end_poll(Worker& worker, TaskId id) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  if (!being_polled(task->word.look())) return Errc::invalid_transition;
  schedule_if(worker, *task, task->word.end_poll());
  return {};
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

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::checkpoint(Worker& worker, TaskId id) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  // In this order: who finds no walk running sees in its own word what the last one did (K1).
  const bool walking = walking_.load(std::memory_order_acquire) != 0;  // [K1]
  TaskLife life = task->word.look();
  if (life.has(TaskFlag::cleanup) || task->mask_depth.get() != 0) return {};
  if (!life.in(cancelled_states)) {
    if (!walking || !ancestor_cancelled(*task)) [[likely]]
      return {};
    CALM_PROBE("checkpoint: an ancestor is cancelled and the walk has not come here yet");
    {
      const Locked<Operation::cancel> walk_is_over(shards_, worker.order());
    }
    life = task->word.look();
    if (!life.in(cancelled_states)) return {};
  }
  if (life.state() == TaskState::cancel_requested) {
    const Locked<Operation::acknowledge> held(shards_, worker.order(), task->home());
    acknowledge(worker, held, *task, life.generation());
  }
  return Errc::cancelled;
}

/// CancelRequested becomes Cancelling, once.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::acknowledge(Worker& worker, TaskHeld, Task& task, std::uint32_t generation) noexcept {
  TaskLife was = task.word.look();
  while (was.generation() == generation && was.state() == TaskState::cancel_requested) {
    if (!task.word.step(was, was.with(TaskState::cancelling))) continue;
    note(worker, trace::EventKind::cancel_ack, task.id_of(was), region_of(task).id(), {},
         trace::argument_of(argument_of(task.reason)));
    return;
  }
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::enter_mask(Worker& worker, TaskId id) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  if (!being_polled(task->word.look())) return Errc::invalid_transition;
  const std::uint8_t depth = task->mask_depth.get();
  if (depth == mask_depth_max) {
    task->mask_depth.set(0);
    (void)task->word.flag(generation_of(id), TaskFlag::unmasked, true);
    host_.report(worker, {.kind = FindingKind::mask_too_deep, .region = region_of(*task).id(), .task = id});
    return {};
  }
  if (depth == 0) task->mask_polls.set(0);
  task->mask_depth.set(static_cast<std::uint8_t>(depth + 1));
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::leave_mask(Worker& /*worker*/, TaskId id) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  if (!being_polled(task->word.look())) return Errc::invalid_transition;
  const std::uint8_t depth = task->mask_depth.get();
  if (depth == 0) return task->word.look().has(TaskFlag::unmasked) ? Status() : Status(Errc::invalid_transition);
  task->mask_depth.set(static_cast<std::uint8_t>(depth - 1));
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
bool BasicKernel<Atomics>::is_masked(TaskId id) const noexcept {
  const Task* const task = find(id);
  return task != nullptr && (task->mask_depth.get() != 0 || task->word.look().has(TaskFlag::cleanup));
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::count_mask_poll(Worker& worker, Task& task, TaskId id) {
  const auto polls = static_cast<std::uint16_t>(task.mask_polls.get() + 1);
  task.mask_polls.set(polls);
  if (polls <= mask_polls_max) return;
  task.mask_depth.set(0);
  (void)task.word.flag(generation_of(id), TaskFlag::unmasked, true);
  host_.report(worker, {.kind = FindingKind::mask_too_long, .region = region_of(task).id(), .task = id});
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::spend(Worker& worker, TaskId id, std::uint64_t cost) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  const TaskLife life = task->word.look();
  if (!being_polled(life)) return Errc::invalid_transition;
  const std::uint64_t left = task->cost.get();
  if (life.in(cancelled_states) || left == UINT64_MAX) return {};
  if (cost > left) {
    request_own(worker, *task, id, CancelKind::cost_budget);
    return Errc::budget_exhausted;
  }
  task->cost.set(left - cost);
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
  if (!life.has(TaskFlag::handle) && !life.has(TaskFlag::cleanup)) return Errc::invalid_argument;
  if (life.has(TaskFlag::awaited)) return Errc::busy;
  task->waiter.set(waiter.bits());
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
  if (was.has(TaskFlag::left)) recycle(worker, *task, was.generation());
  return {};
}

/// Needs: nothing of the kernel or of a user names this life any more.
template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::recycle(Worker& worker, Task& task, std::uint32_t generation) {
  const bool last = generation == Generation::last;
  const TaskLife free(last ? 0 : generation + 1, TaskState::completed, lockfree::WakeState::done);
  if (task.reason) [[unlikely]] {
    renew_cancelled(worker, task, free);
  } else {
    task.word.renew(free);
  }
  if (last) [[unlikely]] {
    CALM_PROBE("task slot: its generations are used up");
    return;
  }
  tasks_.give_back(worker.index(), task);
}

/// Who still looks at the reason of an ended life does it under A.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::renew_cancelled(Worker& worker, Task& task, TaskLife free) {
  const Locked<Operation::acknowledge> held(shards_, worker.order(), task.home());
  task.word.renew(free);
  task.reason = {};
  task.epoch = {};
  task.cleanup_polls = 0;
  task.cleanup_quota = 0;
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
  if (task->word.look().generation() != generation_of(id) || !task->reason) return std::nullopt;
  return Cancellation{task->reason, task->epoch, task->cleanup_left()};
}

template <lockfree::AtomicsPolicy Atomics>
std::optional<Witness> BasicKernel<Atomics>::witness_of(Worker& worker, TaskId id) {
  Task* const task = tasks_.find(id.index());
  if (task == nullptr) return std::nullopt;
  const Locked<Operation::acknowledge> held(shards_, worker.order(), task->home());
  const TaskLife life = task->word.look();
  if (life.generation() != generation_of(id) || !task->reason) return std::nullopt;
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
      region = RegionId::from_bits(task->waiter.get());  // the region's slot may have another life by now
      break;
  }
  if (!region) region = region_of(*task).id();
  return Witness{id, region, task->epoch, phase, task->reason};
}

}  // namespace calm::kernel
