// cancel_steps.hpp — how a request reaches everyone it concerns: reasons, requests, the walk. Definitions for basic_kernel.hpp.
// Laws:    CAN-3..6, CAN-11, CAN-13, REG-2, HND-3
// Threads: see basic_kernel.hpp; everything here under B→A→C
// Cancel:  this is it
#pragma once

#include <new>
#include <utility>

#include "calm/check/probe.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/mem/fetch_ahead.hpp"

namespace calm::kernel {

/// One reason for a region and a request. Without memory the region's reserve keeps who and when; that used up, what is
/// left is kind and severity (HND-3: a cause chain truncates instead of failing).
template <lockfree::AtomicsPolicy Atomics>
Reason BasicKernel<Atomics>::make_reason(RegionsHeld, Region& region, const ReasonSpec& spec) noexcept {
  try {
    return Reason(spec);
  } catch (const std::bad_alloc&) {
    if (region.reserve) return Reason(spec, std::move(region.reserve));
    CALM_PROBE("cancel: no memory and the reserve is used up");
    std::uint8_t severity = describe(spec.kind).severity;
    if (spec.cause != nullptr && *spec.cause && spec.cause->severity() > severity) severity = spec.cause->severity();
    return last_resort_[static_cast<std::uint8_t>(spec.kind)][severity];
  }
}

template <lockfree::AtomicsPolicy Atomics>
ReasonSpec BasicKernel<Atomics>::spec_of(const CancelSpec& spec, const Region& region, Time now) const noexcept {
  return {.kind = spec.kind,
          .region = spec.region ? spec.region : region.id(),
          .task = spec.task,
          .at = now,
          .message = spec.message,
          .cause = spec.cause,
          .cleanup_time = region.cleanup_time};
}

/// Gives: what clean-up may use when a request says this: by kind and time, met with what the cause allows (CAN-1, CAN-5).
template <lockfree::AtomicsPolicy Atomics>
Budget BasicKernel<Atomics>::cleanup_of(const ReasonSpec& spec) noexcept {
  const Budget own = cleanup_budget(spec.kind, spec.at, spec.cleanup_time);
  return spec.cause != nullptr && *spec.cause ? meet(own, spec.cause->cleanup()) : own;
}

/// Gives: true when the reason has changed. Without memory to meet two clean-up budgets the stronger keeps its own.
template <lockfree::AtomicsPolicy Atomics>
bool BasicKernel<Atomics>::strengthen_into(Reason& reason, const Reason& with) noexcept {
  if (reason.same_story(with)) return false;
  try {
    Reason stronger = strengthen(reason, with);
    if (stronger.same_story(reason) || stronger == reason) return false;
    reason = std::move(stronger);
    return true;
  } catch (const std::bad_alloc&) {
    CALM_PROBE("cancel: no memory to meet clean-up budgets");
    if (compare_strength(with.levels(), reason.levels()) >= 0) return false;
    reason = with;
    return true;
  }
}

/// CAN-3, CAN-4, CAN-11: the first request takes an epoch, a later one strengthens; a task that has ended is left alone. The
/// host minds the deadline `watched` already.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::request(Worker& worker, AllHeld, Task& task, std::uint32_t generation, const Reason& reason,
                                   const Budget& cleanup, bool wake, Deadline watched) noexcept {
  worker.set_clear(false);
  const bool alone = is_alone_in_guard(worker);
  const TaskLife was = task.word.request(generation, alone);
  if (was.generation() != generation || was.state() == TaskState::completed) return;
  if (walking_.load(std::memory_order_relaxed) == 0) raise_stamp();  // relaxed: it changes under the locks held here
  auto& terms = task.terms();
  if (was.in(cancelled_states)) {
    const bool stronger = strengthen_into(terms.reason, reason);
    if (!terms.bound_cleanup(cleanup, false) && !stronger) return;
  } else {
    terms.reason = reason;
    terms.epoch = epochs_.next();
    (void)terms.bound_cleanup(cleanup, true);
  }
  const TaskId id = task.id_of(was);
  note_write(worker, trace::EventKind::cancel_request, id, region_of(task).id(), id,
             trace::argument_of(argument_of(terms.reason)), 0, alone);
  if (const Deadline deadline = task.deadline(); deadline != watched && !deadline.is_none()) {
    host_.watch(worker, id, deadline.time());
  }
  if (!wake) return;
  const auto woken = alone ? task.word.wake_alone() : task.word.wake();
  schedule_if(worker, task, woken.enqueue);  // CAN-13
}

/// A task whose own budget has run out asks for its own cancellation (BUD-5). Needs: the task's own poll.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::request_own(Worker& worker, Task& task, TaskId id, CancelKind kind) {
  const Locked<Operation::cancel> held(shards_, worker.order());
  Region& region = region_of(task);
  const CancelSpec asked{.kind = kind, .region = region.id(), .task = id};
  const ReasonSpec spec = spec_of(asked, region, worker.now());
  request(worker, held, task, generation_of(id), make_reason(held, region, spec), cleanup_of(spec), false);
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::request_cancel(Worker& worker, TaskId id, const CancelSpec& spec) {
  Task* const task = find(id);
  if (task == nullptr) return Errc::stale_handle;
  const Locked<Operation::cancel> held(shards_, worker.order());
  const TaskLife life = task->word.look();
  if (life.generation() != generation_of(id)) return Errc::stale_handle;
  if (life.state() == TaskState::completed) return {};
  // It may end before request() and then this region may be gone; until it has left, which needs the gate, it is here.
  Region& region = region_of(*task);
  const ReasonSpec why = spec_of(spec, region, worker.now());
  request(worker, held, *task, life.generation(), make_reason(held, region, why), cleanup_of(why), true);
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::cancel(Worker& worker, RegionId id, const CancelSpec& spec) {
  Afterwards afterwards;
  const Locked<Operation::cancel> held(shards_, worker.order());
  Region* const region = find_region(id);
  if (region == nullptr) return Errc::stale_handle;
  if (region->state.get() == RegionState::closed) return {};
  cancel_with(worker, held, *region, spec);
  advance_all(worker, held, afterwards);
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::cancel_with(Worker& worker, AllHeld held, Region& region, const CancelSpec& spec) noexcept {
  const ReasonSpec why = spec_of(spec, region, worker.now());
  cancel_tree(worker, held, region, make_reason(held, region, why), cleanup_of(why));
}

/// Pre-order, depth first, without recursion (CAN-5). Where a reason changes nothing, nothing below it can.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::cancel_tree(Worker& worker, AllHeld held, Region& top, const Reason& reason,
                                       const Budget& cleanup) noexcept {
  worker.set_clear(false);
  const std::uint32_t outer = walking_.exchange(1, std::memory_order_acq_rel);  // [K1]
  raise_stamp();
  bool changed = cancel_region(worker, held, top, reason, cleanup);
  Region* region = &top;
  for (;;) {
    if (changed && region->first_child != nullptr) {
      region = region->first_child;
    } else {
      while (region != &top && region->after == nullptr) region = region->parent;
      if (region == &top) break;
      region = region->after;
    }
    Region& parent = *region->parent;
    const Budget below =
        meet(cleanup_budget(CancelKind::parent_cancelled, worker.now(), parent.cleanup_time), parent.cleanup);
    changed = cancel_region(worker, held, *region, reason_for_children(worker, held, parent, *region), below);
  }
  walking_.store(outer, std::memory_order_release);  // [K1]
  raise_stamp();
}

/// Gives: what a cancelled region tells all its child regions: one object, made when the first of them is reached.
template <lockfree::AtomicsPolicy Atomics>
const Reason& BasicKernel<Atomics>::reason_for_children(Worker& worker, RegionsHeld held, Region& region,
                                                        Region& child) noexcept {
  if (!region.child_reason) {
    ReasonSpec spec = parent_cancelled(region.reason, region.id(), worker.now());
    spec.cleanup_time = region.cleanup_time;
    region.child_reason = make_reason(held, child, spec);
  }
  return region.child_reason;
}

/// Gives: true when there is something new for those below.
template <lockfree::AtomicsPolicy Atomics>
bool BasicKernel<Atomics>::cancel_region(Worker& worker, AllHeld held, Region& region, const Reason& reason,
                                         const Budget& cleanup) noexcept {
  if (!region.reason) {
    region.reason = reason;
    region.cleanup = cleanup;
    region.epoch = epochs_.next();
    region.cancelled.set(true);
  } else {
    const Budget met = meet(region.cleanup, cleanup);
    const bool stronger = strengthen_into(region.reason, reason);
    if (!stronger && met == region.cleanup) return false;
    region.cleanup = met;
  }
  region.child_reason = {};
  note_write(worker, trace::EventKind::cancel_request, {}, region.id(), region.id(),
             trace::argument_of(argument_of(region.reason)));
  if (region.state.get() == RegionState::open) start_closing(worker, held, region);
  cancel_tasks(worker, held, region);
  // Clean-up is masked, but one that waits for others may have to see that they will not come.
  for (ChildLink* link = region.cleanup_tasks.first(); link != nullptr; link = region.cleanup_tasks.behind(*link)) {
    auto& task = *static_cast<Task*>(link);
    schedule_if(worker, task, task.word.wake().enqueue);
  }
  if (region.gate.look().body()) wake_waiter(worker, region.owner.bits());
  return true;
}

/// Needs: the gate is closed. Clean-up of all of them has one deadline, as a rule, and the host may mind it once for all.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::cancel_tasks(Worker& worker, AllHeld held, Region& region) noexcept {
  const Deadline deadline = region.cleanup.deadline;
  const bool all =
      !deadline.is_none() && region.gate.look().tasks() != 0 && host_.watch_all(worker, region.id(), deadline.time());
  const Deadline watched = all ? deadline : Deadline::none();
  visit_tasks(held, region, [&](Task& task) {
    request(worker, held, task, task.word.look().generation(), region.reason, region.cleanup, true, watched);
  });
}

/// In spawn order. The gate's bit is given up now and then, so that tasks which end meanwhile are not kept waiting; the
/// cursor keeps the place. No task is added: the gate is closed.
template <lockfree::AtomicsPolicy Atomics>
template <class Visit>
void BasicKernel<Atomics>::visit_tasks(AllHeld, Region& region, Visit visit) noexcept {
  constexpr int slice = 64;
  GateView gate = region.gate.lock();
  ChildLink* link = region.tasks.first();
  for (int left = slice; link != nullptr; --left) {
    if (left == 0 && Atomics::shared) {
      ChildList::insert_before(*link, cursor_);
      region.gate.unlock(gate);
      gate = region.gate.lock();
      link = region.tasks.behind(cursor_);
      ChildList::remove(cursor_);
      left = slice;
      if (link == nullptr) break;
    }
    auto& task = *static_cast<Task*>(link);
    link = region.tasks.behind(*link);
    // Who queues a task for several workers looks at its frame, which is somewhere else.
    if constexpr (Atomics::shared) {
      const ChildLink* const later = link == nullptr ? nullptr : region.tasks.behind(*link);
      if (later != nullptr) mem::fetch_ahead(static_cast<const Task*>(later)->frame, 128);
    }
    visit(task);
  }
  region.gate.unlock(gate);
}

/// The regions that the task owns are cancelled, because their owner goes.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::cancel_owned_regions(Worker& worker, AllHeld held, Region& region, TaskId owner,
                                                const Reason& reason) noexcept {
  for (Region* child = region.first_child; child != nullptr; child = child->after) {
    if (child->owner != owner) continue;
    ReasonSpec spec = parent_cancelled(reason, region.id(), worker.now());
    spec.task = owner;
    spec.cleanup_time = region.cleanup_time;
    cancel_tree(worker, held, *child, make_reason(held, *child, spec), cleanup_of(spec));
  }
}

/// Gives: this region or the first after it among its siblings that the task owns, or nullptr.
template <lockfree::AtomicsPolicy Atomics>
const typename BasicKernel<Atomics>::Region* BasicKernel<Atomics>::owned_from(const Region* region,
                                                                              TaskId owner) noexcept {
  while (region != nullptr && region->owner != owner) region = region->after;
  return region;
}

/// Looks at everything that the task owns: what is not Closed is in the tree, and below the region of the task directly or
/// inside another one of it. An innermost region without a live body ends by itself, and may borrow from any part of the
/// frame until it has; one with a live body ends when the part of the frame inside it is gone.
template <lockfree::AtomicsPolicy Atomics>
typename BasicKernel<Atomics>::FrameUse BasicKernel<Atomics>::use_of_frame(AllHeld held, const Region& region,
                                                                           TaskId owner) const noexcept {
  if (buffer_in_use(held, region, owner)) return FrameUse::borrowers;
  const Region* owned = owned_from(region.first_child, owner);
  const FrameUse use = owned == nullptr ? FrameUse::none : FrameUse::bodies;
  while (owned != nullptr) {
    if (buffer_in_use(held, *owned, owner)) return FrameUse::borrowers;
    const Region* next = owned_from(owned->first_child, owner);
    if (next == nullptr && !owned->gate.look().body()) return FrameUse::borrowers;
    while (next == nullptr && owned != &region) {
      next = owned_from(owned->after, owner);
      owned = owned->parent;
    }
    owned = next;
  }
  return use;
}

}  // namespace calm::kernel
