// threaded_host.hpp — a host for tests with real threads: a queue for each worker, and nothing that is not safe to share.
// Laws:    none
// Threads: everything anywhere
// Cancel:  not applicable
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "calm/kernel/host.hpp"

namespace calm::kernel {

/// Whoever has nothing to do takes from the others.
class ThreadedHost final : public Host<lockfree::RealAtomics> {
 public:
  explicit ThreadedHost(std::uint16_t workers) : lanes_(workers) {}

  void schedule(Worker& worker, TaskRecord<lockfree::RealAtomics>& task) noexcept override {
    Lane& lane = lanes_[worker.index()];
    const std::lock_guard guard(lane.mutex);
    lane.entries.push_back(task.id());
  }
  void watch(Worker& /*worker*/, TaskId task, Time deadline) noexcept override {
    const std::lock_guard guard(watches_mutex_);
    watches_.emplace_back(deadline, task);
  }
  void report(Worker& /*worker*/, const Finding& /*finding*/) noexcept override {}
  [[nodiscard]] AwaitPoint await_point(const TaskRecord<lockfree::RealAtomics>& /*task*/) const noexcept override {
    return {};
  }
  [[nodiscard]] std::uint64_t pending_timers() const noexcept override { return 0; }
  [[nodiscard]] std::uint64_t undrained_channels() const noexcept override { return 0; }

  /// Gives: an entry of this lane, or else of the next one that has any; no id when all are empty.
  TaskId take(std::size_t first) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      Lane& lane = lanes_[(first + i) % lanes_.size()];
      const std::lock_guard guard(lane.mutex);
      if (lane.entries.empty()) continue;
      const TaskId task = lane.entries.front();
      lane.entries.pop_front();
      return task;
    }
    return {};
  }

  /// Gives: a task whose deadline has passed, or no id. They come in the order in which they were told.
  TaskId take_due(Time now) {
    const std::lock_guard guard(watches_mutex_);
    if (watches_.empty() || watches_.front().first > now) return {};
    const TaskId task = watches_.front().second;
    watches_.pop_front();
    return task;
  }

  /// Gives: how many entries there are for this task.
  [[nodiscard]] std::size_t entries(TaskId task) {
    std::size_t count = 0;
    for (Lane& lane : lanes_) {
      const std::lock_guard guard(lane.mutex);
      count += static_cast<std::size_t>(std::count(lane.entries.begin(), lane.entries.end(), task));
    }
    return count;
  }

 private:
  struct alignas(128) Lane {
    std::mutex mutex;
    std::deque<TaskId> entries;
  };
  std::vector<Lane> lanes_;
  std::mutex watches_mutex_;
  std::deque<std::pair<Time, TaskId>> watches_;
};

}  // namespace calm::kernel
