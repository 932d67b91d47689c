// obligation_steps.hpp — promises: reserved, kept, handed over, forgotten. Definitions for basic_kernel.hpp.
// Laws:    OBL-1..6, OBL-11, REG-6, REG-8, I2
// Threads: see basic_kernel.hpp; records under C
// Cancel:  what a cancelled task still holds is aborted (OBL-5)
#pragma once

#include <utility>

#include "calm/check/probe.hpp"
#include "calm/kernel/kernel.hpp"

namespace calm::kernel {

/// Gives: true when a promise of this region that a service holds for a task is found where force() looks for it: at the
/// region of the task, or at one that the task owns.
template <lockfree::AtomicsPolicy Atomics>
bool BasicKernel<Atomics>::serves(const Region& region, const Holder& holder) const noexcept {
  if (holder.service == Service::none || !holder.task) return true;
  const Task* const task = find(holder.task);
  if (task == nullptr || task->word.look().state() == TaskState::completed) return false;
  return &region_of(*task) == &region || region.owner == holder.task;
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::commit(Worker& worker, ObligationId id) {
  return resolve(worker, id, ObligationState::committed, false);
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::abort(Worker& worker, ObligationId id) {
  return resolve(worker, id, ObligationState::aborted, false);
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::abort_and_drop(Worker& worker, ObligationId id) {
  return resolve(worker, id, ObligationState::aborted, true);
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::advance_settled(Worker& worker, RegionId id) {
  Afterwards afterwards;
  const Locked<Operation::settle_obligations> held(shards_, worker.order());
  Region* const region = find_region(id);
  if (region == nullptr) return;
  let_advance(held, *region);
  advance_all(worker, held, afterwards);
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::hand_over(Worker& worker, ObligationId id, Holder to) {
  RegionId waiting;
  {
    const Locked<Operation::resolve_obligation> held(shards_, worker.order());
    Obligation* const obligation = find_obligation(held, id);
    if (obligation == nullptr) return Errc::stale_handle;
    if (obligation->state == ObligationState::leaked) return Errc::obligation_leaked;
    if (obligation->state != ObligationState::reserved) return Errc::obligation_already_resolved;
    if (to.task && find(to.task) == nullptr) return Errc::stale_handle;
    if (!serves(*obligation->region, to)) return Errc::invalid_argument;
    Task* task = nullptr;
    if (to.is_task()) {
      // The flag in the task's word is the step by which it cannot end without noticing.
      task = tasks_.find(to.task.index());
      if (task == nullptr || task->word.look().generation() != generation_of(to.task)) return Errc::stale_handle;
      if (would_wait_for_itself(*obligation->region, *task)) return Errc::invalid_argument;
      if (!task->word.flag_unless_completed(generation_of(to.task), TaskFlag::holds)) return Errc::stale_handle;
    }
    unlink(held, *obligation);
    if (obligation->service != Service::none) wake_waiter(worker, obligation->task.bits());
    obligation->service = to.service;
    obligation->task = to.task;
    link(held, *obligation, id, task);
    // A task that is to be forced looks again at what it holds.
    if (to.is_task() && is_cancel_requested(to.task)) wake_waiter(worker, to.task.bits());
    const bool nobody = to.is_none() && obligation->region->state.get() == RegionState::finalizing;
    if (nobody) waiting = obligation->region->id();
  }
  if (waiting) advance_settled(worker, waiting);
  return {};
}

/// A finalizer that has not started waits for every region below its own; one of these cannot wait for it in turn.
template <lockfree::AtomicsPolicy Atomics>
bool BasicKernel<Atomics>::would_wait_for_itself(const Region& region, const Task& holder) const noexcept {
  const TaskLife life = holder.word.look();
  const bool waits = life.wake() == lockfree::WakeState::done && life.state() != TaskState::completed;
  if (!waits) return false;
  const Region* const own = &region_of(holder);
  for (const Region* above = region.parent; above != nullptr; above = above->parent) {
    if (above == own) return true;
  }
  return false;
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::drop_token(Worker& worker, ObligationId id) {
  RegionId waiting;
  {
    const Locked<Operation::resolve_obligation> held(shards_, worker.order());
    Obligation* const obligation = find_obligation(held, id);
    if (obligation == nullptr || !obligation->token) return Errc::stale_handle;
    obligation->token = false;
    if (obligation->state == ObligationState::reserved) {
      ++dropped_tokens_;
      settle_one(worker, held, *obligation, id, ObligationState::aborted);
      if (obligation->region->state.get() == RegionState::finalizing) waiting = obligation->region->id();
      if (obligation->service != Service::none) wake_waiter(worker, obligation->task.bits());
      host_.report(worker, {.kind = FindingKind::dropped_token,
                            .region = obligation->region->id(),
                            .task = obligation->task,
                            .obligation = id,
                            .obligation_kind = obligation->kind,
                            .site = obligation->site,
                            .must_fail = config_.strict_tokens});
    }
    recycle(worker, held, *obligation);
  }
  if (waiting) advance_settled(worker, waiting);
  return {};
}

/// Elsewhere: under the holder's A. A holder that made such a promise cannot end without that lock. One that is polled and has none
/// open has told of what it made by its end, or is about to.
template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::uncount_away(Worker& worker, Task& task, TaskId id, std::uint8_t kind, bool untold) {
  const Locked<Operation::acknowledge> held(shards_, worker.order(), task.home());
  const TaskLife life = task.word.look();
  if (!life.is(id)) return Errc::stale_handle;
  const bool ahead =
      Atomics::shared && untold && being_polled(life);  // before its count is read: a poll that is over has told
  if (life.state() == TaskState::completed || (task.counted_open(kind) == 0 && !ahead))
    return Errc::obligation_already_resolved;
  if constexpr (Atomics::shared) {
    auto& settled = task.terms().settled_away[kind];
    settled.set(static_cast<std::uint16_t>(settled.get() + 1));
  } else {
    task.count_down(kind);
  }
  return {};
}

// --- what is forgotten ---

/// So many more promises were forgotten (OBL-5).
template <lockfree::AtomicsPolicy Atomics>
ObligationState BasicKernel<Atomics>::response_to_leak(ObligationsHeld, std::uint64_t count, bool& must_fail) noexcept {
  leaks_ += count;
  const LeakPolicy policy = leaks_ >= config_.leaks.threshold ? config_.leaks.then : config_.leaks.policy;
  must_fail = policy == LeakPolicy::panic;
  return policy == LeakPolicy::recover ? ObligationState::aborted : ObligationState::leaked;
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::settle_held(Worker& worker, AllHeld held, Task& task, TaskId id, bool cancelled) noexcept {
  while (Obligation* const obligation = obligations_.find(task.terms().held.get())) {
    Region& region = *obligation->region;
    bool must_fail = false;
    const ObligationState to = cancelled ? ObligationState::aborted : response_to_leak(held, 1, must_fail);
    settle_one(worker, held, *obligation, obligation->id(), to);
    if (to == ObligationState::leaked) {
      ++region.leaked;
      host_.report(worker, {.kind = FindingKind::leak,
                            .region = region.id(),
                            .task = id,
                            .obligation = obligation->id(),
                            .obligation_kind = obligation->kind,
                            .site = obligation->site,
                            .must_fail = must_fail});
    }
    if (region.state.get() == RegionState::finalizing) let_advance(held, region);
    if (obligation->free()) recycle(worker, held, *obligation);
  }
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::settle_counted(Worker& worker, AllHeld held, Task& task, TaskId id,
                                          bool cancelled) noexcept {
  std::uint16_t counts[counted_kind_count];
  for (std::uint8_t kind = 0; kind < counted_kind_count; ++kind) counts[kind] = task.counted_open(kind);
  task.forget_counted();
  for (std::uint8_t kind = 0; kind < counted_kind_count; ++kind) {
    const std::uint16_t open = counts[kind];
    if (open == 0 || cancelled) continue;
    bool must_fail = false;
    if (response_to_leak(held, open, must_fail) != ObligationState::leaked) continue;
    Region& region = region_of(task);
    region.leaked += open;
    host_.report(worker, {.kind = FindingKind::leak,
                          .region = region.id(),
                          .task = id,
                          .obligation_kind = counted_kinds[kind],
                          .count = open,
                          .must_fail = must_fail});
  }
}

/// OBL-6: when all that is open is held by nobody, it is lost, by ascending id, and told once. What a service or a task
/// elsewhere holds keeps the region before that (OBL-11). Gives: true when nothing is open any more.
template <lockfree::AtomicsPolicy Atomics>
bool BasicKernel<Atomics>::audit(Worker& worker, AllHeld held, Region& region) noexcept {
  if (region.ledger.is_zero()) return true;
  std::uint64_t count = 0;
  for (const Obligation* next = region.unowned; next != nullptr; next = next->after) {
    if (next->holder().is_none()) ++count;
  }
  if (region.ledger.total() != count) return false;
  Obligation* lost = nullptr;
  for (Obligation* next = region.unowned; next != nullptr;) {
    Obligation& obligation = *next;
    next = obligation.after;
    unlink(held, obligation);
    obligation.after = lost;
    lost = &obligation;
  }
  for (lost = sorted(lost); lost != nullptr;) {
    Obligation& obligation = *lost;
    lost = obligation.after;
    bool must_fail = false;
    (void)response_to_leak(held, 1, must_fail);
    ++region.leaked;
    obligation.state = ObligationState::leaked;
    const Status open = region.ledger.resolve(obligation.kind);
    CALM_INVARIANT(OBL_3, open.is_ok(), obligation.id().bits());
    note_write(worker, trace::EventKind::resolve, {}, region.id(), obligation.id(),
               trace::argument_of(ObligationState::leaked));
    host_.report(worker, {.kind = FindingKind::leak,
                          .region = region.id(),
                          .obligation = obligation.id(),
                          .obligation_kind = obligation.kind,
                          .site = obligation.site,
                          .must_fail = must_fail});
    if (obligation.free()) recycle(worker, held, obligation);
  }
  host_.report(worker, {.kind = FindingKind::unresolved, .region = region.id(), .count = count});
  return true;
}

/// Merge sort of a list linked by `after`, by ascending id: closing takes no memory.
template <lockfree::AtomicsPolicy Atomics>
typename BasicKernel<Atomics>::Obligation* BasicKernel<Atomics>::sorted(Obligation* list) noexcept {
  constexpr int levels = 32;
  Obligation* runs[levels]{};  // runs[i] has 2^i of them, sorted
  const auto merge = [](Obligation* a, Obligation* b) {
    Obligation* first = nullptr;
    Obligation** end = &first;
    while (a != nullptr && b != nullptr) {
      Obligation*& smaller = a->id() < b->id() ? a : b;
      *end = smaller;
      end = &smaller->after;
      smaller = smaller->after;
    }
    *end = a != nullptr ? a : b;
    return first;
  };
  while (list != nullptr) {
    Obligation* run = list;
    list = list->after;
    run->after = nullptr;
    int i = 0;
    for (; i < levels - 1 && runs[i] != nullptr; ++i) {
      run = merge(runs[i], run);
      runs[i] = nullptr;
    }
    runs[i] = runs[i] == nullptr ? run : merge(runs[i], run);
  }
  Obligation* all = nullptr;
  for (Obligation* const run : runs) all = merge(run, all);
  return all;
}

template <lockfree::AtomicsPolicy Atomics>
bool BasicKernel<Atomics>::buffer_in_use(ObligationsHeld, const Region& region, TaskId task) const noexcept {
  for (const Obligation* obligation = region.unowned; obligation != nullptr; obligation = obligation->after) {
    if (obligation->service != Service::none && obligation->task == task) return true;
  }
  return false;
}

// --- queries ---

template <lockfree::AtomicsPolicy Atomics>
std::optional<ObligationState> BasicKernel<Atomics>::state(Worker& worker, ObligationId id) {
  const Locked<Operation::resolve_obligation> held(shards_, worker.order());
  const Obligation* const obligation = find_obligation(held, id);
  if (obligation == nullptr) return std::nullopt;
  return obligation->state;
}

template <lockfree::AtomicsPolicy Atomics>
std::uint64_t BasicKernel<Atomics>::leaks(Worker& worker) {
  const Locked<Operation::resolve_obligation> held(shards_, worker.order());
  return leaks_;
}

template <lockfree::AtomicsPolicy Atomics>
std::uint64_t BasicKernel<Atomics>::dropped_tokens(Worker& worker) {
  const Locked<Operation::resolve_obligation> held(shards_, worker.order());
  return dropped_tokens_;
}

}  // namespace calm::kernel
