// ground.hpp — what a run of the lab runs on: a host and its kernel, as new for every run.
// Laws:    LAB-1, I6 (nothing of a run is left for the next one)
// Threads: one
// Cancel:  not applicable
//
// A kernel takes its memory when it is made. Who makes thousands of short runs keeps the ground: starting over costs what
// the run before has used.
#pragma once

#include <memory>

#include "calm/kernel/kernel.hpp"
#include "calm/lab/host.hpp"

namespace calm::lab {

class Ground {
 public:
  /// Fails: std::bad_alloc, or as the kernel says.
  explicit Ground(const kernel::Config& config) : kernel_(kernel::LocalKernel::make(config, host_).value()) {}

  /// Gives: the host, which tells what steps do from now on, and is told what comes from outside; none: nobody asks, or says.
  [[nodiscard]] LabHost& host_telling(Touches* touches, Inputs* inputs) noexcept {
    host_.touches = touches;
    host_.inputs = inputs;
    return host_;
  }
  [[nodiscard]] kernel::LocalKernel& kernel() noexcept { return *kernel_; }

  /// As new. Needs: the world of the last run is gone, and all frames with it. Gives: false without memory; then it is only
  ///        good to be destroyed.
  [[nodiscard]] bool start_over() noexcept {
    const Status status = kernel_->start_over();
    host_.start_over();
    return status.is_ok();
  }

 private:
  LabHost host_;
  std::unique_ptr<kernel::LocalKernel> kernel_;
};

}  // namespace calm::lab
