// word.hpp — one word of memory whose every access is a step of the explorer: what Atomic<T> is made of.
// Laws:    LAB-4 (a failed compare-and-swap is a read), LAB-8
// Threads: those of one explored program; outside of one an access simply happens
// Cancel:  not applicable
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "calm/explore/threads.hpp"

namespace calm::explore {

class Word {
 public:
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;

 protected:
  explicit Word(std::uint64_t bits) noexcept : bits_(bits) {}
  ~Word() = default;

  std::uint64_t load(std::memory_order order) const noexcept {
    Threads* const threads = Threads::current();
    if (threads == nullptr) return bits_;
    if (threads->memory() != nullptr) return load_from_history(*threads, order);
    threads->arrive({.location = location_});
    threads->touch(Touch::read(location_));
    threads->saw({this, bits_});
    return bits_;
  }

  void store(std::uint64_t bits, std::memory_order order) noexcept {
    Threads* const threads = begin_change();
    if (threads != nullptr && threads->memory() != nullptr) return store_into_history(*threads, bits, order);
    end_change(threads, bits);
  }

  /// Gives: what was there. `change` makes the new bits of the old ones.
  template <class Change>
  std::uint64_t update(Change change, std::memory_order order) noexcept {
    Threads* const threads = begin_change();
    const std::uint64_t was = bits_;
    if (threads != nullptr && threads->memory() != nullptr) {
      update_history(*threads, change(was), order);
    } else {
      end_change(threads, change(was));
    }
    return was;
  }

  struct Orders {
    std::memory_order success;
    std::memory_order failure;
  };
  bool compare_exchange(std::uint64_t& expected, std::uint64_t desired, Orders orders, bool weak) noexcept {
    Threads* const threads = Threads::current();
    if (threads != nullptr) {
      if (threads->branches() && threads->in_thread()) {
        return compare_exchange_one_way(*threads, expected, desired, orders, weak);
      }
      threads->arrive({.kind = StepKind::free, .location = location_, .write = true});
    }
    if (bits_ == expected) {
      if (threads != nullptr) threads->touch(Touch::write(location_));
      end_change(threads, desired);
      return true;
    }
    if (threads != nullptr) {
      threads->touch(Touch::read(location_));
      threads->saw({this, bits_});
    }
    expected = bits_;
    return false;
  }

  /// Goes on when the word is another than `old`. Nobody has to say so.
  void await_other(std::uint64_t old, std::memory_order order) const noexcept;

  /// As a futex: lies down if the word is `old`, and goes on when it is woken. The longest sleeper is woken first.
  void sleep_while(std::uint64_t old) const noexcept;
  void wake(std::uint32_t count) const noexcept;

 private:
  friend class Threads;

  Threads* begin_change() noexcept {
    Threads* const threads = Threads::current();
    if (threads != nullptr) {
      threads->arrive({.location = location_, .write = true});
      threads->touch(Touch::write(location_));
    }
    return threads;
  }
  void end_change(Threads* threads, std::uint64_t bits) noexcept {
    if (threads != nullptr) note_change(*threads, bits);
    bits_ = bits;
  }
  /// A thread that leaves a word as it was has only looked.
  void note_change(Threads& threads, std::uint64_t bits) const noexcept {
    if (bits == bits_) {
      threads.saw({this, bits});
    } else {
      threads.changed();
    }
  }

  struct Look;
  struct Exchange;
  std::uint64_t load_from_history(Threads& threads, std::memory_order order) const noexcept;
  void read_store(Threads& threads, Stores::Stamp stamp, std::memory_order order) const noexcept;
  void store_into_history(Threads& threads, std::uint64_t bits, std::memory_order order) noexcept;
  void update_history(Threads& threads, std::uint64_t bits, std::memory_order order) noexcept;
  bool compare_exchange_one_way(Threads& threads, std::uint64_t& expected, std::uint64_t desired, Orders orders,
                                bool weak) noexcept;
  bool exchange_in_history(Threads& threads, Exchange& exchange, std::uint64_t desired) noexcept;
  static Location new_location() noexcept {
    Threads* const threads = Threads::current();
    return threads == nullptr ? 0 : threads->new_location();
  }

  std::uint64_t bits_;  // the newest store
  Location location_ = new_location();
  mutable std::uint32_t history_ = 0;  // where the memory keeps its stores
};

}  // namespace calm::explore
