// governed.hpp — the lanes of a worker under a governor: what the governor sees of the worker, and what it has said.
// Laws:    SCH-3 (an immutable snapshot in numbers, no clock; decisions can be looked at), OBS-1
// Threads: steer() by the worker; the rest anywhere
// Cancel:  not applicable
//
// A governor is asked once in governor_period dispatches, and only while the lanes hold anything: suggestions say when
// cancelled tasks go, so there is nothing to say while there are none. What it sees is what waits at this worker: its lanes
// and its queue, and of the next tasks of the cancel lane, as many as a streak takes, what they hold and what their regions
// still have to do. So nothing is counted on the way of a task, and the cost of a look does not depend on how many there are.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>

#include "calm/kernel/kernel.hpp"
#include "calm/runtime/counters.hpp"
#include "calm/sched/steering.hpp"

namespace calm::runtime {

class Governed {
 public:
  /// The governor outlives this.
  explicit Governed(const sched::Governor& governor) noexcept : steering_(governor) {}

  /// To be called before every dispatch that the lanes have a say in; `quick` tasks wait beside them.
  template <lockfree::AtomicsPolicy Atomics>
  void steer(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker, sched::Lanes<Atomics>& lanes,
             std::uint64_t quick) {
    const sched::Decision* const decision =
        steering_.steer(lanes, [&] { return outlook_of(kernel, worker, lanes, quick); });
    if (decision != nullptr) note(*decision);
  }

  [[nodiscard]] const sched::Governor& governor() const noexcept { return steering_.governor(); }
  /// Gives: how often it was asked, and how often it suggested this.
  [[nodiscard]] std::uint64_t asked() const noexcept;
  [[nodiscard]] std::uint64_t said(sched::Suggestion suggestion) const noexcept {
    return said_[static_cast<std::uint8_t>(suggestion)].get();
  }
  /// Gives: the latest decision that changed the order, else the latest. Needs: asked() is not 0.
  [[nodiscard]] sched::Decision notable() const;

 private:
  template <lockfree::AtomicsPolicy Atomics>
  static sched::Outlook outlook_of(kernel::BasicKernel<Atomics>& kernel, kernel::Worker& worker,
                                   sched::Lanes<Atomics>& lanes, std::uint64_t quick) {
    std::array<kernel::TaskRecord<Atomics>*, kernel::holdings_tasks_max> next{};
    static_assert(kernel::holdings_tasks_max >= sched::draining_limit, "as many as the longest streak takes");
    const std::size_t count = lanes.peek_cancel(next);
    sched::Outlook outlook;
    if (count != 0) {
      const kernel::Holdings holdings = kernel.holdings(worker, std::span(next.data(), count));
      outlook.obligations = holdings.obligations;
      outlook.obligation_age_ms = holdings.obligation_age_ms;
      outlook.finalizers = holdings.finalizers;
      outlook.closing_regions = holdings.closing_regions;
    }
    sched::add_lanes(outlook, lanes, quick, worker.now());
    outlook.live_tasks = lanes.size() + quick;
    return outlook;
  }

  void note(const sched::Decision& decision);

  sched::Steering steering_;
  std::array<Counter, sched::suggestion_count> said_;
  mutable std::mutex mutex_;
  sched::Decision notable_;  // under the mutex
};

/// Gives: `governor lyapunov, asked 12 times: 8 none, 4 drain-regions; one of them drain-regions (least potential): tasks 40, …`.
[[nodiscard]] std::string to_string(const Governed& governed);

}  // namespace calm::runtime
