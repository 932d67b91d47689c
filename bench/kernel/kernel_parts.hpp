// kernel_parts.hpp — the parts of workload.hpp, done by a kernel over the given atomics with one thread.
#pragma once

#include <memory>

#include "bench/kernel/workload.hpp"
#include "calm/kernel/kernel.hpp"

namespace bench {

/// Keeps what is scheduled in a list through the records themselves, the last one first.
template <class Atomics>
class ListHost final : public calm::kernel::Host<Atomics> {
 public:
  using Task = calm::kernel::TaskRecord<Atomics>;
  using Worker = calm::kernel::Worker;

  void schedule(Worker& /*worker*/, Task& task) noexcept override {
    task.queue_link = last_;
    last_ = &task;
  }
  void watch(Worker& /*worker*/, calm::TaskId /*task*/, calm::Time /*deadline*/) noexcept override { ++watches_; }
  void report(Worker& /*worker*/, const calm::kernel::Finding& /*finding*/) noexcept override { ++findings_; }
  [[nodiscard]] calm::kernel::AwaitPoint await_point(const Task& /*task*/) const noexcept override { return {}; }
  [[nodiscard]] std::uint64_t pending_timers() const noexcept override { return 0; }
  [[nodiscard]] std::uint64_t undrained_channels() const noexcept override { return 0; }

  /// Gives: the task scheduled last, or nullptr.
  Task* take() noexcept {
    Task* const task = last_;
    if (task != nullptr) last_ = task->queue_link;
    return task;
  }
  [[nodiscard]] std::uint64_t watches() const noexcept { return watches_; }
  [[nodiscard]] std::uint64_t findings() const noexcept { return findings_; }

 private:
  Task* last_ = nullptr;
  std::uint64_t watches_ = 0;
  std::uint64_t findings_ = 0;
};

template <class Atomics>
class KernelParts {
 public:
  explicit KernelParts(std::uint16_t workers)
      : kernel_(Kernel::make({.workers = workers}, host_).value()), worker_(kernel_->worker(0)) {}

  static bool does(Part /*part*/) { return true; }

  std::uint64_t run(Part part, std::uint64_t operations, Stopwatch& watch) {
    switch (part) {
      case Part::spawn:
        return spawn(operations, watch);
      case Part::spawn_many:
        return spawn_many(operations, watch);
      case Part::wake:
        return wake(operations, watch);
      case Part::checkpoint:
        return checkpoint(operations, watch);
      case Part::obligation:
        return obligation(operations, watch);
      case Part::counted:
        return counted(operations, watch);
      case Part::cancel:
        return cancel(operations, watch);
      case Part::drain:
        return drain(operations, watch);
      case Part::region:
        return open_and_close(operations, watch);
    }
    return 0;
  }

 private:
  using Kernel = calm::kernel::BasicKernel<Atomics>;
  using PollStart = calm::kernel::PollStart;
  using Task = typename ListHost<Atomics>::Task;
  using Worker = calm::kernel::Worker;

  static_assert(sizeof(Task) <= 128, "an idle task costs at most 128 bytes beside its frame");

  static constexpr calm::kernel::TaskSpec no_handle{.handle = false};

  calm::RegionId new_region() { return kernel_->create_region(worker_, kernel_->root(), {}).id; }
  /// Closes it without a trace: a part can be run again in the same kernel.
  void let_go(calm::RegionId region) {
    (void)kernel_->close(worker_, region);
    (void)kernel_->release(worker_, region);
  }
  calm::TaskId spawned(calm::RegionId region) { return kernel_->spawn(worker_, region, no_handle).id; }
  bool begins(calm::TaskId task) { return kernel_->begin_poll(worker_, task) == PollStart::run; }
  bool completes(calm::TaskId task) { return kernel_->complete(worker_, task, calm::ok()).is_ok(); }

  /// Gives: a task that is being polled.
  calm::TaskId running(calm::RegionId region) {
    const calm::TaskId task = spawned(region);
    (void)host_.take();
    (void)begins(task);
    return task;
  }

  std::uint64_t spawn(std::uint64_t operations, Stopwatch& watch) {
    const calm::RegionId region = new_region();
    Kernel& kernel = *kernel_;  // in registers, as in the loop of a runtime
    Worker& worker = worker_;
    std::uint64_t done = 0;
    watch.start();
    for (std::uint64_t i = 0; i < operations; ++i) {
      const calm::TaskId task = kernel.spawn(worker, region, no_handle).id;
      if (host_.take() == nullptr || kernel.begin_poll(worker, task) != PollStart::run) break;
      if (!kernel.complete(worker, task, calm::ok())) break;
      ++done;
    }
    watch.stop();
    let_go(region);
    return done;
  }

  std::uint64_t spawn_many(std::uint64_t operations, Stopwatch& watch) {
    const calm::RegionId region = new_region();
    Kernel& kernel = *kernel_;
    Worker& worker = worker_;
    std::uint64_t done = 0;
    watch.start();
    for (std::uint64_t i = 0; i < operations; ++i) (void)kernel.spawn(worker, region, no_handle);
    while (const Task* const task = host_.take()) {
      const calm::TaskId id = task->id();
      if (kernel.begin_poll(worker, id) != PollStart::run || !kernel.complete(worker, id, calm::ok())) break;
      ++done;
    }
    watch.stop();
    let_go(region);
    return done;
  }

  std::uint64_t wake(std::uint64_t operations, Stopwatch& watch) {
    const calm::RegionId region = new_region();
    const calm::TaskId task = running(region);
    (void)kernel_->end_poll(worker_, task);
    Kernel& kernel = *kernel_;
    Worker& worker = worker_;
    std::uint64_t done = 0;
    watch.start();
    for (std::uint64_t i = 0; i < operations; ++i) {
      (void)kernel.wake(worker, task);
      if (host_.take() == nullptr || kernel.begin_poll(worker, task) != PollStart::run) break;
      if (!kernel.end_poll(worker, task)) break;
      ++done;
    }
    watch.stop();
    (void)kernel_->wake(worker_, task);
    (void)host_.take();
    (void)begins(task);
    (void)completes(task);
    let_go(region);
    return done;
  }

  std::uint64_t checkpoint(std::uint64_t operations, Stopwatch& watch) {
    return in_poll(operations, watch, [this](calm::RegionId /*region*/, calm::TaskId task) {
      return kernel_->checkpoint(worker_, task).is_ok();
    });
  }

  std::uint64_t obligation(std::uint64_t operations, Stopwatch& watch) {
    return in_poll(operations, watch, [this](calm::RegionId region, calm::TaskId task) {
      const auto made = kernel_->reserve(worker_, region, {.kind = calm::ObligationKind::ack, .holder = task});
      return made && kernel_->commit_and_drop(worker_, made.id).is_ok();
    });
  }

  std::uint64_t counted(std::uint64_t operations, Stopwatch& watch) {
    return in_poll(operations, watch, [this](calm::RegionId /*region*/, calm::TaskId task) {
      constexpr auto kind = calm::ObligationKind::lock_guard;
      const bool counted = kernel_->count(worker_, task, kind).is_ok();
      asm volatile("" : : : "memory");  // what the task does meanwhile: one more and one less must not cancel out
      return counted && kernel_->uncount(worker_, task, kind, task).is_ok();
    });
  }

  /// `operation(region, task)` is done again and again in one poll of the task; gives how often it was true.
  template <class Operation>
  std::uint64_t in_poll(std::uint64_t operations, Stopwatch& watch, Operation operation) {
    const calm::RegionId region = new_region();
    const calm::TaskId task = running(region);
    std::uint64_t done = 0;
    watch.start();
    for (std::uint64_t i = 0; i < operations; ++i) done += operation(region, task) ? 1U : 0U;
    watch.stop();
    (void)completes(task);
    let_go(region);
    return host_.findings() == 0 ? done : 0;
  }

  std::uint64_t cancel(std::uint64_t operations, Stopwatch& watch) {
    const calm::RegionId region = region_of_parked(operations);
    const std::uint64_t watched_before = host_.watches();
    watch.start();
    (void)kernel_->cancel(worker_, region, {});
    watch.stop();
    const std::uint64_t watched = host_.watches() - watched_before;
    return drained(region) == operations ? watched : 0;
  }

  std::uint64_t drain(std::uint64_t operations, Stopwatch& watch) {
    const calm::RegionId region = region_of_parked(operations);
    (void)kernel_->cancel(worker_, region, {});
    watch.start();
    const std::uint64_t done = drained(region);
    watch.stop();
    return done;
  }

  calm::RegionId region_of_parked(std::uint64_t tasks) {
    const calm::RegionId region = new_region();
    for (std::uint64_t i = 0; i < tasks; ++i) (void)kernel_->end_poll(worker_, running(region));
    return region;
  }

  /// Gives: how many tasks acknowledged and ended; 0 when the region is not Closed after that.
  std::uint64_t drained(calm::RegionId region) {
    std::uint64_t done = 0;
    while (const Task* const task = host_.take()) {
      const calm::TaskId id = task->id();
      const bool told = begins(id) && kernel_->checkpoint(worker_, id) == calm::Status(calm::Errc::cancelled);
      done += told && completes(id) ? 1U : 0U;
    }
    const bool closed = kernel_->state(region) == calm::RegionState::closed;
    (void)kernel_->release(worker_, region);
    return closed ? done : 0;
  }

  std::uint64_t open_and_close(std::uint64_t operations, Stopwatch& watch) {
    std::uint64_t done = 0;
    watch.start();
    for (std::uint64_t i = 0; i < operations; ++i) {
      const calm::RegionId region = new_region();
      (void)kernel_->close(worker_, region);
      done +=
          kernel_->state(region) == calm::RegionState::closed && kernel_->release(worker_, region).is_ok() ? 1U : 0U;
    }
    watch.stop();
    return done;
  }

  ListHost<Atomics> host_;
  std::unique_ptr<Kernel> kernel_;
  Worker& worker_;
};

/// Gives: the exit code of a contender that is a kernel.
template <class Atomics>
int measure_kernel(int argc, char** argv, std::uint16_t workers) {
  char note[64];
  std::snprintf(note, sizeof(note), "%zu bytes per task record", sizeof(calm::kernel::TaskRecord<Atomics>));
  return measure_part(argc, argv, KernelParts<Atomics>(workers), note);
}

}  // namespace bench
