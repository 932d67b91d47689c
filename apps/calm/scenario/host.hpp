// host.hpp — the kernel's host in a scenario: a queue in order of arrival or the lanes of a worker, timers, and counts that
// the scenario sets.
// Laws:    LAB-1, QUI-1, TMR-1..8, SCH-1..4
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "calm/clock/timers.hpp"
#include "calm/clock/wheel.hpp"
#include "calm/kernel/host.hpp"
#include "calm/lockfree/local_atomics.hpp"
#include "calm/sched/lanes.hpp"
#include "calm/sched/steering.hpp"

namespace calm::scenario {

/// What a worker dispatches from, and under which governor.
struct LaneWorker {
  explicit LaneWorker(const sched::Governor& governor) noexcept : steering(governor) {}

  sched::Lanes<lockfree::LocalAtomics> lanes;
  sched::Steering steering;
  sched::Decision decision;  ///< the last one
};

class ScenarioHost final : public kernel::Host<lockfree::LocalAtomics> {
 public:
  explicit ScenarioHost(clock::Coalescing coalescing = {}, std::uint64_t timer_limit = UINT64_MAX) noexcept
      : wheel(coalescing, timer_limit) {}

  void schedule(kernel::Worker& /*worker*/, Task& task) noexcept override {
    if (worker) {
      worker->lanes.push(task);
    } else {
      queue_.push_back(task.id());
    }
  }
  void watch(kernel::Worker& /*worker*/, TaskId task, Time deadline) noexcept override {
    const auto [place, first] = watched_.emplace(task, deadline);
    if (!first && deadline < place->second) place->second = deadline;
  }
  void report(kernel::Worker& /*worker*/, const kernel::Finding& finding) noexcept override {
    findings_.push_back(finding);
  }
  [[nodiscard]] kernel::AwaitPoint await_point(const Task& /*task*/) const noexcept override { return {}; }
  [[nodiscard]] std::uint64_t pending_timers() const noexcept override { return timers + wheel.size() + alarms.size(); }
  [[nodiscard]] std::uint64_t undrained_channels() const noexcept override { return channels; }

  [[nodiscard]] const std::deque<TaskId>& queue() const noexcept { return queue_; }
  [[nodiscard]] std::size_t scheduled() const noexcept { return worker ? worker->lanes.size() : queue_.size(); }
  /// Gives: false when the task is in no queue.
  bool take(TaskId task) {
    for (auto place = queue_.begin(); place != queue_.end(); ++place) {
      if (*place != task) continue;
      queue_.erase(place);
      return true;
    }
    return false;
  }
  /// Gives: the earliest deadline that was ever to be watched for the task; none when there was none.
  [[nodiscard]] Deadline watched(TaskId task) const {
    const auto found = watched_.find(task);
    return found == watched_.end() ? Deadline::none() : Deadline(found->second);
  }
  [[nodiscard]] std::deque<kernel::Finding>& findings() noexcept { return findings_; }

  std::uint64_t timers = 0;          ///< as the scenario says, beside those that are armed
  std::uint64_t channels = 0;        ///< as the scenario says
  clock::Timers wheel;               ///< timers that steps have armed
  clock::Wheel alarms;               ///< of programs that sleep
  std::optional<LaneWorker> worker;  ///< if there is one, tasks wait in its lanes and not in the queue

 private:
  std::deque<TaskId> queue_;
  std::map<TaskId, Time> watched_;
  std::deque<kernel::Finding> findings_;
};

}  // namespace calm::scenario
