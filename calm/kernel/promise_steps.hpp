// promise_steps.hpp — a promise with a record is made and kept. Definitions for basic_kernel.hpp, which has them.
// Laws:    OBL-1..3, REG-6, REG-8
// Threads: see basic_kernel.hpp; records under C
// Cancel:  none of its own; what a cancelled task still holds is in obligation_steps.hpp
//
// Inline for the reasons that hot_steps.hpp has: who makes a promise knows its kind and its holder, and what is asked of them
// is then decided by the compiler.
#pragma once

#include "calm/kernel/basic_kernel.hpp"
#include "calm/kernel/hot_steps.hpp"

namespace calm::kernel {

template <lockfree::AtomicsPolicy Atomics>
inline typename BasicKernel<Atomics>::Obligation* BasicKernel<Atomics>::find_obligation(
    ObligationsHeld, ObligationId id) const noexcept {
  Obligation* const obligation = obligations_.find(id.index());
  const bool named = obligation != nullptr && obligation->generation == generation_of(id);
  return named && !obligation->free() ? obligation : nullptr;
}

/// Into the list of the task that holds it, or of its region when that is nullptr.
template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::link(ObligationsHeld, Obligation& obligation, ObligationId id,
                                       Task* holder) noexcept {
  Obligation* next = nullptr;
  if (holder == nullptr) {
    next = obligation.region->unowned;
  } else if (const std::uint32_t first = holder->terms().held.get(); first != 0) {
    next = &obligations_.at(first);
  }
  obligation.before = nullptr;
  obligation.after = next;
  if (next != nullptr) next->before = &obligation;
  if (holder != nullptr) {
    holder->terms().held.set(id.index());
  } else {
    obligation.region->unowned = &obligation;
  }
}

template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::unlink(ObligationsHeld, Obligation& obligation) noexcept {
  if (obligation.after != nullptr) obligation.after->before = obligation.before;
  if (obligation.before != nullptr) {
    obligation.before->after = obligation.after;
  } else if (obligation.holder().is_task()) {
    Task& holder = tasks_.at(obligation.task.index());
    holder.terms().held.set(obligation.after == nullptr ? 0 : obligation.after->index());
  } else {
    obligation.region->unowned = obligation.after;
  }
}

/// Needs: Reserved. The record stays while a token names it.
template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::settle_one(Worker& worker, ObligationsHeld held, Obligation& obligation,
                                             ObligationId id, ObligationState to) noexcept {
  unlink(held, obligation);
  obligation.state = to;
  const Status open = obligation.region->ledger.resolve(obligation.kind);
  CALM_INVARIANT(OBL_3, open.is_ok(), id.bits());
  note_write(worker, trace::EventKind::resolve, obligation.task, obligation.region->id(), id, trace::argument_of(to));
}

template <lockfree::AtomicsPolicy Atomics>
inline void BasicKernel<Atomics>::recycle(Worker& worker, ObligationsHeld, Obligation& obligation) noexcept {
  const bool last = obligation.generation == Generation::last;
  obligation.generation = last ? 0 : obligation.generation + 1;
  obligation.region = nullptr;
  if (!last) obligations_.give_back(worker.index(), obligation);
}

template <lockfree::AtomicsPolicy Atomics>
inline Made<ObligationId> BasicKernel<Atomics>::reserve(Worker& worker, RegionId region_id,
                                                        const ObligationSpec& spec) {
  if (describe(spec.kind).tracking == Tracking::counted) return {.status = Errc::invalid_argument};
  const Locked<Operation::create_obligation> held(shards_, worker.order());
  Region* const region = find_region(region_id);
  if (region == nullptr) return {.status = Errc::stale_handle};
  Task* task = nullptr;  // that holds it
  TaskLife holder;
  if (spec.holder.task) [[likely]] {
    task = find(spec.holder.task);
    if (task == nullptr) return {.status = Errc::stale_handle};
    holder = task->word.look();
    if (spec.holder.service == Service::none) [[likely]] {
      if (!being_polled(holder)) return {.status = Errc::invalid_argument};
    } else {
      if (!serves(*region, spec.holder)) return {.status = Errc::invalid_argument};
      task = nullptr;
      holder = {};
    }
  }
  // Under C: whoever closes the region holds it too.
  if (region->state.get() != RegionState::open) [[unlikely]] {
    const bool by_finalizer =
        region->state.get() == RegionState::finalizing && holder.has(TaskFlag::cleanup) && &region_of(*task) == region;
    if (!by_finalizer) return {.status = Errc::region_not_open};
  }
  if (region->limits.obligations != UINT32_MAX && region->ledger.total() >= region->limits.obligations) [[unlikely]]
    return {.status = Errc::admission_limit};
  if (const Status room = worker.recorder().room(1); !room) return {.status = room};
  Obligation* const obligation = obligations_.take(worker.index());
  if (obligation == nullptr) return {.status = Errc::resource_exhausted};
  if (const Status counted = region->ledger.reserve(spec.kind); !counted) {
    obligations_.give_back(worker.index(), *obligation);
    return {.status = counted};
  }
  if (obligation->generation == 0) obligation->generation = Generation::first;
  obligation->state = ObligationState::reserved;
  obligation->kind = spec.kind;
  obligation->service = spec.holder.service;
  obligation->token = true;
  obligation->region = region;
  obligation->task = spec.holder.task;
  obligation->resource = spec.resource;
  obligation->since = worker.now();
  obligation->site = spec.site;
  const ObligationId id = obligation->id();
  link(held, *obligation, id, task);
  if (task != nullptr) task->note_record();
  write_event(worker, {.kind = trace::EventKind::reserve,
                       .access = trace::Access::write,
                       .task = spec.holder.task,
                       .region = region_id,
                       .resource = id,
                       .argument = trace::argument_of(spec.kind)});
  return {.id = id};
}

template <lockfree::AtomicsPolicy Atomics>
inline Status BasicKernel<Atomics>::resolve(Worker& worker, ObligationId id, ObligationState to, bool drop) {
  RegionId waiting;
  {
    const Locked<Operation::resolve_obligation> held(shards_, worker.order());
    Obligation* const obligation = find_obligation(held, id);
    if (obligation == nullptr) return Errc::stale_handle;
    if (obligation->state != ObligationState::reserved) return check_move(obligation->state, to);
    settle_one(worker, held, *obligation, id, to);
    if (obligation->region->state.get() == RegionState::finalizing) waiting = obligation->region->id();
    // A task that is to be forced may have waited for the buffer.
    if (obligation->service != Service::none) wake_waiter(worker, obligation->task.bits());
    if (drop) {
      obligation->token = false;
      recycle(worker, held, *obligation);
    }
  }
  if (waiting) advance_settled(worker, waiting);
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
inline Status BasicKernel<Atomics>::commit_and_drop(Worker& worker, ObligationId id) {
  return resolve(worker, id, ObligationState::committed, true);
}

}  // namespace calm::kernel
