// work_ring.hpp — the run queue of one worker: it pushes and pops at its own ends, others take half of what waits.
// Laws:    none of its own; SCH-6 (the order of the worker loop) and HND-3 (a full queue refuses) stand on it
// Threads: push(), pop(), pop_alone(), pop_half() and steal_from() by the owner; size() anywhere; another owner's steal_from() reads it
// Cancel:  not applicable
//
// Entries wait in slots first, first + 1, … tail - 1, all numbers modulo 2^32, slot = number % capacity.
//
//   head_: bits 0..31 next: the oldest entry that nobody has taken; bits 32..63 first: the oldest slot that is in use.
//          The two differ only while a thief copies: entries first … next - 1 are its own, and their slots are not free.
//   tail_: where the owner pushes next; only the owner writes it.
//
// One thief at a time: who finds first != next looks elsewhere. The owner pops meanwhile, from `next` on.
//   [W1] push() releases the entry and what it points to by tail_ -> a thief acquires tail_.
//   [W2] a thief releases head_ when it has copied, and the owner when it has popped -> push() acquires head_: the slot that
//        it writes was read by then.
//   [W3] whoever changes `next` acquires head_: a thief that claims sees what the owner's pops before it left behind.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "calm/check/require.hpp"
#include "calm/lockfree/atomics.hpp"

namespace calm::lockfree {

/// A bounded queue of pointers. What an entry points to is not touched.
template <class Entry, std::uint32_t capacity_, AtomicsPolicy Atomics = RealAtomics>
class WorkRing {
 public:
  static constexpr std::uint32_t capacity = capacity_;
  static_assert(std::has_single_bit(capacity) && capacity >= 2 && capacity <= std::uint32_t{1} << 16);

  WorkRing() noexcept = default;
  WorkRing(const WorkRing&) = delete;
  WorkRing& operator=(const WorkRing&) = delete;

  /// Puts an entry behind all others. Gives: false when there is no room; a thief that copies may take it up for a moment.
  [[nodiscard]] bool push(Entry& entry) noexcept {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);  // relaxed: the owner's own
    const Head head(head_.load(std::memory_order_acquire));            // [W2]
    if (tail - head.first() == capacity) return false;
    slot(tail).store(&entry, std::memory_order_relaxed);  // relaxed: tail_ publishes it
    tail_.store(tail + 1, std::memory_order_release);     // [W1]
    return true;
  }

  /// Gives: the oldest entry, or nullptr.
  [[nodiscard]] Entry* pop() noexcept {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);  // relaxed: the owner's own
    Head head(head_.load(std::memory_order_relaxed));                  // relaxed: the exchange decides
    while (head.next() != tail) {
      Entry* const entry = slot(head.next()).load(std::memory_order_relaxed);  // relaxed: the owner wrote it
      if (exchange(head, head.taken(1))) return entry;
    }
    return nullptr;
  }

  /// The same in plain steps. Needs: no thief is here, nor comes before this returns.
  [[nodiscard]] Entry* pop_alone() noexcept {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);  // relaxed: the owner's own
    const Head head(head_.load(std::memory_order_relaxed));            // relaxed: who wrote it is known to have left
    CALM_SLOW(SCH_6, !head.is_copied(), head.bits());
    if (head.next() == tail) return nullptr;
    Entry* const entry = slot(head.next()).load(std::memory_order_relaxed);  // relaxed: the owner wrote it
    head_.store(Head(head.next() + 1, head.next() + 1).bits(), std::memory_order_release);  // [W2]
    return entry;
  }

  /// push() and pop_alone() in one, for which there is always room. Gives: the oldest, which may be the entry itself.
  [[nodiscard]] Entry& rotate_alone(Entry& entry) noexcept {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);  // all as in pop_alone() and push()
    const Head head(head_.load(std::memory_order_relaxed));
    CALM_SLOW(SCH_6, !head.is_copied(), head.bits());
    if (head.next() == tail) return entry;
    Entry* const oldest = slot(head.next()).load(std::memory_order_relaxed);
    head_.store(Head(head.next() + 1, head.next() + 1).bits(), std::memory_order_release);  // [W2]
    slot(tail).store(&entry, std::memory_order_relaxed);
    tail_.store(tail + 1, std::memory_order_release);  // [W1]
    return *oldest;
  }

  /// Takes the older half of what waits, to make room: at most capacity / 2 entries, oldest first, into `to`.
  /// Gives: how many; 0 while a thief copies, and when there are fewer than two.
  [[nodiscard]] std::uint32_t pop_half(std::array<Entry*, capacity / 2>& to) noexcept {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);  // relaxed: the owner's own
    Head head(head_.load(std::memory_order_relaxed));                  // relaxed: the exchange decides
    while (!head.is_copied()) {
      const std::uint32_t count = (tail - head.next()) / 2;
      for (std::uint32_t i = 0; i < count; ++i) to[i] = slot(head.next() + i).load(std::memory_order_relaxed);
      if (count == 0 || exchange(head, head.taken(count))) return count;
    }
    return 0;
  }

  /// Takes the older half of what waits at the victim, the larger one, into this ring.
  /// Needs: the owner's thread; another ring. This ring is empty: a thief has nothing to do.
  /// Gives: one of the entries, to be run at once, or nullptr when there was nothing, or others were quicker.
  [[nodiscard]] Entry* steal_from(WorkRing& victim) noexcept {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);  // relaxed: the owner's own
    CALM_SLOW(SCH_6, Head(head_.load(std::memory_order_acquire)).next() == tail, tail);
    // A thief that still copies from here keeps its slots; there may be room for fewer than half then.
    const std::uint32_t room = capacity - (tail - Head(head_.load(std::memory_order_acquire)).first());  // [W2]
    Head head(victim.head_.load(std::memory_order_acquire));                                             // [W3]
    std::uint32_t count = 0;
    for (;;) {
      if (head.is_copied()) return nullptr;
      const std::uint32_t waiting = victim.tail_.load(std::memory_order_acquire) - head.next();  // [W1]
      if (waiting > capacity) return nullptr;  // head_ went on after it was read: others are quicker
      count = waiting - waiting / 2;
      if (count > room + 1) count = room + 1;  // one of them is not put here
      if (count == 0) return nullptr;
      if (victim.exchange(head, head.claimed(count))) break;
    }
    // The slots from head.next() on are this thief's until it gives them back.
    for (std::uint32_t i = 0; i + 1 < count; ++i) {
      Entry* const entry = victim.slot(head.next() + i).load(std::memory_order_relaxed);  // relaxed: [W1] brought it
      slot(tail + i).store(entry, std::memory_order_relaxed);                             // as in push()
    }
    Entry* const last = victim.slot(head.next() + count - 1).load(std::memory_order_relaxed);
    if (count > 1) tail_.store(tail + count - 1, std::memory_order_release);  // [W1]
    Head now(victim.head_.load(std::memory_order_relaxed));                   // relaxed: the exchange decides
    while (!victim.exchange(now, now.copied())) {
    }
    return last;
  }

  /// Gives: how many waited a moment ago.
  [[nodiscard]] std::uint32_t size() const noexcept {
    const Head head(head_.load(std::memory_order_acquire));
    const std::uint32_t waiting = tail_.load(std::memory_order_acquire) - head.next();
    return waiting > capacity ? capacity : waiting;
  }

 private:
  template <class T>
  using Atomic = typename Atomics::template Atomic<T>;

  /// head_ at one moment.
  class Head {
   public:
    explicit Head(std::uint64_t bits) noexcept : bits_(bits) {}
    Head(std::uint32_t first, std::uint32_t next) noexcept : bits_(std::uint64_t{first} << 32 | next) {}
    [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }
    [[nodiscard]] std::uint32_t next() const noexcept { return static_cast<std::uint32_t>(bits_); }
    [[nodiscard]] std::uint32_t first() const noexcept { return static_cast<std::uint32_t>(bits_ >> 32); }
    /// Gives: true while a thief copies.
    [[nodiscard]] bool is_copied() const noexcept { return first() != next(); }
    /// The owner has taken entries; their slots are free unless older ones are in use.
    [[nodiscard]] Head taken(std::uint32_t count) const noexcept {
      return is_copied() ? Head(first(), next() + count) : Head(next() + count, next() + count);
    }
    [[nodiscard]] Head claimed(std::uint32_t count) const noexcept { return {first(), next() + count}; }
    [[nodiscard]] Head copied() const noexcept { return {next(), next()}; }

   private:
    std::uint64_t bits_;
  };

  [[nodiscard]] Atomic<Entry*>& slot(std::uint32_t number) noexcept { return slots_[number % capacity]; }

  bool exchange(Head& head, Head to) noexcept {
    std::uint64_t expected = head.bits();
    if (head_.compare_exchange_weak(expected, to.bits(), std::memory_order_acq_rel,  // [W2] [W3]
                                    std::memory_order_acquire)) {  // [W3] the caller decides anew on what it sees
      return true;
    }
    head = Head(expected);
    return false;
  }

  alignas(128) Atomic<std::uint64_t> head_{0};
  alignas(128) Atomic<std::uint32_t> tail_{0};
  std::array<Atomic<Entry*>, capacity> slots_{};
};

}  // namespace calm::lockfree
