// fire_or_cancel.hpp — whether a timer fires or is cancelled: one word, one step, one winner.
// Laws:    TMR-7
// Threads: arm(), fire() and cancel() by who has the timer's wheel to itself (SharedWheel's lock, or the only thread);
//          is_armed() by the timer's owner at any time
// Cancel:  cancel() that gave true is final: no fire() gives true after it
//
// word_: 0 at rest, 1 armed, 2 fired, 3 cancelled. Only the step that finds 1 leaves it. The wheel's lock makes it one step;
// the word is atomic for the owner, who looks without the lock: in fire() the wheel touches the timer for the last time, so an
// owner that finds it not armed may end it.
//
// Pairs:
//   [F1] fire() releases what its thread did with the timer -> the owner that finds it not armed acquires.
#pragma once

#include <atomic>
#include <cstdint>

#include "calm/lockfree/atomics.hpp"

namespace calm::clock {

template <lockfree::AtomicsPolicy Atomics>
class FireOrCancel {
 public:
  /// Needs: not armed.
  void arm() noexcept {
    word_.store(armed_, std::memory_order_relaxed);
  }  // relaxed: the owner arms, or waits for who does

  /// Gives: true for the one who decided. False: it was decided before, or never armed.
  [[nodiscard]] bool fire() noexcept { return decide(fired_); }
  [[nodiscard]] bool cancel() noexcept { return decide(cancelled_); }

  /// A `true` may be a moment old: a wake is on its way then.
  [[nodiscard]] bool is_armed() const noexcept { return word_.load(std::memory_order_acquire) == armed_; }   // [F1]
  [[nodiscard]] bool has_fired() const noexcept { return word_.load(std::memory_order_acquire) == fired_; }  // [F1]

 private:
  static constexpr std::uint8_t armed_ = 1;
  static constexpr std::uint8_t fired_ = 2;
  static constexpr std::uint8_t cancelled_ = 3;

  bool decide(std::uint8_t end) noexcept {
    if (word_.load(std::memory_order_relaxed) != armed_) return false;  // relaxed: nobody else decides now
    word_.store(end, std::memory_order_release);                        // [F1]
    return true;
  }

  typename Atomics::template Atomic<std::uint8_t> word_{0};
};

}  // namespace calm::clock
