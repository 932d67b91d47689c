// process_fence.hpp — a fence that one thread pays for all: the system's call behind a narrow policy.
// Laws:    none of its own; company.hpp stands on it
// Threads: everything anywhere
// Cancel:  not applicable
//
// Two threads that each write one word and then read the other's must not both miss what the other wrote. Usually each has
// a full fence between its write and its read. Where one does this all the time and the other hardly ever, the seldom one can
// pay for both: heavy() makes every running thread of the process pass a full fence, wherever it is. The other keeps its
// compiler from exchanging the two, light(), and its processor does the rest.
#pragma once

#include <atomic>

namespace calm::lockfree {

/// The system's: membarrier(2).
struct RealFence {
  /// Of the write and the read beside light().
  static constexpr std::memory_order order = std::memory_order_relaxed;

  /// Gives: true when heavy() works from now on. Old systems and some sandboxes have it not.
  [[nodiscard]] static bool prepare() noexcept;
  static void light() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
  /// Needs: prepare() gave true.
  static void heavy() noexcept;
};

}  // namespace calm::lockfree
