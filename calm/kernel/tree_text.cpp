#include "calm/kernel/tree_text.hpp"

#include <cstddef>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

#include "calm/kernel/snapshot_index.hpp"
#include "calm/kernel/view_text.hpp"

namespace calm::kernel {
namespace {

class Tree {
 public:
  explicit Tree(const Snapshot& snapshot) : snapshot_(snapshot), index_(snapshot) {}

  std::string text() {
    add_summary();
    // By a list of what is to come: regions may stand in each other deeper than a stack is.
    std::vector<Place> places;
    push_children(places, RegionId(), 0);
    while (!places.empty()) {
      const Place place = places.back();
      places.pop_back();
      add_region(*place.region, place.depth);
      push_children(places, place.region->id, place.depth + 1);
    }
    add_waits();
    return std::move(text_);
  }

 private:
  struct Place {
    const RegionView* region;
    std::size_t depth;
  };

  void push_children(std::vector<Place>& places, RegionId parent, std::size_t depth) const {
    for (const RegionView* const region : std::views::reverse(index_.regions_of(parent))) {
      places.push_back({region, depth});
    }
  }

  void line(std::size_t depth, std::string_view text) {
    text_ += '\n';
    text_.append(2 * depth, ' ');
    text_ += text;
  }

  void add_summary() {
    std::uint64_t regions = 0;
    std::uint64_t tasks = 0;
    std::uint64_t promises = 0;
    for (const RegionView& region : snapshot_.regions) regions += region.state != RegionState::closed ? 1U : 0U;
    for (const TaskView& task : snapshot_.tasks) {
      tasks += is_alive(task) ? 1U : 0U;
      promises += counted_total(task);
    }
    for (const ObligationView& promise : snapshot_.obligations) {
      promises += promise.state == ObligationState::reserved ? 1U : 0U;
    }
    text_ = "calm: " + counted_noun(regions, "region") + ", " + counted_noun(tasks, "task") + ", " +
            counted_noun(promises, "promise") + ", " + counted_noun(snapshot_.pending_timers, "timer") + " at " +
            to_string(snapshot_.now);
    if (snapshot_.undrained_channels != 0) {
      text_ += ", " + counted_noun(snapshot_.undrained_channels, "channel") + " not drained";
    }
  }

  void add_region(const RegionView& region, std::size_t depth) {
    std::string text = to_string(region.id) + ' ' + std::string(to_string(region.state));
    if (region.reason) {
      text += ", cancelled: " + std::string(to_string(region.reason.kind())) + ' ' +
              age_text(snapshot_.now, region.reason.at()) + " ago";
    }
    if (region.owner) text += ", run by " + to_string(region.owner);
    line(depth, text);
    for (const TaskView* const task : index_.tasks_of(region.id)) {
      line(depth + 1, task_text(snapshot_, *task));
      for (const ObligationView* const promise : index_.held_by(task->id)) line(depth + 2, promise_text(*promise));
      if (const std::string counted = counted_text(*task); !counted.empty()) line(depth + 2, "holds " + counted);
    }
    for (const ObligationView* const promise : index_.promises_of(region.id)) {
      if (!promise->holder.is_task()) line(depth + 1, promise_text(*promise) + " of " + to_string(promise->holder));
    }
  }

  [[nodiscard]] std::string promise_text(const ObligationView& promise) const {
    return obligation_text(promise) + ", open for " + age_text(snapshot_.now, promise.since);
  }

  void add_waits() {
    for (const TaskView& task : snapshot_.tasks) {
      const TaskId joined = TaskId::from_bits(task.waits_for.bits());
      if (const TaskId whom = task.held_by ? task.held_by : joined) {
        line(0, to_string(task.id) + " waits for " + to_string(whom));
      }
    }
  }

  const Snapshot& snapshot_;
  SnapshotIndex index_;
  std::string text_;
};

}  // namespace

std::string tree_text(const Snapshot& snapshot) { return Tree(snapshot).text(); }

}  // namespace calm::kernel
