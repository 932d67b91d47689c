// atomic.hpp — words whose every access is a step of the explorer, and the atomics policy made of them.
// Laws:    LAB-4 (a failed compare-and-swap is a read), LAB-8
// Threads: those of one explored program; outside of one an access simply happens
// Cancel:  not applicable
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "calm/explore/threads.hpp"
#include "calm/lockfree/atomics.hpp"

namespace calm::explore {

/// As std::atomic<T>. Needs: made in the setup or in a thread of the program.
template <class T>
class Atomic {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  Atomic() noexcept : Atomic(T{}) {}
  Atomic(T value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor): as std::atomic
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;
  ~Atomic() = default;

  T load(std::memory_order /*order*/ = std::memory_order_seq_cst) const noexcept {
    arrive(StepKind::fixed, false);
    touch(Touch::read(location_));
    return value_;
  }
  void store(T value, std::memory_order /*order*/ = std::memory_order_seq_cst) noexcept { (void)change(value); }
  T exchange(T value, std::memory_order /*order*/ = std::memory_order_seq_cst) noexcept { return change(value); }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order /*success*/ = std::memory_order_seq_cst,
                               std::memory_order /*failure*/ = std::memory_order_seq_cst) noexcept {
    arrive(StepKind::free, true);
    if (value_ == expected) {
      touch(Touch::write(location_));
      value_ = desired;
      return true;
    }
    touch(Touch::read(location_));
    expected = value_;
    return false;
  }
  /// Never fails without a reason.
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success = std::memory_order_seq_cst,
                             std::memory_order failure = std::memory_order_seq_cst) noexcept {
    return compare_exchange_strong(expected, desired, success, failure);
  }

  T fetch_add(T value, std::memory_order /*order*/ = std::memory_order_seq_cst) noexcept
    requires(!std::is_same_v<T, bool>)
  {
    return update([value](T was) { return was + value; });
  }
  T fetch_sub(T value, std::memory_order /*order*/ = std::memory_order_seq_cst) noexcept
    requires(!std::is_same_v<T, bool>)
  {
    return update([value](T was) { return was - value; });
  }
  T fetch_or(T value, std::memory_order /*order*/ = std::memory_order_seq_cst) noexcept
    requires std::is_integral_v<T>
  {
    return update([value](T was) { return was | value; });
  }
  T fetch_and(T value, std::memory_order /*order*/ = std::memory_order_seq_cst) noexcept
    requires std::is_integral_v<T>
  {
    return update([value](T was) { return was & value; });
  }

  /// Goes on when the word is another than `old`.
  void wait(T old, std::memory_order /*order*/ = std::memory_order_seq_cst) const noexcept {
    struct Waiting {
      const Atomic* word;
      T old;
    };
    const Waiting waiting{this, old};
    if (Threads* const threads = Threads::current()) {
      threads->arrive({.kind = StepKind::free,
                       .location = location_,
                       .can_go_on =
                           [](const void* asked) {
                             const auto& w = *static_cast<const Waiting*>(asked);
                             return !(w.word->value_ == w.old);
                           },
                       .word = &waiting});
    }
    touch(Touch::read(location_));
  }
  void notify_one() noexcept {}
  void notify_all() noexcept {}

 private:
  void arrive(StepKind kind, bool write) const noexcept {
    if (Threads* const threads = Threads::current()) {
      threads->arrive({.kind = kind, .location = location_, .write = write});
    }
  }
  static void touch(Touch touch) noexcept {
    if (Threads* const threads = Threads::current()) threads->touch(touch);
  }
  T change(T value) noexcept {
    arrive(StepKind::fixed, true);
    touch(Touch::write(location_));
    return std::exchange(value_, value);
  }
  template <class Function>
  T update(Function function) noexcept {
    arrive(StepKind::fixed, true);
    touch(Touch::write(location_));
    return std::exchange(value_, static_cast<T>(function(value_)));
  }
  static Location new_location() noexcept {
    Threads* const threads = Threads::current();
    return threads == nullptr ? 0 : threads->new_location();
  }

  T value_;
  Location location_ = new_location();
};

}  // namespace calm::explore
