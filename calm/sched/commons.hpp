// commons.hpp — tasks in lanes that any worker may take: what one of them has too much of.
// Laws:    SCH-6 (global cancel and timed work), SCH-2, HND-3 (a push is never refused)
// Threads: empty() and size() anywhere; the queues by who has a visit
// Cancel:  not applicable
//
// Ordinary tasks lie in rings that others steal from. A task with a priority, a deadline or a cancellation has its place in an
// order, and to take half of that from a worker would take its order apart. So a worker whose polls are long enough for
// others to help puts its lanes here, whole, and all workers take the first from here or from their own lanes, whichever comes
// first (Lanes). Who has put something here looks here before it rests: nobody has to be woken for it, and a look that comes
// too early for it loses nothing.
//
// Pairs: those of the lock; size_ is a guess for who has no visit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calm/lockfree/local_atomics.hpp"
#include "calm/lockfree/lock.hpp"
#include "calm/sched/lane_queues.hpp"

namespace calm::sched {

/// `spins` as in Lock.
template <lockfree::AtomicsPolicy Atomics, std::uint32_t spins = 64>
class Commons {
 public:
  using Queues = LaneQueues<Atomics>;

  /// Gives: how many were here a moment ago.
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  /// Nobody else is at the queues, as long as this lives. Not recursive.
  class [[nodiscard("a visit lasts as long as this lives")]] Visit {
   public:
    explicit Visit(Commons& commons) noexcept : commons_(commons) { commons_.lock_.lock(); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit() {
      // relaxed: written by who has the lock, and the lock is what brings the queues to the next one.
      commons_.size_.store(commons_.queues_.size(), std::memory_order_relaxed);
      commons_.lock_.unlock();
    }
    [[nodiscard]] Queues& queues() const noexcept { return commons_.queues_; }

   private:
    Commons& commons_;
  };

 private:
  typename Atomics::template Atomic<std::size_t> size_{0};  // of queues_, when the last visit ended
  lockfree::Lock<Atomics, spins> lock_;
  Queues queues_;
};

/// One worker shares with nobody.
template <std::uint32_t spins>
class Commons<lockfree::LocalAtomics, spins> {
 public:
  [[nodiscard]] static constexpr bool empty() noexcept { return true; }
};

}  // namespace calm::sched
