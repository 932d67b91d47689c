// machine_steps.hpp — how a worker of the production host goes about its day. Definitions for machine.hpp, which has them.
// Laws:    SCH-6, SCH-7, SCH-8, QUI-3, TSK-4
// Threads: see machine.hpp
// Cancel:  not applicable
#pragma once

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

#include "calm/kernel/quiescence.hpp"
#include "calm/lockfree/turn.hpp"
#include "calm/runtime/machine_choice.hpp"
#include "calm/runtime/machine_dispatch.hpp"
#include "calm/runtime/machine_newborns.hpp"
#include "calm/runtime/machine_port.hpp"
#include "calm/runtime/minder.hpp"

namespace calm::runtime {

// --- the loop (SCH-6) ---

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::work(Seat<Atomics>& seat) {
  kernel::Worker* const before = std::exchange(worker_of_this_thread(), &seat.worker);
  Engine* const engine_before = std::exchange(engine_of_this_thread(), this);
  begin_work(seat);
  seat.keep.begin();
  come_in(seat);
  look_up(seat);
  if (recorder_ != nullptr) [[unlikely]]
    work_recorded(seat);  // until it is to leave
  for (;;) {
    // relaxed: an order that is seen late is seen before the next sleep at the latest.
    if (orders_.any() && !obey(seat)) break;
    if (seat.pace.due(seat.worker.rounds())) [[unlikely]]
      see_to_time(seat);
    Task* task = next_here(seat);
    if (task == nullptr) [[unlikely]]
      task = next_elsewhere(seat);
    if (task == nullptr) [[unlikely]]
      task = rest(seat);
    if (task == nullptr) continue;
    if (seat.searching) stop_searching(seat);
    come_in(seat);
    bool alone = begin_switch();
    if (alone && (!sched::is_plain(*task) || !commons_.empty())) [[unlikely]] {
      end_switch();
      alone = false;
    }
    if (alone) {
      dispatch_all(seat, task);
    } else {
      dispatch(seat, *task);
    }
  }
  go_out(seat);
  seat.keep.end();
  lockfree::turn_history().call_nobody();
  worker_of_this_thread() = before;
  engine_of_this_thread() = engine_before;
}

/// Before it touches what others may be working on.
template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::come_in(Seat<Atomics>& seat) noexcept {
  if constexpr (Atomics::shared) {
    if (seat.is_in.load(std::memory_order_relaxed)) [[likely]]  // relaxed: it alone writes it
      return;
    port_->members().enter();
    seat.worker.order().set_member(true);
    seat.came_in = seat.worker.now();
    seat.is_in.store(true, std::memory_order_relaxed);  // relaxed: others only guess who works
  }
}

/// It has nothing to do: who is left may be alone.
template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::go_out(Seat<Atomics>& seat) noexcept {
  if constexpr (Atomics::shared) {
    if (!seat.is_in.load(std::memory_order_relaxed)) return;
    seat.is_in.store(false, std::memory_order_relaxed);
    seat.worker.order().set_member(false);
    port_->members().leave();
    const bool in_vain = std::exchange(seat.helps, false) && seat.worker.now() - seat.came_in < Parting::worth_a_visit;
    if (!in_vain || options_.worth_sharing == Duration()) {
      seat.visits_in_vain = 0;
    } else if (++seat.visits_in_vain > 1 && parting_.begin(seat.worker.now())) {
      seat.counters.partings.add();
    }
  }
}

/// It sleeps no more: who watches polls is told.
template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::begin_work(Seat<Atomics>& seat) noexcept {
  seat.watch.wake();
  if (minder_ != nullptr) minder_->work_begins();
}

/// Gives: false when it is to leave.
template <lockfree::AtomicsPolicy Atomics>
bool Machine<Atomics>::obey(Seat<Atomics>& seat) {
  if (orders_.has(halt)) orders_.stand_still();
  if (orders_.has(errands)) {
    orders_.take_back(errands);
    come_in(seat);
    seat.counters.errands.add(recorder_ != nullptr ? serve_recorded(seat) : gateway_->serve(seat.worker));
  }
  if (orders_.has(stuck)) {
    orders_.take_back(stuck);
    come_in(seat);
    rescue_others(seat);
  }
  if (orders_.has(closing)) finish_if_closed();
  return !orders_.has(finished);
}

/// Something is due before the next dispatch.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::noinline]] void Machine<Atomics>::see_to_time(Seat<Atomics>& seat) {
  if (seat.pace.read_due(seat.worker.rounds())) return look_up(seat);
  fire(seat);
  seat.pace.fired();
}

/// Now and then between two dispatches.
template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::look_up(Seat<Atomics>& seat) {
  look_at_clock(seat);
  fire(seat);
  if constexpr (Atomics::shared) {
    seat.keep.be_alone();
    take_inbox(seat);
    const Time last_look = weigh_polls(seat);
    offer(seat);
    call_for_help(seat, last_look);
    if (seat.is_in.load(std::memory_order_relaxed) && recorder_ == nullptr)
      port_->members().try_alone(seat.worker.member());
  }
}

/// Where polls are shorter than it takes to move a task, and what it works on, to another core, two workers are slower than
/// one, however long the queue; then nobody may take anything from here. One long poll is none: the system may have
/// interrupted it. Gives: when it looked up last.
template <lockfree::AtomicsPolicy Atomics>
Time Machine<Atomics>::weigh_polls(Seat<Atomics>& seat) noexcept {
  constexpr std::uint32_t looks_to_believe = 3;
  const Time last_look = std::exchange(seat.looked_up, seat.worker.now());
  const std::uint64_t polls_now =
      seat.worker.rounds() + 2 * seat.inner_polls.get();  // one inside another goes on with that
  const std::uint64_t polls = polls_now - std::exchange(seat.polls_before, polls_now);
  const std::int64_t worth = options_.worth_sharing.ns() * static_cast<std::int64_t>(polls);
  seat.long_looks = (seat.looked_up - last_look).ns() < worth ? 0 : seat.long_looks + 1;
  part_if_quarrelling(seat, seat.looked_up - last_look);
  const bool shares = seat.long_looks >= looks_to_believe && !is_apart(seat);
  // Relaxed: who comes a moment too early or too late does no harm.
  if (shares != seat.shares.load(std::memory_order_relaxed)) {
    const Turn turn(seat.keep);
    seat.ready.set_open(shares);
    seat.shares.store(shares, std::memory_order_relaxed);
  }
  return last_look;
}

/// Where workers are in each other's way they part. Who is not the first of those that work hands what it has to the first.
template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::part_if_quarrelling(Seat<Atomics>& seat, Duration since) noexcept {
  if constexpr (Atomics::shared) {
    lockfree::TurnHistory& turns = lockfree::turn_history();
    const std::uint32_t moved = turns.moved;
    // A poll that meets another worker at every turn takes a hundred times as long: who waited for its next look would lose a
    // millisecond.
    turns.call_after(
        Parting::worth_a_look, [](void* pace) noexcept { static_cast<Pace*>(pace)->look_soon(); }, &seat.pace);
    const std::uint64_t takeovers =
        std::uint64_t{moved - std::exchange(seat.moved_before, moved)} + std::exchange(seat.strangers, 0);
    if (!Parting::is_too_much(takeovers, since) || options_.worth_sharing == Duration()) return;
    if (parting_.begin(seat.worker.now())) seat.counters.partings.add();
    for (const auto& first : seats_) {
      if (first.get() == &seat) return;
      if (!first->is_in.load(std::memory_order_relaxed) || first->is_stuck()) continue;
      hand_over(seat, *first);
      return beds_.call(first->worker.index());
    }
  }
}

/// Gives all plain tasks that may run anywhere to another worker. Needs: `seat` is the caller's own, or it is a guest there.
template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::hand_over(Seat<Atomics>& seat, Seat<Atomics>& to) noexcept {
  const Turn turn(seat.keep);
  sched::Fifo<Atomics> staying;
  bool oldest = true;
  while (Task* const task = seat.ready.pop(oldest)) {
    if (static_cast<const cx::TaskRoot*>(task->frame)->is_pinned()) {
      staying.push(*task);
    } else {
      to.inbox.push(*task);
    }
  }
  while (Task* const task = staying.pop()) seat.ready.push_pinned(*task);
}

// --- rest ---

/// Gives: true when there is something that nobody else will do for it.
template <lockfree::AtomicsPolicy Atomics>
bool Machine<Atomics>::is_wanted(const Seat<Atomics>& seat) const noexcept {
  return orders_.has_now(urgent) || !seat.inbox.empty();
}

/// Gives: true when others have work to take.
template <lockfree::AtomicsPolicy Atomics>
bool Machine<Atomics>::has_prey(const Seat<Atomics>& seat) const noexcept {
  if (!commons_.empty()) return true;
  if (is_apart(seat)) return false;
  for (const auto& other : seats_) {
    if (other.get() != &seat && other->shares.load(std::memory_order_relaxed) && other->ready.backlog() != 0)
      return true;
  }
  return false;
}

/// There is nothing to do here: it looks around for a moment, then it sleeps until it is called or time has come.
/// Gives: what it found, if anything.
template <lockfree::AtomicsPolicy Atomics>
typename Machine<Atomics>::Task* Machine<Atomics>::rest(Seat<Atomics>& seat) {
  const int spins = seat.spins.next();
  const int yields = options_.back_off.yields;
  const std::uint16_t me = seat.worker.index();
  look_at_clock(seat);
  fire(seat);
  if (orders_.has(closing)) finish_if_closed();
  if (Task* const task = next_here(seat)) return task;
  go_out(seat);
  if (!seat.searching) seat.searching = beds_.search();
  for (int i = 0; seat.searching && i < spins + yields; ++i) {
    seat.counters.looks.add();
    Task* const task = next_elsewhere(seat);
    if (task != nullptr || is_wanted(seat)) {
      seat.spins.found();
      return task;
    }
    if (i < spins) {
      lockfree::RealAtomics::pause();
    } else {
      std::this_thread::yield();
    }
  }
  if (seat.searching) seat.spins.found_nothing();
  go_out(seat);  // what it came in for was gone
  const Time next = next_alarm(seat);
  seat.waits_for_time.store(next != Time::max(), std::memory_order_seq_cst);
  const bool last = beds_.lie_down(me, std::exchange(seat.searching, false), seat.worker.now().ns());
  if (is_wanted(seat) || (last && has_prey(seat))) {
    seat.searching = beds_.get_up(me);
    if (!seat.searching && workers_ > 1) seat.searching = beds_.search();
    return nullptr;
  }
  tell_if_stuck(seat);
  seat.lanes().parked();
  seat.counters.parks.add();
  seat.watch.rest();
  beds_.sleep(me, next == Time::max() ? lockfree::never_ns : clock_.monotonic_ns(next));
  seat.searching = beds_.get_up(me);
  begin_work(seat);
  look_at_clock(seat);
  seat.pace.start_anew(seat.worker.now(), seat.worker.rounds());
  fire(seat);
  return nullptr;
}

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::stop_searching(Seat<Atomics>& seat) noexcept {
  seat.searching = false;
  const bool more = !commons_.empty() || (seat.shares.load(std::memory_order_relaxed) && seat.ready.backlog() != 0);
  if (beds_.end_search() && more && beds_.call_help()) seat.counters.calls.add();
}

/// Work waits here and somebody may sleep. Waking a thread costs as much as hundreds of dispatches, so it is done when work
/// has waited for as long as that takes: with short polls after many looks, with long ones at the first. One entry is none:
/// it is what runs next.
template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::call_for_help(Seat<Atomics>& seat, Time last_look) noexcept {
  const Time now = seat.worker.now();
  if (seat.ready.backlog() + commons_.size() < 2 || !seat.shares.load(std::memory_order_relaxed)) {
    seat.crowded_since = Time::max();
    return;
  }
  seat.crowded_since = std::min(seat.crowded_since, last_look);
  if (now - seat.crowded_since < Parting::worth_a_call) return;
  seat.crowded_since = now;
  if (beds_.call_help()) seat.counters.calls.add();
}

// --- time ---

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::look_at_clock(Seat<Atomics>& seat) {
  const Time now = clock_.now();
  seat.worker.set_time(now);
  seat.pace.read(now, seat.worker.rounds());
  seat.inner_due = seat.inner_polls.get() + seat.inner_batch;
}

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::fire(Seat<Atomics>& seat) {
  if (recorder_ != nullptr) [[unlikely]]
    return fire_recorded(seat);
  fire_for(seat, seat);
}

/// Whose time has come at `whose` place becomes runnable here. Needs: that is `seat`, or its worker is a guest there.
template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::fire_for(Seat<Atomics>& seat, Seat<Atomics>& whose) {
  kernel::Worker& worker = seat.worker;
  auto* const owner = &seat == &whose ? &worker.member() : nullptr;
  while (const auto task = whose.alarms.take_due(worker.now(), owner)) {
    come_in(seat);
    (void)kernel_->wake(worker, *task);
    seat.counters.timers.add();
  }
  const auto take_due = [&](auto& deadlines) {
    const Turn turn(whose.keep);
    return deadlines.take_due(worker.now());
  };
  while (const auto task = take_due(whose.deadlines)) {
    come_in(seat);
    (void)kernel_->deadline_reached(worker, *task);
  }
  while (const auto region = take_due(whose.region_deadlines)) {
    come_in(seat);
    (void)kernel_->deadline_reached(worker, *region);
  }
  const Turn turn(whose.keep);
  whose.deadlines.sweep([this](TaskId task) { return kernel_->state(task) != TaskState::completed; });
  whose.region_deadlines.sweep([this](RegionId region) { return kernel_->state(region) != RegionState::closed; });
}

template <lockfree::AtomicsPolicy Atomics>
Time Machine<Atomics>::next_alarm(Seat<Atomics>& seat) noexcept {
  const Time next = seat.alarms.quiet_until();
  const Turn turn(seat.keep);
  return std::min({next, seat.deadlines.next(), seat.region_deadlines.next()});
}

// --- the end ---

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::finish_if_closed() {
  if (kernel_->state(root()) != RegionState::closed) return;
  orders_.give(finished);
  beds_.call_all();
}

/// Gives: true when all workers lie down, nothing waits for any of them and none waits for time, a moment ago.
template <lockfree::AtomicsPolicy Atomics>
bool Machine<Atomics>::is_dead() const noexcept {
  const auto rounds = [this] {
    std::uint64_t sum = 0;
    for (const auto& seat : seats_) sum += seat->worker.rounds();
    return sum;
  };
  const auto nothing_waits = [this] {
    const auto has_mail = [](const auto& seat) { return !seat->inbox.empty(); };
    return commons_.empty() && !orders_.has_now(urgent) && std::none_of(seats_.begin(), seats_.end(), has_mail);
  };
  const std::uint64_t before = rounds();
  if (!beds_.all_lie() || !nothing_waits()) return false;
  for (const auto& seat : seats_) {
    if (seat->waits_for_time.load(std::memory_order_seq_cst)) return false;
  }
  // Who was called lies until it has got up. If one did meanwhile, it does not lie, or it has polled, or it has left something for
  // another one before it said that it does not wait for time any more.
  return nothing_waits() && beds_.all_lie() && rounds() == before;
}

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::tell_if_stuck(Seat<Atomics>& seat) {
  if (told_stuck_.load(std::memory_order_relaxed) || gateway_->has_callers() || !is_dead()) return;
  if (told_stuck_.exchange(true)) return;
  come_in(seat);
  std::fprintf(stderr, "%s\ncalm: nothing will ever wake it\n",
               kernel::diagnose(kernel_->snapshot(seat.worker)).c_str());
  go_out(seat);
}

/// Somebody outside has handed in an errand.
template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::ring() noexcept {
  orders_.give(errands);
  beds_.call_one();
}

}  // namespace calm::runtime
