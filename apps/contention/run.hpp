// run.hpp — a run: threads that poll, each with the operation of the workload in every round, until time or rounds are over.
// Laws:    SHD-2, SHD-4, QUI-1 (it must end in quiet, with every promise settled)
// Threads: run() alone; it starts one thread per worker and joins them
// Cancel:  not applicable
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "apps/contention/builds.hpp"
#include "apps/contention/evidence.hpp"
#include "apps/contention/host.hpp"
#include "apps/contention/workload.hpp"
#include "calm/kernel/kernel.hpp"

namespace calm::contention {

template <class Build>
class Run {
 public:
  explicit Run(const Order& order)
      : order_(order), build_(order.workers), host_(order.workers), kernel_(make_kernel()) {}

  Result run() {
    std::vector<Span> spans(order_.workers);
    std::vector<std::thread> threads;
    threads.reserve(order_.workers);
    for (std::uint16_t i = 0; i < order_.workers; ++i) {
      threads.emplace_back([this, i, &spans] { spans[i] = Hand(*this, i).work(); });
    }
    for (std::thread& thread : threads) thread.join();
    Result result;
    Span all = spans[0];
    for (const Span& span : spans) {
      result.rounds += span.rounds;
      all.from_ns = std::min(all.from_ns, span.from_ns);
      all.to_ns = std::max(all.to_ns, span.to_ns);
    }
    result.ns = all.to_ns - all.from_ns;
    if (kernel::lock_metrics_on) result.evidence = evidence();
    result.wrong = what_is_wrong(spans);
    return result;
  }

 private:
  using Atomics = typename Build::Atomics;
  using Kernel = kernel::BasicKernel<Atomics>;
  using PollStart = kernel::PollStart;

  /// What a worker did, and when.
  struct Span {
    std::uint64_t rounds = 0;  ///< those in which all went as it must
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = 0;
  };

  /// A worker at its work.
  class Hand {
   public:
    Hand(Run& run, std::uint16_t index) : run_(run), kernel_(*run.kernel_), worker_(kernel_.worker(index)) {}

    Span work() {
      region_ = make_region(kernel_.root());
      for (TaskId& task : tasks_) task = parked(region_);
      run_.meet();
      Span span;
      span.from_ns = Records::now_ns();
      while (run_.goes_on(span) && round()) ++span.rounds;
      span.to_ns = Records::now_ns();
      for (const TaskId task : tasks_) {
        if (polls(task)) (void)completes(task);
      }
      let_go(region_);
      return span;
    }

   private:
    static constexpr kernel::TaskSpec no_handle{.handle = false};

    /// Goes through what the build keeps others out with.
    template <class Operation>
    [[gnu::always_inline]] decltype(auto) call(Call call, Operation&& operation) {
      if constexpr (kernel::lock_metrics_on) {
        worker_.set_time(run_.time_of(Records::now_ns()));
      }
      return run_.build_.call(call, worker_, std::forward<Operation>(operation));
    }

    bool round() {
      for (std::uint32_t i = 0; i < polls_per_round; ++i) {
        const TaskId task = tasks_[i % tasks_per_worker];
        if (!polls(task) || !checkpoints(task) || !parks(task)) return false;
      }
      switch (run_.order_.workload) {
        case Workload::polling:
          return true;
        case Workload::spawn:
          return begins(spawned(region_)) && completes(begun_);
        case Workload::commit:
          return commit();
        case Workload::cancel:
          return cancel();
        case Workload::snapshot:
          return call(Call::snapshot, [this] { return kernel_.snapshot(worker_); }).find(region_) != nullptr;
      }
      return false;
    }

    // The steps of a poll.
    bool polls(TaskId task) {
      (void)call(Call::wake, [this, task] { return kernel_.wake(worker_, task); });
      return begins(task);
    }
    bool begins(TaskId task) {
      begun_ = task;
      if (run_.host_.take(worker_) != task) return false;
      return call(Call::begin_poll, [this, task] { return kernel_.begin_poll(worker_, task); }) == PollStart::run;
    }
    bool checkpoints(TaskId task) {
      return call(Call::checkpoint, [this, task] { return kernel_.checkpoint(worker_, task); }).is_ok();
    }
    bool parks(TaskId task) {
      return call(Call::end_poll, [this, task] { return kernel_.end_poll(worker_, task); }).is_ok();
    }
    bool completes(TaskId task) {
      return call(Call::complete, [this, task] { return kernel_.complete(worker_, task, ok()); }).is_ok();
    }

    TaskId spawned(RegionId region) {
      return call(Call::spawn, [this, region] { return kernel_.spawn(worker_, region, no_handle); }).id;
    }
    TaskId parked(RegionId region) {
      const TaskId task = spawned(region);
      return begins(task) && parks(task) ? task : TaskId();
    }
    RegionId make_region(RegionId parent) {
      return call(Call::create_region, [this, parent] { return kernel_.create_region(worker_, parent, {}); }).id;
    }
    void let_go(RegionId region) {
      call(Call::close_region, [this, region] {
        (void)kernel_.close(worker_, region);
        (void)kernel_.release(worker_, region);
      });
    }

    bool commit() {
      const TaskId holder = tasks_[0];
      if (!polls(holder)) return false;
      const kernel::ObligationSpec spec{.kind = ObligationKind::ack, .holder = holder};
      const auto made = call(Call::reserve, [this, &spec] { return kernel_.reserve(worker_, region_, spec); });
      if (!made) return false;
      const Status kept = call(Call::commit, [this, id = made.id] { return kernel_.commit_and_drop(worker_, id); });
      return kept.is_ok() && parks(holder);
    }

    bool cancel() {
      const RegionId outer = make_region(region_);
      const RegionId inner = make_region(outer);
      for (std::uint32_t i = 0; i < cancelled_tasks; ++i) {
        if (!parked(i % 2 == 0 ? outer : inner)) return false;
      }
      (void)call(Call::cancel, [this, outer] { return kernel_.cancel(worker_, outer, {}); });
      std::uint32_t ended = 0;
      while (const TaskId task = run_.host_.take(worker_)) {
        const auto start = call(Call::begin_poll, [this, task] { return kernel_.begin_poll(worker_, task); });
        if (start != PollStart::run || checkpoints(task) || !completes(task)) return false;
        ++ended;
      }
      const auto state = call(Call::look, [this, outer] { return kernel_.state(outer); });
      let_go(inner);
      let_go(outer);
      return ended == cancelled_tasks && state == RegionState::closed;
    }

    Run& run_;
    Kernel& kernel_;
    kernel::Worker& worker_;
    RegionId region_;
    TaskId tasks_[tasks_per_worker];
    TaskId begun_;
  };

  std::unique_ptr<Kernel> make_kernel() {
    return Kernel::make({.workers = order_.workers, .trace_capacity = trace_capacity}, host_, build_.observer())
        .value();
  }

  /// Gives all workers a common start. They do not sleep: waking takes longer than many rounds.
  void meet() noexcept {
    arrived_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a start, nothing is passed on
    while (arrived_.load(std::memory_order_relaxed) != order_.workers) std::this_thread::yield();
  }

  /// One look at the clock in a round: both builds pay for it alike.
  [[nodiscard]] bool goes_on(const Span& span) const noexcept {
    if (order_.rounds != 0) return span.rounds < order_.rounds;
    return span.rounds == 0 || static_cast<double>(Records::now_ns() - span.from_ns) < order_.seconds * 1e9;
  }

  [[nodiscard]] Time time_of(std::uint64_t ns) const noexcept { return Time::at_ns(ns - born_ns_); }

  /// Needs: the workers are gone.
  std::string what_is_wrong(const std::vector<Span>& spans) {
    for (const Span& span : spans) {
      if (order_.rounds != 0 ? span.rounds != order_.rounds : span.rounds == 0) {
        return fmt::format("a worker stopped after {} rounds", span.rounds);
      }
    }
    const kernel::Snapshot left = kernel_->snapshot(kernel_->worker(0));
    if (left.regions.size() != 1 || !left.tasks.empty() || !left.obligations.empty() || host_.findings() != 0) {
      return fmt::format("{} regions, {} tasks, {} promises and {} findings are left, not the root alone",
                         left.regions.size(), left.tasks.size(), left.obligations.size(), host_.findings());
    }
    return {};
  }

  std::string evidence() const {
    return fmt::format(",\n\"locks\":[{}],\n\"records\":{},\n{}",
                       fmt::join(build_.rows(kernel_->lock_metrics()), ",\n"), build_.records().json(),
                       json_evidence(kernel_->trace().value()));
  }

  /// With metrics rounds are few, and nothing of them is overwritten; without, a ring that stays in the cache.
  static constexpr std::uint64_t trace_capacity =
      kernel::lock_metrics_on ? std::uint64_t{1} << 16 : std::uint64_t{1} << 12;

  Order order_;
  std::uint64_t born_ns_ = Records::now_ns();
  Build build_;
  QueueHost<Atomics> host_;
  std::unique_ptr<Kernel> kernel_;
  std::atomic<std::uint32_t> arrived_{0};
};

}  // namespace calm::contention
