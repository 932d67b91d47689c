#include "calm/kernel/snapshot.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "calm/trace/hash.hpp"

namespace calm::kernel {
namespace {

template <class View, class Id>
const View* find_by_id(const std::vector<View>& views, Id id) noexcept {
  const auto place =
      std::lower_bound(views.begin(), views.end(), id, [](const View& view, Id wanted) { return view.id < wanted; });
  return place != views.end() && place->id == id ? &*place : nullptr;
}

/// What enters the state digest, and in which order. Everything is a 64-bit number, an enumerator or a truth value too; an
/// id is its bits, 0 for none. Before a part that may be absent stands 1 when it is there and 0, alone, when it is not.
///
///   snapshot    count of regions, the regions; count of tasks, the tasks; count of obligations, the obligations
///   region      id, parent, state, creation, children_made, live_tasks, live_regions, live_cleanup, waiting_finalizers,
///               body, handle, owner, budget, policy, reason, epoch, cleanup, end, the ledger's count of each kind in the order of
///               ObligationKind, leaked, heap_bytes
///   task        id, region, state, wake, creation, left, cleanup, started, forced, mask_depth, cleanup_polls,
///               cleanup_quota, reason, epoch, [outcome kind], the open count of each of counted_kinds
///   obligation  id, region, kind, state, the holder's task, the holder's service, resource, since
///   budget      [deadline in ns], [polls], [cost], priority; absent is none or infinite
///   reason      [truncated, depth, then for each level, the newest first: kind, severity, region, task, at in ns, clean-up
///               budget, length of the message in bytes, its bytes as they are]
///   end         kind; then for Err its code, for Cancelled its reason, for Ok and Panicked nothing
///
/// What stays out: the time and the round of the snapshot, last_round, source sites, await sites and what is waited for,
/// armed timers, undrained channels; of ends the texts, exceptions and notes (LAB-12).
class StateHasher {
 public:
  [[nodiscard]] std::uint64_t digest() const noexcept { return hasher_.digest(); }

  void add(const Snapshot& snapshot) noexcept {
    add_all(snapshot.regions);
    add_all(snapshot.tasks);
    add_all(snapshot.obligations);
  }

 private:
  void number(std::uint64_t value) noexcept { hasher_.add(value); }

  template <class Enum>
  void name(Enum value) noexcept {
    number(static_cast<std::uint64_t>(value));
  }

  template <class View>
  void add_all(const std::vector<View>& views) noexcept {
    number(views.size());
    for (const View& view : views) add(view);
  }

  void add(const RegionView& region) noexcept {
    number(region.id.bits());
    number(region.parent.bits());
    name(region.state);
    number(region.creation);
    number(region.children_made);
    number(region.live_tasks);
    number(region.live_regions);
    number(region.live_cleanup);
    number(region.waiting_finalizers);
    number(region.body ? 1 : 0);
    number(region.handle ? 1 : 0);
    number(region.owner.bits());
    add(region.budget);
    name(region.policy);
    add(region.reason);
    number(region.epoch.value);
    add(region.cleanup);
    add(region.end);
    for (const ObligationKindRow& row : obligation_kind_table) number(region.ledger.open(row.kind));
    number(region.leaked);
    number(region.heap_bytes);
  }

  void add(const TaskView& task) noexcept {
    number(task.id.bits());
    number(task.region.bits());
    name(task.state);
    name(task.wake);
    number(task.creation);
    add(task.left);
    number(task.cleanup ? 1 : 0);
    number(task.started ? 1 : 0);
    number(task.forced ? 1 : 0);
    number(task.mask_depth);
    number(task.cleanup_polls);
    number(task.cleanup_quota);
    add(task.reason);
    number(task.epoch.value);
    number(task.outcome ? 1 : 0);
    if (task.outcome) name(*task.outcome);
    for (const std::uint16_t open : task.counted) number(open);
  }

  void add(const ObligationView& obligation) noexcept {
    number(obligation.id.bits());
    number(obligation.region.bits());
    name(obligation.kind);
    name(obligation.state);
    number(obligation.holder.task.bits());
    name(obligation.holder.service);
    number(obligation.resource.bits());
    number(obligation.since.ns());
  }

  void add(const Budget& budget) noexcept {
    number(budget.deadline.is_none() ? 0 : 1);
    if (!budget.deadline.is_none()) number(budget.deadline.time().ns());
    add(budget.polls);
    add(budget.cost);
    number(budget.priority);
  }

  void add(Quota quota) noexcept {
    number(quota.is_infinite() ? 0 : 1);
    if (!quota.is_infinite()) number(quota.count());
  }

  void add(const Reason& reason) noexcept {
    number(reason ? 1 : 0);
    if (!reason) return;
    const ReasonView story = reason.levels();
    number(story.truncated ? 1 : 0);
    number(story.depth);
    for (const ReasonLevel& level : story) add(level);
  }

  void add(const ReasonLevel& level) noexcept {
    name(level.kind);
    number(level.severity);
    number(level.region.bits());
    number(level.task.bits());
    number(level.at.ns());
    add(level.cleanup);
    number(level.message.size());
    hasher_.add(std::as_bytes(std::span<const char>(level.message.data(), level.message.size())));
  }

  void add(const ChildEnd& end) noexcept {
    name(end.kind());
    if (end.is_err()) name(end.error().code());
    if (end.is_cancelled()) add(end.reason());
  }

  trace::Hasher hasher_;
};

}  // namespace

const RegionView* Snapshot::find(RegionId id) const noexcept { return find_by_id(regions, id); }
const TaskView* Snapshot::find(TaskId id) const noexcept { return find_by_id(tasks, id); }
const ObligationView* Snapshot::find(ObligationId id) const noexcept { return find_by_id(obligations, id); }

std::string Snapshot::path_of(RegionId region) const {
  std::vector<RegionId> names;
  const RegionView* at = nullptr;
  for (RegionId next = region; names.size() <= regions.size(); next = at->parent) {
    names.push_back(next);
    at = find(next);
    if (at == nullptr || !at->parent) break;
  }
  const bool whole = at != nullptr && !at->parent;
  std::string path = whole ? "" : "?/";
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (name != names.rbegin()) path.append("/");
    path.append(to_string(*name));
  }
  return path;
}

std::uint64_t state_digest(const Snapshot& snapshot) noexcept {
  StateHasher hasher;
  hasher.add(snapshot);
  return hasher.digest();
}

}  // namespace calm::kernel
