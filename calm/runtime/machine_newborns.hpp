// machine_newborns.hpp — what the running poll spawns: admitted in one step by who is alone, polled in place by who joins it.
// Definitions for machine.hpp, which has them.
// Laws:    REG-6, REG-8, CAN-6, BUD-3 (what asks for more is Port::admit()'s), SCH-4, SCH-6
// Threads: see machine.hpp
// Cancel:  a region that closes or is cancelled takes no task any more
#pragma once

#include "calm/check/require.hpp"
#include "calm/cx/crew.hpp"
#include "calm/cx/drive.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/runtime/machine_dispatch.hpp"
#include "calm/runtime/machine_port.hpp"

namespace calm::runtime {

/// Admits a task that asks for nothing, for the running one. Gives: false when nobody is alone, or it is not as simple as
/// that; nothing has changed then.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline bool Machine<Atomics>::admit_alone(kernel::Worker& worker, cx::Crew& crew,
                                                                 cx::TaskRoot& shell) noexcept {
  if (!begin_switch()) return false;
  auto& region = *static_cast<kernel::RegionRecord<Atomics>*>(crew.region());
  const auto admitted = kernel_->spawn_alone(worker, region, &shell);
  if (admitted.task != nullptr) [[likely]] {
    CALM_SLOW(CAN_6, !kernel_->is_walking());  // a walk is a step of somebody who is at work
    shell.join_crew(crew);
    shell.found_quiet(kernel_->cancel_stamp().load(std::memory_order_acquire));  // as Port::cancel_stamp() does
    shell.set_id(admitted.id);
    crew.add_alone();
    Seat<Atomics>& seat = seat_of(worker);
    seat.counters.wakes.add();
    seat.ready.push_newborn(*admitted.task);
  }
  end_switch();
  return admitted.task != nullptr;
}

/// So many polls were made in place. Gives: true when that was quick enough for as many more.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::noinline]] bool Machine<Atomics>::has_time_inside(Seat<Atomics>& seat) noexcept {
  constexpr Duration time_max = Duration::microseconds(100);
  if (seat.inner_batch == 0 || clock_.now() - seat.pace.last_read() >= time_max) return false;
  seat.inner_due = seat.inner_polls.get() + seat.inner_batch;
  return true;
}

/// The running task joins one that it has spawned and that has not begun: it is polled inside that poll, as a call would be.
/// A wait, a queue and a wake are saved, and what both work on is at hand. How deep and for how long is bounded, so that others
/// get their turn (SCH-4). Gives: true when it has ended, and plainly.
template <lockfree::AtomicsPolicy Atomics>
bool Machine<Atomics>::poll_in_place(kernel::Worker& worker, cx::TaskRoot& joined) {
  constexpr std::uint32_t depth_max = 64;
  Seat<Atomics>& seat = seat_of(worker);
  if (seat.inner_depth == depth_max || (seat.inner_polls.get() == seat.inner_due && !has_time_inside(seat)))
    return false;
  if (worker.has_promises()) [[unlikely]]
    cx::tell_promises(*kernel_, worker, worker.running());
  if (!begin_switch()) [[unlikely]]
    return poll_in_place_among_others(seat, worker, joined);
  Task* const task = seat.ready.take_back(&joined);
  const TaskId id = joined.id();
  const bool begun = task != nullptr && kernel_->template begin_plain_poll<true>(worker, *task, id, worker.round());
  end_switch();
  if (!begun) [[unlikely]] {
    if (task != nullptr) drive_in_place(seat, worker, *task, id);
    return false;
  }
  const kernel::Worker::Poll outer = begin_inside(seat, worker);
  worker.set_running(id);
  worker.set_polled(task);
  if constexpr (cx::Port::ghosts_by_default) cx::look_for_ghosts(*kernel_, worker, joined, id);
  const cx::TaskRoot::Progress progress = joined.poll_here<true>(worker);
  const cx::ReturnToOuter leave{outer};
  if (worker.has_promises()) [[unlikely]]
    cx::tell_promises(*kernel_, worker, id);
  --seat.inner_depth;
  if (progress == cx::TaskRoot::Progress::ended) [[likely]]
    return cx::after_end(*kernel_, worker, *task, joined, id, leave);
  cx::end_poll(*kernel_, worker, *task, progress, leave);
  return false;
}

/// A poll inside the one that runs.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline kernel::Worker::Poll Machine<Atomics>::begin_inside(Seat<Atomics>& seat,
                                                                                  kernel::Worker& worker) noexcept {
  ++seat.inner_depth;
  seat.inner_polls.set(seat.inner_polls.get() + 1);
  worker.set_after({});
  return worker.leave_for_inner_poll();
}

/// The same as poll_in_place() where others may look into the queue.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::noinline]] bool Machine<Atomics>::poll_in_place_among_others(Seat<Atomics>& seat, kernel::Worker& worker,
                                                                    cx::TaskRoot& joined) {
  Task* task = nullptr;
  {
    const Turn turn(seat.keep);
    task = seat.ready.take_back(&joined);
  }
  if (task != nullptr) drive_in_place(seat, worker, *task, joined.id());
  return false;
}

/// The kernel has to say what becomes of the task, which is in no queue.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::noinline]] void Machine<Atomics>::drive_in_place(Seat<Atomics>& seat, kernel::Worker& worker, Task& task,
                                                        TaskId id) {
  const kernel::Worker::Poll outer = begin_inside(seat, worker);
  cx::go_on(*kernel_, worker, task, id, kernel_->begin_poll(worker, task, id));
  worker.return_from_inner_poll(outer);
  --seat.inner_depth;
}

}  // namespace calm::runtime
