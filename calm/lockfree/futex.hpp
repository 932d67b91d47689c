// futex.hpp — how a thread sleeps until a word is another or a time has come: the system's call behind a narrow policy.
// Laws:    SCH-8 (who waits here uses no CPU)
// Threads: everything anywhere
// Cancel:  not applicable
//
// atomics.hpp has waits without a time, and std::atomic has no others. What parks until a timer takes a FutexPolicy beside
// its AtomicsPolicy; a model has one of its own, in which a time is a choice.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>

#include "calm/lockfree/atomics.hpp"

namespace calm::lockfree {

/// A time that never comes, in nanoseconds of the monotonic clock (CLOCK_MONOTONIC, std::chrono::steady_clock).
inline constexpr std::uint64_t never_ns = UINT64_MAX;

enum class FutexEnd : std::uint8_t {
  woken,      ///< or for no reason: the caller looks at the word again
  timed_out,  ///< the time had come; a wake may have come too
};

/// The system's.
struct RealFutex {
  /// Sleeps while the word is `old`, until it is woken or the monotonic clock shows `until_ns`.
  static FutexEnd wait(const std::atomic<std::uint32_t>& word, std::uint32_t old, std::uint64_t until_ns) noexcept;
  /// Wakes so many of those who sleep on this word. Needs: the word was changed before.
  static void wake(std::atomic<std::uint32_t>& word, std::uint32_t count) noexcept;
};

/// What code that parks may use, over the words of its atomics.
template <class Futex, class Atomics>
concept FutexPolicy =
    requires(typename Atomics::template Atomic<std::uint32_t>& word, std::uint32_t number, std::uint64_t until_ns) {
      { Futex::wait(word, number, until_ns) } noexcept -> std::same_as<FutexEnd>;
      { Futex::wake(word, number) } noexcept;
    };

static_assert(FutexPolicy<RealFutex, RealAtomics>);

}  // namespace calm::lockfree
