// back_off.hpp — how often a worker without work looks for some at once before it gives way, as far as that has paid of late.
// Laws:    SCH-6
// Threads: one worker each
// Cancel:  not applicable
//
// To look again costs processor time, and saves a sleep and a call where work comes within that moment. Whether it does, the
// last looks say: after those that found nothing it spins half as often, down to once; as soon as one has found something, as
// often as it may. Once is left, since who never looks never finds.
#pragma once

#include <cstdint>

namespace calm::runtime {

class Spins {
 public:
  Spins() noexcept = default;
  /// Needs: the most that there may be of them in a row. With 0 there are none.
  explicit Spins(std::uint8_t most) noexcept : most_(most), next_(most) {}

  /// Gives: how often to spin this time.
  [[nodiscard]] std::uint8_t next() const noexcept { return next_; }

  /// It has looked around, and there was something.
  void found() noexcept { next_ = most_; }
  /// It has looked around, spinning and giving way, and goes to sleep.
  void found_nothing() noexcept {
    if (next_ > 1) next_ /= 2;
  }

 private:
  std::uint8_t most_ = 0;
  std::uint8_t next_ = 0;
};

}  // namespace calm::runtime
