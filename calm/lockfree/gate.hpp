// gate.hpp — one word that counts who is inside, refuses entry once closed, and names the last one out.
// Laws:    none of its own; REG-3, REG-4, REG-6 and REG-8 stand on it
// Threads: everything anywhere; leave() by whoever holds an admission
// Cancel:  not applicable
//
// word_: bit 0 closed, bits 1..3 flags of the owner, bits 4..63 how many are inside.
//
// Linearisation. Every operation takes effect in one atomic step on word_, so the steps have one total order:
//   enter()  is its compare-exchange when admitted; its last read when refused. The exchange compares the whole word, so
//            at the step itself the gate was open and the count below the limit. The count is never raised and lowered
//            again on trial: no reader sees it above the limit, and a refused enter() is never the last one out.
//   leave()  is its subtraction, close() its or. `closed` is set once and never cleared. After it no enter() succeeds,
//            so from there on the count only falls, by one per leave().
// Hence "last" happens exactly once: if the count is 0 at the first close(), that close() has it, and no leave() is left
// to come. Otherwise the count passes from 1 to 0 in exactly one leave() after the close, and that one has it. A leave()
// to 0 before the close sees the gate open and is not told. Flags share the word and touch neither closed nor count.
//
// Pairs:
//   [G1] leave() releases what was done inside -> the last one out acquires: the last leave(), or the close() that found
//        the gate empty; also the enter() that takes the freed place. All writes to word_ are read-modify-writes, so
//        the release of each leave() reaches all of them.
//   [G2] close() releases what was written before it (the reason) -> whoever learns of it acquires: a refused enter(),
//        the last leave(), a second close(), is_closed(), look().
//   [G3] lower_flags() releases -> raise_flags() acquires: a flag can serve as a lock.
#pragma once

#include <cstdint>

#include "calm/check/require.hpp"
#include "calm/lockfree/atomics.hpp"

namespace calm::lockfree {

enum class Entry : std::uint8_t { admitted, refused_closed, refused_limit };

enum class Closing : std::uint8_t {
  first,            // some are still inside: one of them will be the last one out
  first_and_empty,  // nobody was inside: the closer is the last one out
  again,            // it was closed before
};

/// What the word said at one moment.
struct GateView {
  std::uint64_t count;
  std::uint8_t flags;
  bool closed;

  friend constexpr bool operator==(const GateView&, const GateView&) noexcept = default;
};

template <AtomicsPolicy Atomics = RealAtomics>
class Gate {
 public:
  static constexpr std::uint8_t all_flags = 0b111;
  static constexpr std::uint64_t max_count = ~std::uint64_t{0} >> 4U;

  constexpr Gate() noexcept = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Gives: admitted, and the count is one more; or a refusal that changed nothing. Closed goes before full.
  [[nodiscard]] Entry enter(std::uint64_t limit = max_count) noexcept {
    if (limit > max_count) limit = max_count;
    std::uint64_t was = word_.load(std::memory_order_acquire);  // [G2] when it refuses
    do {
      if ((was & closed_bit_) != 0) return Entry::refused_closed;
      if (was >> count_shift_ >= limit) return Entry::refused_limit;
    } while (!word_.compare_exchange_weak(was, was + one_, std::memory_order_acquire,  // [G1]
                                          std::memory_order_acquire));  // [G2] when it refuses
    return Entry::admitted;
  }

  /// Needs: an admission, which this gives back.
  /// Gives: true for the last one out of a closed gate, who sees what the others did inside.
  [[nodiscard]] bool leave() noexcept {
    const std::uint64_t was = word_.fetch_sub(one_, std::memory_order_acq_rel);  // [G1] [G2]
    CALM_REQUIRE(REG_4, was >= one_, was);
    return (was & closed_bit_) != 0 && was >> count_shift_ == 1;
  }

  /// Gives: whether this call closed the gate, and whether it must do what the last one out does.
  [[nodiscard]] Closing close() noexcept {
    const std::uint64_t was = word_.fetch_or(closed_bit_, std::memory_order_acq_rel);  // [G1] [G2]
    if ((was & closed_bit_) != 0) return Closing::again;
    return was >> count_shift_ == 0 ? Closing::first_and_empty : Closing::first;
  }

  /// Needs: flags within all_flags.
  /// Gives: the flags before; a bit not among them was raised by this call.
  std::uint8_t raise_flags(std::uint8_t flags) noexcept {
    return view(word_.fetch_or(placed(flags), std::memory_order_acq_rel)).flags;  // [G3]
  }

  /// Needs: flags within all_flags.
  /// Gives: the flags before.
  std::uint8_t lower_flags(std::uint8_t flags) noexcept {
    return view(word_.fetch_and(~placed(flags), std::memory_order_acq_rel)).flags;  // [G3]
  }

  /// Gives: closed, flags and count of one moment.
  [[nodiscard]] GateView look() const noexcept { return view(word_.load(std::memory_order_acquire)); }  // [G1] [G2]

  /// Gives: how many are inside. relaxed: a stale count is one that was true a moment ago; nothing may be decided on it.
  [[nodiscard]] std::uint64_t count() const noexcept { return view(word_.load(std::memory_order_relaxed)).count; }

  /// Gives: true once a close() took effect; it stays true.
  [[nodiscard]] bool is_closed() const noexcept { return look().closed; }

 private:
  static constexpr std::uint64_t closed_bit_ = 1;
  static constexpr unsigned flags_shift_ = 1;
  static constexpr unsigned count_shift_ = 4;
  static constexpr std::uint64_t one_ = std::uint64_t{1} << count_shift_;
  static_assert((std::uint64_t{all_flags} << flags_shift_) + closed_bit_ == one_ - 1,
                "bits are used once and all used");

  static std::uint64_t placed(std::uint8_t flags) noexcept {
    CALM_REQUIRE(REG_4, (flags & ~all_flags) == 0, flags);
    return std::uint64_t{flags} << flags_shift_;
  }

  static constexpr GateView view(std::uint64_t word) noexcept {
    return {.count = word >> count_shift_,
            .flags = static_cast<std::uint8_t>((word >> flags_shift_) & all_flags),
            .closed = (word & closed_bit_) != 0};
  }

  typename Atomics::template Atomic<std::uint64_t> word_{0};
};

}  // namespace calm::lockfree
