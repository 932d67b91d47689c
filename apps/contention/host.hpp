// host.hpp — a host whose workers have a queue each; what a worker makes runnable goes into its own.
// Laws:    LAB-1
// Threads: each queue is its worker's; nothing is shared, so that what workers wait for is the kernel
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calm/kernel/host.hpp"

namespace calm::contention {

template <lockfree::AtomicsPolicy Atomics>
class QueueHost final : public kernel::Host<Atomics> {
 public:
  explicit QueueHost(std::uint16_t workers) : desks_(workers) {}

  void schedule(kernel::Worker& worker, kernel::TaskRecord<Atomics>& task) noexcept override {
    desks_[worker.index()].queue.push_back(task.id());
  }
  void watch(kernel::Worker& /*worker*/, TaskId /*task*/, Time /*deadline*/) noexcept override {}
  void report(kernel::Worker& worker, const kernel::Finding& /*finding*/) noexcept override {
    ++desks_[worker.index()].findings;
  }
  [[nodiscard]] kernel::AwaitPoint await_point(const kernel::TaskRecord<Atomics>& /*task*/) const noexcept override {
    return {};
  }
  [[nodiscard]] std::uint64_t pending_timers() const noexcept override { return 0; }
  [[nodiscard]] std::uint64_t undrained_channels() const noexcept override { return 0; }

  /// Gives: the task that this worker made runnable last; none when there is none.
  TaskId take(const kernel::Worker& worker) noexcept {
    std::vector<TaskId>& queue = desks_[worker.index()].queue;
    if (queue.empty()) return {};
    const TaskId task = queue.back();
    queue.pop_back();
    return task;
  }
  /// Needs: the workers are gone.
  [[nodiscard]] std::uint64_t findings() const noexcept {
    std::uint64_t sum = 0;
    for (const Desk& desk : desks_) sum += desk.findings;
    return sum;
  }

 private:
  struct alignas(128) Desk {
    std::vector<TaskId> queue;
    std::uint64_t findings = 0;
  };

  std::vector<Desk> desks_;
};

}  // namespace calm::contention
