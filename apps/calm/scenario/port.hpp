// port.hpp — what the programs of a scenario see of its kernel: the real one, with a wheel for those who sleep.
// Laws:    LAB-1, LAB-11
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>

#include "apps/calm/scenario/host.hpp"
#include "calm/clock/wheel.hpp"
#include "calm/cx/port.hpp"

namespace calm::scenario {

class ScenarioPort final : public cx::KernelPort<lockfree::LocalAtomics> {
 public:
  ScenarioPort(kernel::LocalKernel& kernel, ScenarioHost& host) noexcept : KernelPort(kernel), host_(host) {}

  Status arm(Worker& worker, clock::Alarm& alarm, clock::Beyond beyond) noexcept override {
    return host_.alarms.arm(alarm, worker.now(), beyond);
  }
  void disarm(Worker& /*worker*/, clock::Alarm& alarm) noexcept override { (void)host_.alarms.disarm(alarm); }
  /// The same in every run: a scenario has nothing to choose.
  std::uint64_t entropy(Worker& /*worker*/) noexcept override { return ++drawn_; }

 private:
  ScenarioHost& host_;
  std::uint64_t drawn_ = 0;
};

}  // namespace calm::scenario
