// Who waits for whom at the end of a run that is stuck: the cycles of that graph, and the waits that lead nowhere.
#include <algorithm>
#include <map>
#include <set>

#include "calm/kernel/snapshot_index.hpp"
#include "calm/kernel/view_text.hpp"
#include "calm/lab/oracles.hpp"

namespace calm::lab {
namespace {

using kernel::ObligationView;
using kernel::TaskView;

/// The task waits for something, and `next` must act before it ends.
struct Edge {
  TaskId next{};
  std::string why{};  ///< in what way next has to act
};

class WaitFor {
 public:
  explicit WaitFor(const Evidence& evidence) : evidence_(evidence), index_(evidence.snapshot) {}

  void report(Problems& problems) {
    std::set<TaskId> in_cycles;
    for (const TaskView& task : evidence_.snapshot.tasks) {
      if (!is_parked(task) || in_cycles.contains(task.id)) continue;
      const std::vector<const TaskView*> cycle = cycle_from(task);
      if (cycle.empty()) continue;
      for (const TaskView* member : cycle) in_cycles.insert(member->id);
      problems.push_back({Oracle::deadlock, cycle_text(cycle)});
    }
    if (in_cycles.empty() && evidence_.lost_wakes.empty()) report_dead_ends(problems);
  }

 private:
  static bool is_parked(const TaskView& task) noexcept {
    return kernel::is_alive(task) && task.wake == lockfree::WakeState::idle;
  }

  [[nodiscard]] std::vector<Edge> edges_of(const TaskView& task) const {
    std::vector<Edge> edges;
    if (task.held_by) edges.push_back({task.held_by, "held by " + evidence_.names.of(task.held_by)});
    const std::uint64_t bits = task.waits_for.bits();
    if (const TaskId joined = TaskId::from_bits(bits)) {
      edges.push_back({joined, "which must end"});
    } else if (const RegionId region = RegionId::from_bits(bits)) {
      add_region(edges, region, task.id);
    } else if (const ObligationId promise = ObligationId::from_bits(bits)) {
      if (const ObligationView* const view = evidence_.snapshot.find(promise)) add_promise(edges, *view);
    } else if (task.waits_for) {
      for (const ObligationView* view : index_.about(task.waits_for)) add_promise(edges, *view);
    }
    return edges;
  }

  void add_promise(std::vector<Edge>& edges, const ObligationView& promise) const {
    if (promise.state != ObligationState::reserved || !promise.holder.is_task()) return;
    std::string why = "held by " + evidence_.names.of(promise.holder.task) + " as " + to_string(promise.id) + " ";
    why.append(to_string(promise.kind)).append(kernel::at_place(", made at ", promise.site));
    edges.push_back({promise.holder.task, std::move(why)});
  }

  /// The owner of a region waits for its close in a body that has ended: it is nobody that the region waits for.
  void add_region(std::vector<Edge>& edges, RegionId top, TaskId waiter) const {
    std::vector<RegionId> line{top};
    for (std::size_t at = 0; at < line.size() && at <= evidence_.snapshot.regions.size(); ++at) {
      for (const TaskView* task : index_.tasks_of(line[at])) {
        edges.push_back({task->id, "where " + evidence_.names.of(task->id) + " must end"});
      }
      for (const ObligationView* promise : index_.promises_of(line[at])) add_promise(edges, *promise);
      const kernel::RegionView* const region = evidence_.snapshot.find(line[at]);
      if (region != nullptr && region->body && region->owner != waiter) {
        edges.push_back({region->owner, "whose body " + evidence_.names.of(region->owner) + " must end"});
      }
      for (const kernel::RegionView* child : index_.regions_of(line[at])) line.push_back(child->id);
    }
  }

  /// Gives: the shortest way from the task back to itself; nothing when there is none.
  [[nodiscard]] std::vector<const TaskView*> cycle_from(const TaskView& start) const {
    std::map<TaskId, const TaskView*> came_from;
    std::vector<const TaskView*> line{&start};
    for (std::size_t at = 0; at < line.size(); ++at) {
      for (const Edge& edge : edges_of(*line[at])) {
        const TaskView* const next = evidence_.snapshot.find(edge.next);
        if (next == nullptr || !is_parked(*next) || !came_from.emplace(edge.next, line[at]).second) continue;
        if (next == &start) return way_back(came_from, start);
        line.push_back(next);
      }
    }
    return {};
  }

  static std::vector<const TaskView*> way_back(const std::map<TaskId, const TaskView*>& came_from,
                                               const TaskView& start) {
    std::vector<const TaskView*> way;
    const TaskView* at = &start;
    do {
      at = came_from.at(at->id);
      way.push_back(at);
    } while (at != &start);
    std::reverse(way.begin(), way.end());
    return way;
  }

  [[nodiscard]] std::string wait_line(const TaskView& task, const std::string& why) const {
    std::string text = "\n  wait: " + evidence_.names.of(task.id);
    if (const std::string place = place_text(task.await_site); !place.empty()) text.append(" at ").append(place);
    text.append(" waits for ").append(task.waits_for ? to_string(task.waits_for) : "something without a name");
    return why.empty() ? text : text.append(", ").append(why);
  }

  [[nodiscard]] std::string cycle_text(const std::vector<const TaskView*>& cycle) const {
    std::string text = cycle.size() == 1
                           ? "calm: deadlock: " + evidence_.names.of(cycle.front()->id) + " waits for itself"
                           : "calm: deadlock: " + std::to_string(cycle.size()) + " tasks wait for each other";
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const TaskId next = cycle[(i + 1) % cycle.size()]->id;
      std::string why;
      for (Edge& edge : edges_of(*cycle[i])) {
        if (edge.next == next && why.empty()) why = std::move(edge.why);
      }
      text.append(wait_line(*cycle[i], why));
    }
    text.append("\n  law:  LAB-6 no deadlock");
    return text.append("\n  next: take these in one order everywhere, or cancel one of the waits");
  }

  /// No cycle: some wait is for what nobody will give.
  void report_dead_ends(Problems& problems) const {
    std::string lines;
    for (const TaskView& task : evidence_.snapshot.tasks) {
      if (!is_parked(task)) continue;
      bool leads_on = false;
      for (const Edge& edge : edges_of(task)) {
        const TaskView* const next = evidence_.snapshot.find(edge.next);
        leads_on = leads_on || (next != nullptr && kernel::is_alive(*next));
      }
      if (!leads_on) lines.append(wait_line(task, "which nobody will give"));
    }
    if (lines.empty()) return;
    problems.push_back({Oracle::deadlock, "calm: deadlock: nothing can run and no alarm is armed" + lines +
                                              "\n  law:  LAB-6 no deadlock"
                                              "\n  next: see who should have ended the wait, and where it went"});
  }

  const Evidence& evidence_;
  kernel::SnapshotIndex index_;
};

}  // namespace

void ask_deadlocks(const Evidence& evidence, Problems& problems) { WaitFor(evidence).report(problems); }

}  // namespace calm::lab
