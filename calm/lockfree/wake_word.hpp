// wake_word.hpp — the word of a task that makes of any number of wakes exactly one poll.
// Laws:    TSK-6
// Threads: wake() and state() anywhere, also when the task is done; begin_poll() by whoever found the task in a queue or
//          wants to poll it in place; end_poll() and finish() by the one whose begin_poll() succeeded
// Cancel:  not applicable; a cancel that must be noticed is a wake like any other
//
// word_: bit 0 woken (a wake since the last begin_poll), bit 1 running, bit 2 done. Each operation is one atomic step:
//   wake        or woken             idle -> queued, running -> running_woken, the others stay
//   begin_poll  queued -> running    a compare-exchange: of several claims one succeeds
//   end_poll    minus running        running -> idle, running_woken -> queued
//   finish      = done               a late wake adds its bit, which says nothing any more
//
// wake() writes even when the task is queued already, and must: with a plain look the waker's data could still be on its
// way when the poll begins, the poll would miss them, and the waker would rely on the poll. The stress test shows it.
//
// Pairs. All writes but renew() are read-modify-writes, so a release reaches every later acquire on the same life:
//   [W1] wake() releases what it announces -> begin_poll() acquires, wherever it runs.
//   [W2] end_poll() releases what the poll did to the task -> the next begin_poll() acquires; also the wake() that wins,
//        which may then write the task's queue link.
//   [W3] finish() releases the result -> is_done() and state() acquire.
//   [W4] renew() releases the new task -> begin_poll() and the wake() that wins acquire.
#pragma once

#include <cstdint>

#include "calm/check/require.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/wake_state.hpp"

namespace calm::lockfree {

template <AtomicsPolicy Atomics = RealAtomics>
class WakeWord {
 public:
  /// Gives: a slot without a task: wakes have no effect.
  constexpr WakeWord() noexcept : WakeWord(WakeState::done) {}

  /// Needs: for queued, that the caller puts the task into a queue.
  constexpr explicit WakeWord(WakeState initial) noexcept : word_(wake_bits(initial)) {}
  WakeWord(const WakeWord&) = delete;
  WakeWord& operator=(const WakeWord&) = delete;

  /// Gives: true when the caller must put the task into a queue: once per park, for one caller.
  [[nodiscard]] bool wake() noexcept {
    const std::uint8_t was = word_.fetch_or(woken_bit, std::memory_order_acq_rel);  // [W1] [W2]
    return wake_state(was) == WakeState::idle;
  }

  /// Gives: true when the caller polls the task now; false when the queue entry is stale: someone else claimed the task,
  ///        or it is done. Wakes from here on ask for a further poll.
  [[nodiscard]] bool begin_poll() noexcept {
    std::uint8_t expected = wake_bits(WakeState::queued);
    // relaxed on failure: a stale entry is dropped and nothing of the task is looked at.
    return word_.compare_exchange_strong(expected, wake_bits(WakeState::running),
                                         std::memory_order_acquire,  // [W1] [W2]
                                         std::memory_order_relaxed);
  }

  /// Needs: the poll of this caller. The task is another's the moment this returns, unless it must be queued again.
  /// Gives: true when a wake came meanwhile: the task counts as queued and the caller must put it into a queue.
  [[nodiscard]] bool end_poll() noexcept {
    const std::uint8_t was = word_.fetch_sub(running_bit, std::memory_order_release);  // [W2]
    CALM_REQUIRE(TSK_6, find_wake_move(wake_state(was), WakeStep::end_poll) != nullptr, was);
    return wake_state(was) == WakeState::running_woken;
  }

  /// Needs: the poll of this caller. Wakes have no effect from here on.
  void finish() noexcept {
    const std::uint8_t was = word_.exchange(wake_bits(WakeState::done), std::memory_order_release);  // [W3]
    CALM_REQUIRE(TSK_6, find_wake_move(wake_state(was), WakeStep::finish) != nullptr, was);
  }

  /// Needs: a word that is done, in a slot of the caller; `initial` idle or queued, the latter with a place in a queue.
  ///        A late wake meant for the task before may hit the new one: one poll more than needed, never one less.
  void renew(WakeState initial) noexcept {
    CALM_REQUIRE(TSK_6, initial == WakeState::idle || initial == WakeState::queued, initial);
    CALM_SLOW(TSK_6, is_done());
    word_.store(wake_bits(initial), std::memory_order_release);  // [W4]
  }

  [[nodiscard]] WakeState state() const noexcept { return wake_state(word_.load(std::memory_order_acquire)); }  // [W3]
  [[nodiscard]] bool is_done() const noexcept { return state() == WakeState::done; }

 private:
  typename Atomics::template Atomic<std::uint8_t> word_;
};

}  // namespace calm::lockfree
