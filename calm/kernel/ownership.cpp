#include "calm/kernel/ownership.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "calm/kernel/snapshot_index.hpp"
#include "calm/kernel/task_word.hpp"
#include "calm/kernel/view_text.hpp"

namespace calm::kernel {
namespace {

/// What the parts of a snapshot add up to for one region.
struct Counts {
  std::uint64_t tasks = 0;
  std::uint64_t regions = 0;
  std::uint64_t cleanup = 0;
  std::uint64_t finalizers = 0;
  Ledger ledger{};
  std::set<std::uint64_t> places{};
};

class Checker {
 public:
  explicit Checker(const Snapshot& snapshot) : snapshot_(snapshot) {}

  std::vector<std::string> check() {
    check_order(snapshot_.regions);
    check_order(snapshot_.tasks);
    check_order(snapshot_.obligations);
    if (!broken_.empty()) return std::move(broken_);  // nothing can be found in an order that is not there
    check_roots();
    for (const RegionView& region : snapshot_.regions) check_place_in_tree(region);
    for (const TaskView& task : snapshot_.tasks) check_task(task);
    for (const ObligationView& promise : snapshot_.obligations) check_promise(promise);
    for (const RegionView& region : snapshot_.regions) check_region(region, counts_[region.id]);
    return std::move(broken_);
  }

 private:
  void expect(bool holds, std::string_view law, const std::string& who, std::string_view what) {
    if (!holds) broken_.push_back(who + " " + std::string(what) + " [" + std::string(law) + "]");
  }

  template <class A, class B>
  void expect_same(const A& stated, const B& found, std::string_view law, RegionId who, std::string_view what) {
    if (stated == found) return;
    broken_.push_back(to_string(who) + " says " + counted_noun(stated, what) + ", the snapshot has " +
                      std::to_string(found) + " [" + std::string(law) + "]");
  }

  /// HND-1: ids name something, ascend and so differ: the parts are disjoint.
  template <class View>
  void check_order(const std::vector<View>& views) {
    for (std::size_t i = 0; i < views.size(); ++i) {
      expect(bool(views[i].id), "HND-1", "a record", "has no id");
      if (i != 0) expect(views[i - 1].id < views[i].id, "HND-1", to_string(views[i].id), "is out of order or repeated");
    }
  }

  /// I1: one rooted tree. A region that is Closed has left it; its parent may be gone.
  void check_roots() {
    const auto roots = std::count_if(snapshot_.regions.begin(), snapshot_.regions.end(), [](const RegionView& region) {
      return !region.parent && region.state != RegionState::closed;
    });
    expect(roots <= 1, "I1", "the tree", "has more than one root");
  }

  void check_place_in_tree(const RegionView& region) {
    if (region.state == RegionState::closed || !region.parent) return;
    const std::string who = to_string(region.id);
    const RegionView* const parent = snapshot_.find(region.parent);
    expect(parent != nullptr, "I1", who, "has a parent that is not there");
    if (parent == nullptr) return;
    expect(parent->state != RegionState::closed, "I2", who, "is alive below a region that is Closed");
    expect(snapshot_.path_of(region.id).front() != '?', "I1", who, "is not below a root");
    expect(within(region.budget, parent->budget), "BUD-3", who, "has more budget than its parent");
    expect(!parent->reason || region.reason, "CAN-5", who, "was not told that its parent is cancelled");
    Counts& counts = counts_[region.parent];
    ++counts.regions;
    take_place(counts, region.creation, *parent, who);
  }

  void take_place(Counts& counts, std::uint64_t place, const RegionView& parent, const std::string& who) {
    expect(place < parent.children_made, "OUT-4", who, "has a place that its region has not given yet");
    expect(counts.places.insert(place).second, "OUT-4", who, "has the place of another child");
  }

  void check_task(const TaskView& task) {
    const std::string who = to_string(task.id);
    expect(is_alive(task) != task.outcome.has_value(), "TSK-1", who,
           "has an outcome and is alive, or is Completed without one");
    expect(task.mask_depth <= mask_depth_max, "CAN-12", who, "has more masks than there may be");
    if (is_alive(task)) {
      const bool requested = cancelled_states.has(task.state);
      expect(requested == bool(task.reason), "CAN-10", who, "has a state and a reason that do not agree");
      expect(requested == bool(task.epoch), "CAN-11", who, "has a state and an epoch that do not agree");
      expect(task.wake != lockfree::WakeState::done || is_waiting_finalizer(task), "TSK-6", who,
             "is alive and cannot be woken");
    }
    if (is_alive(task) || task.region) check_task_in_region(task, who);
  }

  void check_task_in_region(const TaskView& task, const std::string& who) {
    const RegionView* const region = snapshot_.find(task.region);
    expect(region != nullptr, "I1", who, "has a region that is not there");
    if (region == nullptr) return;
    expect(region->state != RegionState::closed, "I2", who, "is in a region that is Closed");
    Counts& counts = counts_[task.region];
    take_place(counts, task.creation, *region, who);
    if (task.cleanup) {
      ++(is_waiting_finalizer(task) ? counts.finalizers : counts.cleanup);
      return;
    }
    ++counts.tasks;
    expect(region->state != RegionState::finalizing, "REG-4", who, "is in a region that is Finalizing");
    // Clean-up has a deadline of its own (CAN-8).
    const bool bounded = bool(task.reason) || within(task.left, region->budget);
    expect(bounded, "BUD-3", who, "has more budget than its region");
    expect(!is_alive(task) || !region->reason || task.reason, "CAN-5", who,
           "was not told that its region is cancelled");
  }

  void check_promise(const ObligationView& promise) {
    if (promise.state != ObligationState::reserved) return;
    const std::string who = to_string(promise.id);
    const RegionView* const region = snapshot_.find(promise.region);
    expect(region != nullptr, "OBS-4", who, "has a region that is not there");
    if (region != nullptr) {
      expect(region->state != RegionState::closed, "I2", who, "is Reserved in a region that is Closed");
      (void)counts_[promise.region].ledger.reserve(promise.kind);
    }
    if (!promise.holder.is_task()) return;
    const TaskView* const holder = snapshot_.find(promise.holder.task);
    const bool lives = holder != nullptr && (is_alive(*holder) || holder->region);
    expect(lives, "OBL-5", who, "is Reserved and held by " + to_string(promise.holder.task) + ", which has ended");
  }

  void check_region(const RegionView& region, const Counts& counts) {
    const std::string who = to_string(region.id);
    expect_same(region.live_tasks, counts.tasks, "REG-4", region.id, "live task");
    expect_same(region.live_regions, counts.regions, "REG-4", region.id, "live child region");
    expect_same(region.live_cleanup, counts.cleanup, "REG-5", region.id, "clean-up task");
    expect_same(region.waiting_finalizers, counts.finalizers, "REG-5", region.id, "waiting finalizer");
    for (const ObligationKindRow& row : obligation_kind_table) {
      expect_same(region.ledger.open(row.kind), counts.ledger.open(row.kind), "OBL-3", region.id,
                  std::string("open ").append(row.name));
    }
    expect(!region.body || !counts.places.contains(0), "OUT-4", who, "has a child in the place of its body");
    expect(bool(region.reason) == bool(region.epoch), "CAN-11", who, "has a reason and an epoch that do not agree");
    expect(!region.reason || region.state != RegionState::open, "CAN-6", who, "is cancelled and Open");
    check_state(region, who);
  }

  void check_state(const RegionView& region, const std::string& who) {
    const bool finalizing = region.state == RegionState::finalizing;
    const bool closed = region.state == RegionState::closed;
    const bool children = region.live_tasks != 0 || region.live_regions != 0 || region.body;
    expect(!(finalizing || closed) || !children, "REG-4", who, "is past Draining with live children");
    expect(region.live_cleanup == 0 || finalizing, "REG-6", who, "has clean-up tasks and is not Finalizing");
    if (!closed) return;
    expect(region.waiting_finalizers == 0, "I2", who, "is Closed and has finalizers that did not run");
    expect(region.ledger.is_zero(), "OBL-3", who, "is Closed and owes promises");
    expect(region.heap_bytes == 0, "REG-10", who, "is Closed and still has memory");
  }

  const Snapshot& snapshot_;
  std::map<RegionId, Counts> counts_;
  std::vector<std::string> broken_;
};

void add_part(std::string& text, std::string_view part) { text.append(text.empty() ? "" : "\n* ").append(part); }

}  // namespace

std::string ownership(const Snapshot& snapshot) {
  std::string text;
  for (const RegionView& region : snapshot.regions) {
    if (region.state == RegionState::closed) continue;
    add_part(text, "region(" + to_string(region.id) + ", " + std::string(to_string(region.state)) + ", " +
                       to_string(region.budget) + ")");
  }
  for (const TaskView& task : snapshot.tasks) {
    if (!is_alive(task)) continue;
    add_part(text, "task(" + to_string(task.id) + ", " + to_string(task.region) + ", " +
                       std::string(to_string(task.state)) + ")");
  }
  for (const ObligationView& promise : snapshot.obligations) {
    if (promise.state != ObligationState::reserved) continue;
    add_part(text, "obligation(" + to_string(promise.id) + ", " + std::string(to_string(promise.kind)) + ", " +
                       to_string(promise.holder) + ", " + to_string(promise.region) + ")");
  }
  return text.empty() ? "emp" : text;
}

std::vector<std::string> broken_invariants(const Snapshot& snapshot) { return Checker(snapshot).check(); }

}  // namespace calm::kernel
