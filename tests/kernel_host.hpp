// kernel_host.hpp — a host for tests: a queue that keeps its order, watches and findings to look at.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "calm/kernel/kernel.hpp"

namespace calm::kernel {

template <lockfree::AtomicsPolicy Atomics>
class TestHost final : public Host<Atomics> {
 public:
  void schedule(Worker& /*worker*/, TaskRecord<Atomics>& task) noexcept override { queue.push_back(task.id()); }
  void watch(Worker& /*worker*/, TaskId task, Time deadline) noexcept override { watches.emplace_back(task, deadline); }
  bool watch_all(Worker& /*worker*/, RegionId region, Time deadline) noexcept override {
    if (minds_regions) region_watches.emplace_back(region, deadline);
    return minds_regions;
  }
  void report(Worker& /*worker*/, const Finding& finding) noexcept override { findings.push_back(finding); }
  [[nodiscard]] AwaitPoint await_point(const TaskRecord<Atomics>& /*task*/) const noexcept override { return awaiting; }
  [[nodiscard]] bool take_frames_back(const TaskRecord<Atomics>& task) noexcept override {
    return task.id() != in_call;
  }
  [[nodiscard]] std::uint64_t pending_timers() const noexcept override { return timers; }
  [[nodiscard]] std::uint64_t undrained_channels() const noexcept override { return channels; }

  /// Gives: how many findings of a kind there are.
  [[nodiscard]] std::uint64_t found(FindingKind kind) const noexcept {
    std::uint64_t count = 0;
    for (const Finding& finding : findings) count += finding.kind == kind ? 1 : 0;
    return count;
  }

  std::deque<TaskId> queue;
  std::vector<std::pair<TaskId, Time>> watches;
  bool minds_regions = false;  ///< one watch for all tasks of a region
  std::vector<std::pair<RegionId, Time>> region_watches;
  std::vector<Finding> findings;
  AwaitPoint awaiting;
  TaskId in_call{};  ///< a call uses the frames of this one
  std::uint64_t timers = 0;
  std::uint64_t channels = 0;
};

/// A kernel with its host and one worker at hand.
template <lockfree::AtomicsPolicy Atomics>
struct BasicBench {
  explicit BasicBench(const Config& config = {})
      : kernel(BasicKernel<Atomics>::make(config, host).value()), worker(kernel->worker(0)) {}

  [[nodiscard]] RegionId root() const noexcept { return kernel->root(); }
  RegionId region(RegionId parent, const RegionSpec& spec = {}) {
    return kernel->create_region(worker, parent, spec).id;
  }
  TaskId task(RegionId region, const TaskSpec& spec = {}) { return kernel->spawn(worker, region, spec).id; }
  /// Gives: a task that is being polled; its queue entry is used up.
  TaskId running(RegionId region, const TaskSpec& spec = {}) {
    const TaskId id = task(region, spec);
    (void)poll(id);
    return id;
  }
  TaskId parked(RegionId region, const TaskSpec& spec = {}) {
    const TaskId id = running(region, spec);
    (void)kernel->end_poll(worker, id);
    return id;
  }
  PollStart poll(TaskId id) {
    std::erase(host.queue, id);
    return kernel->begin_poll(worker, id);
  }
  void at(Time now) { worker.set_time(now); }
  std::uint64_t digest() { return kernel->digest(worker); }

  TestHost<Atomics> host;
  std::unique_ptr<BasicKernel<Atomics>> kernel;
  Worker& worker;
};

using Bench = BasicBench<lockfree::LocalAtomics>;

}  // namespace calm::kernel
