// What the reference model counts, compares and shows.
#include "reference_model.hpp"

#include "calm/check/require.hpp"
#include "calm/model/obligation_state.hpp"
#include "calm/model/region_state.hpp"
#include "calm/model/task_state.hpp"

namespace calm::reference {

ReferenceKernel::ReferenceKernel(const kernel::Config& config, RegionId root, Fault fault)
    : config_(config), fault_(fault) {
  name(root.bits());
  RegionRow& region = regions_[root];
  region.id = root;
  region.spec.limits = config.root_limits;
  region.budget = config.root_budget;
}

/// HND-1: an id is given once.
void ReferenceKernel::name(std::uint64_t bits) { CALM_INVARIANT(HND_1, names_.insert(bits).second, bits); }

std::uint64_t ReferenceKernel::live_tasks(RegionId region) const {
  std::uint64_t live = 0;
  for (const auto& [id, task] : tasks_) live += task.region == region && is_live(task) && !task.cleanup;
  return live;
}

std::uint64_t ReferenceKernel::live_cleanup(RegionId region) const {
  std::uint64_t live = 0;
  for (const auto& [id, task] : tasks_) {
    live += task.region == region && is_live(task) && task.cleanup && !task.waiting_finalizer;
  }
  return live;
}

std::uint64_t ReferenceKernel::live_regions(RegionId parent) const {
  std::uint64_t live = 0;
  for (const auto& [id, region] : regions_) live += region.parent == parent && region.state != RegionState::closed;
  return live;
}

bool ReferenceKernel::has_live_child(const RegionRow& region) const {
  return region.body || live_tasks(region.id) > 0 || live_regions(region.id) > 0;
}

Ledger ReferenceKernel::ledger(RegionId region) const {
  Ledger ledger;
  for (const auto& [id, obligation] : obligations_) {
    const bool open = obligation.region == region && obligation.state == ObligationState::reserved;
    if (open) (void)ledger.reserve(obligation.kind);
  }
  return ledger;
}

/// CAN-8: a service uses a buffer in the frame of the task.
bool ReferenceKernel::buffer_in_use(TaskId task) const {
  for (const auto& [id, obligation] : obligations_) {
    const bool in_use = obligation.holder.service != kernel::Service::none && obligation.holder.task == task;
    if (in_use && obligation.state == ObligationState::reserved) return true;
  }
  return false;
}

/// Gives: true when `region` is `above`, or anywhere below it.
bool ReferenceKernel::is_below(RegionId region, RegionId above) const {
  for (const RegionRow* row = find(region); row != nullptr; row = find(row->parent)) {
    if (row->id == above) return true;
  }
  return false;
}

/// OUT-4, in creation order.
ChildEnd ReferenceKernel::fold(const RegionRow& region) const {
  if (region.last_word) return *region.last_word;
  ChildEnd folded = ok();
  if (fault_ == Fault::fold_in_order_of_ends) {
    for (const std::uint64_t place : region.order_of_ends) {
      folded = fold_child(std::move(folded), region.ends.at(place), region.id);
    }
    return folded;
  }
  for (const auto& [place, end] : region.ends) folded = fold_child(std::move(folded), end, region.id);
  return folded;
}

std::vector<TaskId> ReferenceKernel::live_of(RegionId region, bool cleanup) const {
  std::map<std::uint64_t, TaskId> found;
  for (const auto& [id, task] : tasks_) {
    if (task.region != region || !is_live(task) || task.cleanup != cleanup || task.waiting_finalizer) continue;
    found.emplace(task.creation, id);
  }
  std::vector<TaskId> ids;
  for (const auto& [creation, id] : found) ids.push_back(id);
  return ids;
}

std::vector<RegionId> ReferenceKernel::children_of(RegionId parent) const {
  std::map<std::uint64_t, RegionId> found;
  for (const auto& [id, region] : regions_) {
    if (region.parent == parent && region.state != RegionState::closed) found.emplace(region.creation, id);
  }
  std::vector<RegionId> ids;
  for (const auto& [creation, id] : found) ids.push_back(id);
  return ids;
}

/// The regions that are not Closed and whose body runs in the task's frame, oldest first; not those below another one.
std::vector<RegionId> ReferenceKernel::owned_by(TaskId task) const {
  std::map<std::uint64_t, RegionId> found;
  for (const auto& [id, region] : regions_) {
    if (region.spec.owner != task || region.state == RegionState::closed) continue;
    bool below = false;
    for (const RegionRow* above = find(region.parent); above != nullptr; above = find(above->parent)) {
      below = below || above->spec.owner == task;
    }
    if (!below) found.emplace(region.made, id);
  }
  std::vector<RegionId> ids;
  for (const auto& [made, id] : found) ids.push_back(id);
  return ids;
}

std::vector<RegionId> ReferenceKernel::innermost_of(TaskId task) const {
  const auto is_owned = [&](const RegionRow& row) {
    return row.spec.owner == task && row.state != RegionState::closed;
  };
  std::map<std::uint64_t, RegionId> found;
  for (const auto& [id, region] : regions_) {
    if (is_owned(region)) found.emplace(region.made, id);
  }
  for (const auto& [id, region] : regions_) {
    const RegionRow* const around = find(region.parent);
    if (is_owned(region) && around != nullptr && is_owned(*around)) found.erase(around->made);
  }
  std::vector<RegionId> ids;
  for (const auto& [made, id] : found) ids.push_back(id);
  return ids;
}

void ReferenceKernel::move(RegionRow& region, RegionState to) {
  CALM_INVARIANT(REG_1, check_move(region.state, to).is_ok(), region.state, to);
  ++moves.regions[{region.state, to}];
  region.state = to;
}

void ReferenceKernel::move(TaskRow& task, TaskState to) {
  CALM_INVARIANT(TSK_1, check_move(task.state, to).is_ok(), task.state, to);
  ++moves.tasks[{task.state, to}];
  task.state = to;
}

void ReferenceKernel::move(ObligationRow& obligation, ObligationState to) {
  CALM_INVARIANT(OBL_1, check_move(obligation.state, to).is_ok(), obligation.state, to);
  ++moves.obligations[{obligation.state, to}];
  obligation.state = to;
}

// HND-1: the slot is used again as soon as nobody can ask for its record.

void ReferenceKernel::forget_if_over(RegionId id) {
  const RegionRow& region = regions_.at(id);
  if (region.state == RegionState::closed && !region.handle) regions_.erase(id);
}

void ReferenceKernel::forget_if_over(TaskId id) {
  const TaskRow& task = tasks_.at(id);
  if (!is_live(task) && !task.handle) tasks_.erase(id);
}

void ReferenceKernel::forget_if_over(ObligationId id) {
  const ObligationRow& obligation = obligations_.at(id);
  if (obligation.state != ObligationState::reserved && !obligation.token) obligations_.erase(id);
}

kernel::Snapshot ReferenceKernel::snapshot() const {
  kernel::Snapshot all;
  all.now = now_;
  all.regions.reserve(regions_.size());
  all.tasks.reserve(tasks_.size());
  all.obligations.reserve(obligations_.size());
  for (const auto& [id, region] : regions_) {
    all.regions.push_back({.id = id,
                           .parent = region.state == RegionState::closed ? RegionId() : region.parent,
                           .state = region.state,
                           .creation = region.creation,
                           .children_made = region.children_made,
                           .live_tasks = live_tasks(id),
                           .live_regions = live_regions(id),
                           .live_cleanup = live_cleanup(id),
                           .waiting_finalizers = region.finalizers.size(),
                           .body = region.body,
                           .handle = region.handle,
                           .owner = region.spec.owner,
                           .budget = region.budget,
                           .policy = region.spec.policy,
                           .reason = region.reason,
                           .epoch = region.epoch,
                           .cleanup = region.reason ? region.reason.cleanup() : Budget(),
                           .end = fold(region),
                           .ledger = ledger(id),
                           .leaked = region.leaked,
                           .heap_bytes = region.heap_bytes});
  }
  for (const auto& [id, task] : tasks_) {
    kernel::TaskView view{
        .id = id, .state = task.state, .wake = task.wake, .forced = task.forced, .outcome = task.outcome};
    if (is_live(task)) {
      view.region = task.region;
      view.creation = task.creation;
      view.left = task.left;
      view.cleanup = task.cleanup;
      view.started = task.started;
      view.mask_depth = task.mask_depth;
      view.cleanup_polls = static_cast<std::uint16_t>(task.cleanup_polls);
      if (task.reason) view.cleanup_quota = static_cast<std::uint16_t>(task.reason.cleanup().polls.count());
      view.reason = task.reason;
      view.epoch = task.epoch;
      std::copy(std::begin(task.counted), std::end(task.counted), std::begin(view.counted));
    }
    all.tasks.push_back(view);
  }
  for (const auto& [id, obligation] : obligations_) {
    const bool open = obligation.state == ObligationState::reserved;
    all.obligations.push_back({.id = id,
                               .region = open ? obligation.region : RegionId(),
                               .kind = obligation.kind,
                               .state = obligation.state,
                               .holder = obligation.holder,
                               .resource = obligation.resource,
                               .since = obligation.since});
  }
  return all;
}

}  // namespace calm::reference
