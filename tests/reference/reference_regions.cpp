// The regions of the reference model: OUT-4, CAN-5, CAN-6, REG-1..10, OBL-6.
#include <algorithm>

#include "calm/model/region_state.hpp"
#include "reference_model.hpp"

namespace calm::reference {

using kernel::CancelSpec;
using kernel::FindingKind;
using kernel::RegionSpec;

Status ReferenceKernel::create_region(RegionId name_given, RegionId parent, const RegionSpec& spec) {
  RegionRow* const above = region_row(parent);
  if (above == nullptr) return Errc::stale_handle;
  if (above->state != RegionState::open) return Errc::region_not_open;
  const TaskRow* const owner = find(spec.owner);
  if (spec.owner) {  // CAN-8: what borrows from a frame is below the region of its task
    if (owner == nullptr) return Errc::stale_handle;
    const bool near = owner->region == parent || above->spec.owner == spec.owner;
    if (!near || !is_live(*owner)) return Errc::invalid_argument;
  }
  if (live_regions(parent) >= above->spec.limits.regions) return Errc::admission_limit;
  if (regions_.size() >= config_.ceilings.regions) return Errc::resource_exhausted;

  name(name_given.bits());
  RegionRow& region = regions_[name_given];
  region.id = name_given;
  region.parent = parent;
  region.spec = spec;
  region.budget = meet(above->budget, spec.budget);
  if (owner != nullptr) region.budget = meet(region.budget, owner->left);
  region.made = ++regions_made_;
  region.creation = above->children_made++;
  region.body = spec.body;
  region.children_made = spec.body ? 1 : 0;  // OUT-4: the body is the first child
  return {};
}

Status ReferenceKernel::close(RegionId id) {
  RegionRow* const region = region_row(id);
  if (region == nullptr) return Errc::stale_handle;
  if (region->state != RegionState::open) return {};
  start_closing(*region);
  advance_all();
  return {};
}

Status ReferenceKernel::cancel(RegionId id, const CancelSpec& spec) {
  RegionRow* const region = region_row(id);
  if (region == nullptr) return Errc::stale_handle;
  if (region->state == RegionState::closed) return {};
  cancel_tree(id, reason_from(spec, *region));
  advance_all();
  return {};
}

Reason ReferenceKernel::reason_from(const CancelSpec& spec, const RegionRow& region) const {
  return Reason({.kind = spec.kind,
                 .region = spec.region ? spec.region : region.id,
                 .task = spec.task,
                 .at = now_,
                 .message = spec.message,
                 .cause = spec.cause,
                 .cleanup_time = region.spec.cleanup_time});
}

/// CAN-5: the region's own flag, its tasks in spawn order, then the child regions in creation order.
void ReferenceKernel::cancel_tree(RegionId id, const Reason& reason) {
  RegionRow& region = *region_row(id);
  const Reason stronger = combine(region.reason, reason);
  if (stronger == region.reason) return;
  if (!region.reason) region.epoch = epochs_.next();
  region.reason = stronger;
  if (region.state == RegionState::open) start_closing(region);
  for (const TaskId task : tasks_of(id)) request(*task_row(task), region.reason, true);
  for (const TaskId task : cleanup_of(id)) wake_if_there(task);
  if (region.body) wake_if_there(region.spec.owner);
  for (const RegionId child : children_of(id)) {
    ReasonSpec spec = parent_cancelled(region.reason, id, now_);
    spec.cleanup_time = region.spec.cleanup_time;
    cancel_tree(child, Reason(spec));
  }
}

Status ReferenceKernel::end_body(RegionId id, const ChildEnd& end) {
  RegionRow* const region = region_row(id);
  if (region == nullptr) return Errc::stale_handle;
  if (!region->body) return Errc::invalid_transition;
  const std::uint64_t place = fault_ == Fault::body_folds_last ? UINT64_MAX : 0;
  child_ended(id, place, end, {id, region->spec.owner}, true);
  region->body = false;
  child_left(id);
  advance_all();
  return {};
}

Status ReferenceKernel::advance(RegionId id) {
  RegionRow* const region = region_row(id);
  if (region == nullptr) return Errc::stale_handle;
  if (region->state == RegionState::open) return Errc::invalid_transition;
  if (region->state == RegionState::closed) return {};
  return has_live_child(*region) || live_cleanup(id) > 0 ? Errc::incomplete_children : Errc::unresolved_obligations;
}

Status ReferenceKernel::defer(TaskId name_given, RegionId id) {
  RegionRow* const region = region_row(id);
  if (region == nullptr) return Errc::stale_handle;
  if (region->state == RegionState::finalizing || region->state == RegionState::closed) return Errc::region_not_open;
  if (tasks_.size() >= config_.ceilings.tasks) return Errc::resource_exhausted;
  name(name_given.bits());
  TaskRow& task = tasks_[name_given];
  task.id = name_given;
  task.region = id;
  task.creation = region->children_made++;
  task.handle = false;
  task.cleanup = true;
  task.waiting_finalizer = true;
  task.wake = lockfree::WakeState::done;  // wakes have no effect before it is started
  task.left = {.polls = Quota(kernel::finalizer_polls)};
  region->finalizers.push_back(name_given);
  return {};
}

Status ReferenceKernel::await_close(RegionId id, TaskId waiter) {
  RegionRow* const region = region_row(id);
  if (region == nullptr) return Errc::stale_handle;
  if (region->state == RegionState::closed) return {};
  if (find(waiter) == nullptr) return Errc::stale_handle;
  if (region->waiter) return Errc::busy;
  region->waiter = waiter;
  return Errc::would_block;
}

void ReferenceKernel::forget_close(RegionId id, TaskId waiter) {
  RegionRow* const region = region_row(id);
  if (region != nullptr && region->waiter == waiter) region->waiter = {};
}

Status ReferenceKernel::use_heap(RegionId id, std::uint64_t bytes) {
  RegionRow* const region = region_row(id);
  if (region == nullptr) return Errc::stale_handle;
  if (region->state == RegionState::closed) return Errc::region_closed;
  if (bytes > region->spec.limits.heap_bytes - region->heap_bytes) return Errc::admission_limit;
  region->heap_bytes += bytes;
  return {};
}

Status ReferenceKernel::check_heap(RegionId id) const {
  return state(id) == RegionState::closed ? Errc::region_closed : Status();
}

Status ReferenceKernel::release(RegionId id) {
  RegionRow* const region = region_row(id);
  if (region == nullptr || !region->handle) return Errc::stale_handle;
  region->handle = false;
  forget_if_over(id);
  return {};
}

RegionState ReferenceKernel::state(RegionId id) const {
  const RegionRow* const region = find(id);
  return region == nullptr ? RegionState::closed : region->state;
}

std::optional<ChildEnd> ReferenceKernel::end_of(RegionId id) const {
  const RegionRow* const region = find(id);
  if (region == nullptr || region->state != RegionState::closed) return std::nullopt;
  return fold(*region);
}

Reason ReferenceKernel::reason_of(RegionId id) const {
  const RegionRow* const region = find(id);
  return region == nullptr ? Reason() : region->reason;
}

/// A child has ended: fail-fast, then its place in the fold (OUT-4).
void ReferenceKernel::child_ended(RegionId id, std::uint64_t place, const ChildEnd& end, ChildOrigin child,
                                  bool may_fail_fast) {
  RegionRow& region = *region_row(id);
  if (may_fail_fast && cancels_siblings(region.spec.policy, end, child)) {
    cancel_tree(id, Reason({.kind = CancelKind::fail_fast,
                            .region = id,
                            .task = child.task,
                            .at = now_,
                            .cleanup_time = region.spec.cleanup_time}));
  }
  region.ends.insert_or_assign(place, end);
  region.order_of_ends.push_back(place);
}

/// REG-3
void ReferenceKernel::start_closing(RegionRow& region) {
  move(region, RegionState::closing);
  if (has_live_child(region)) {
    move(region, RegionState::draining);
  } else {
    let_advance(region.id);
  }
}

/// REG-9: asks every region in the line whether it can move, as long as one move lets another one happen.
void ReferenceKernel::advance_all() {
  while (!line_.empty()) {
    const RegionId id = line_.front();
    line_.erase(line_.begin());
    while (step_on(id)) {
    }
  }
}

/// The last one out lets the region go on.
void ReferenceKernel::child_left(RegionId id) {
  const RegionRow& region = *find(id);
  if (region.state != RegionState::open && !has_live_child(region)) let_advance(id);
}

void ReferenceKernel::let_advance(RegionId id) {
  if (std::find(line_.begin(), line_.end(), id) == line_.end()) line_.push_back(id);
}

/// Gives: whether the region made a move.
bool ReferenceKernel::step_on(RegionId id) {
  RegionRow* const region = region_row(id);
  if (region == nullptr) return false;
  switch (region->state) {
    case RegionState::open:
    case RegionState::closed:
      return false;
    case RegionState::closing:
    case RegionState::draining:
      if (has_live_child(*region)) return false;
      move(*region, RegionState::finalizing);
      return true;
    case RegionState::finalizing:
      break;
  }
  if (live_cleanup(id) > 0) return false;
  if (!region->finalizers.empty()) {
    start_finalizer(*region);
    return false;
  }
  if (!audit(*region)) return false;
  finish_region(*region);
  return true;
}

void ReferenceKernel::start_finalizer(RegionRow& region) {
  const bool newest = fault_ != Fault::oldest_finalizer_first;  // REG-5: LIFO
  const auto next = newest ? region.finalizers.end() - 1 : region.finalizers.begin();
  TaskRow& task = *task_row(*next);
  region.finalizers.erase(next);
  task.waiting_finalizer = false;
  task.wake = lockfree::WakeState::queued;
  told.scheduled.push_back(task.id);
}

/// The region is quiet: it becomes Closed and leaves its parent.
void ReferenceKernel::finish_region(RegionRow& region) {
  const RegionId id = region.id;
  const RegionId parent = region.parent;
  ChildEnd end = fold(region);
  const bool cut =
      end.is_cancelled() && end.reason().truncated() && end.reason().kind() == CancelKind::parent_cancelled;
  if (cut && region.reason) {  // CAN-2: the region was told the same story on a shorter way
    const Notes notes = end.notes();
    end = ChildEnd(cancelled(region.reason)).with_notes(notes);
  }
  region.last_word = end;
  region.heap_bytes = 0;
  move(region, RegionState::closed);
  if (parent && region.spec.reports_to == kernel::ReportsTo::parent) {
    child_ended(parent, region.creation, end, {id, {}}, true);
  }
  if (parent) child_left(parent);
  wake_if_there(std::exchange(region.waiter, {}));
  wake_if_there(region.spec.owner);
  forget_if_over(id);
}

}  // namespace calm::reference
