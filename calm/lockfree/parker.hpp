// parker.hpp — where one thread sleeps and others wake it: a wake that comes first is kept.
// Laws:    SCH-8
// Threads: park() by the owner; unpark() anywhere
// Cancel:  not applicable
//
// word_: 0 empty, 1 the owner sleeps or is about to, 2 a wake is kept. Wakes do not count: two are one.
//   park      0 -> 1 and sleeps while it is 1; 2 -> 0 ends it
//   unpark    any -> 2; only who finds 1 makes the system's call
//
// Pairs:
//   [P1] unpark() releases what its thread wrote -> the park() that it ends acquires. Every unpark() writes with an
//        exchange, so those before the last one are in its release sequence.
#pragma once

#include <cstdint>

#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/futex.hpp"

namespace calm::lockfree {

enum class ParkEnd : std::uint8_t { unparked, timed_out };

template <AtomicsPolicy Atomics = RealAtomics, FutexPolicy<Atomics> Futex = RealFutex>
class Parker {
 public:
  Parker() noexcept = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  /// Sleeps until unpark(), at most until the monotonic clock shows `until_ns`. An unpark() since the last park() ends it
  /// at once. Gives: which of the two it was; never for no reason.
  ParkEnd park(std::uint64_t until_ns = never_ns) noexcept {
    for (FutexEnd end = FutexEnd::woken;;) {
      std::uint32_t expected = empty_;
      // relaxed: lying down tells nobody anything, and on failure the exchange takes the wake.
      if (word_.compare_exchange_strong(expected, asleep_, std::memory_order_relaxed, std::memory_order_relaxed))
        end = Futex::wait(word_, asleep_, until_ns);
      if (word_.exchange(empty_, std::memory_order_acquire) == told_) return ParkEnd::unparked;  // [P1]
      if (end == FutexEnd::timed_out) return ParkEnd::timed_out;
    }
  }

  /// Ends the park() that goes on, or the next one.
  void unpark() noexcept {
    if (word_.exchange(told_, std::memory_order_acq_rel) == asleep_) Futex::wake(word_, 1);  // [P1]
  }

 private:
  static constexpr std::uint32_t empty_ = 0;
  static constexpr std::uint32_t asleep_ = 1;
  static constexpr std::uint32_t told_ = 2;

  typename Atomics::template Atomic<std::uint32_t> word_{empty_};
};

}  // namespace calm::lockfree
