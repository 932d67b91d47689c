// pace.hpp — the real time as a worker knows it, read as seldom as the work allows.
// Laws:    SHD-5, TMR-3
// Threads: one worker each
// Cancel:  not applicable
//
// Reading the clock costs more than a dispatch. So it is read once in `every` dispatches, and `every` follows the work: when
// so many took longer than `fresh`, it is halved, else doubled. With polls of a microsecond time is some tens of them old,
// with polls of a millisecond it is read before each. Task code that asks for the time reads the clock.
#pragma once

#include <chrono>
#include <cstdint>

#include "calm/model/time.hpp"

namespace calm::runtime {

/// The steady clock since the start of a runtime.
class RealClock {
 public:
  using Steady = std::chrono::steady_clock;

  [[nodiscard]] Time now() const noexcept {
    return Time() +
           Duration::nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(Steady::now() - start_).count());
  }
  /// Gives: this time as the monotonic clock of the system counts.
  [[nodiscard]] std::uint64_t monotonic_ns(Time time) const noexcept {
    const auto at = start_.time_since_epoch() + std::chrono::nanoseconds((time - Time()).ns());
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(at).count());
  }

 private:
  Steady::time_point start_ = Steady::now();
};

class Pace {
 public:
  static constexpr std::uint32_t every_max = 64;
  static constexpr Duration fresh = Duration::microseconds(50);
  /// Who finds in between that time has come to an alarm hurries when it is so late, and fires it with all that have become due
  /// meanwhile.
  static constexpr Duration lateness = Duration::microseconds(10);

  /// Gives: true when there is something to do before the next dispatch: to read the clock, or to fire an alarm. Here and
  ///        below: after so many dispatches.
  [[nodiscard]] bool due(std::uint64_t dispatches) const noexcept { return dispatches >= due_at_; }
  /// Gives: true when it is to read the clock.
  [[nodiscard]] bool read_due(std::uint64_t dispatches) const noexcept { return dispatches >= read_at_; }

  /// An alarm is late: there is something to do, until it was fired or the clock was read.
  void hurry() noexcept { due_at_ = 0; }
  void fired() noexcept { due_at_ = read_at_; }
  /// It is to read the clock before the next dispatch.
  void look_soon() noexcept { due_at_ = read_at_ = 0; }

  /// Gives: when the worker read it last between two dispatches.
  [[nodiscard]] Time last_read() const noexcept { return last_; }

  /// The clock was read.
  void read(Time now, std::uint64_t dispatches) noexcept {
    if (now - last_ > fresh) {
      every_ = every_ > 1 ? every_ / 2 : 1;
    } else if (read_due(dispatches) && every_ < every_max) {
      every_ *= 2;
    }
    start_anew(now, dispatches);
  }

  /// The same after a sleep, which says nothing about the work.
  void start_anew(Time now, std::uint64_t dispatches) noexcept {
    last_ = now;
    due_at_ = read_at_ = dispatches + every_;
  }

 private:
  std::uint32_t every_ = 1;
  std::uint64_t due_at_ = 1;   // read_at_, or 0
  std::uint64_t read_at_ = 1;  // after so many dispatches; 0 soon
  Time last_{};
};

}  // namespace calm::runtime
