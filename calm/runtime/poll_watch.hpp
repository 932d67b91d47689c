// poll_watch.hpp — which poll a worker is in, for who watches that polls end.
// Laws:    GHO-3, IO-4, QUI-3
// Threads: wake() and rest() by the worker, the rest anywhere
// Cancel:  not applicable
#pragma once

#include <atomic>
#include <cstdint>

#include "calm/kernel/worker.hpp"

namespace calm::runtime {

class PollWatch {
 public:
  /// Needs: the worker outlives this.
  explicit PollWatch(const kernel::Worker& worker) noexcept : worker_(&worker) {}

  /// The worker begins to look for something to poll, or sleeps from here on.
  // seq_cst: who falls asleep for want of work to watch says so first, and looks here after that.
  void wake() noexcept { awake_.store(true, std::memory_order_seq_cst); }
  void rest() noexcept { awake_.store(false, std::memory_order_seq_cst); }
  [[nodiscard]] bool is_awake() const noexcept { return awake_.load(std::memory_order_seq_cst); }

  /// Gives: the poll that it is in, if any, with the number of the round that it is of.
  [[nodiscard]] kernel::Worker::Look look() const noexcept { return worker_->look(); }

 private:
  const kernel::Worker* worker_;
  std::atomic<bool> awake_{false};
};

}  // namespace calm::runtime
