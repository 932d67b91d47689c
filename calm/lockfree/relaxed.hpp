// relaxed.hpp — a value that one thread writes and others may glance at: no order, no tearing, the price of a plain one.
// Laws:    none of its own
// Threads: set() by one thread at a time; get() anywhere, a moment late
// Cancel:  not applicable
//
// Nothing may be decided on what another thread reads here; it is for those who look in from outside (a snapshot, a
// diagnostic), and for the writer itself. So it is no scheduling point of a model: its policy only says whether there is
// another thread at all. Where there is none it is a plain value.
#pragma once

#include <atomic>
#include <type_traits>

#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/local_atomics.hpp"

namespace calm::lockfree {

template <class T, AtomicsPolicy Atomics = RealAtomics>
class Relaxed {
 public:
  constexpr Relaxed() noexcept = default;
  constexpr Relaxed(T value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor): stands for its value
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;

  [[nodiscard]] T get() const noexcept { return value_.load(std::memory_order_relaxed); }
  void set(T value) noexcept { value_.store(value, std::memory_order_relaxed); }

  /// The same where the value says that other things are there: what happened before publish() is seen after seen().
  [[nodiscard]] T seen() const noexcept { return value_.load(std::memory_order_acquire); }
  void publish(T value) noexcept { value_.store(value, std::memory_order_release); }

 private:
  std::conditional_t<Atomics::shared, std::atomic<T>, LocalAtomics::Atomic<T>> value_{};
};

}  // namespace calm::lockfree
