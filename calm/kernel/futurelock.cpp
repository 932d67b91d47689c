#include "calm/kernel/futurelock.hpp"

#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "calm/kernel/snapshot_index.hpp"
#include "calm/kernel/task_record.hpp"
#include "calm/kernel/view_text.hpp"

namespace calm::kernel {
namespace {

using Stopped = std::function<bool(const TaskView&)>;

bool is_parked(const TaskView& task) noexcept { return is_alive(task) && task.wake == lockfree::WakeState::idle; }

std::uint32_t rounds_since_poll(const Snapshot& snapshot, const TaskView& task) noexcept {
  const std::uint32_t age = snapshot.round - task.last_round;
  return age <= UINT32_MAX / 2 ? age : 0;
}

template <IdType type>
Id<type> record_of(trace::ResourceId resource) noexcept {
  return Id<type>::from_bits(resource.bits());
}

/// Walks the wait graph of one snapshot.
class WaitGraph {
 public:
  WaitGraph(const Snapshot& snapshot, Stopped not_polled)
      : snapshot_(snapshot), index_(snapshot), not_polled_(std::move(not_polled)) {}

  [[nodiscard]] std::vector<Futurelock> find() const {
    std::vector<Futurelock> found;
    for (const TaskView& task : snapshot_.tasks) {
      if (!stopped(task)) continue;
      std::vector<HeldPromise> holds = held(task);
      if (holds.empty()) continue;
      std::vector<WaitStep> chain = way_to_a_stop(task);
      if (chain.empty()) continue;
      found.push_back({.task = task.id,
                       .rounds = rounds_since_poll(snapshot_, task),
                       .holds = std::move(holds),
                       .chain = std::move(chain)});
    }
    return found;
  }

 private:
  [[nodiscard]] bool stopped(const TaskView& task) const {
    const bool will_be_woken = record_of<IdType::timer>(task.waits_for) || !index_.kept_for(task.id).empty();
    return is_parked(task) && !will_be_woken && not_polled_(task);
  }

  [[nodiscard]] std::vector<HeldPromise> held(const TaskView& task) const {
    std::vector<HeldPromise> holds;
    for (const ObligationView* promise : index_.held_by(task.id)) {
      holds.push_back(
          {.id = promise->id, .kind = promise->kind, .resource = promise->resource, .made_at = promise->site});
    }
    for (std::uint8_t i = 0; i < counted_kind_count; ++i) {
      if (task.counted[i] != 0) holds.push_back({.kind = counted_kinds[i], .count = task.counted[i]});
    }
    return holds;
  }

  /// Breadth first, so that the way is a shortest one. Gives: nothing when the graph leads to no stop.
  [[nodiscard]] std::vector<WaitStep> way_to_a_stop(const TaskView& start) const {
    std::vector<WaitStep> walked;
    std::set<TaskId> seen;
    std::vector<const TaskView*> line{&start};
    for (std::size_t at = 0; at < line.size(); ++at) {
      for (const WaitStep& step : steps_from(*line[at])) {
        if (!seen.insert(step.next).second) continue;
        const TaskView* const next = snapshot_.find(step.next);
        if (next == nullptr || !is_parked(*next)) continue;
        walked.push_back(step);
        if (next->id == start.id || stopped(*next)) return way_back(walked, start.id);
        line.push_back(next);
      }
    }
    return {};
  }

  /// Needs: the last step ends where the way ends. Gives: the steps from `start` to it.
  [[nodiscard]] static std::vector<WaitStep> way_back(const std::vector<WaitStep>& walked, TaskId start) {
    std::map<TaskId, const WaitStep*> arrived;
    for (const WaitStep& step : walked) arrived.emplace(step.next, &step);
    std::vector<WaitStep> way{walked.back()};
    while (way.back().task != start) way.push_back(*arrived.at(way.back().task));
    return {way.rbegin(), way.rend()};
  }

  [[nodiscard]] std::vector<WaitStep> steps_from(const TaskView& task) const {
    const WaitStep blank{
        .task = task.id, .region = task.region, .await_site = task.await_site, .waits_for = task.waits_for};
    std::vector<WaitStep> steps;
    if (const TaskId joined = record_of<IdType::task>(task.waits_for)) {
      add(steps, blank, joined);
    } else if (const RegionId closing = record_of<IdType::region>(task.waits_for)) {
      add_region(steps, blank, closing);
    } else if (const ObligationId promise = record_of<IdType::obligation>(task.waits_for)) {
      const ObligationView* const view = snapshot_.find(promise);
      if (view != nullptr && view->state == ObligationState::reserved) add(steps, blank, *view);
    } else if (task.waits_for) {
      for (const ObligationView* view : index_.about(task.waits_for)) add(steps, blank, *view);
    }
    return steps;
  }

  static void add(std::vector<WaitStep>& steps, WaitStep step, TaskId next) {
    step.next = next;
    steps.push_back(step);
  }

  static void add(std::vector<WaitStep>& steps, WaitStep step, const ObligationView& promise) {
    if (!promise.holder.is_task()) return;
    step.through = promise.id;
    step.kind = promise.kind;
    step.made_at = promise.site;
    add(steps, step, promise.holder.task);
  }

  void add_region(std::vector<WaitStep>& steps, const WaitStep& blank, RegionId top) const {
    std::vector<RegionId> line{top};
    for (std::size_t at = 0; at < line.size() && at <= snapshot_.regions.size(); ++at) {
      const RegionId region = line[at];
      for (const TaskView* task : index_.tasks_of(region)) add(steps, blank, task->id);
      for (const ObligationView* promise : index_.promises_of(region)) add(steps, blank, *promise);
      for (const RegionView* child : index_.regions_of(region)) line.push_back(child->id);
    }
  }

  const Snapshot& snapshot_;
  SnapshotIndex index_;
  Stopped not_polled_;
};

std::string held_text(const HeldPromise& promise) {
  if (!promise.id) return counted_noun(promise.count, to_string(promise.kind));
  std::string text = to_string(promise.id).append(" ").append(to_string(promise.kind));
  if (promise.resource) text.append(" of ").append(to_string(promise.resource));
  return text.append(at_place(", made at ", promise.made_at));
}

std::string step_text(const WaitStep& step) {
  std::string text = to_string(step.task);
  if (step.region) text.append(" in ").append(to_string(step.region));
  text.append(at_place(" at ", step.await_site)).append(" waits for ").append(to_string(step.waits_for));
  if (step.through) {
    text.append(": ").append(to_string(step.next)).append(" holds ").append(to_string(step.through)).append(" ");
    text.append(to_string(step.kind)).append(at_place(", made at ", step.made_at));
  } else if (step.waits_for != trace::ResourceId(step.next)) {
    text.append(": ").append(to_string(step.next)).append(" is in it");
  }
  return text;
}

}  // namespace

std::vector<Futurelock> find_futurelocks(const Snapshot& snapshot, std::uint32_t rounds) {
  return WaitGraph(snapshot, [&](const TaskView& task) { return rounds_since_poll(snapshot, task) >= rounds; }).find();
}

std::vector<Futurelock> find_futurelocks(const Snapshot& earlier, const Snapshot& snapshot, Duration bound) {
  if (snapshot.now - earlier.now < bound) return {};
  return WaitGraph(snapshot,
                   [&](const TaskView& task) {
                     const TaskView* const before = earlier.find(task.id);
                     return before != nullptr && is_parked(*before) && before->last_round == task.last_round;
                   })
      .find();
}

std::string to_string(const Futurelock& futurelock) {
  std::string text = "calm: futurelock: " + to_string(futurelock.task);
  text.append(" holds promises and was not polled for ").append(counted_noun(futurelock.rounds, "round"));
  for (const HeldPromise& promise : futurelock.holds) text.append("\n  owes: ").append(held_text(promise));
  for (const WaitStep& step : futurelock.chain) text.append("\n  wait: ").append(step_text(step));
  text.append("\n  ends: ").append(to_string(futurelock.chain.back().next));
  text.append(futurelock.is_cycle() ? " waits for itself" : " is polled no more");
  text.append("\n  law:  OBL-7 nobody stops being polled while it holds an obligation");
  return text.append("\n  next: resolve the promise before the wait, hand it to another task, or cancel one of these");
}

}  // namespace calm::kernel
