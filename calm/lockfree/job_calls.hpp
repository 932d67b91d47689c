// job_calls.hpp — who serves jobs sleeps while there are none: called for each, and for the end.
// Laws:    none of its own; the blocking pool stands on it (IO-4, SCH-8)
// Threads: everything anywhere; what says so under the lock of the jobs
// Cancel:  not applicable
//
// The jobs are elsewhere, under a lock; here is their number, which who serves them looks at without it before it sleeps.
//
//   who has a job                                who serves
//   under the lock: put it there, calls.add()    under the lock: take one, calls.remove()
//   calls.call_one()                             if there was none: calls.rest(until)
//
// No job is left behind while all sleep: the number is changed and looked at in seq_cst order, see event_count.hpp. Nor is the end,
// which is said under the lock: who leaves because it was idle for long has left before it, or sees it and stays to be joined.
#pragma once

#include <cstdint>

#include "calm/lockfree/event_count.hpp"

namespace calm::lockfree {

template <AtomicsPolicy Atomics = RealAtomics, FutexPolicy<Atomics> Futex = RealFutex>
class JobCalls {
 public:
  JobCalls() noexcept = default;
  JobCalls(const JobCalls&) = delete;
  JobCalls& operator=(const JobCalls&) = delete;

  // --- under the lock of the jobs ---

  /// Gives: how many wait.
  [[nodiscard]] std::uint32_t waiting() const noexcept {
    return waiting_.load(std::memory_order_relaxed);  // relaxed: changed under the lock only
  }
  void add() noexcept { waiting_.store(waiting() + 1, std::memory_order_seq_cst); }     // EventCount [E2]
  void remove() noexcept { waiting_.store(waiting() - 1, std::memory_order_relaxed); }  // relaxed: a look for nothing
  /// There will be no more jobs.
  void say_end() noexcept { over_.store(true, std::memory_order_seq_cst); }  // EventCount [E2]
  [[nodiscard]] bool is_over() const noexcept {
    return over_.load(std::memory_order_relaxed);  // relaxed: changed under the lock only
  }

  // --- without it ---

  /// After add(). Wakes one, if all who serve sleep.
  void call_one() noexcept { events_.notify_one(); }
  /// After say_end().
  void call_all() noexcept { events_.notify_all(); }

  enum class Rest : std::uint8_t {
    work,  ///< there may be a job
    end,   ///< there will be none
    idle,  ///< it slept for so long, and nobody called
  };
  /// Sleeps until there is something to do, at most until the monotonic clock shows `until_ns`. Gives: why it does no more.
  [[nodiscard]] Rest rest(std::uint64_t until_ns = never_ns) noexcept {
    const auto key = events_.prepare();
    const bool ends = over_.load(std::memory_order_seq_cst);  // EventCount [E2]
    if (ends || waiting_.load(std::memory_order_seq_cst) != 0) {
      events_.cancel();
      return ends ? Rest::end : Rest::work;
    }
    return events_.wait(key, until_ns) == ParkEnd::timed_out ? Rest::idle : Rest::work;
  }

 private:
  typename Atomics::template Atomic<std::uint32_t> waiting_{0};
  typename Atomics::template Atomic<bool> over_{false};
  EventCount<Atomics, Futex> events_;
};

}  // namespace calm::lockfree
