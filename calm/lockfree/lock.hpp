// lock.hpp — a lock in one word, for sections of a few dozen instructions: spins for a moment, then sleeps.
// Laws:    none of its own; the shards of SHD-1 stand on it
// Threads: everything anywhere; unlock() by whoever holds the lock. Not recursive, not fair
// Cancel:  not applicable; a section never suspends, so a wait for it is short
//
// word_: 0 free, 1 held, 2 held and someone may sleep.
//   lock      0 -> 1 at once or while spinning. Who gives up spinning writes 2 with every try: when that found 0 the lock
//             is taken, and 2 stays: others may sleep that it knows nothing of. A 2 without a sleeper costs one notify.
//   unlock    any -> 0, and one sleeper is woken when it was 2. The woken one writes 2 again for those who still sleep.
// No wake is lost: a thread sleeps only while the word is 2, which is compared when it falls asleep. So the unlock that
// ends this 2 comes later, sees it, and wakes one; that one runs and, finding the lock taken, leaves a 2 behind.
//
// Pairs:
//   [L1] unlock() releases what the section wrote -> the lock() or try_lock() that takes the lock next acquires.
#pragma once

#include <cstdint>

#include "calm/check/probe.hpp"
#include "calm/check/require.hpp"
#include "calm/lockfree/atomics.hpp"

namespace calm::lockfree {

/// `spins` is how often lock() looks again before it sleeps.
template <AtomicsPolicy Atomics = RealAtomics, std::uint32_t spins = 64>
class Lock {
 public:
  constexpr Lock() noexcept = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  /// Needs: a thread that does not hold this lock.
  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      lock_slowly();
  }

  /// Gives: true when the caller holds the lock now.
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t expected = free_;
    // relaxed on failure: nothing that the lock guards is looked at.
    return word_.compare_exchange_strong(expected, held_, std::memory_order_acquire,  // [L1]
                                         std::memory_order_relaxed);
  }

  /// Needs: the caller holds the lock.
  void unlock() noexcept {
    const std::uint32_t was = word_.exchange(free_, std::memory_order_release);  // [L1]
    CALM_SLOW(SHD_3, was != free_, was);
    if (was == waited_for_) [[unlikely]]
      Atomics::notify_one(word_);
  }

 private:
  static constexpr std::uint32_t free_ = 0;
  static constexpr std::uint32_t held_ = 1;
  static constexpr std::uint32_t waited_for_ = 2;

  [[gnu::cold, gnu::noinline]] void lock_slowly() noexcept {
    for (std::uint32_t i = 0; i < spins; ++i) {
      Atomics::pause();
      // relaxed: a stale word costs one more round; looking first keeps the holder's cache line with it.
      if (word_.load(std::memory_order_relaxed) == free_ && try_lock()) return;
    }
    CALM_PROBE("lock: sleeps");
    while (word_.exchange(waited_for_, std::memory_order_acquire) != free_) Atomics::wait(word_, waited_for_);  // [L1]
  }

  typename Atomics::template Atomic<std::uint32_t> word_{free_};
};

}  // namespace calm::lockfree
