// region_gate.hpp — one word per region: who is inside, whether more may come, and a lock for the list of them.
// Laws:    REG-3, REG-4, REG-6, REG-8, CAN-6
// Threads: everything anywhere
// Cancel:  closing the gate is the step after which no admission is missed (CAN-6)
//
// word_: bit 0 closed, bit 1 locked, bit 2 body (the body has not ended), bits 4..33 live tasks, bits 34..63 live child regions.
//
// Every change is made by the holder of the lock bit: one fetch_or takes it and tells the word, one store gives it back
// with the new word. What the holder does in between (link a task, fold an end) happens at once for everybody else who
// takes the bit. Hence, for one region:
//   admission against close     both hold the bit. Either the task is linked before `closed` is set, and the walk that
//                               follows the close finds it, or the admission reads `closed` and is refused.
//   completion against close    the last one out is the one whose store made the word closed and empty. After `closed` is
//                               set the counts only fall, so that happens once: in the close that found nobody, or in
//                               the one departure that took the last one away.
//   two closers                 one of them sets `closed`, the other reads it.
// A count is never raised on trial, so nobody sees one above its limit.
//
// Pairs: [G1] unlock() releases what its holder did -> lock() acquires; look() acquires too.
#pragma once

#include <cstdint>

#include "calm/check/require.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/company.hpp"

namespace calm::kernel {

/// The word at one moment, without its lock bit.
class GateView {
 public:
  static constexpr std::uint64_t count_max = (std::uint64_t{1} << 30) - 1;

  constexpr GateView() noexcept = default;
  constexpr explicit GateView(std::uint64_t bits) noexcept : bits_(bits) {}

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr bool closed() const noexcept { return (bits_ & closed_bit) != 0; }
  [[nodiscard]] constexpr bool body() const noexcept { return (bits_ & body_bit) != 0; }
  [[nodiscard]] constexpr std::uint64_t tasks() const noexcept { return bits_ >> tasks_shift & count_max; }
  [[nodiscard]] constexpr std::uint64_t regions() const noexcept { return bits_ >> regions_shift & count_max; }
  /// Gives: true when no task, child region or body is alive.
  [[nodiscard]] constexpr bool empty() const noexcept { return (bits_ & ~std::uint64_t{closed_bit}) == 0; }
  /// Gives: true when whoever made it so must let the region advance.
  [[nodiscard]] constexpr bool last_one_left() const noexcept { return bits_ == closed_bit; }

  [[nodiscard]] constexpr GateView with_closed() const noexcept { return GateView(bits_ | closed_bit); }
  [[nodiscard]] constexpr GateView with_body(bool alive) const noexcept {
    return GateView(alive ? bits_ | body_bit : bits_ & ~std::uint64_t{body_bit});
  }
  [[nodiscard]] constexpr GateView with_task() const noexcept { return GateView(bits_ + one_task); }
  [[nodiscard]] constexpr GateView without_task() const noexcept { return GateView(bits_ - one_task); }
  [[nodiscard]] constexpr GateView with_region() const noexcept { return GateView(bits_ + one_region); }
  [[nodiscard]] constexpr GateView without_region() const noexcept { return GateView(bits_ - one_region); }

  friend constexpr bool operator==(GateView, GateView) noexcept = default;

 private:
  static constexpr unsigned closed_bit = 1;
  static constexpr unsigned body_bit = 4;
  static constexpr unsigned tasks_shift = 4;
  static constexpr unsigned regions_shift = 34;
  static constexpr std::uint64_t one_task = std::uint64_t{1} << tasks_shift;
  static constexpr std::uint64_t one_region = std::uint64_t{1} << regions_shift;

  std::uint64_t bits_ = 0;
};

template <lockfree::AtomicsPolicy Atomics>
class RegionGate {
 public:
  RegionGate() noexcept = default;
  RegionGate(const RegionGate&) = delete;
  RegionGate& operator=(const RegionGate&) = delete;

  /// Takes the lock bit. Gives: the word. Held for a few instructions, never across a call into the host that may wait.
  [[nodiscard]] GateView lock() noexcept {
    if constexpr (!Atomics::shared) {
      return lock_alone();
    } else {
      for (;;) {
        const std::uint64_t was = word_.fetch_or(locked_bit, std::memory_order_acquire);  // [G1]
        if ((was & locked_bit) == 0) [[likely]]
          return GateView(was);
        // relaxed: only a hint that the bit is free; the fetch_or decides
        while ((word_.load(std::memory_order_relaxed) & locked_bit) != 0) Atomics::pause();
      }
    }
  }

  /// The same for who knows that nobody else has the bit, nor can have it before unlock().
  [[nodiscard]] GateView lock_alone() noexcept {
    const std::uint64_t was =
        word_.load(std::memory_order_relaxed);  // relaxed: who had it before is known to have left
    CALM_SLOW(REG_4, (was & locked_bit) == 0, was);
    return GateView(was);
  }

  /// Needs: the lock bit of this caller, which goes with it.
  void unlock(GateView next) noexcept { word_.store(next.bits(), std::memory_order_release); }  // [G1]

  /// Gives: the word of a moment ago; nothing may be decided on its counts. `closed` stays once seen.
  [[nodiscard]] GateView look() const noexcept {
    return GateView(word_.load(std::memory_order_acquire) & ~std::uint64_t{locked_bit});  // [G1]
  }

 private:
  static constexpr unsigned locked_bit = 2;

  typename Atomics::template Atomic<std::uint64_t> word_{1};  // closed: a slot without a region admits nobody
};

/// The lock bit of a gate for what every task does. Who works alone in this company has it in two plain writes; nullptr where
/// there is none. Not two of them at a time.
template <lockfree::AtomicsPolicy Atomics, class Company = lockfree::Company<Atomics>>
class GateTurn {
 public:
  /// `alone` says that the caller is so already, further out, until this has ended.
  [[gnu::always_inline]] GateTurn(RegionGate<Atomics>& gate, Company* company, bool alone = false) noexcept
      : gate_(gate) {
    if constexpr (Atomics::shared) {
      if (alone) {
        found_ = gate_.lock_alone();
        return;
      }
      if (company != nullptr && company->begin_alone(lockfree::AloneIn::gate)) {
        alone_ = company;
        found_ = gate_.lock_alone();
        return;
      }
    }
    found_ = gate_.lock();
  }
  GateTurn(const GateTurn&) = delete;
  GateTurn& operator=(const GateTurn&) = delete;

  /// Gives: the word as it was found.
  [[nodiscard]] GateView found() const noexcept { return found_; }
  /// Once: it is this from now on.
  [[gnu::always_inline]] void end(GateView next) noexcept {
    gate_.unlock(next);
    if constexpr (Atomics::shared) {
      if (alone_ != nullptr) alone_->end_alone(lockfree::AloneIn::gate);
    }
  }

 private:
  RegionGate<Atomics>& gate_;
  Company* alone_ = nullptr;
  GateView found_;
};

}  // namespace calm::kernel
