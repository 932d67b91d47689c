// seat.hpp — what one worker of a runtime has of its own: what it runs, when it must look up, what it has done.
// Laws:    SCH-6, SHD-1 (per worker), SHD-5, TMR
// Threads: by its worker, but for what says otherwise
// Cancel:  not applicable
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "calm/clock/deadlines.hpp"
#include "calm/clock/shared_wheel.hpp"
#include "calm/kernel/worker.hpp"
#include "calm/lockfree/relaxed.hpp"
#include "calm/lockfree/take_all_stack.hpp"
#include "calm/model/split_mix.hpp"
#include "calm/runtime/back_off.hpp"
#include "calm/runtime/counters.hpp"
#include "calm/runtime/governed.hpp"
#include "calm/runtime/keep.hpp"
#include "calm/runtime/pace.hpp"
#include "calm/runtime/poll_watch.hpp"
#include "calm/sched/lanes.hpp"
#include "calm/sched/ready_queue.hpp"
#include "calm/sched/victim_order.hpp"

namespace calm::runtime {

template <lockfree::AtomicsPolicy Atomics>
struct alignas(128) Seat {
  using Task = kernel::TaskRecord<Atomics>;

  Seat(kernel::Worker& of, std::uint64_t seed, std::uint16_t workers, const clock::Coalescing& coalescing) noexcept
      : worker(of),
        alarms(of.index(), coalescing),
        entropy(sched::worker_seed(seed, of.index())),
        victims(seed, of.index(), workers),
        watch(of) {}

  kernel::Worker& worker;
  Keep<Atomics> keep;                ///< of the three that follow, and of the lanes: by who has a turn of it
  sched::ReadyQueue<Atomics> ready;  ///< plain tasks
  clock::Deadlines deadlines;
  clock::DeadlinesOf<RegionId> region_deadlines;
  clock::SharedWheel<Atomics> alarms;  ///< any worker disarms them
  Pace pace;
  std::uint32_t inner_batch = 64;  ///< polls in place between two looks at the clock; 0 where none is made
  std::uint32_t inner_depth = 0;   ///< of polls in polls
  /// So many there were. Who rescues the worker looks at it, too.
  lockfree::Relaxed<std::uint64_t> inner_polls{0};
  std::uint64_t inner_due = 0;         ///< at so many it looks at the clock again
  SplitMix entropy;                    ///< of `Cx` (SCH-7)
  sched::VictimOrder victims;          ///< whom it takes work from
  Spins spins;                         ///< how often it looks again before it gives way
  bool searching = false;              ///< it looks for work, as Beds knows
  Time crowded_since = Time::max();    ///< work has waited here since then
  Time looked_up{};                    ///< when it did so last,
  std::uint64_t polls_before = 0;      ///< and how many polls it had made
  std::size_t lanes_kept = 0;          ///< in the lanes, pinned, when it offered the others to all
  std::uint32_t long_looks = 0;        ///< so many times in a row polls were long enough to be worth sharing
  bool helps = false;                  ///< it took work from another one since it came in
  Time came_in{};                      ///< when it did so last
  std::uint32_t visits_in_vain = 0;    ///< so many times in a row it left again before it was worth the call
  std::uint32_t moved_before = 0;      ///< turns that it had taken over from others when it looked up last
  std::uint32_t strangers = 0;         ///< tasks that another worker polled last and this one woke, since then
  std::unique_ptr<Governed> governed;  ///< where there is a governor
  Counters counters;
  PollWatch watch;
  /// Others may take work from here: its polls are long enough. Anywhere.
  std::atomic<bool> shares{false};
  /// It has work or will look for its own: it is in company. Anywhere.
  std::atomic<bool> is_in{false};
  /// The round of a poll that does not end, once somebody has seen so. Anywhere.
  std::atomic<std::uint64_t> stuck_in{0};
  std::uint64_t wakes_seen = 0;  ///< by who looked last whether it is stuck; that one's alone
  /// It sleeps until some time has come, not only until it is called. Anywhere.
  std::atomic<bool> waits_for_time{false};
  /// Tasks that are this worker's, woken by others. Anywhere.
  alignas(128) lockfree::TakeAllStack<Task, &Task::queue_link, lockfree::RealAtomics> inbox;

  /// Gives: true while it is in the poll that does not end, and for a moment after it. Anywhere.
  [[nodiscard]] bool is_stuck() const noexcept {
    // Relaxed: to rescue one that has just come free does no harm, and who waits is looked after at the next look.
    const std::uint64_t round = stuck_in.load(std::memory_order_relaxed);
    return round != 0 && worker.rounds() == round && worker.look().task;
  }

  /// Its clock went on in the middle of a poll, or an alarm was armed there: one that is late by now is fired before the next
  /// dispatch.
  void hurry_if_late() noexcept {
    if (alarms.quiet_until() + Pace::lateness <= worker.now()) [[unlikely]]
      pace.hurry();
  }

  // The lanes hold all tasks that are not plain. They count dispatches, but to tell them of each plain one would cost a plain one
  // too much: they are told of all at once when they are asked for. Polls in place ran before others that had waited for longer.

  /// Gives: the lanes, told of what was dispatched meanwhile. Needs: a turn.
  [[nodiscard]] sched::Lanes<Atomics>& lanes() noexcept {
    if (const std::uint64_t untold = untold_rounds(); untold != 0) {
      lanes_.ran_quick(untold);
      told_ += untold;
    }
    const std::uint64_t inner = inner_polls.get();
    if (inner != inner_told_) lanes_.ran_newer(inner - std::exchange(inner_told_, inner));
    return lanes_;
  }
  /// The task that is dispatched next was not the oldest of the plain ones, which lanes() was told. Needs: a turn.
  void tell_next() noexcept { told_ = worker.rounds() + 1; }
  [[nodiscard]] bool lanes_are_empty() const noexcept { return lanes_.empty(); }
  /// Needs: its worker stands still, or is in a poll.
  [[nodiscard]] sched::Certificate certificate() const noexcept {
    return lanes_.certificate(untold_rounds() + inner_polls.get() - inner_told_);
  }

 private:
  [[nodiscard]] std::uint64_t untold_rounds() const noexcept {
    const std::uint64_t rounds = worker.rounds();
    return rounds > told_ ? rounds - told_ : 0;
  }

  sched::Lanes<Atomics> lanes_;
  std::uint64_t told_ = 0;        // the round up to which the lanes know what was dispatched,
  std::uint64_t inner_told_ = 0;  // and how many polls in place they know of
};

}  // namespace calm::runtime
