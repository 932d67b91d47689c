// The promises of the reference model: OBL-1..6, OBL-11, REG-6.
#include <algorithm>

#include "calm/model/obligation_state.hpp"
#include "reference_model.hpp"

namespace calm::reference {

using kernel::FindingKind;
using kernel::Holder;
using kernel::LeakPolicy;
using kernel::Service;
using lockfree::WakeState;

namespace {}  // namespace

Status ReferenceKernel::reserve(ObligationId name_given, RegionId region, const kernel::ObligationSpec& spec) {
  if (!has_record(spec.kind, true)) return Errc::invalid_argument;
  const RegionRow* const row = find(region);
  if (row == nullptr) return Errc::stale_handle;
  const TaskRow* const holder = spec.holder.is_task() ? find(spec.holder.task) : nullptr;
  if (spec.holder.is_task() && holder == nullptr) return Errc::stale_handle;
  if (holder != nullptr && !is_polled(*holder)) return Errc::invalid_argument;
  if (spec.holder.task && find(spec.holder.task) == nullptr) return Errc::stale_handle;
  if (!serves(region, spec.holder)) return Errc::invalid_argument;
  const bool by_finalizer = row->state == RegionState::finalizing && holder != nullptr && holder->cleanup &&
                            holder->region == region;  // REG-6
  if (row->state != RegionState::open && !by_finalizer) return Errc::region_not_open;
  if (ledger(region).total() >= row->spec.limits.obligations) return Errc::admission_limit;
  if (obligations_.size() >= config_.ceilings.obligations) return Errc::resource_exhausted;

  name(name_given.bits());
  ObligationRow& obligation = obligations_[name_given];
  obligation.id = name_given;
  obligation.region = region;
  obligation.kind = spec.kind;
  obligation.holder = spec.holder;
  obligation.resource = spec.resource;
  obligation.since = now_;
  obligation.taken_over = ++hand_overs_;
  return {};
}

/// A service holds a promise for a live task only in its region, or in one that the task owns.
bool ReferenceKernel::serves(RegionId region, const Holder& holder) const {
  if (holder.service == Service::none || !holder.task) return true;
  const TaskRow* const task = find(holder.task);
  const bool live = task != nullptr && (is_live(*task) || fault_ == Fault::service_for_an_ended_task);
  return live && (task->region == region || find(region)->spec.owner == holder.task);
}

Status ReferenceKernel::resolve(ObligationId id, ObligationState to) {
  ObligationRow* const obligation = row_of(obligations_, id);
  if (obligation == nullptr) return Errc::stale_handle;
  if (const Status legal = check_move(obligation->state, to); !legal) return legal;
  move(*obligation, to);
  promise_ended(*obligation);
  advance_all();
  return {};
}

/// A promise has ended, or has left the hands of a service: whoever waited for that goes on.
void ReferenceKernel::promise_ended(const ObligationRow& obligation) {
  if (obligation.holder.service != Service::none) wake_if_there(obligation.holder.task);
  if (state(obligation.region) == RegionState::finalizing) let_advance(obligation.region);
}

Status ReferenceKernel::hand_over(ObligationId id, Holder to) {
  ObligationRow* const obligation = row_of(obligations_, id);
  if (obligation == nullptr) return Errc::stale_handle;
  if (obligation->state == ObligationState::leaked) return Errc::obligation_leaked;
  if (obligation->state != ObligationState::reserved) return Errc::obligation_already_resolved;
  if (to.task && find(to.task) == nullptr) return Errc::stale_handle;
  if (!serves(obligation->region, to)) return Errc::invalid_argument;
  if (to.is_task()) {
    const TaskRow* const holder = find(to.task);
    if (holder == nullptr || !is_live(*holder)) return Errc::stale_handle;
    const bool strictly_below = obligation->region != holder->region && is_below(obligation->region, holder->region);
    if (holder->waiting_finalizer && strictly_below) return Errc::invalid_argument;  // REG-9: it waits for that region
  }
  if (fault_ != Fault::hand_over_wakes_nobody) promise_ended(*obligation);
  obligation->holder = to;
  obligation->taken_over = ++hand_overs_;
  TaskRow* const holder = to.is_task() ? task_row(to.task) : nullptr;
  if (holder != nullptr && holder->reason) wake_row(*holder);  // one that is to be forced looks again at what it holds
  advance_all();
  return {};
}

Status ReferenceKernel::resolve_and_drop(ObligationId id, ObligationState to) {
  if (const Status resolved = resolve(id, to); !resolved) return resolved;
  row_of(obligations_, id)->token = false;
  forget_if_over(id);
  return {};
}

Status ReferenceKernel::drop_token(ObligationId id) {
  ObligationRow* const obligation = row_of(obligations_, id);
  if (obligation == nullptr || !obligation->token) return Errc::stale_handle;
  obligation->token = false;
  if (obligation->state == ObligationState::reserved) {
    ++dropped_tokens_;
    move(*obligation, ObligationState::aborted);
    promise_ended(*obligation);
    report({.kind = FindingKind::dropped_token,
            .region = obligation->region,
            .task = obligation->holder.task,
            .obligation = id,
            .obligation_kind = obligation->kind,
            .must_fail = config_.strict_tokens});
  }
  forget_if_over(id);
  advance_all();
  return {};
}

Status ReferenceKernel::count(TaskId id, ObligationKind kind) {
  TaskRow* const task = task_row(id);
  if (task == nullptr) return Errc::stale_handle;
  const std::uint8_t index = kernel::counted_index(kind);
  if (index == kernel::counted_kind_count) return Errc::invalid_argument;
  if (!is_polled(*task)) return Errc::invalid_transition;
  ++task->counted[index];
  return {};
}

Status ReferenceKernel::uncount(TaskId id, ObligationKind kind, TaskId by) {
  TaskRow* const task = task_row(id);
  if (task == nullptr) return Errc::stale_handle;
  const std::uint8_t index = kernel::counted_index(kind);
  if (index == kernel::counted_kind_count) return Errc::invalid_argument;
  if (id == by && !is_polled(*task)) return Errc::invalid_transition;
  if (task->counted[index] == 0) return Errc::obligation_already_resolved;
  --task->counted[index];
  return {};
}

/// Gives: the open promises that the task holds, the newest first.
std::vector<ObligationRow*> ReferenceKernel::held_by(TaskId task) {
  std::vector<ObligationRow*> held;
  for (auto& [id, obligation] : obligations_) {
    const bool holds = obligation.holder.is_task() && obligation.holder.task == task;
    if (holds && obligation.state == ObligationState::reserved) held.push_back(&obligation);
  }
  std::sort(held.begin(), held.end(), [](const auto* a, const auto* b) { return a->taken_over > b->taken_over; });
  return held;
}

/// The task is not polled again, although its frame is still there: nobody else may wait for what it holds (OBL-5).
void ReferenceKernel::abort_held(TaskId task) {
  for (ObligationRow* const obligation : held_by(task)) {
    move(*obligation, ObligationState::aborted);
    promise_ended(*obligation);
    forget_if_over(obligation->id);
  }
}

/// OBL-5: what the task still holds.
void ReferenceKernel::settle(TaskRow& task, bool was_cancelled) {
  for (ObligationRow* const obligation : held_by(task.id)) {
    const LeakPolicy policy = was_cancelled ? LeakPolicy::recover : count_leaks(1);
    if (policy == LeakPolicy::recover) {
      move(*obligation, ObligationState::aborted);
    } else {
      lose(*obligation, task.id, policy == LeakPolicy::panic);
    }
    promise_ended(*obligation);
    forget_if_over(obligation->id);
  }
  for (std::uint8_t kind = 0; kind < kernel::counted_kind_count; ++kind) {
    const std::uint16_t open = std::exchange(task.counted[kind], std::uint16_t{0});
    if (open == 0 || was_cancelled) continue;
    const LeakPolicy policy = count_leaks(fault_ == Fault::count_lost_batch_once ? 1 : open);
    if (policy == LeakPolicy::recover) continue;
    region_row(task.region)->leaked += open;
    report({.kind = FindingKind::leak,
            .region = task.region,
            .task = task.id,
            .obligation_kind = kernel::counted_kinds[kind],
            .count = open,
            .must_fail = policy == LeakPolicy::panic});
  }
}

LeakPolicy ReferenceKernel::count_leaks(std::uint64_t leaks) {
  leaks_ += leaks;
  return leaks_ >= config_.leaks.threshold ? config_.leaks.then : config_.leaks.policy;
}

void ReferenceKernel::lose(ObligationRow& obligation, TaskId by, bool must_fail) {
  move(obligation, ObligationState::leaked);
  ++region_row(obligation.region)->leaked;
  report({.kind = FindingKind::leak,
          .region = obligation.region,
          .task = by,
          .obligation = obligation.id,
          .obligation_kind = obligation.kind,
          .must_fail = must_fail});
}

/// OBL-11: a service, or a task elsewhere, keeps the region waiting. OBL-6: then what nobody holds is lost, by ascending id.
/// Gives: whether nothing is open any more.
bool ReferenceKernel::audit(const RegionRow& region) {
  std::vector<ObligationRow*> lost;
  for (auto& [id, obligation] : obligations_) {
    if (obligation.region != region.id || obligation.state != ObligationState::reserved) continue;
    if (!obligation.holder.is_none()) return false;
    lost.push_back(&obligation);
  }
  for (ObligationRow* const obligation : lost) {
    LeakPolicy policy = count_leaks(1);
    if (fault_ == Fault::audit_forgets_threshold) policy = config_.leaks.policy;
    lose(*obligation, {}, policy == LeakPolicy::panic);
    forget_if_over(obligation->id);
  }
  if (!lost.empty()) report({.kind = FindingKind::unresolved, .region = region.id, .count = lost.size()});
  return true;
}

}  // namespace calm::reference
