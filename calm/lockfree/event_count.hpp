// event_count.hpp — sleeping until something that lives elsewhere may have changed, without a lock around it.
// Laws:    SCH-8
// Threads: everything anywhere
// Cancel:  a prepared wait is taken back with cancel()
//
//   who waits                                    who changes it
//   const auto key = events.prepare();           queue.push(job);         // seq_cst
//   if (queue.is_empty())  // seq_cst            events.notify_one();
//     events.wait(key);
//   else
//     events.cancel();
//
// No wake is lost. The change and the look at it are seq_cst, as are the count of those who wait and the look at that: of
// the two looks one comes after both changes. When the notifier sees no waiter, the waiter sees the change and does not
// sleep; else the epoch goes on, and a waiter with an older key does not fall asleep or is woken. A waiter that prepares
// after the epoch went on sees the change by [E1].
//
// waiters_: those between prepare() and the end of their wait. epoch_: how many notifies found one, modulo 2^32; a waiter
// would have to miss exactly so many between prepare() and wait() to take a new epoch for its own.
//
// Pairs:
//   [E1] notify releases what its thread changed by epoch_ -> prepare() and wait() acquire.
//   [E2] prepare() counts the waiter in seq_cst order -> notify looks in seq_cst order; see above.
#pragma once

#include <cstdint>

#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/futex.hpp"
#include "calm/lockfree/parker.hpp"

namespace calm::lockfree {

template <AtomicsPolicy Atomics = RealAtomics, FutexPolicy<Atomics> Futex = RealFutex>
class EventCount {
 public:
  /// What prepare() gives to wait().
  class Key {
   public:
    explicit Key(std::uint32_t epoch) noexcept : epoch_(epoch) {}
    [[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_; }

   private:
    std::uint32_t epoch_;
  };

  EventCount() noexcept = default;
  EventCount(const EventCount&) = delete;
  EventCount& operator=(const EventCount&) = delete;

  /// From now on notifies count for the caller. It looks at what it waits for after this, then calls wait() or cancel().
  [[nodiscard]] Key prepare() noexcept {
    waiters_.fetch_add(1, std::memory_order_seq_cst);    // [E2]
    return Key(epoch_.load(std::memory_order_acquire));  // [E1]
  }

  void cancel() noexcept { leave(); }

  /// Sleeps until a notify after prepare(), at most until the monotonic clock shows `until_ns`. Gives: which it was; a notify
  /// that was another's may end it too.
  ParkEnd wait(Key key, std::uint64_t until_ns = never_ns) noexcept {
    FutexEnd end = FutexEnd::woken;
    bool notified = false;
    while (!notified && end == FutexEnd::woken) {
      end = Futex::wait(epoch_, key.epoch(), until_ns);
      // An update, which sees the newest epoch: a load might show the old one again and again.
      notified = epoch_.fetch_add(0, std::memory_order_acquire) != key.epoch();  // [E1]
    }
    leave();
    return notified ? ParkEnd::unparked : ParkEnd::timed_out;
  }

  /// Needs: what changed was written by a seq_cst operation before. One load while nobody waits.
  void notify_one() noexcept { notify(1); }
  void notify_all() noexcept { notify(UINT32_MAX); }

 private:
  void leave() noexcept {
    waiters_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: who still counts it makes a call for nothing
  }
  void notify(std::uint32_t count) noexcept {
    if (waiters_.load(std::memory_order_seq_cst) == 0) [[likely]]  // [E2]
      return;
    epoch_.fetch_add(1, std::memory_order_acq_rel);  // [E1]
    Futex::wake(epoch_, count);
  }

  typename Atomics::template Atomic<std::uint32_t> waiters_{0};
  typename Atomics::template Atomic<std::uint32_t> epoch_{0};
};

}  // namespace calm::lockfree
