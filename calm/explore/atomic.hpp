// atomic.hpp — atomics whose every access is a step of the explorer.
// Laws:    LAB-4 (a failed compare-and-swap is a read), LAB-8
// Threads: those of one explored program; outside of one an access simply happens
// Cancel:  not applicable
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "calm/explore/word.hpp"

namespace calm::explore {

/// As std::atomic<T>. Needs: made in the setup or in a thread of the program.
template <class T>
class Atomic : private Word {
 public:
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  static constexpr std::memory_order seq_cst = std::memory_order_seq_cst;

  Atomic() noexcept : Atomic(T{}) {}
  Atomic(T value) noexcept : Word(bits_of(value)) {}  // NOLINT(google-explicit-constructor): as std::atomic
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;
  ~Atomic() = default;

  T load(std::memory_order order = seq_cst) const noexcept { return value_of(Word::load(order)); }
  void store(T value, std::memory_order order = seq_cst) noexcept { Word::store(bits_of(value), order); }
  T exchange(T value, std::memory_order order = seq_cst) noexcept {
    return update([value](T /*was*/) { return value; }, order);
  }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order success = seq_cst,
                               std::memory_order failure = seq_cst) noexcept {
    return compare_exchange(expected, desired, {success, failure}, false);
  }
  /// Fails for no reason only as often as the machine is told to (Machine::spurious_failures).
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success = seq_cst,
                             std::memory_order failure = seq_cst) noexcept {
    return compare_exchange(expected, desired, {success, failure}, true);
  }

  T fetch_add(T value, std::memory_order order = seq_cst) noexcept
    requires(!std::is_same_v<T, bool>)
  {
    return update([value](T was) { return was + value; }, order);
  }
  T fetch_sub(T value, std::memory_order order = seq_cst) noexcept
    requires(!std::is_same_v<T, bool>)
  {
    return update([value](T was) { return was - value; }, order);
  }
  T fetch_or(T value, std::memory_order order = seq_cst) noexcept
    requires std::is_integral_v<T>
  {
    return update([value](T was) { return was | value; }, order);
  }
  T fetch_and(T value, std::memory_order order = seq_cst) noexcept
    requires std::is_integral_v<T>
  {
    return update([value](T was) { return was & value; }, order);
  }

  /// Goes on when the word is another than `old`, notified or not.
  void wait(T old, std::memory_order order = seq_cst) const noexcept { await_other(bits_of(old), order); }
  void notify_one() noexcept {}
  void notify_all() noexcept {}

 private:
  friend struct ExplorerAtomics;

  static std::uint64_t bits_of(T value) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }
  static T value_of(std::uint64_t bits) noexcept {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  template <class Function>
  T update(Function function, std::memory_order order) noexcept {
    return value_of(Word::update(
        [&function](std::uint64_t was) { return bits_of(static_cast<T>(function(value_of(was)))); }, order));
  }
  bool compare_exchange(T& expected, T desired, Orders orders, bool weak) noexcept {
    std::uint64_t bits = bits_of(expected);
    const bool changed = Word::compare_exchange(bits, bits_of(desired), orders, weak);
    if (!changed) expected = value_of(bits);
    return changed;
  }
};

}  // namespace calm::explore
