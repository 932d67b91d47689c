// hot_steps.hpp — what every task does: spawn, wake, poll, end, counted promises. Definitions for basic_kernel.hpp, which has them.
// Laws:    TSK-1, TSK-6, BUD-3, BUD-5, CAN-9, OBL-2, REG-6..8
// Threads: see basic_kernel.hpp
// Cancel:  a task under cancellation goes the long way: begin_poll_slowly(), complete_slowly()
//
// They are inline, so that a loop that polls tasks need not call them: without calls nothing has to be saved, and what one
// step has looked up serves the next. Whatever is rare is a call to elsewhere, the last thing done where that is possible.
#pragma once

#include "calm/check/probe.hpp"
#include "calm/kernel/basic_kernel.hpp"

namespace calm::kernel {

template <lockfree::AtomicsPolicy Atomics>
inline typename BasicKernel<Atomics>::Region* BasicKernel<Atomics>::find_region(RegionId id) const noexcept {
  Region* const region = regions_.find(id.index());
  return region != nullptr && region->generation.get() == generation_of(id) ? region : nullptr;
}

template <lockfree::AtomicsPolicy Atomics>
inline typename BasicKernel<Atomics>::Task* BasicKernel<Atomics>::find(TaskId id) const noexcept {
  Task* const task = tasks_.find(id.index());
  return task != nullptr && task->word.look().is(id) ? task : nullptr;
}

template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::note(Worker& worker, trace::EventKind kind, TaskId task, RegionId region,
                                       std::uint64_t argument, std::uint64_t cause, bool alone) noexcept {
  worker.template record<Atomics::shared>(
      {.kind = kind, .task = task, .region = region, .cause = cause, .argument = argument}, alone);
}

template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::note_write(Worker& worker, trace::EventKind kind, TaskId task, RegionId region,
                                             trace::ResourceId resource, std::uint64_t argument, std::uint64_t cause,
                                             bool alone) noexcept {
  worker.template record<Atomics::shared>({.kind = kind,
                                           .access = trace::Access::write,
                                           .task = task,
                                           .region = region,
                                           .resource = resource,
                                           .cause = cause,
                                           .argument = argument},
                                          alone);
}

template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::schedule_if(Worker& worker, Task& task, bool enqueue) noexcept {
  if (enqueue) host_.schedule(worker, task);
}

template <lockfree::AtomicsPolicy Atomics>
inline bool BasicKernel<Atomics>::budget_used_up(const Task& task, Time now) noexcept {
  if (task.word.look().is_unbounded()) [[likely]]
    return false;
  const auto& terms = task.terms();
  return terms.polls.raw() == 0 || terms.deadline.seen() <= now.ns();
}

template <lockfree::AtomicsPolicy Atomics>
inline bool BasicKernel<Atomics>::being_polled(TaskLife life) noexcept {
  return life.wake() == lockfree::WakeState::running || life.wake() == lockfree::WakeState::running_woken;
}

// --- admission ---

template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::prepare(Task& task, RegionId region, const TaskSpec& spec,
                                          const Worker& worker) noexcept {
  task.region.set(region.index());
  task.frame = spec.frame;
  task.last_round.set(worker.round());
  task.tally.set(0);
}

template <lockfree::AtomicsPolicy Atomics>
inline Made<TaskId> BasicKernel<Atomics>::spawn(Worker& worker, RegionId id, const TaskSpec& spec) {
  if (spec.cleanup) [[unlikely]]
    return spawn_cleanup(worker, id, spec);
  Region* const region = find_region(id);
  if (region == nullptr) return {.status = Errc::stale_handle};
  if (region->gate.look().closed()) return {.status = Errc::region_not_open};
  const Task* spawner = nullptr;
  if (spec.spawner) {
    spawner = find(spec.spawner);
    if (spawner == nullptr) return {.status = Errc::stale_handle};
  }
  if (const Status room = worker.recorder().room(1); !room) return {.status = room};
  Task* const task = tasks_.take(worker.index());

  GateTurn<Atomics> turn(region->gate, shards_.company(worker.order()));
  const GateView gate = turn.found();
  // What only another thread can have changed since find_region() is asked again under the bit.
  const bool gone = Atomics::shared && (region->generation.get() != generation_of(id) || gate.closed());
  if (gone || gate.tasks() >= region->limits.tasks || task == nullptr || gate.tasks() == GateView::count_max)
      [[unlikely]] {
    return refuse_spawn(worker, *region, id, turn, task);
  }
  prepare(*task, id, spec, worker);
  const std::uint64_t creation = region->children_made++;
  Budget budget;
  if (spawner != nullptr) {
    // One that has ended may have done so under a cancellation, whose terms it still has.
    const TaskLife life = spawner->word.look();
    if (!life.is_unbounded() || life.state() == TaskState::completed) [[unlikely]]
      budget = spawner->budget();
  }
  if (!region->budget.is_infinite() || !spec.budget.is_infinite()) [[unlikely]]
    budget = meet(budget, child_budget(region->budget, spec.budget));
  task->creation = creation;
  if (!budget.is_infinite()) [[unlikely]]
    task->terms().set_budget(budget);
  TaskLife life = task->word.look().born().with(budget);
  if (spec.handle) life = life.with(TaskFlag::handle);
  task->word.renew(life);
  region->tasks.append(*task);
  const TaskId made = task->id_of(life);
  write_event(worker, {.kind = trace::EventKind::spawn,
                       .access = trace::Access::write,
                       .task = made,
                       .region = id,
                       .resource = id,
                       .cause = spec.cause,
                       .argument = creation});
  turn.end(gate.with_task());

  if (!budget.deadline.is_none()) [[unlikely]]
    return schedule_watched(worker, *task, made, budget.deadline);
  host_.schedule(worker, *task);
  return {.id = made};
}

template <lockfree::AtomicsPolicy Atomics>
inline typename BasicKernel<Atomics>::Admitted BasicKernel<Atomics>::spawn_alone(Worker& worker, Region& region,
                                                                                 void* frame) noexcept {
  const Task& spawner = *worker.template polled<Atomics>();
  const GateView gate = region.gate.lock_alone();
  if (gate.closed() || gate.tasks() >= region.plain_tasks || !spawner.word.look().is_unbounded() ||
      !worker.ring().room(1)) [[unlikely]]
    return {};
  Task* const task = tasks_.take(worker.index());
  if (task == nullptr) [[unlikely]]
    return {};
  task->region.set(region.id().index());
  task->frame = frame;
  task->last_round.set(worker.round());
  task->tally.set(0);
  const std::uint64_t creation = region.children_made;
  task->creation = creation;
  const TaskLife life = task->word.look().born();
  task->word.renew(life);
  // From here on what the region has: a processor writes to one line after the other, and twice as fast where it stays in one.
  region.tasks.append(*task);
  region.children_made = creation + 1;
  region.gate.unlock(gate.with_task());
  const TaskId made = task->id_of(life);
  worker.template write<Atomics::shared, true>({.kind = trace::EventKind::spawn,
                                                .access = trace::Access::write,
                                                .task = made,
                                                .region = region.id(),
                                                .resource = region.id(),
                                                .argument = creation});
  return {task, made};
}

// --- wakes and polls ---

template <lockfree::AtomicsPolicy Atomics>
inline Status BasicKernel<Atomics>::wake(Worker& worker, TaskId id) noexcept {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  if constexpr (Atomics::shared) {
    // Who wakes most often has a turn of what the task waits for.
    auto* const company = shards_.company(worker.order());
    if (company != nullptr && company->is_alone_in(lockfree::AloneIn::turn)) {
      schedule_if(worker, *task, task->word.wake_alone().enqueue);
      return {};
    }
  }
  schedule_if(worker, *task, task->word.wake().enqueue);
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
inline PollStart BasicKernel<Atomics>::begin_poll(Worker& worker, TaskId id, std::uint64_t cause) {
  Task* const task = tasks_.find(id.index());
  return task == nullptr ? PollStart::stale : begin_poll(worker, *task, id, cause);
}

template <lockfree::AtomicsPolicy Atomics>
inline PollStart BasicKernel<Atomics>::begin_poll(Worker& worker, Task& task, TaskId id, std::uint64_t cause) {
  // With one thread the budget is what it was a moment ago, and is looked at once.
  if (!Atomics::shared && budget_used_up(task, worker.now())) [[unlikely]]
    return claim_used_up(worker, task, id, cause);
  return claim<!Atomics::shared>(worker, task, id, cause);
}

/// Claims the poll. `in_budget` says that the budget is known not to be used up.
template <lockfree::AtomicsPolicy Atomics>
template <bool in_budget>
inline PollStart BasicKernel<Atomics>::claim(Worker& worker, Task& task, TaskId id, std::uint64_t cause) {
  const bool plainly = [&] {
    if constexpr (in_budget) return !task.is_masked() && task.word.begin_plain_poll(id);
    return false;
  }();
  if (!plainly) {
    TaskLife now;
    const auto may_start = [&] { return in_budget || !budget_used_up(task, worker.now()); };
    const bool alone = Atomics::shared && begin_alone(worker);
    const bool claimed = task.word.begin_poll(generation_of(id), now, may_start, alone);
    if (alone) end_alone(worker);
    if (!claimed) return PollStart::stale;
    const bool plain = now.state() == TaskState::running && !now.has(TaskFlag::cleanup);
    const bool used_up = !in_budget && budget_used_up(task, worker.now());
    if (!plain || task.is_masked() || used_up) [[unlikely]] {
      task.last_round.set(worker.round());
      return begin_poll_slowly(worker, task, now, cause);
    }
    if (now.has(TaskFlag::metered)) count_poll(task);
  }
  task.last_round.set(worker.round());
  note(worker, trace::EventKind::poll, id, {}, 0, cause);
  return PollStart::run;
}

/// A poll is used up of those that the task has.
template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::count_poll(Task& task) noexcept {
  auto& polls = task.terms().polls;
  if (const std::uint64_t left = polls.raw(); left != UINT64_MAX) polls.set(left - 1);
}

/// A plain task has no deadline, and gets one only by a request, which the word tells.
template <lockfree::AtomicsPolicy Atomics>
template <bool first>
inline bool BasicKernel<Atomics>::begin_plain_poll(Worker& worker, Task& task, TaskId id,
                                                   std::uint32_t round) noexcept {
  // One whose polls are counted has a flag in its word, and is not taken for a plain one there.
  if (!first && task.is_masked()) [[unlikely]]
    return false;
  if (!(first ? task.word.begin_first_poll() : task.word.begin_plain_poll())) [[unlikely]]
    return false;
  if constexpr (first) {
    CALM_SLOW(OBL_7, task.last_round.get() == round, id.bits());  // that in which it was spawned
  } else {
    task.last_round.set(round);
  }
  worker.template record<Atomics::shared>({.kind = trace::EventKind::poll, .task = id}, true);
  return true;
}

template <lockfree::AtomicsPolicy Atomics>
inline bool BasicKernel<Atomics>::begin_next_poll(Worker& worker, Task& task, TaskId id, std::uint32_t round) noexcept {
  if (task.is_masked() || !task.word.begin_next_poll()) [[unlikely]]
    return false;
  task.last_round.set(round);
  worker.template record<Atomics::shared>({.kind = trace::EventKind::poll, .task = id}, true);
  return true;
}

template <lockfree::AtomicsPolicy Atomics>
inline Status BasicKernel<Atomics>::end_poll(Worker& worker, TaskId id) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  if (!being_polled(task->word.look())) return Errc::invalid_transition;
  end_poll(worker, *task);
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::end_poll(Worker& worker, Task& task) noexcept {
  schedule_if(worker, task, task.word.end_poll());
}

template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::end_poll_woken(Worker& worker, Task& task) noexcept {
  task.word.end_poll_woken();
  host_.schedule(worker, task);
}

// --- the plain end ---

template <lockfree::AtomicsPolicy Atomics>
inline bool BasicKernel<Atomics>::begin_alone(Worker& worker) noexcept {
  if constexpr (!Atomics::shared) return true;
  auto* const company = shards_.company(worker.order());
  return company != nullptr && company->begin_alone(lockfree::AloneIn::gate);
}
template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::end_alone(Worker& worker) noexcept {
  if constexpr (Atomics::shared) {
    auto* const company = shards_.company(worker.order());
    if (company == nullptr) return;  // who began has one; g++ does not know that
    company->end_alone(lockfree::AloneIn::gate);
  }
}

template <lockfree::AtomicsPolicy Atomics>
inline bool BasicKernel<Atomics>::complete_plainly(Worker& worker, Task& task, TaskId id) {
  if (begin_alone(worker)) {
    const bool ends = may_complete_alone(task, id);
    Departure departure;
    if (ends) departure = complete_alone(worker, region_of(task), task, id);
    end_alone(worker);
    tell(worker, departure);
    return ends;
  }
  TaskLife done;
  if (!end_plainly(task, id, OutcomeKind::ok, nullptr, done)) return false;
  (void)leave_region(worker, task, id, done, nullptr);
  return true;
}

/// Nobody sees anything of it before all is done: the word goes to its last state at once.
template <lockfree::AtomicsPolicy Atomics>
inline typename BasicKernel<Atomics>::Departure BasicKernel<Atomics>::complete_alone(Worker& worker, Region& region,
                                                                                     Task& task, TaskId id) noexcept {
  CALM_SLOW(REG_4, &region == &region_of(task), id.bits());
  const TaskLife was = task.word.look();
  const RegionId region_id = region.id();
  const GateView left = region.gate.lock_alone().without_task();
  ChildList::remove(task);
  region.gate.unlock(left);
  worker.template record<Atomics::shared>({.kind = trace::EventKind::complete,
                                           .access = trace::Access::write,
                                           .task = id,
                                           .region = region_id,
                                           .resource = id,
                                           .argument = trace::argument_of(OutcomeKind::ok)},
                                          true);
  std::uint64_t waiter = 0;
  if (was.ends_alone()) [[likely]] {
    reuse_plain(worker, task, was);
  } else {
    waiter = leave_to_others(worker, task, was);
  }
  return {.waiter = waiter, .region = region_id, .last = left.last_one_left()};
}

/// Gives: who waits for its end.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::noinline]] std::uint64_t BasicKernel<Atomics>::leave_to_others(Worker& worker, Task& task,
                                                                      TaskLife was) noexcept {
  const std::uint64_t waiter = was.has(TaskFlag::awaited) ? task.terms().waiter.get() : 0;
  if (was.has(TaskFlag::handle)) {
    const TaskLife done = was.with(TaskState::completed).with(lockfree::WakeState::done).with(OutcomeKind::ok);
    task.word.renew(done.with(TaskFlag::left));
  } else {
    reuse(worker, task, was);
  }
  return waiter;
}

template <lockfree::AtomicsPolicy Atomics>
inline Status BasicKernel<Atomics>::complete(Worker& worker, TaskId id, Ok<Unit> end) {
  Task* const task = tasks_.find(id.index());
  if (task == nullptr) return Errc::stale_handle;
  TaskLife done;
  if (end_plainly(*task, id, OutcomeKind::ok, nullptr, done)) [[likely]]
    return leave_region(worker, *task, id, done, nullptr);
  return complete_slowly(worker, *task, id, end);
}

template <lockfree::AtomicsPolicy Atomics>
inline bool BasicKernel<Atomics>::may_end_plainly(const Task& task, TaskLife was) noexcept {
  return was.state() == TaskState::running && being_polled(was) && !was.has(TaskFlag::cleanup) &&
         !was.has(TaskFlag::holds) && (task.looks_free() || (!task.holds_record() && !task.has_counted()));
}

/// The plain way: not under cancellation, nothing held, no siblings to cancel. Whoever could make it otherwise (a request,
/// an obligation handed over) changes the word, and the comparison of the step notices. So a task that ends like this was
/// never cancelled: its record has no reason.
/// Gives: true when it is Completed now, with `done` as its word; false when this is not such an end, nothing has changed.
template <lockfree::AtomicsPolicy Atomics>
inline bool BasicKernel<Atomics>::end_plainly(Task& task, TaskId id, OutcomeKind kind, const ChildEnd* end,
                                              TaskLife& done) noexcept {
  TaskLife was = task.word.look();
  while (was.is(id) && may_end_plainly(task, was)) {
    if (kind != OutcomeKind::ok) {
      const Region& region = region_of(task);
      if (cancels_siblings(region.policy, *end, {region.id(), id})) return false;
    }
    done = was.with(TaskState::completed).with(lockfree::WakeState::done).with(kind);
    if (!Atomics::shared && !done.has(TaskFlag::handle)) return true;  // nobody sees it before its slot is free
    if (task.word.step(was, done)) return true;
  }
  return false;
}

/// Needs: Completed by end_plainly(), and no shard is held. The region may be gone afterwards.
template <lockfree::AtomicsPolicy Atomics>
inline Status BasicKernel<Atomics>::leave_region(Worker& worker, Task& task, TaskId id, TaskLife done,
                                                 const ChildEnd* end) {
  Region& region = region_of(task);
  const RegionId region_id = region.id();
  GateTurn<Atomics> turn(region.gate, shards_.company(worker.order()));
  const GateView gate = turn.found();
  ChildList::remove(task);
  if (end != nullptr) region.fold.add(*end, task.creation, region_id);
  note_write(worker, trace::EventKind::complete, id, region_id, id, trace::argument_of(done.outcome()));
  const GateView left = gate.without_task();
  turn.end(left);
  std::uint64_t waiter = 0;
  if (done.has(TaskFlag::handle) || done.has(TaskFlag::awaited)) {
    if (done.has(TaskFlag::awaited)) waiter = task.terms().waiter.get();
    if (!done.has(TaskFlag::handle) || task.word.leave()) reuse(worker, task, done);
  } else {
    reuse(worker, task, done);
  }
  if (waiter != 0 || left.last_one_left()) [[unlikely]]
    return tell_of_leaving(worker, waiter, region_id, left.last_one_left());
  return {};
}

/// Gives the slot of a life that was never cancelled to the next. Needs: nothing names that life any more.
template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::reuse(Worker& worker, Task& task, TaskLife life) noexcept {
  if (life.has_budget()) [[unlikely]]
    task.terms().forget_budget();
  reuse_plain(worker, task, life);
}
/// The same. Needs: it had no budget.
template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::reuse_plain(Worker& worker, Task& task, TaskLife life) noexcept {
  const TaskLife over = life.over();
  task.word.renew(over);
  if (over.retired()) [[unlikely]] {
    retire();
  } else {
    tasks_.give_back(worker.index(), task);
  }
}

// --- checkpoints ---

template <lockfree::AtomicsPolicy Atomics>
inline Status BasicKernel<Atomics>::checkpoint(Worker& worker, TaskId id) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  // In this order: who finds no walk running sees in its own word what the last one did (K1).
  const bool walking = walking_.load(std::memory_order_acquire) != 0;  // [K1]
  const TaskLife life = task->word.look();
  if (!walking && !life.in(cancelled_states)) [[likely]] {
    if constexpr (!Atomics::shared) worker.set_clear(worker.running() == id);
    return {};
  }
  return see_cancel(worker, *task, life);
}

// --- promises without a record ---

template <lockfree::AtomicsPolicy Atomics>
inline Status BasicKernel<Atomics>::count(Worker& worker, TaskId id, ObligationKind kind) noexcept {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  const std::uint8_t index = counted_index(kind);
  if (index == counted_kind_count) return Errc::invalid_argument;
  if (!being_polled(task->word.look())) return Errc::invalid_transition;
  if (task->counted_open(index) == UINT16_MAX) return Errc::resource_exhausted;
  if (task->is_lane_full(index)) {
    CALM_PROBE("count: what others have settled is taken home");
    const Locked<Operation::acknowledge> held(shards_, worker.order(), task->home());
    task->take_home(index);
  }
  task->count_up(index);
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
inline Status BasicKernel<Atomics>::uncount(Worker& worker, TaskId id, ObligationKind kind, TaskId by, bool untold) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  const std::uint8_t index = counted_index(kind);
  if (index == counted_kind_count) return Errc::invalid_argument;
  if (id == by) {
    if (!being_polled(task->word.look())) return Errc::invalid_transition;
    if (task->counted_open(index) == 0) return Errc::obligation_already_resolved;
    task->count_down(index);
    return {};
  }
  return uncount_away(worker, *task, id, index, untold);
}

}  // namespace calm::kernel
