// machine_dispatch.hpp — how a worker of the production host polls a task, and goes on with the next. Definitions for machine.hpp,
// which has them.
// Laws:    SCH-6, TSK-4, TSK-6
// Threads: see machine.hpp
// Cancel:  not applicable
#pragma once

#include "calm/cx/drive.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/lockfree/company.hpp"
#include "calm/runtime/machine_port.hpp"
#include "calm/runtime/minder.hpp"
#include "calm/sched/lane.hpp"

namespace calm::runtime {

/// Needs: come_in().
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline void Machine<Atomics>::dispatch(Seat<Atomics>& seat, Task& task) {
  const TaskId id = begin_dispatch(seat.worker, task);
  (void)cx::drive(*kernel_, seat.worker, task, id);
  if (id == main_) after_main(seat);
}

/// Gives: the task's id.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline TaskId Machine<Atomics>::begin_dispatch(kernel::Worker& worker,
                                                                      const Task& task) noexcept {
  auto& root_of_task = *static_cast<cx::TaskRoot*>(task.frame);
  TaskId id = root_of_task.id();
  if (!id) [[unlikely]] {
    id = task.id();
    root_of_task.set_id(id);
  }
  if constexpr (Atomics::shared) root_of_task.set_polled_on(worker.index());
  (void)worker.begin_round(root_of_task.last_await());
  return id;
}

/// The main task was polled.
template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::after_main(Seat<Atomics>& seat) {
  if (kernel_->state(main_) != TaskState::completed) return;
  (void)kernel_->close(seat.worker, root());
  orders_.give(closing);
  if (minder_ != nullptr && kernel_->state(root()) != RegionState::closed) minder_->main_has_ended();
}

/// Polls this task, and then whoever is next in the queue for as long as there is nothing else to see to. So not everything is
/// asked between two polls, and for who is alone all from the end of one to the beginning of the next is one step. Needs: a plain
/// task; begin_switch(), which ends with this; nothing in common with other workers. They put things there while they are in, so
/// who has been alone ever since need not look again.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::noinline]] void Machine<Atomics>::dispatch_all(Seat<Atomics>& seat, Task* task) {
  using Progress = cx::TaskRoot::Progress;
  kernel::Worker& worker = seat.worker;
  const auto& stamp = kernel_->cancel_stamp();
  for (;;) {
    auto& root_of_task = *static_cast<cx::TaskRoot*>(task->frame);
    Progress progress = Progress::again;
    if (root_of_task.only_gave_way(stamp.load(std::memory_order_acquire)) && was_here(worker, root_of_task)) {  // [K2]
      const TaskId id = root_of_task.id();
      const std::uint64_t round = worker.begin_round(root_of_task.last_await(), id, task);
      const bool begun = kernel_->begin_next_poll(worker, *task, id, static_cast<std::uint32_t>(round));
      end_switch();
      if (!begun) [[unlikely]]
        return begin_slowly(seat, *task, id);
      if constexpr (cx::Port::ghosts_by_default) cx::look_for_ghosts(*kernel_, worker, root_of_task, id);
      if (root_of_task.poll_after_yield(worker)) [[likely]] {
        // Nothing else has happened: it goes behind the others.
        if (worker.has_promises()) [[unlikely]]
          cx::tell_promises(*kernel_, worker, root_of_task.id());
        if (!goes_on(seat, worker) || !begin_switch_again()) return cx::end_poll(*kernel_, worker, *task, progress);
        task = switch_from_yield(seat, *task, root_of_task);
        if (task == nullptr) break;
        continue;
      }
      progress = root_of_task.after_frames();
    } else {
      const TaskId id = begin_dispatch(worker, *task);
      worker.set_running(id);
      worker.set_polled(task);
      const bool begun = kernel_->begin_plain_poll(worker, *task, id, worker.round());
      end_switch();
      if (!begun) [[unlikely]]
        return begin_slowly(seat, *task, id);
      if constexpr (cx::Port::ghosts_by_default) cx::look_for_ghosts(*kernel_, worker, root_of_task, id);
      progress = root_of_task.poll_here(worker);
    }
    if (after_poll(worker, *task, progress)) [[unlikely]]
      after_main(seat);
    if (!goes_on(seat, worker) || !begin_switch_again()) return cx::end_poll(*kernel_, worker, *task, progress);
    if (progress == Progress::again) {
      task = switch_from_yield(seat, *task, root_of_task);
    } else {
      if (progress == Progress::parked && task->word.end_poll_alone()) put_back(seat, *task);
      task = next_quick(seat);
    }
    if (task == nullptr) break;
  }
  end_switch();
  cx::leave_task(worker);
}

/// Gives: true when this worker polled it last, and knows so without a look at the task's other words.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline bool Machine<Atomics>::was_here(const kernel::Worker& worker,
                                                              const cx::TaskRoot& root_of_task) noexcept {
  return !Atomics::shared || root_of_task.is_free_here(worker.index());
}

/// Gives: true when that was the end of the main task.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline bool Machine<Atomics>::after_poll(kernel::Worker& worker, Task& task,
                                                                cx::TaskRoot::Progress progress) {
  auto& root_of_task = *static_cast<cx::TaskRoot*>(task.frame);
  const TaskId id = root_of_task.id();
  return cx::after_poll(*kernel_, worker, task, root_of_task, id, progress) == cx::TaskRoot::Progress::ended &&
         id == main_;
}

/// The kernel has to look at this one.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::noinline]] void Machine<Atomics>::begin_slowly(Seat<Atomics>& seat, Task& task, TaskId id) {
  cx::leave_task(seat.worker);
  (void)cx::drive(*kernel_, seat.worker, task, id);
  if (id == main_) after_main(seat);
}

/// Gives: true when there is nothing to do before the next dispatch.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline bool Machine<Atomics>::goes_on(Seat<Atomics>& seat,
                                                             const kernel::Worker& worker) noexcept {
  // relaxed: as in work(). An alarm that is late makes the next look due.
  return !orders_.any() && !seat.pace.due(worker.rounds());
}

/// Gives: true when nobody else is at work, nor begins before end_switch(): neither the kernel nor the queues of this worker
///        need any other protection.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline bool Machine<Atomics>::begin_switch() noexcept {
  if constexpr (!Atomics::shared) return true;
  return port_->members().begin_alone(lockfree::AloneIn::dispatch);
}
/// The same for who was so a moment ago.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline bool Machine<Atomics>::begin_switch_again() noexcept {
  if constexpr (!Atomics::shared) return true;
  return port_->members().begin_alone_again(lockfree::AloneIn::dispatch);
}
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline void Machine<Atomics>::end_switch() noexcept {
  if constexpr (Atomics::shared) port_->members().end_alone(lockfree::AloneIn::dispatch);
}

/// The poll of `last`, which wants another one, is over; the kernel has not heard of that. Needs: begin_switch(), and it was a
/// plain task when its poll began. Gives: as next_quick().
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline typename Machine<Atomics>::Task* Machine<Atomics>::switch_from_yield(
    Seat<Atomics>& seat, Task& last, const cx::TaskRoot& root_of_last) noexcept {
  if (last.word.end_plain_poll_woken_alone()) [[likely]] {
    const bool stays = Atomics::shared && root_of_last.is_pinned();
    CALM_SLOW(SCH_6, commons_.empty());
    if (!stays && seat.lanes_are_empty()) [[likely]] {
      if (Task* const task = seat.ready.rotate(last)) [[likely]]
        return task;
    }
  } else {
    last.word.end_poll_woken_alone();
  }
  put_back(seat, last);
  return next_quick(seat);
}

/// Needs: begin_switch(). Gives: the next of the quick queue; nullptr when there is none, or others have a say in it.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline typename Machine<Atomics>::Task* Machine<Atomics>::next_quick(
    Seat<Atomics>& seat) noexcept {
  CALM_SLOW(SCH_6, commons_.empty());
  if (!seat.lanes_are_empty()) [[unlikely]]
    return nullptr;
  return take_quick(seat, true);
}

/// What schedule() does with a task that was polled just now. Needs: begin_switch().
template <lockfree::AtomicsPolicy Atomics>
[[gnu::noinline]] void Machine<Atomics>::put_back(Seat<Atomics>& seat, Task& task) noexcept {
  seat.counters.wakes.add();
  if (!sched::is_plain(task)) return seat.lanes().push(task);
  if (Atomics::shared && static_cast<const cx::TaskRoot*>(task.frame)->is_pinned()) return seat.ready.push_pinned(task);
  seat.ready.push(task);
}

/// Gives: the next of the quick queue. Needs: a turn, or begin_switch(); lanes_are_empty().
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline typename Machine<Atomics>::Task* Machine<Atomics>::take_quick(Seat<Atomics>& seat,
                                                                                            bool alone) noexcept {
  if (Task* const task = seat.ready.pop_from_line()) [[likely]]
    return task;
  bool oldest = true;
  Task* const task = seat.ready.pop(oldest, alone);
  if (task != nullptr && !oldest) {
    seat.lanes().ran_newer();
    seat.tell_next();
  }
  return task;
}

}  // namespace calm::runtime
