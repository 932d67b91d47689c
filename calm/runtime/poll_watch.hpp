// poll_watch.hpp — which poll a worker is in, for who watches that polls end.
// Laws:    GHO-3, IO-4, QUI-3
// Threads: wake() and rest() by the worker, the rest anywhere
// Cancel:  not applicable
#pragma once

#include "calm/kernel/worker.hpp"
#include "calm/lockfree/vigil.hpp"

namespace calm::runtime {

class PollWatch {
 public:
  /// Needs: the worker outlives this.
  explicit PollWatch(const kernel::Worker& worker) noexcept : worker_(&worker) {}

  /// The worker begins to look for something to poll, or sleeps from here on.
  void wake() noexcept { mark_.wake(); }
  void rest() noexcept { mark_.rest(); }
  [[nodiscard]] bool is_awake() const noexcept { return mark_.is_awake(); }

  /// Gives: the poll that it is in, if any, with the number of the round that it is of.
  [[nodiscard]] kernel::Worker::Look look() const noexcept { return worker_->look(); }

 private:
  const kernel::Worker* worker_;
  lockfree::AwakeMark<> mark_;
};

}  // namespace calm::runtime
