// machine_choice.hpp — which task a worker of the production host takes next: of its own, of what workers have in common, of others.
// Definitions for machine.hpp, which has them.
// Laws:    SCH-1, SCH-2, SCH-4, SCH-6, SCH-7, TSK-4
// Threads: see machine.hpp
// Cancel:  not applicable
//
// What the lanes promise (SCH-4, lanes.hpp) they promise to what is in the queues of a worker. A task that another worker wakes is
// in the queues of that one, but for what must stay where it is: a fiber, or a task with open fibers. That lies in the inbox of
// its home, which takes it out when it looks up: when it has nothing to do, and else after Pace::every_max dispatches at the most.
// So such a task is dispatched after Pace::every_max + sched::ready_bound(n) others at the latest, where n are ready.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "calm/runtime/machine_dispatch.hpp"
#include "calm/sched/commons.hpp"
#include "calm/sched/fifo.hpp"

namespace calm::runtime {

template <lockfree::AtomicsPolicy Atomics>
typename Machine<Atomics>::Task* Machine<Atomics>::next_here(Seat<Atomics>& seat) noexcept {
  const Turn turn(seat.keep);
  if (!lanes_are_empty(seat)) [[unlikely]]
    return next_by_lanes(seat);
  return take_quick(seat, false);
}

/// Needs: a turn.
template <lockfree::AtomicsPolicy Atomics>
typename Machine<Atomics>::Task* Machine<Atomics>::next_by_lanes(Seat<Atomics>& seat) noexcept {
  if (seat.governed != nullptr) [[unlikely]] {
    come_in(seat);
    const std::uint64_t quick = std::max<std::uint64_t>(seat.ready.backlog(), seat.ready.empty() ? 0 : 1);
    seat.governed->steer(*kernel_, seat.worker, seat.lanes(), quick);
  }
  if constexpr (Atomics::shared) {
    if (!commons_.empty()) {
      const typename sched::Commons<Atomics>::Visit visit(commons_);
      const std::size_t before = visit.queues().size();
      sched::Lanes<Atomics>& lanes = seat.lanes();
      lanes.share(&visit.queues());
      Task* const task = take_by_lanes(seat, lanes);
      lanes.share(nullptr);
      if (visit.queues().size() != before) seat.counters.from_commons.add();
      return task;
    }
  }
  return take_by_lanes(seat, seat.lanes());
}

/// Needs: a turn; the lanes of this one.
template <lockfree::AtomicsPolicy Atomics>
typename Machine<Atomics>::Task* Machine<Atomics>::take_by_lanes(Seat<Atomics>& seat,
                                                                 sched::Lanes<Atomics>& lanes) noexcept {
  const bool quick = !seat.ready.empty();
  if (Task* const task = lanes.take_if_all_cancelled(quick)) {
    seat.tell_next();
    cx::look_ahead(task->queue_link);
    return task;
  }
  const auto take = [&](sched::Pick which) -> Task* {
    seat.tell_next();
    return &lanes.take(which);
  };
  const sched::Pick pick = lanes.choose(quick);
  switch (pick) {
    case sched::Pick::none:
      return nullptr;
    case sched::Pick::quick:
    case sched::Pick::oldest_quick: {
      bool oldest = true;
      Task* const task = pick == sched::Pick::quick ? seat.ready.pop(oldest) : seat.ready.pop_oldest();
      // A thief may have been quicker; then the lanes are asked again without it.
      if (task == nullptr) {
        const sched::Pick other = lanes.choose(false);
        return other == sched::Pick::none ? nullptr : take(other);
      }
      if (!oldest) {
        lanes.ran_newer();
        seat.tell_next();
      }
      return task;
    }
    case sched::Pick::elsewhere:
      if (Task* const task = steal_in_turn(seat)) return task;
      return take(pick);
    case sched::Pick::cancel: {
      Task* const task = take(pick);
      cx::look_ahead(task->queue_link);
      return task;
    }
    case sched::Pick::timed:
    case sched::Pick::ready:
    case sched::Pick::oldest_ready:
    case sched::Pick::oldest_common:
      break;
  }
  return take(pick);
}

/// Beyond its own queues: what others sent it, then what others have.
template <lockfree::AtomicsPolicy Atomics>
typename Machine<Atomics>::Task* Machine<Atomics>::next_elsewhere(Seat<Atomics>& seat) noexcept {
  if constexpr (Atomics::shared) {
    if (!seat.inbox.empty()) {
      take_inbox(seat);
      return next_here(seat);
    }
    if (!commons_.empty()) return next_here(seat);
    if (seat.searching) return steal(seat);
  }
  return nullptr;
}

template <lockfree::AtomicsPolicy Atomics>
typename Machine<Atomics>::Task* Machine<Atomics>::steal(Seat<Atomics>& seat) noexcept {
  const Turn turn(seat.keep);
  return steal_in_turn(seat);
}

template <lockfree::AtomicsPolicy Atomics>
typename Machine<Atomics>::Task* Machine<Atomics>::steal_in_turn(Seat<Atomics>& seat) noexcept {
  if constexpr (Atomics::shared) {
    if (is_apart(seat)) return nullptr;
    seat.victims.restart();
    while (const auto victim = seat.victims.next()) {
      if (!seats_[*victim]->shares.load(std::memory_order_relaxed) || seats_[*victim]->ready.backlog() == 0) continue;
      come_in(seat);  // who works alone takes from its queue in plain steps
      Task* const task = seat.ready.steal_from(seats_[*victim]->ready);
      if (task == nullptr) continue;
      seat.counters.steals.add();
      seat.helps = true;
      seat.lanes().ran_newer();
      seat.tell_next();
      return task;
    }
  }
  return nullptr;
}

/// Puts a task that is this worker's into its queue. Needs: a turn.
template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::enqueue(Seat<Atomics>& seat, Task& task) noexcept {
  if (sched::is_plain(task)) {
    seat.ready.push_pinned(task);
  } else {
    seat.lanes().push(task);
  }
}

/// Where its polls are worth sharing, what waits in its lanes is for all. One entry is none: it is what runs next. A recording has
/// polls one after the other, so others would be no help.
template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::offer(Seat<Atomics>& seat) noexcept {
  if (!seat.shares.load(std::memory_order_relaxed) || recorder_ != nullptr) return;
  const Turn turn(seat.keep);  // a guest may be there
  const sched::Lanes<Atomics>& lanes = seat.lanes();
  seat.lanes_kept = std::min(seat.lanes_kept, lanes.size());
  if (lanes.size() < seat.lanes_kept + 2) return;
  const typename sched::Commons<Atomics>::Visit visit(commons_);
  give_lanes(seat, [&visit](Task& task) { (void)visit.queues().push(task); });
  seat.lanes_kept = lanes.size();
}

/// Gives what is in the lanes to `push`, but for what is pinned there. Needs: a turn.
template <lockfree::AtomicsPolicy Atomics>
template <class Push>
void Machine<Atomics>::give_lanes(Seat<Atomics>& from, Push push) noexcept {
  sched::Fifo<Atomics> staying;
  sched::Lanes<Atomics>& lanes = from.lanes();
  lanes.give_away([&](Task& task) {
    if (static_cast<const cx::TaskRoot*>(task.frame)->is_pinned()) {
      staying.push(task);
    } else {
      push(task);
    }
  });
  while (Task* const task = staying.pop()) lanes.push(*task);
}

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::take_inbox(Seat<Atomics>& seat) noexcept {
  if (seat.inbox.empty()) return;
  const Turn turn(seat.keep);
  using Inbox = decltype(seat.inbox);
  for (Task* task = Inbox::oldest_first(seat.inbox.take_all()); task != nullptr;) {
    Task* const after = task->queue_link;
    const bool stays = static_cast<const cx::TaskRoot*>(task->frame)->is_pinned();
    if (!stays && sched::is_plain(*task)) {
      seat.ready.push(*task);
    } else {
      enqueue(seat, *task);
    }
    task = after;
  }
}

}  // namespace calm::runtime
