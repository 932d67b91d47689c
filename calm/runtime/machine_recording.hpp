// machine_recording.hpp — how a worker of the production host goes about its day while the run is recorded: in turns.
// Laws:    SCH-9
// Threads: see machine.hpp, for which these are definitions
// Cancel:  not applicable
//
// A worker chooses as ever what is next, and looks for work and sleeps as ever. What touches the kernel it does in a turn, at a
// time that it reads there: so times and steps have one order.
#pragma once

#include "calm/runtime/machine_steps.hpp"
#include "calm/runtime/recorder.hpp"
#include "calm/sched/task_path.hpp"

namespace calm::runtime {

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::work_recorded(Seat<Atomics>& seat) {
  for (;;) {
    // relaxed: as in work()
    if (orders_.any() && !obey(seat)) break;
    look_up(seat);
    Task* task = next_here(seat);
    if (task == nullptr) task = next_elsewhere(seat);
    if (task == nullptr) task = rest(seat);
    if (task == nullptr) continue;
    if (seat.searching) stop_searching(seat);
    dispatch_recorded(seat, *task);
  }
}

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::dispatch_recorded(Seat<Atomics>& seat, Task& task) {
  const Recorder::Turn turn = recorder_->take_turn();
  come_in(seat);
  look_at_clock(seat);
  const TaskId id = task.id();
  (void)record_step(sched::StepKind::poll, seat.worker, id);
  dispatch(seat, task);
  if (kernel_->state(id) == TaskState::completed) recorder_->ended(id);
}

/// Needs: a turn. Gives: false for a task that is gone: nothing is done to it.
template <lockfree::AtomicsPolicy Atomics>
bool Machine<Atomics>::record_step(sched::StepKind kind, const kernel::Worker& worker, TaskId id) noexcept {
  const Task* const task = kernel_->find(id);
  if (task == nullptr || kernel_->state(id) == TaskState::completed) return false;
  recorder_->step(kind, worker, id, [&] { return sched::task_path(*kernel_, *task); });
  return true;
}

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::fire_recorded(Seat<Atomics>& seat) {
  kernel::Worker& worker = seat.worker;
  if (worker.now() < next_alarm(seat)) return;
  const Recorder::Turn turn = recorder_->take_turn();
  come_in(seat);
  look_at_clock(seat);
  while (const auto task = seat.alarms.take_due(worker.now())) {
    (void)record_step(sched::StepKind::alarm, worker, *task);
    (void)kernel_->wake(worker, *task);
    seat.counters.timers.add();
  }
  while (const auto task = seat.deadlines.take_due(worker.now())) {
    (void)record_step(sched::StepKind::deadline, worker, *task);
    (void)kernel_->deadline_reached(worker, *task);
  }
  seat.deadlines.sweep([this](TaskId task) { return kernel_->state(task) != TaskState::completed; });
}

template <lockfree::AtomicsPolicy Atomics>
std::uint64_t Machine<Atomics>::serve_recorded(Seat<Atomics>& seat) {
  class Watch final : public cx::ErrandWatch {
   public:
    explicit Watch(Machine& machine) noexcept : machine_(machine) {}
    void begins(const cx::Errand& errand, kernel::Worker& worker) noexcept override {
      const cx::Errand::About about = errand.about();
      switch (about.kind) {
        case cx::Errand::Kind::question:
          return;
        case cx::Errand::Kind::outside:
          return machine_.recorder_->step(sched::StepKind::outside, worker);
        case cx::Errand::Kind::blocking:
          if (!machine_.record_step(sched::StepKind::blocking, worker, about.task)) return;
          // Only they are about that.
          return machine_.recorder_->result(static_cast<const cx::BlockingJob&>(errand));
      }
    }

   private:
    Machine& machine_;
  };
  const Recorder::Turn turn = recorder_->take_turn();
  look_at_clock(seat);
  Watch watch(*this);
  return gateway_->serve(seat.worker, &watch);
}

/// The pool's door with a clerk at it: what the pool answers is an input of the run.
template <lockfree::AtomicsPolicy Atomics>
class Machine<Atomics>::RecordedDoor final : public cx::BlockingDoor {
 public:
  explicit RecordedDoor(Machine& machine) noexcept : machine_(machine) {}

  cx::Submitted submit(cx::BlockingJob& job) noexcept override {
    const cx::Submitted submitted = machine_.blocking_.submit(job);
    if (submitted != cx::Submitted::taken) machine_.recorder_->input(sched::InputKind::refused, 0);
    return submitted;
  }
  bool withdraw(cx::BlockingJob& job) noexcept override {
    const bool withdrawn = machine_.blocking_.withdraw(job);
    machine_.recorder_->input(sched::InputKind::withdrawn, withdrawn ? 1 : 0);
    return withdrawn;
  }
  [[nodiscard]] bool tells_ends() const noexcept override { return true; }

 private:
  Machine& machine_;
};

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::record_to(Recorder& recorder) {
  recorder_ = &recorder;
  port_->follow_time();
  for (const auto& seat : seats_) seat->inner_batch = 0;  // a recording has polls one after the other
  recorded_door_ = std::make_unique<RecordedDoor>(*this);
}

}  // namespace calm::runtime
