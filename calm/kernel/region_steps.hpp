// region_steps.hpp — the life of a region: creation, close, finalizers, the way to Closed. Definitions for basic_kernel.hpp.
// Laws:    REG-1..10, I2, OUT-4
// Threads: see basic_kernel.hpp
// Cancel:  not here: cancel_steps.hpp; closing does not cancel (REG-2)
#pragma once

#include <new>
#include <utility>

#include "calm/check/probe.hpp"
#include "calm/kernel/kernel.hpp"

namespace calm::kernel {

template <lockfree::AtomicsPolicy Atomics>
Made<RegionId> BasicKernel<Atomics>::create_region(Worker& worker, RegionId parent_id, const RegionSpec& spec) {
  const Locked<Operation::create_region> held(shards_, worker.order());
  Region* const parent = find_region(parent_id);
  if (parent == nullptr) return {.status = Errc::stale_handle};
  if (parent->state.get() != RegionState::open) return {.status = Errc::region_not_open};
  Budget asked = spec.budget;
  if (spec.owner) {
    const Task* const owner = find(spec.owner);
    if (owner == nullptr) return {.status = Errc::stale_handle};
    // What borrows from a frame is found below the region of its task (CAN-8): directly, or inside another such region.
    const bool below = owner->word.look().state() != TaskState::completed &&
                       (&region_of(*owner) == parent || parent->owner == spec.owner);
    if (!below) return {.status = Errc::invalid_argument};
    asked = meet(asked, owner->budget());
  }
  if (parent->gate.look().regions() >= parent->limits.regions) return {.status = Errc::admission_limit};
  if (const Status room = worker.recorder().room(1); !room) return {.status = room};
  ReasonReserve reserve = ReasonReserve::take();
  Region* const region = reserve ? regions_.take(worker.index()) : nullptr;
  if (region == nullptr || parent->gate.look().regions() == GateView::count_max) {
    if (region != nullptr) regions_.give_back(worker.index(), *region);
    return {.status = Errc::resource_exhausted};
  }

  (void)region->gate.lock();
  if (region->generation.get() == 0) region->generation.set(Generation::first);
  region->self = RegionId(region->index(), Generation(region->generation.get()));
  region->state.publish(RegionState::open);
  region->handle = true;
  region->children_made = spec.body ? 1 : 0;  // the body is the first child
  region->parent = parent;
  region->reserve = std::move(reserve);
  region->set_limits(child_budget(parent->budget, asked), spec.limits);
  region->owner = spec.owner;
  region->cleanup_time = spec.cleanup_time;
  region->policy = spec.policy;
  region->cleanup_mode = spec.cleanup_mode;
  region->escalation = spec.escalation;
  region->reports_to = spec.reports_to;
  region->gate.unlock(GateView().with_body(spec.body));

  const GateView gate = parent->gate.lock();
  region->creation = parent->children_made++;
  parent->gate.unlock(gate.with_region());
  region->before = parent->last_child;
  (parent->last_child == nullptr ? parent->first_child : parent->last_child->after) = region;
  parent->last_child = region;
  note_write(worker, trace::EventKind::spawn, spec.owner, region->id(), parent_id, region->creation);
  return {.id = region->id()};
}

// --- closing ---

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::close(Worker& worker, RegionId id) {
  Afterwards afterwards;
  const Locked<Operation::close_region> held(shards_, worker.order());
  Region* const region = find_region(id);
  if (region == nullptr) return Errc::stale_handle;
  if (region->state.get() != RegionState::open) return {};
  start_closing(worker, held, *region);
  advance_all(worker, held, afterwards);
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::end_body(Worker& worker, RegionId id, const ChildEnd& end) {
  Afterwards afterwards;
  const Locked<Operation::advance_region> held(shards_, worker.order());
  Region* const region = find_region(id);
  if (region == nullptr) return Errc::stale_handle;
  if (!region->gate.look().body()) return Errc::invalid_transition;
  if (cancels_siblings(region->policy, end, {id, region->owner})) {
    cancel_with(worker, held, *region, {.kind = CancelKind::fail_fast, .region = id, .task = region->owner});
  }
  leave_body(held, *region, end);
  advance_all(worker, held, afterwards);
  return {};
}

/// Needs: a live body. advance_all() is to follow.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::leave_body(RegionsHeld held, Region& region, const ChildEnd& end) noexcept {
  const GateView gate = region.gate.lock();
  region.fold.add(end, 0, region.id());
  const GateView left = gate.with_body(false);
  region.gate.unlock(left);
  if (left.last_one_left()) let_advance(held, region);
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::advance(Worker& worker, RegionId id) {
  const Locked<Operation::advance_region> held(shards_, worker.order());
  Region* const region = find_region(id);
  if (region == nullptr) return Errc::stale_handle;
  switch (region->state.get()) {
    case RegionState::open:
      return Errc::invalid_transition;
    case RegionState::closing:
    case RegionState::draining:
      return Errc::incomplete_children;
    case RegionState::finalizing:
      if (region->cleanup_live != 0 || (region->heap != nullptr && region->heap->makers != 0))
        return Errc::incomplete_children;
      return Errc::unresolved_obligations;
    case RegionState::closed:
      break;
  }
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::move(Worker& worker, RegionsHeld, Region& region, RegionState to) noexcept {
  const RegionState from = region.state.get();
  CALM_INVARIANT(REG_1, region_table.allows(from, to), from, to);
  region.state.set(to);
  note_write(worker, trace::EventKind::region_move, {}, region.id(), region.id(),
             trace::argument_of(Move<RegionState>{from, to}));
}

/// Needs: Open. CAN-6: the store that sets `closed` is the step after which no admission is missed.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::start_closing(Worker& worker, AllHeld held, Region& region) noexcept {
  const GateView gate = region.gate.lock();
  region.gate.unlock(gate.with_closed());
  move(worker, held, region, RegionState::closing);
  if (gate.empty()) {
    let_advance(held, region);
  } else {
    move(worker, held, region, RegionState::draining);
  }
}

/// Puts the region in the line of those that may move; advance_all() is to follow.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::let_advance(RegionsHeld, Region& region) noexcept {
  if (region.advancing) return;
  region.advancing = true;
  region.link = nullptr;
  (advance_first_ == nullptr ? advance_first_ : advance_last_->link) = &region;
  advance_last_ = &region;
}

/// REG-9: goes on as long as one region's move lets another one move; a loop, whatever the depth of the tree.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::advance_those(Worker& worker, AllHeld held, Afterwards& afterwards) noexcept {
  while (advance_first_ != nullptr) {
    Region& region = *advance_first_;
    advance_first_ = region.link;
    region.advancing = false;
    advance_one(worker, held, region, afterwards);
  }
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::advance_one(Worker& worker, AllHeld held, Region& region, Afterwards& afterwards) noexcept {
  const RegionState state = region.state.get();
  if (state == RegionState::closing || state == RegionState::draining) {
    if (!region.gate.look().last_one_left()) return;
    move(worker, held, region, RegionState::finalizing);
  } else if (state != RegionState::finalizing) {
    return;
  }
  if (region.cleanup_live != 0) return;
  if (region.finalizers != nullptr) {
    start_finalizer(worker, held, region);
    return;
  }
  if (region.heap != nullptr && region.heap->makers != 0) return;
  if (!audit(worker, held, region)) return;
  finish_closing(worker, held, region, afterwards);
}

/// The last one out of a closed gate comes here; another may have let the region go on meanwhile, or even closed it.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::advance_after_last(Worker& worker, RegionId id) noexcept {
  Afterwards afterwards;
  const Locked<Operation::advance_region> held(shards_, worker.order());
  Region* const region = find_region(id);
  if (region == nullptr) {
    CALM_PROBE("last one out: the region was closed by someone else");
    return;
  }
  let_advance(held, *region);
  advance_all(worker, held, afterwards);
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::finish_closing(Worker& worker, AllHeld held, Region& region,
                                          Afterwards& afterwards) noexcept {
  CALM_INVARIANT(OBL_3, region.ledger.is_zero(), region.id().bits(), region.ledger.total());
  move(worker, held, region, RegionState::closed);
  (void)region.gate.lock();
  // The story of a child far below may have lost its root (CAN-2), which the regions above must know (OUT-4): the region
  // was told the same story on a shorter way.
  const ChildEnd& end = region.fold.end();
  const bool cut =
      end.is_cancelled() && end.reason().truncated() && end.reason().kind() == CancelKind::parent_cancelled;
  if (cut && region.reason) region.fold.replace(ChildEnd(cancelled(region.reason)).with_notes(end.notes()));
  region.gate.unlock(GateView().with_closed());
  if (region.heap != nullptr) afterwards.end(std::move(region.heap));
  if (region.parent != nullptr) leave_parent(worker, held, region);
  wake_waiter(worker, region.waiter.get());
  wake_waiter(worker, region.owner.bits());
  if (!region.handle) recycle(worker, held, region);
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::leave_parent(Worker& worker, AllHeld held, Region& region) noexcept {
  Region& parent = *region.parent;
  const ChildEnd& end = region.fold.end();
  const bool reports = region.reports_to == ReportsTo::parent;
  (region.before == nullptr ? parent.first_child : region.before->after) = region.after;
  (region.after == nullptr ? parent.last_child : region.after->before) = region.before;
  region.before = nullptr;
  region.after = nullptr;
  if (reports && cancels_siblings(parent.policy, end, {region.id(), {}})) {
    cancel_with(worker, held, parent, {.kind = CancelKind::fail_fast, .region = parent.id()});
  }
  const GateView gate = parent.gate.lock();
  if (reports) parent.fold.add(end, region.creation, parent.id());
  const GateView left = gate.without_region();
  parent.gate.unlock(left);
  if (left.last_one_left()) let_advance(held, parent);
}

// --- finalizers ---

template <lockfree::AtomicsPolicy Atomics>
Made<TaskId> BasicKernel<Atomics>::defer(Worker& worker, RegionId id, void* frame) {
  const Locked<Operation::start_finalizers> held(shards_, worker.order());
  Region* const region = find_region(id);
  if (region == nullptr) return {.status = Errc::stale_handle};
  const RegionState state = region->state.get();
  if (state == RegionState::finalizing || state == RegionState::closed) return {.status = Errc::region_not_open};
  Task* const task = tasks_.take(worker.index());
  if (task == nullptr) return {.status = Errc::resource_exhausted};
  prepare(*task, id, {.frame = frame}, worker);
  const Budget budget{.polls = Quota(finalizer_polls)};
  task->terms().set_budget(budget);
  const GateView gate = region->gate.lock();
  task->creation = region->children_made++;
  region->gate.unlock(gate);
  // Wakes have no effect before it is started.
  const TaskLife life = task->word.look().born().with(budget);
  task->word.renew(life.with(lockfree::WakeState::done).with(TaskFlag::cleanup));
  task->queue_link = region->finalizers;
  region->finalizers = task;
  return {.id = task->id()};
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::start_finalizer(Worker& worker, AllHeld, Region& region) noexcept {
  Task& task = *region.finalizers;
  region.finalizers = task.queue_link;
  region.cleanup_tasks.append(task);
  ++region.cleanup_live;
  TaskLife life = task.word.look();
  while (!task.word.step(life, life.with(lockfree::WakeState::queued))) {
  }
  note_write(worker, trace::EventKind::finalize, task.id_of(life), region.id(), region.id(), task.creation);
  host_.schedule(worker, task);
}

/// A task that a finalizer starts: exempt from limits, only while a finalizer of the region is alive (REG-6).
template <lockfree::AtomicsPolicy Atomics>
Made<TaskId> BasicKernel<Atomics>::spawn_cleanup(Worker& worker, RegionId id, const TaskSpec& spec) {
  const Locked<Operation::start_finalizers> held(shards_, worker.order());
  Region* const region = find_region(id);
  if (region == nullptr) return {.status = Errc::stale_handle};
  if (region->state.get() != RegionState::finalizing || region->cleanup_live == 0) {
    return {.status = Errc::region_not_open};
  }
  Budget budget = meet(spec.budget, {.polls = Quota(finalizer_polls)});
  if (spec.spawner) {
    const Task* const spawner = find(spec.spawner);
    if (spawner == nullptr) return {.status = Errc::stale_handle};
    budget = child_budget(spawner->budget(), budget);
  }
  budget.deadline = {};  // polls bound a clean-up task
  if (const Status room = worker.recorder().room(1); !room) return {.status = room};
  Task* const task = tasks_.take(worker.index());
  if (task == nullptr) return {.status = Errc::resource_exhausted};
  prepare(*task, id, spec, worker);
  task->terms().set_budget(budget);
  const GateView gate = region->gate.lock();
  task->creation = region->children_made++;
  region->gate.unlock(gate);
  TaskLife life = task->word.look().born().with(budget).with(TaskFlag::cleanup);
  if (spec.handle) life = life.with(TaskFlag::handle);
  task->word.renew(life);
  region->cleanup_tasks.append(*task);
  ++region->cleanup_live;
  note_write(worker, trace::EventKind::spawn, task->id_of(life), id, id, task->creation, spec.cause);
  host_.schedule(worker, *task);
  return {.id = task->id_of(life)};
}

// --- waiting, memory, the end of the slot ---

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::await_close(Worker& worker, RegionId id, TaskId waiter) {
  const Locked<Operation::create_region> held(shards_, worker.order());
  Region* const region = find_region(id);
  if (region == nullptr) return Errc::stale_handle;
  if (region->state.get() == RegionState::closed) return {};
  if (find(waiter) == nullptr) return Errc::stale_handle;
  if (region->waiter.get() != 0) return Errc::busy;
  region->waiter.set(waiter.bits());
  return Errc::would_block;
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::forget_close(Worker& worker, RegionId id, TaskId waiter) {
  const Locked<Operation::create_region> held(shards_, worker.order());
  Region* const region = find_region(id);
  if (region != nullptr && region->waiter.get() == waiter.bits()) region->waiter.set(0);
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::begin_making(Worker& worker, RegionId id, std::size_t bytes, std::size_t align,
                                          void*& memory) {
  const Locked<Operation::region_heap> held(shards_, worker.order());
  Region* const region = find_region(id);
  if (region == nullptr) return Errc::stale_handle;
  if (region->state.get() == RegionState::closed) return Errc::region_closed;
  if (region->heap == nullptr) {
    if (mem::Arena::cost(bytes, align) > region->limits.heap_bytes) return Errc::admission_limit;
    region->heap.reset(new (std::nothrow) RegionHeap(region->limits.heap_bytes));
    if (region->heap == nullptr) return Errc::resource_exhausted;
  }
  memory = region->heap->allocate(bytes, align);
  if (memory == nullptr) return region->heap->has_room(bytes, align) ? Errc::resource_exhausted : Errc::admission_limit;
  ++region->heap->makers;
  return {};
}

/// Needs: begin_making() before; a maker keeps the region from closing. nullptr when no object was made.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::end_making(Worker& worker, RegionId id, RegionHeap::Ending* ending) {
  Afterwards afterwards;
  const Locked<Operation::advance_region> held(shards_, worker.order());
  Region& region = *find_region(id);
  if (ending != nullptr) region.heap->add(*ending);
  if (--region.heap->makers == 0 && region.state.get() == RegionState::finalizing) {
    let_advance(held, region);
    advance_all(worker, held, afterwards);
  }
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::check_heap(RegionId id) const noexcept {
  return state(id) == RegionState::closed ? Status(Errc::region_closed) : Status();
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::Afterwards::free_all() noexcept {
  while (first_ != nullptr) {
    const std::unique_ptr<RegionHeap> heap(first_);
    first_ = heap->next;
  }
}

template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::Afterwards::end(std::unique_ptr<RegionHeap> heap) noexcept {
  RegionHeap* const added = heap.release();
  (first_ == nullptr ? first_ : last_->next) = added;
  last_ = added;
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::release(Worker& worker, RegionId id) {
  const Locked<Operation::advance_region> held(shards_, worker.order());
  Region* const region = find_region(id);
  if (region == nullptr || !region->handle) return Errc::stale_handle;
  region->handle = false;
  if (region->state.get() == RegionState::closed) recycle(worker, held, *region);
  return {};
}

/// Needs: Closed, without a handle. Under C as well, so that who reserves compares a generation that stays.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::recycle(Worker& worker, AllHeld, Region& region) noexcept {
  const GateView gate = region.gate.lock();
  const bool last = region.generation.get() == Generation::last;
  region.generation.set(last ? 0 : region.generation.get() + 1);
  region.fold.clear();
  region.reason = {};
  region.child_reason = {};
  region.reserve = {};
  region.epoch = {};
  region.cleanup = {};
  region.cancelled.set(false);
  region.waiter.set(0);
  region.owner = {};
  region.parent = nullptr;
  region.leaked = 0;
  region.gate.unlock(gate);
  if (last) {
    CALM_PROBE("region slot: its generations are used up");
    return;
  }
  regions_.give_back(worker.index(), region);
}

// --- queries ---

template <lockfree::AtomicsPolicy Atomics>
RegionState BasicKernel<Atomics>::state(RegionId id) const noexcept {
  const Region* const region = regions_.find(id.index());
  if (region == nullptr) return RegionState::closed;
  const RegionState state = region->state.seen();  // before the generation: a later life has another one
  return region->generation.get() == generation_of(id) ? state : RegionState::closed;
}

template <lockfree::AtomicsPolicy Atomics>
std::optional<ChildEnd> BasicKernel<Atomics>::end_of(Worker& worker, RegionId id) {
  const Locked<Operation::create_region> held(shards_, worker.order());
  Region* const region = find_region(id);
  if (region == nullptr || region->state.get() != RegionState::closed) return std::nullopt;
  return region->fold.end();
}

template <lockfree::AtomicsPolicy Atomics>
bool BasicKernel<Atomics>::is_cancelled(RegionId id) const noexcept {
  const Region* const region = find_region(id);
  return region != nullptr && region->cancelled.get();
}

template <lockfree::AtomicsPolicy Atomics>
Reason BasicKernel<Atomics>::reason_of(Worker& worker, RegionId id) {
  const Locked<Operation::create_region> held(shards_, worker.order());
  Region* const region = find_region(id);
  return region == nullptr ? Reason() : region->reason;
}

}  // namespace calm::kernel
