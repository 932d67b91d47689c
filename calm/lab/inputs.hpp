// inputs.hpp — what a run takes from outside, where a recording says it and the lab does not make it up.
// Laws:    SCH-9, LAB-1 (only clock, entropy and choice differ from production)
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>

#include "calm/clock/wheel.hpp"
#include "calm/cx/blocking.hpp"
#include "calm/cx/gateway.hpp"
#include "calm/mem/ref.hpp"
#include "calm/model/time.hpp"

namespace calm::lab {

class Inputs {
 public:
  /// Gives: true when what tasks share takes turns, as with several workers.
  [[nodiscard]] virtual bool several() const noexcept = 0;

  /// Gives: what the clock says to the task that runs; `now` is what it knows.
  [[nodiscard]] virtual Time clock(Time now) noexcept = 0;
  [[nodiscard]] virtual std::uint64_t entropy() noexcept = 0;

  [[nodiscard]] virtual Status arm(clock::Alarm& alarm, Time now, clock::Beyond beyond) noexcept = 0;
  virtual void disarm(clock::Alarm& alarm) noexcept = 0;
  /// Gives: how many alarms are armed.
  [[nodiscard]] virtual std::uint64_t armed() const noexcept = 0;

  /// Gives: the way in for threads of the program.
  [[nodiscard]] virtual mem::Ref<cx::Gateway> gateway() noexcept = 0;
  [[nodiscard]] virtual cx::BlockingDoor* blocking_door() noexcept = 0;

 protected:
  ~Inputs() = default;
};

}  // namespace calm::lab
