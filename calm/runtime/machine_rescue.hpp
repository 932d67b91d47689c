// machine_rescue.hpp — what waits for a worker that is stuck in a poll is taken over by another one. Definitions for machine.hpp,
// which has them.
// Laws:    SCH-6, TSK-4 (what is pinned stays)
// Threads: rescue() by the one who minds the workers; the rest by workers
// Cancel:  not applicable
//
// Who minds the workers sees a poll that does not end and gives an order. A worker that obeys it is a guest at the stuck one
// (keep.hpp) for as long as it takes to move what waits there into its own inbox.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "calm/runtime/machine_steps.hpp"

namespace calm::runtime {

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::rescue(std::size_t worker, std::uint64_t round) noexcept {
  if constexpr (Atomics::shared) {
    constexpr std::uint64_t wakes_of_who_is_busy = 1000;
    Seat<Atomics>& seat = *seats_[worker];
    // One long poll that spawns and wakes all the time is not stuck: to run what it makes beside it would slow down both.
    const std::uint64_t wakes = seat.counters.wakes.get();
    if (wakes - std::exchange(seat.wakes_seen, wakes) > wakes_of_who_is_busy) return;
    // Relaxed: the order that follows brings it to who obeys.
    seat.stuck_in.store(round, std::memory_order_relaxed);
    const Time now = clock_.now();
    const auto look = [&] {
      const typename Keep<Atomics>::Guest guest(seat.keep);
      const Turn turn(seat.keep);
      const bool is_late = std::min(seat.deadlines.next(), seat.region_deadlines.next()) <= now;
      return is_late || !seat.ready.empty() || !seat.lanes_are_empty();
    };
    // A worker that is alone has no turn of its own queues between two polls: who looks into them is in company, too.
    const auto something_waits = [&] {
      port_->members().enter();
      const bool waits = look();
      port_->members().leave();
      return waits;
    };
    if (seat.inbox.empty() && now < seat.alarms.quiet_until() && !something_waits()) return;
    orders_.give(stuck);
    beds_.call_one();
  }
}

/// Others are stuck in polls that do not end: what waits for them is done here from now on, but for what is pinned there.
template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::rescue_others(Seat<Atomics>& seat) {
  if constexpr (Atomics::shared) {
    for (const auto& other : seats_) {
      if (other.get() == &seat || !other->is_stuck()) continue;
      seat.counters.rescues.add();
      const typename Keep<Atomics>::Guest guest(other->keep);
      fire_for(seat, *other);
      hand_over(*other, seat);
      take_lanes(seat, *other);
      take_inbox_of(seat, *other);
    }
  }
}

/// Needs: a guest there.
template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::take_lanes(Seat<Atomics>& seat, Seat<Atomics>& from) noexcept {
  const Turn turn(from.keep);
  give_lanes(from, [&seat](Task& task) { seat.inbox.push(task); });
}

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::take_inbox_of(Seat<Atomics>& seat, Seat<Atomics>& from) noexcept {
  using Inbox = decltype(from.inbox);
  bool some_stay = false;
  for (Task* task = Inbox::oldest_first(from.inbox.take_all()); task != nullptr;) {
    Task* const after = task->queue_link;
    const bool stays = static_cast<const cx::TaskRoot*>(task->frame)->is_pinned();
    some_stay = some_stay || stays;
    (stays ? from : seat).inbox.push(*task);
    task = after;
  }
  if (some_stay) beds_.call(from.worker.index());  // it may have come free, and found its inbox empty
}

}  // namespace calm::runtime
