// The tasks of the reference model: BUD-3..5, CAN-3, CAN-7..9, CAN-12, TSK-1..3, TSK-6, TSK-8.
#include <algorithm>
#include <utility>

#include "calm/kernel/forced_end.hpp"
#include "calm/model/task_state.hpp"
#include "reference_model.hpp"

namespace calm::reference {

using kernel::Finding;
using kernel::FindingKind;
using kernel::PollStart;
using lockfree::WakeState;

namespace {

bool cancelled(const TaskRow& task) { return bool(task.reason) && task.state != TaskState::completed; }

}  // namespace

Status ReferenceKernel::spawn(TaskId name_given, RegionId region, const kernel::TaskSpec& spec) {
  RegionRow* const row = region_row(region);
  if (row == nullptr) return Errc::stale_handle;
  const bool admits = spec.cleanup ? row->state == RegionState::finalizing && live_cleanup(region) > 0
                                   : row->state == RegionState::open;
  if (!admits) return Errc::region_not_open;
  Budget budget = meet(spec.budget, spec.cleanup ? Budget{.polls = Quota(kernel::finalizer_polls)} : row->budget);
  if (spec.spawner) {
    const TaskRow* const spawner = find(spec.spawner);
    if (spawner == nullptr) return Errc::stale_handle;
    budget = meet(budget, spawner->left);
  }
  if (spec.cleanup) budget.deadline = Deadline::none();  // REG-5: polls bound it, and nothing else
  if (!spec.cleanup && live_tasks(region) >= row->spec.limits.tasks) return Errc::admission_limit;
  if (tasks_.size() >= config_.ceilings.tasks) return Errc::resource_exhausted;

  name(name_given.bits());
  TaskRow& task = tasks_[name_given];
  task.id = name_given;
  task.region = region;
  task.creation = row->children_made++;
  task.left = budget;
  task.handle = spec.handle;
  task.cleanup = spec.cleanup;
  if (!budget.deadline.is_none()) told.watched.emplace_back(task.id, budget.deadline.time());
  told.scheduled.push_back(task.id);
  return {};
}

void ReferenceKernel::wake_row(TaskRow& task) {
  if (task.wake == WakeState::idle) {
    task.wake = WakeState::queued;
    told.scheduled.push_back(task.id);
  } else if (task.wake == WakeState::running && fault_ != Fault::lose_wake_during_poll) {
    task.wake = WakeState::running_woken;
  }
}

void ReferenceKernel::wake_if_there(TaskId task) {
  if (TaskRow* const row = task_row(task)) wake_row(*row);
}

void ReferenceKernel::begin_call(TaskId task) {
  if (TaskRow* const row = task_row(task)) row->in_call = true;
}

Status ReferenceKernel::end_call(TaskId task) {
  if (TaskRow* const row = task_row(task)) row->in_call = false;
  return wake(task);
}

Status ReferenceKernel::wake(TaskId task) {
  TaskRow* const row = task_row(task);
  if (row == nullptr) return Errc::stale_handle;
  wake_row(*row);
  return {};
}

PollStart ReferenceKernel::begin_poll(TaskId id) {
  TaskRow* const task = task_row(id);
  if (task == nullptr || task->wake != WakeState::queued) return PollStart::stale;
  task->wake = WakeState::running;
  const RegionRow& region = *find(task->region);
  const bool bounded = region.spec.cleanup_mode == kernel::CleanupMode::bounded;

  const bool late = !task->cleanup && task->left.deadline.reached(now_);  // a finalizer has polls only (REG-5)
  if (!cancelled(*task) && (task->left.polls == Quota(0) || late)) {
    request_own(*task, task->left.polls == Quota(0) ? CancelKind::poll_quota : CancelKind::deadline, false);
  }
  if (!cancelled(*task) && task->state == TaskState::created) {
    move(*task, TaskState::running);
  }
  const bool capped = fault_ != Fault::cleanup_masks_have_no_cap || !task->cleanup;
  if (task->mask_depth > 0 && ++task->mask_polls > kernel::mask_polls_max && capped) {
    task->mask_depth = 0;
    task->mask_broken = true;
    report({.kind = FindingKind::mask_too_long, .region = task->region, .task = id});
  }
  if (!cancelled(*task) || (task->cleanup && task->left.polls != Quota(0))) {
    (void)task->left.polls.take(1);
    task->started = true;
    return PollStart::run;
  }
  if (!task->started && !task->cleanup) {  // TSK-8
    if (task->state == TaskState::cancel_requested) move(*task, TaskState::cancelling);
    task->acknowledged = true;
    task->dropping = true;
    return PollStart::drop;
  }
  const Budget& cleanup = task->reason.cleanup();
  const bool left = !task->cleanup && cleanup.polls.covers(task->cleanup_polls + 1U) && !cleanup.deadline.reached(now_);
  if (left) ++task->cleanup_polls;
  if (!left && bounded) return force(*task);
  task->started = true;
  return PollStart::run;
}

/// CAN-8: the frame goes, unless something borrows from it; first what it has inside the innermost body.
PollStart ReferenceKernel::force(TaskRow& task) {
  const TaskId id = task.id;
  const std::vector<RegionId> innermost = innermost_of(id);
  const bool in_call = task.in_call && fault_ != Fault::force_in_a_call;
  bool borrowed = in_call || buffer_in_use(id);
  for (const RegionId region : innermost) borrowed = borrowed || !find(region)->body;
  for (const RegionId owned : owned_by(id)) {
    ReasonSpec spec = parent_cancelled(task.reason, task.region, now_);
    spec.task = id;
    spec.cleanup_time = find(task.region)->spec.cleanup_time;
    cancel_tree(owned, Reason(spec));
  }
  if (in_call && !std::exchange(task.told, true)) {
    report({.kind = FindingKind::stalled, .region = task.region, .task = id, .in_call = true});
  }
  if (borrowed) abort_held(id);
  advance_all();
  if (borrowed) {
    (void)end_poll(id);
    return PollStart::later;
  }
  if (!innermost.empty()) {
    task.unwinding = true;
    return PollStart::unwind;
  }
  if (task.state == TaskState::cancel_requested) move(task, TaskState::cancelling);
  task.acknowledged = true;
  task.forced = true;
  task.dropping = true;
  report({.kind = FindingKind::forced, .region = task.region, .task = id});
  return PollStart::drop;
}

Status ReferenceKernel::end_poll(TaskId id) {
  TaskRow* const task = task_row(id);
  if (task == nullptr) return Errc::stale_handle;
  if (!is_polled(*task)) return Errc::invalid_transition;
  const bool again = task->wake == WakeState::running_woken;
  task->wake = WakeState::idle;
  if (again) wake_row(*task);
  return {};
}

Status ReferenceKernel::complete(TaskId id, ChildEnd end) {
  TaskRow* const task = task_row(id);
  if (task == nullptr) return Errc::stale_handle;
  const bool never_polled = task->state == TaskState::created && !task->waiting_finalizer && !end.is_ok();
  if (task->state == TaskState::completed || (!is_polled(*task) && !never_polled)) return Errc::invalid_transition;

  if (task->acknowledged && !end.is_panicked()) {  // CAN-8, CAN-9
    const bool panics = task->forced && find(task->region)->spec.escalation == kernel::Escalation::panic;
    const Notes notes = end.notes();
    end = panics ? ChildEnd(panicked(kernel::forced_end())) : ChildEnd(calm::cancelled(task->reason));
    end = std::move(end).with_notes(notes);
  }
  if (task->state == TaskState::cancelling) move(*task, TaskState::finalizing);
  settle(*task, end.is_cancelled());
  move(*task, TaskState::completed);
  task->wake = WakeState::done;
  task->outcome = end.kind();
  child_ended(task->region, task->creation, end, {task->region, id}, !task->cleanup);
  wake_if_there(std::exchange(task->waiter, {}));
  child_left(task->region);
  forget_if_over(id);
  advance_all();
  return {};
}

Status ReferenceKernel::begin_finalizing(TaskId id) {
  TaskRow* const task = task_row(id);
  if (task == nullptr) return Errc::stale_handle;
  if (task->state != TaskState::cancelling || !is_polled(*task)) return Errc::invalid_transition;
  move(*task, TaskState::finalizing);
  return {};
}

Status ReferenceKernel::request_cancel(TaskId id, const kernel::CancelSpec& spec) {
  TaskRow* const task = task_row(id);
  if (task == nullptr) return Errc::stale_handle;
  if (task->state == TaskState::completed) return {};
  request(*task, reason_from(spec, *find(task->region)), true);
  return {};
}

Reason ReferenceKernel::combine(const Reason& old, const Reason& fresh) const {
  if (fault_ == Fault::forget_strengthening && old) return old;
  return strengthen(old, fresh);
}

/// CAN-3, CAN-4, CAN-11. Gives: whether anything changed.
bool ReferenceKernel::request(TaskRow& task, const Reason& reason, bool wakes) {
  const Reason stronger = combine(task.reason, reason);
  if (stronger == task.reason) return false;
  const bool first = !task.reason;
  task.reason = stronger;
  if (first) {
    task.epoch = epochs_.next();
    move(task, TaskState::cancel_requested);
  } else {
    move(task, task.state);
  }
  // From the first request on the deadline and the priority are those of clean-up.
  task.left.deadline = task.reason.cleanup().deadline;
  task.left.priority = std::max(task.left.priority, task.reason.cleanup().priority);
  told.watched.emplace_back(task.id, task.reason.cleanup().deadline.time());
  if (wakes) wake_row(task);  // CAN-13
  return true;
}

/// BUD-5: the task has used up what it had. In its own poll it needs no wake.
void ReferenceKernel::request_own(TaskRow& task, CancelKind kind, bool wakes) {
  const Reason reason({.kind = kind,
                       .region = task.region,
                       .task = task.id,
                       .at = now_,
                       .cleanup_time = find(task.region)->spec.cleanup_time});
  request(task, reason, wakes);
}

Status ReferenceKernel::checkpoint(TaskId id) {
  TaskRow* const task = task_row(id);
  if (task == nullptr) return Errc::stale_handle;
  if (!cancelled(*task) || task->cleanup || task->mask_depth > 0) return {};
  if (task->state == TaskState::cancel_requested) move(*task, TaskState::cancelling);
  task->acknowledged = true;
  return Errc::cancelled;
}

Status ReferenceKernel::enter_mask(TaskId id) {
  TaskRow* const task = task_row(id);
  if (task == nullptr) return Errc::stale_handle;
  if (!is_polled(*task)) return Errc::invalid_transition;
  if (task->mask_depth == kernel::mask_depth_max) {
    task->mask_depth = 0;
    task->mask_broken = true;
    report({.kind = FindingKind::mask_too_deep, .region = task->region, .task = id});
    return {};
  }
  if (task->mask_depth++ == 0) task->mask_polls = 0;
  return {};
}

Status ReferenceKernel::leave_mask(TaskId id) {
  TaskRow* const task = task_row(id);
  if (task == nullptr) return Errc::stale_handle;
  if (!is_polled(*task)) return Errc::invalid_transition;
  if (task->mask_depth == 0) return task->mask_broken ? Status() : Status(Errc::invalid_transition);
  --task->mask_depth;
  return {};
}

Status ReferenceKernel::spend(TaskId id, std::uint64_t cost) {
  TaskRow* const task = task_row(id);
  if (task == nullptr) return Errc::stale_handle;
  if (!is_polled(*task)) return Errc::invalid_transition;
  if (cancelled(*task)) return {};  // clean-up is not limited in cost
  const Status taken = task->left.cost.take(cost);
  if (!taken) {
    if (fault_ == Fault::keep_cost_of_refused_spend) task->left.cost = Quota(0);
    request_own(*task, CancelKind::cost_budget, false);
  }
  return taken;
}

Status ReferenceKernel::deadline_reached(TaskId id) {
  TaskRow* const task = task_row(id);
  if (task == nullptr) return Errc::stale_handle;
  if (task->state == TaskState::completed || task->cleanup) return {};
  if (!cancelled(*task)) {
    if (task->left.deadline.reached(now_)) request_own(*task, CancelKind::deadline, true);
    return {};
  }
  const bool bounded = find(task->region)->spec.cleanup_mode == kernel::CleanupMode::bounded;
  if (!bounded || !task->reason.cleanup().deadline.reached(now_) || task->forced) return {};
  const bool runs = is_polled(*task);
  wake_row(*task);
  if (runs) report({.kind = FindingKind::stalled, .region = task->region, .task = id});
  return {};
}

Status ReferenceKernel::unwound(TaskId id, RegionId region) {
  TaskRow* const task = task_row(id);
  RegionRow* const left = region_row(region);
  if (task == nullptr || left == nullptr) return Errc::stale_handle;
  const std::vector<RegionId> innermost = innermost_of(id);
  const bool inside = std::find(innermost.begin(), innermost.end(), region) != innermost.end();
  if (!is_polled(*task) || !cancelled(*task) || !inside || !left->body) return Errc::invalid_transition;
  task->unwinding = false;
  leave_body(*left, task->reason);
  if (fault_ == Fault::end_all_bodies_at_once) {
    for (auto& [other, row] : regions_) {
      if (row.body && row.spec.owner == id) leave_body(row, task->reason);
    }
  }
  advance_all();
  if (state(region) != RegionState::closed && fault_ != Fault::unwound_keeps_its_promises) abort_held(id);
  advance_all();
  return end_poll(id);
}

void ReferenceKernel::leave_body(RegionRow& region, const Reason& reason) {
  region.ends.insert_or_assign(0, ChildEnd(calm::cancelled(reason)));
  region.order_of_ends.push_back(0);
  region.body = false;
  child_left(region.id);
}

Status ReferenceKernel::await_end(TaskId id, TaskId waiter) {
  TaskRow* const task = task_row(id);
  if (task == nullptr || find(waiter) == nullptr) return Errc::stale_handle;
  if (task->state == TaskState::completed) return {};
  if (task->waiter) return Errc::busy;
  task->waiter = waiter;
  return Errc::would_block;
}

bool ReferenceKernel::forget_end(TaskId id) {
  TaskRow* const task = task_row(id);
  if (task == nullptr || !task->waiter || task->state == TaskState::completed) return false;
  task->waiter = {};
  return true;
}

Status ReferenceKernel::release(TaskId id) {
  TaskRow* const task = task_row(id);
  if (task == nullptr || !task->handle) return Errc::stale_handle;
  task->handle = false;
  forget_if_over(id);
  return {};
}

std::optional<Witness> ReferenceKernel::witness_of(TaskId id) const {
  const TaskRow* const task = find(id);
  if (task == nullptr || !task->reason) return std::nullopt;
  Witness witness{id, task->region, task->epoch, CancelPhase::requested, task->reason};
  if (task->state == TaskState::cancelling) witness.phase = CancelPhase::cancelling;
  if (task->state == TaskState::finalizing) witness.phase = CancelPhase::finalizing;
  if (task->state == TaskState::completed) {
    if (!task->acknowledged) return std::nullopt;  // CAN-9
    witness.phase = CancelPhase::completed;
  }
  return witness;
}

Budget ReferenceKernel::cleanup_left(TaskId id) const {
  const TaskRow& task = *find(id);
  Budget left = task.reason.cleanup();
  left.priority = task.left.priority;
  if (!left.polls.take(task.cleanup_polls)) left.polls = Quota(0);
  return left;
}

}  // namespace calm::reference
