// orders.hpp — orders that one gives to all, and the one they stand still for while somebody looks at everything.
// Laws:    none of its own; inspections (OBS-1) and what tells of stragglers (QUI-2) stand on it
// Threads: everything anywhere; stand_still() and begin_halt() by those who are to stand still
// Cancel:  not applicable; who halts the others may look before all of them stand
//
// word_      the orders, a bit each: `halt`, and those of who has this
// standing_  how many stand still. It changes only for a halt, so it is no burden to the line that it shares with word_
//
//   who looks                                    who works, between two pieces of work
//   orders.begin_halt();                         if (orders.has(Orders::halt)) orders.stand_still();
//   while (orders.standing() < others && …)
//   …                                            // stands in it
//   orders.end_halt();
//
// One halts at a time: who finds that another one does stands still for it first.
//
// Pairs:
//   [H1] stand_still() releases what was done before -> standing() acquires.
//   [H2] end_halt() releases what was done in the halt -> stand_still() acquires before it returns.
//   [H3] stand_still() takes itself off the count and looks for a halt, begin_halt() says it and looks at the count, all in seq_cst
//        order: the halt does not count one that goes on, or that one stands still again before it does anything.
#pragma once

#include <cstdint>

#include "calm/lockfree/atomics.hpp"

namespace calm::lockfree {

template <AtomicsPolicy Atomics = RealAtomics>
class Orders {
 public:
  using Bits = std::uint32_t;
  static constexpr Bits halt = Bits{1} << 31;

  constexpr Orders() noexcept = default;
  Orders(const Orders&) = delete;
  Orders& operator=(const Orders&) = delete;

  void give(Bits orders) noexcept { word_.fetch_or(orders, std::memory_order_seq_cst); }
  void take_back(Bits orders) noexcept { word_.fetch_and(~orders, std::memory_order_seq_cst); }

  /// Gives: true when there is any, a moment late.
  [[nodiscard]] bool any() const noexcept { return word_.load(std::memory_order_relaxed) != 0; }
  /// Gives: true when there is one of these, a moment late.
  [[nodiscard]] bool has(Bits orders) const noexcept { return (word_.load(std::memory_order_relaxed) & orders) != 0; }
  /// The same in one order with all that is given: for who has said before that it sleeps.
  [[nodiscard]] bool has_now(Bits orders) const noexcept {
    return (word_.load(std::memory_order_seq_cst) & orders) != 0;
  }

  /// Returns when nobody halts.
  [[gnu::cold, gnu::noinline]] void stand_still() noexcept {
    do {
      standing_.fetch_add(1, std::memory_order_seq_cst);  // [H1]
      for (;;) {
        const Bits orders = word_.load(std::memory_order_seq_cst);  // [H2]
        if ((orders & halt) == 0) break;
        Atomics::wait(word_, orders);
      }
      standing_.fetch_sub(1, std::memory_order_seq_cst);  // [H3]
      // The next one may have begun to halt since the look above, and have counted this one as it stood.
    } while (has_now(halt));  // [H2] [H3]
  }

  /// From now on the others are to stand still.
  void begin_halt() noexcept {
    while ((word_.fetch_or(halt, std::memory_order_seq_cst) & halt) != 0) stand_still();  // [H3]
  }
  /// Gives: how many do. Needs: between begin_halt() and end_halt().
  [[nodiscard]] std::uint32_t standing() const noexcept {
    return standing_.load(std::memory_order_seq_cst);
  }  // [H1] [H3]
  void end_halt() noexcept {
    word_.fetch_and(~halt, std::memory_order_seq_cst);  // [H2]
    Atomics::notify_all(word_);
  }

 private:
  typename Atomics::template Atomic<Bits> word_{0};
  typename Atomics::template Atomic<std::uint32_t> standing_{0};
};

}  // namespace calm::lockfree
