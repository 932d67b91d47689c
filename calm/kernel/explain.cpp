#include "calm/kernel/explain.hpp"

#include <string_view>
#include <vector>

#include "calm/kernel/task_record.hpp"
#include "calm/kernel/view_text.hpp"

namespace calm::kernel {
namespace {

/// Parts of a sentence, `a, b, c`.
class List {
 public:
  void add(std::string_view part) { text_.append(text_.empty() ? "" : ", ").append(part); }
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// Gives: true when this promise keeps a region from Closed after the finalizers: its holder lives elsewhere (OBL-11).
bool held_elsewhere(const Snapshot& snapshot, const ObligationView& promise) noexcept {
  if (promise.holder.is_none()) return false;
  if (!promise.holder.is_task()) return true;
  const TaskView* const holder = snapshot.find(promise.holder.task);
  return holder == nullptr || holder->region != promise.region;
}

List held_text(const SnapshotIndex& index, const TaskView& task) {
  List held;
  for (const ObligationView* promise : index.held_by(task.id)) held.add(obligation_text(*promise));
  for (const ObligationView* promise : index.kept_for(task.id)) {
    held.add(obligation_text(*promise).append(" with ").append(to_string(Holder(promise->holder.service))));
  }
  if (const std::string counted = counted_text(task); !counted.empty()) held.add(counted);
  return held;
}

void add_indented(std::string& text, std::string_view lines) {
  for (const char c : lines) {
    text.append(1, c);
    if (c == '\n') text.append("  ");
  }
}

/// What one region itself waits for, a line each.
void add_blockers(std::string& text, const Snapshot& snapshot, const SnapshotIndex& index, const RegionView& region) {
  for (const TaskView* task : index.tasks_of(region.id)) {
    text.append("\n  live: ").append(straggler_text(snapshot, index, *task));
  }
  if (region.body) {
    text.append("\n  body: the body of ").append(snapshot.path_of(region.id)).append(" has not ended");
    if (region.owner) text.append(", ").append(to_string(region.owner)).append(" runs it");
  }
  for (const ObligationView* promise : index.promises_of(region.id)) {
    if (!held_elsewhere(snapshot, *promise)) continue;
    text.append("\n  held: ").append(obligation_text(*promise)).append(" by ").append(to_string(promise->holder));
  }
}

/// The regions below one, each before its children, without recursion.
std::vector<const RegionView*> subtree(const SnapshotIndex& index, const RegionView& top, std::size_t at_most) {
  std::vector<const RegionView*> order;
  std::vector<const RegionView*> waiting{&top};
  while (!waiting.empty() && order.size() < at_most) {
    const RegionView* const region = waiting.back();
    waiting.pop_back();
    order.push_back(region);
    const auto children = index.regions_of(region->id);
    waiting.insert(waiting.end(), children.rbegin(), children.rend());
  }
  return order;
}

std::string_view law_text(RegionState state) noexcept {
  switch (state) {
    case RegionState::open:
      return "REG-2 a region closes when it is told to";
    case RegionState::closing:
    case RegionState::draining:
      return "REG-4 Finalizing begins when no task is live and every child region is Closed";
    case RegionState::finalizing:
      return "I2 Closed means all finalizers ran and every obligation is terminal";
    case RegionState::closed:
      return "I2 close is quiet";
  }
  CALM_INVARIANT(REG_1, false, static_cast<std::uint8_t>(state));
  return {};
}

std::string_view next_text(const RegionView& region) noexcept {
  if (region.state == RegionState::open) return "close it, or cancel it to stop what is in it";
  return region.reason ? "see why the live ones do not reach a checkpoint, or wait for their clean-up budgets to end"
                       : "let the live ones end, or cancel the region";
}

void add_cancellation(std::string& text, const Reason& reason, Epoch epoch) {
  if (!reason) return;
  text.append("\n  why:  ").append(to_string(epoch)).append(", ");
  add_indented(text, reason.explain());
}

/// What clean-up may still use: polls and time since the request (CAN-8).
std::string cleanup_left(const Snapshot& snapshot, const TaskView& task) {
  List left;
  const unsigned polls = task.cleanup_quota;
  const unsigned used = task.cleanup_polls;
  left.add(std::to_string(used < polls ? polls - used : 0) + " of " + counted_noun(polls, "poll"));
  if (!task.left.deadline.is_none()) left.add(to_string(task.left.deadline.left(snapshot.now)));
  if (task.mask_depth != 0) left.add("under " + counted_noun(task.mask_depth, "mask"));
  return left.text();
}

std::string ended_text(const TaskView& task) {
  std::string text = "calm: " + to_string(task.id) + " has ended";
  if (task.outcome) text.append(": ").append(to_string(*task.outcome));
  if (task.forced) text.append(", forced: its clean-up budget ran out and its frame was dropped (CAN-8)");
  return text;
}

}  // namespace

std::string straggler_text(const Snapshot& snapshot, const SnapshotIndex& index, const TaskView& task) {
  std::string text = task_text(snapshot, task);
  if (task.reason) text.append(", cancelled: ").append(to_string(task.reason));
  if (const List held = held_text(index, task); !held.empty()) text.append(", holds ").append(held.text());
  return text;
}

std::string waits_text(const SnapshotIndex& index, const RegionView& region) {
  List waits;
  if (region.live_tasks != 0) waits.add(counted_noun(region.live_tasks, "task"));
  if (region.live_regions != 0) waits.add(counted_noun(region.live_regions, "region"));
  if (region.body) waits.add("its body");
  if (region.live_cleanup != 0) waits.add(counted_noun(region.live_cleanup, "clean-up task"));
  if (region.waiting_finalizers != 0) waits.add(counted_noun(region.waiting_finalizers, "finalizer"));
  if (const std::size_t open = index.promises_of(region.id).size(); open != 0) {
    waits.add(counted_noun(open, "promise"));
  }
  if (region.state == RegionState::open) {
    return waits.empty() ? "nobody has closed it" : "nobody has closed it; in it: " + waits.text();
  }
  return waits.empty() ? "waits for nothing, its last child is about to let it go" : "waits for " + waits.text();
}

std::string explain_region(const Snapshot& snapshot, RegionId id) {
  const RegionView* const region = snapshot.find(id);
  if (region == nullptr)
    return "calm: " + to_string(id) + " is not there: it has closed and was released, or never was";
  std::string text = "calm: " + snapshot.path_of(id);
  text.append(" is ").append(to_string(region->state));
  if (region->state == RegionState::closed) return text.append(", it ended with ").append(to_string(region->end));
  const SnapshotIndex index(snapshot);
  text.append(", ").append(waits_text(index, *region));
  for (const RegionView* below : subtree(index, *region, snapshot.regions.size())) {
    if (below != region) {
      text.append("\n  open: ").append(snapshot.path_of(below->id)).append(" ").append(to_string(below->state));
      text.append(", ").append(waits_text(index, *below));
    }
    add_blockers(text, snapshot, index, *below);
  }
  add_cancellation(text, region->reason, region->epoch);
  text.append("\n  law:  ").append(law_text(region->state));
  return text.append("\n  next: ").append(next_text(*region));
}

std::string explain_task(const Snapshot& snapshot, TaskId id) {
  const TaskView* const task = snapshot.find(id);
  if (task == nullptr) return "calm: " + to_string(id) + " is not there: it has ended and was released, or never was";
  if (!is_alive(*task)) return ended_text(*task);
  std::string text = "calm: " + task_text(snapshot, *task);
  text.append("\n  left: ").append(to_string(task->left));
  const SnapshotIndex index(snapshot);
  if (const List held = held_text(index, *task); !held.empty()) text.append("\n  owes: ").append(held.text());
  if (!task->reason) return text;
  add_cancellation(text, task->reason, task->epoch);
  text.append("\n  left for clean-up: ").append(cleanup_left(snapshot, *task));
  return text;
}

}  // namespace calm::kernel
