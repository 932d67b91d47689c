// local_atomics.hpp — the atomics of a runtime with one worker: words are plain values and cost what plain values cost.
// Laws:    SHD-3 (who waits here waits for itself)
// Threads: one; a word moves to another thread only as any plain value does
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <type_traits>

#include "calm/check/require.hpp"
#include "calm/lockfree/atomics.hpp"

namespace calm::lockfree {

namespace detail {

/// A value with the interface of an atomic. Orders are taken and ignored: one thread sees its own writes in order.
template <class T>
class LocalWord {
 public:
  constexpr LocalWord() noexcept = default;
  constexpr LocalWord(T value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor): as std::atomic
  LocalWord(const LocalWord&) = delete;
  LocalWord& operator=(const LocalWord&) = delete;

  [[nodiscard]] constexpr T load(std::memory_order /*order*/) const noexcept { return value_; }
  constexpr void store(T value, std::memory_order /*order*/) noexcept { value_ = value; }
  constexpr T exchange(T value, std::memory_order /*order*/) noexcept { return change(value); }

  constexpr bool compare_exchange_strong(T& expected, T desired, std::memory_order /*success*/,
                                         std::memory_order /*failure*/) noexcept {
    if (value_ != expected) {
      expected = value_;
      return false;
    }
    value_ = desired;
    return true;
  }
  constexpr bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                                       std::memory_order failure) noexcept {
    return compare_exchange_strong(expected, desired, success, failure);
  }

  constexpr T fetch_add(T value, std::memory_order /*order*/) noexcept
    requires std::is_integral_v<T>
  {
    return change(static_cast<T>(unsigned_value() + static_cast<Unsigned>(value)));
  }
  constexpr T fetch_sub(T value, std::memory_order /*order*/) noexcept
    requires std::is_integral_v<T>
  {
    return change(static_cast<T>(unsigned_value() - static_cast<Unsigned>(value)));
  }
  constexpr T fetch_or(T value, std::memory_order /*order*/) noexcept
    requires std::is_integral_v<T>
  {
    return change(static_cast<T>(value_ | value));
  }
  constexpr T fetch_and(T value, std::memory_order /*order*/) noexcept
    requires std::is_integral_v<T>
  {
    return change(static_cast<T>(value_ & value));
  }

 private:
  // Numbers go round as those of std::atomic do; plain signed ones may not.
  using Unsigned = std::uint64_t;
  constexpr Unsigned unsigned_value() const noexcept { return static_cast<Unsigned>(value_); }

  constexpr T change(T value) noexcept {
    const T was = value_;
    value_ = value;
    return was;
  }

  T value_{};
};

}  // namespace detail

/// One thread: nobody else can change a word.
struct LocalAtomics {
  template <class T>
  using Atomic = detail::LocalWord<T>;

  static constexpr bool shared = false;

  /// Fails: always. A loop that waits for a word would wait for ever.
  static void pause() noexcept { fail_to_wait(); }

  /// Fails: always, as pause().
  template <class Word, class T>
  static void wait(const Word& /*word*/, T /*old*/) noexcept {
    fail_to_wait();
  }

  /// Nobody waits.
  template <class Word>
  static void notify_one(Word& /*word*/) noexcept {}
  template <class Word>
  static void notify_all(Word& /*word*/) noexcept {}

 private:
  static void fail_to_wait() noexcept {
    const bool another_thread_can_change_the_word = shared;
    CALM_INVARIANT(SHD_3, another_thread_can_change_the_word);
  }
};

static_assert(AtomicsPolicy<LocalAtomics>);
static_assert(sizeof(LocalAtomics::Atomic<std::uint8_t>) == 1 && sizeof(LocalAtomics::Atomic<std::uint64_t>) == 8);

}  // namespace calm::lockfree
