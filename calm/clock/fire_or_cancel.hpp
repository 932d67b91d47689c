// fire_or_cancel.hpp — whether a timer fires or is cancelled: one word, one step, one winner.
// Laws:    TMR-7
// Threads: fire() and cancel() anywhere; arm() by the owner of a timer that nobody else can reach yet
// Cancel:  cancel() that gave true is final: no fire() gives true after it
//
// word_: 0 at rest, 1 armed, 2 fired, 3 cancelled. Only the step that finds 1 leaves it.
//
// Pairs:
//   [F1] the step that decides releases what its thread wrote -> the step that comes too late acquires.
#pragma once

#include <atomic>
#include <cstdint>

#include "calm/lockfree/atomics.hpp"

namespace calm::clock {

template <lockfree::AtomicsPolicy Atomics>
class FireOrCancel {
 public:
  /// Needs: not armed.
  void arm() noexcept { word_.store(armed_, std::memory_order_relaxed); }  // relaxed: nobody else knows of it yet

  /// Gives: true for the one who decided. False: it was decided before, or never armed.
  [[nodiscard]] bool fire() noexcept { return decide(fired_); }
  [[nodiscard]] bool cancel() noexcept { return decide(cancelled_); }

  /// relaxed: stale only where another thread decides at this moment, and then the answer is as good as old.
  [[nodiscard]] bool is_armed() const noexcept { return word_.load(std::memory_order_relaxed) == armed_; }
  [[nodiscard]] bool has_fired() const noexcept { return word_.load(std::memory_order_relaxed) == fired_; }

 private:
  static constexpr std::uint8_t armed_ = 1;
  static constexpr std::uint8_t fired_ = 2;
  static constexpr std::uint8_t cancelled_ = 3;

  bool decide(std::uint8_t end) noexcept {
    std::uint8_t expected = armed_;
    return word_.compare_exchange_strong(expected, end, std::memory_order_acq_rel,  // [F1]
                                         std::memory_order_acquire);                // [F1]
  }

  typename Atomics::template Atomic<std::uint8_t> word_{0};
};

}  // namespace calm::clock
