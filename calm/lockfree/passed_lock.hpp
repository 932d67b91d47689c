// passed_lock.hpp — a lock for long sections: who has had it so many times in a row passes it on to another who waits.
// Laws:    none of its own; the turns of a recorded run stand on it (SCH-9)
// Threads: everything anywhere; unlock() by whoever holds the lock. Not recursive
// Cancel:  not applicable
//
// Who has just had a lock is quicker than one that sleeps until it is free, and would have it the next time too. After so many
// times in a row it waits until another that wants the lock has had it.
//
//   waiting_   who is between the beginning of lock() and the lock
//   passed_    how often it went to another one, modulo 2^32; changed under the lock
//
// Nobody waits for one that does not come. Who is counted in waiting_ is another one, and will have the lock: who has had it
// before that unlock() is off the count, and known to be by the lock. Whoever is the first to have it changes passed_, which
// was looked at under the lock.
#pragma once

#include <cstdint>
#include <utility>

#include "calm/check/probe.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/lock.hpp"

namespace calm::lockfree {

/// `Its` is the lock beneath. A default `Who` is nobody.
template <class Who, std::uint32_t in_a_row_max, AtomicsPolicy Atomics = RealAtomics, class Its = Lock<Atomics>>
class PassedLock {
 public:
  PassedLock() = default;
  PassedLock(const PassedLock&) = delete;
  PassedLock& operator=(const PassedLock&) = delete;

  // relaxed, here and below: by what is said above nothing is decided wrongly on a stale number. Who is not seen to wait yet is
  // so after the next so many.

  /// Needs: a thread that does not hold this lock, and is `me` whenever it comes.
  void lock(Who me) {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    lock_.lock();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    if (std::exchange(last_, me) == me) {
      ++in_a_row_;
      return;
    }
    in_a_row_ = 1;
    passed_.fetch_add(1, std::memory_order_relaxed);
    Atomics::notify_all(passed_);
  }

  /// Needs: the caller holds the lock.
  void unlock() {
    const bool enough = in_a_row_ >= in_a_row_max;
    if (enough) in_a_row_ = 0;
    const std::uint32_t passed = passed_.load(std::memory_order_relaxed);
    lock_.unlock();
    if (!enough || waiting_.load(std::memory_order_relaxed) == 0) return;
    CALM_PROBE("passed lock: it is passed on");
    // An update, which sees the newest number: a load might show the old one again and again.
    while (passed_.fetch_add(0, std::memory_order_relaxed) == passed) Atomics::wait(passed_, passed);
  }

 private:
  Its lock_;
  // Under the lock:
  Who last_{};                  // who had it last
  std::uint32_t in_a_row_ = 0;  // times that it was the same one

  typename Atomics::template Atomic<std::uint32_t> waiting_{0};
  typename Atomics::template Atomic<std::uint32_t> passed_{0};
};

}  // namespace calm::lockfree
