// idle_set.hpp — which workers sleep and how many look for work, in one word: who makes work learns whom to wake.
// Laws:    none of its own; SCH-6 (park) and SCH-8 (an idle runtime uses no CPU) stand on it
// Threads: begin_search(), end_search(), begin_park() and leave() by the worker itself; the rest anywhere
// Cancel:  not applicable
//
// This, with a parker for each worker, is the event count of the workers (runtime/beds.hpp): begin_park() is its prepare(), with
// a last look after it, wake_one() its notify. They do not use event_count.hpp, which blocking_pool.hpp does: there all who wait
// are alike, any notify may find any of them, and each that finds a waiter wakes one. Of workers one is woken at a time, while
// another one still looks for work none, and which one is not left to the system: the newest sleeper, or a certain one whose
// task or timer it is. So there is a bit and a parker for each.
//
// A worker is busy, searching (it looks into the queues of others) or asleep. It says so here; it sleeps in a parker of its
// own. The loop of worker `me`, which has found nothing in its own queues:
//
//   const bool searching = idle.begin_search(workers);
//   if (searching && (found = look_everywhere())) { if (idle.end_search() && more_is_there()) wake(idle.wake_one()); run(); }
//   if (idle.begin_park(me, searching, now_ns) && something_is_there()) { if (!idle.leave(me)) … it searches now … }
//   else { parker.park(until); searching = !idle.leave(me); }
//
// and who has made work:  if (const auto who = idle.wake_one()) parkers[*who].unpark();
//
// No work is left behind while all sleep. Who makes work changes word_ after that (wake_one()), and who lies down changes
// it before its last look. Changes of one word have an order: either the maker comes later and finds the sleeper, or the
// sleeper comes later and finds the work [I1]. The maker wakes nobody while someone searches: the last searcher looks once
// more after it has ceased to be one, so the same holds between the maker and it. Who is woken is counted as a searcher by
// its waker at once, so that a crowd of makers wakes one worker, not all; it wakes the next when it finds more than it takes.
// So what a searcher has seen it must take or pass on. The end of a runtime is there for everyone: who sets it calls
// wake_all(), and a searcher that goes because of it calls end_search(), and wake_all() when that gives true.
//
// word_: bits 0..55 who sleeps, bits 56..63 how many search.
//
// Pairs:
//   [I1] wake_one(), wake_all() release what their thread has made -> begin_park() and leave() of who goes after it acquire.
//   [I2] begin_park() releases the stamp of who lies down -> wake_one() acquires, and compares stamps; what else it said before,
//        for sleepers().
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "calm/check/require.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/relaxed.hpp"

namespace calm::lockfree {

template <AtomicsPolicy Atomics = RealAtomics>
class IdleSet {
 public:
  using Index = std::uint32_t;
  static constexpr Index worker_max = 56;  ///< workers have numbers below it

  IdleSet() noexcept = default;
  IdleSet(const IdleSet&) = delete;
  IdleSet& operator=(const IdleSet&) = delete;

  // --- a worker ---

  /// The worker begins to look into the queues of others. Gives: false when half of `workers` do so already: one more would
  /// be in their way, and it may lie down at once.
  [[nodiscard]] bool begin_search(Index workers) noexcept {
    std::uint64_t bits = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    do {
      if (2 * searching(bits) >= workers) return false;
    } while (!exchange(bits, bits + one_search));
    return true;
  }

  /// The worker has found something. Gives: true when nobody searches now: if there is more, wake_one() is its to call.
  [[nodiscard]] bool end_search() noexcept {
    const std::uint64_t was = word_.fetch_sub(one_search, std::memory_order_acq_rel);  // [I1]
    CALM_SLOW(SCH_6, searching(was) > 0, was);
    return searching(was) == 1;
  }

  /// The worker is about to sleep; from now on it may be woken. `stamp` grows with time: the newest sleeper is woken first.
  /// Gives: true when nobody searches now: the worker must look once more, everywhere, before it sleeps.
  [[nodiscard]] bool begin_park(Index me, bool was_searching, std::uint64_t stamp) noexcept {
    CALM_SLOW(SCH_6, me < worker_max, me);
    stamps_[me].set(stamp);
    const std::uint64_t change = bit_of(me) - (was_searching ? one_search : 0);
    const std::uint64_t was = word_.fetch_add(change, std::memory_order_acq_rel);  // [I1] [I2]
    CALM_SLOW(SCH_6, (was & bit_of(me)) == 0 && (!was_searching || searching(was) > 0), was, me);
    return searching(was + change) == 0;
  }

  /// The worker sleeps no more: it found something, its time has come, or it was unparked.
  /// Gives: true when it is busy now. False: a waker was first, and it is searching.
  [[nodiscard]] bool leave(Index me) noexcept {
    return (word_.fetch_and(~bit_of(me), std::memory_order_acq_rel) & bit_of(me)) != 0;  // [I1]
  }

  // --- who makes work ---

  /// Needs: the work can be found. Gives: a worker to unpark, the newest sleeper, which is searching from now on; nothing
  /// when all are awake or one searches.
  [[nodiscard]] std::optional<Index> wake_one() noexcept {
    return take_newest(word_.fetch_add(0, std::memory_order_acq_rel));  // [I1] [I2] an update: see above
  }

  /// The same for a worker that has put work into its own queue and looks there before it sleeps: nothing can be left behind,
  /// so one load is enough. Nobody is woken where the load was stale; the worker's next call makes up for it.
  [[nodiscard]] std::optional<Index> wake_one_to_help() noexcept {
    return take_newest(word_.load(std::memory_order_acquire));  // [I2]
  }

  /// Gives: a bit for each worker to unpark, all that sleep; they are searching from now on.
  [[nodiscard]] std::uint64_t wake_all() noexcept {
    std::uint64_t bits = word_.fetch_add(0, std::memory_order_acq_rel);  // [I1] an update, as in wake_one()
    while (sleeping(bits) != 0) {
      const std::uint64_t woken = static_cast<std::uint64_t>(std::popcount(sleeping(bits)));
      if (exchange(bits, bits - sleeping(bits) + woken * one_search)) return sleeping(bits);
    }
    return 0;
  }

  // --- who looks in ---

  /// What those said who sleep, before they lay down, is seen.
  [[nodiscard]] std::uint32_t sleepers() const noexcept {
    return static_cast<std::uint32_t>(std::popcount(sleeping(word_.load(std::memory_order_acquire))));  // [I2]
  }
  [[nodiscard]] std::uint32_t searchers() const noexcept {
    return searching(word_.load(std::memory_order_relaxed));  // relaxed: a hint
  }

 private:
  static constexpr std::uint64_t one_search = std::uint64_t{1} << worker_max;

  static constexpr std::uint64_t bit_of(Index worker) noexcept { return std::uint64_t{1} << worker; }
  static constexpr std::uint64_t sleeping(std::uint64_t bits) noexcept { return bits & (one_search - 1); }
  static constexpr std::uint32_t searching(std::uint64_t bits) noexcept {
    return static_cast<std::uint32_t>(bits >> worker_max);
  }

  bool exchange(std::uint64_t& bits, std::uint64_t to) noexcept {
    return word_.compare_exchange_weak(bits, to, std::memory_order_acq_rel,  // [I1] [I2]
                                       std::memory_order_acquire);           // [I2] decides anew on what it sees
  }

  [[nodiscard]] std::optional<Index> take_newest(std::uint64_t bits) noexcept {
    while (sleeping(bits) != 0 && searching(bits) == 0) {
      const Index who = newest(sleeping(bits));
      if (exchange(bits, bits - bit_of(who) + one_search)) return who;
    }
    return std::nullopt;
  }

  /// Any of them would be right; the newest has the warmest cache, and the others sleep on.
  [[nodiscard]] Index newest(std::uint64_t sleepers) const noexcept {
    Index best = static_cast<Index>(std::countr_zero(sleepers));
    while ((sleepers &= sleepers - 1) != 0) {
      const Index other = static_cast<Index>(std::countr_zero(sleepers));
      if (stamps_[other].get() > stamps_[best].get()) best = other;
    }
    return best;
  }

  alignas(128) typename Atomics::template Atomic<std::uint64_t> word_{0};
  alignas(128) std::array<Relaxed<std::uint64_t, Atomics>, worker_max> stamps_{};  // when each lay down last
};

}  // namespace calm::lockfree
