// machine.hpp — a kernel with the threads, clocks and queues that make it run: the production host.
// Laws:    LAB-1 (behind the kernel's one door), SCH-6, SCH-8, QUI-2, QUI-3, TSK-4, TSK-6, SHD-5
// Threads: run() by the thread that becomes worker 0; what gateway() gives anywhere; the rest by workers
// Cancel:  the program's own; cancel_root() from a worker
//
// What workers tell each other besides tasks stands in one word, `orders`, that each reads before a dispatch.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "calm/cx/drive.hpp"
#include "calm/cx/gateway.hpp"
#include "calm/cx/port.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/lockfree/orders.hpp"
#include "calm/runtime/beds.hpp"
#include "calm/runtime/blocking_pool.hpp"
#include "calm/runtime/engine.hpp"
#include "calm/runtime/options.hpp"
#include "calm/runtime/parting.hpp"
#include "calm/runtime/seat.hpp"
#include "calm/runtime/this_worker.hpp"
#include "calm/runtime/thread.hpp"
#include "calm/sched/commons.hpp"

namespace calm::sched {
enum class StepKind : std::uint8_t;
}  // namespace calm::sched

namespace calm::runtime {

class Minder;
class Recorder;

template <lockfree::AtomicsPolicy Atomics>
class Machine final : public kernel::Host<Atomics>, public Engine {
 public:
  using Task = kernel::TaskRecord<Atomics>;
  using Kernel = kernel::BasicKernel<Atomics>;

  explicit Machine(const RunOptions& options, std::uint16_t workers);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine();

  /// Makes the kernel. Fails: what that says of the configuration.
  Outcome<void> prepare();
  /// Starts the other workers. Fails: resource_exhausted; invalid_argument for the size of their stacks.
  Outcome<void> start();

  [[nodiscard]] cx::Port& port() noexcept { return *port_; }
  [[nodiscard]] Kernel& kernel() noexcept { return *kernel_; }
  [[nodiscard]] RegionId root() const noexcept { return kernel_->root(); }

  /// Admits the main task. Before anybody can ask the program to stop: it must be there to be cancelled (QUI-2).
  /// Fails: resource_exhausted, admission_limit; its frames are gone then.
  [[nodiscard]] Status begin(cx::TaskRoot& main);
  /// Runs it and everything it starts; this thread is worker 0, which began it. Returns at quiescence (QUI-3).
  void run();

  // --- Engine ---

  void shut_down(kernel::Worker& worker) override;
  [[nodiscard]] std::string inspect(kernel::Worker& worker) override;
  [[nodiscard]] std::string stragglers(kernel::Worker& worker) override;
  [[nodiscard]] std::string describe_running(const kernel::Worker& worker) const override;
  void rescue(std::size_t worker, std::uint64_t round) noexcept override;
  [[nodiscard]] std::vector<const PollWatch*> poll_watches() const override;
  [[nodiscard]] const mem::Ref<cx::Gateway>& gateway() const noexcept override { return gateway_; }
  /// Tells the minder when a worker has something to poll after it rested, and when the main task has ended and left something.
  /// Needs: it outlives this. Before start().
  void tell(Minder& minder) noexcept { minder_ = &minder; }
  /// Records the run. Needs: the recorder outlives this. Before start().
  void record_to(Recorder& recorder);

  // --- kernel::Host ---

  void schedule(kernel::Worker& worker, Task& task) noexcept override;
  void watch(kernel::Worker& worker, TaskId task, Time deadline) noexcept override;
  bool watch_all(kernel::Worker& worker, RegionId region, Time deadline) noexcept override;
  void report(kernel::Worker& worker, const kernel::Finding& finding) noexcept override;
  [[nodiscard]] kernel::AwaitPoint await_point(const Task& task) const noexcept override;
  [[nodiscard]] bool take_frames_back(const Task& task) noexcept override {
    return static_cast<cx::TaskRoot*>(task.frame)->take_frames_back();
  }
  [[nodiscard]] std::uint64_t pending_timers() const noexcept override;
  [[nodiscard]] std::uint64_t undrained_channels() const noexcept override { return port_->undrained_channels(); }

 private:
  class Port;
  class RecordedDoor;
  using Turn = typename Keep<Atomics>::Turn;

  // Orders for all workers.
  static constexpr std::uint32_t finished = 1;  ///< the root is Closed: leave
  static constexpr std::uint32_t closing = 2;   ///< the main task has ended: look whether the root is Closed
  static constexpr std::uint32_t errands = 4;   ///< somebody outside wants something
  static constexpr std::uint32_t halt = lockfree::Orders<>::halt;  ///< stand still: somebody looks at everything
  static constexpr std::uint32_t stuck = 8;  ///< somebody is stuck in a poll: take over what waits there
  static constexpr std::uint32_t urgent = finished | errands | halt | stuck;  ///< nobody sleeps over these

  [[nodiscard]] static Seat<Atomics>& seat_of(const kernel::Worker& worker) noexcept {
    return *static_cast<Seat<Atomics>*>(worker.seat());
  }

  Outcome<void> start_thread(std::uint16_t number);
  void join_threads() noexcept;
  void work(Seat<Atomics>& seat);
  void begin_work(Seat<Atomics>& seat) noexcept;
  [[nodiscard]] bool obey(Seat<Atomics>& seat);
  void dispatch(Seat<Atomics>& seat, Task& task);
  void dispatch_all(Seat<Atomics>& seat, Task* task);
  void begin_slowly(Seat<Atomics>& seat, Task& task, TaskId id);
  [[nodiscard]] TaskId begin_dispatch(kernel::Worker& worker, const Task& task) noexcept;
  [[nodiscard]] bool after_poll(kernel::Worker& worker, Task& task, cx::TaskRoot::Progress progress);
  void after_main(Seat<Atomics>& seat);
  [[nodiscard]] static bool was_here(const kernel::Worker& worker, const cx::TaskRoot& root_of_task) noexcept;
  [[nodiscard]] bool begin_switch() noexcept;
  [[nodiscard]] bool begin_switch_again() noexcept;
  void end_switch() noexcept;
  [[nodiscard]] bool goes_on(Seat<Atomics>& seat, const kernel::Worker& worker) noexcept;
  [[nodiscard]] Task* switch_from_yield(Seat<Atomics>& seat, Task& last, const cx::TaskRoot& root_of_last) noexcept;
  [[nodiscard]] Task* next_quick(Seat<Atomics>& seat) noexcept;
  void put_back(Seat<Atomics>& seat, Task& task) noexcept;
  [[nodiscard]] Task* take_quick(Seat<Atomics>& seat, bool alone) noexcept;
  [[nodiscard]] bool admit_alone(kernel::Worker& worker, cx::Crew& crew, cx::TaskRoot& shell) noexcept;
  [[nodiscard]] bool poll_in_place(kernel::Worker& worker, cx::TaskRoot& joined);
  [[nodiscard]] bool poll_in_place_among_others(Seat<Atomics>& seat, kernel::Worker& worker, cx::TaskRoot& joined);
  void drive_in_place(Seat<Atomics>& seat, kernel::Worker& worker, Task& task, TaskId id);
  [[nodiscard]] kernel::Worker::Poll begin_inside(Seat<Atomics>& seat, kernel::Worker& worker) noexcept;
  [[nodiscard]] bool has_time_inside(Seat<Atomics>& seat) noexcept;
  void see_to_time(Seat<Atomics>& seat);
  void look_up(Seat<Atomics>& seat);

  // The same where a run is recorded (machine_recording.hpp).
  void work_recorded(Seat<Atomics>& seat);
  void dispatch_recorded(Seat<Atomics>& seat, Task& task);
  void fire_recorded(Seat<Atomics>& seat);
  [[nodiscard]] std::uint64_t serve_recorded(Seat<Atomics>& seat);
  bool record_step(sched::StepKind kind, const kernel::Worker& worker, TaskId id) noexcept;

  // What is next: its own, that of others, a rest.
  [[nodiscard]] Task* next_here(Seat<Atomics>& seat) noexcept;
  /// Gives: true when no lane has a say in what is next: its own, and those in common.
  [[nodiscard]] bool lanes_are_empty(const Seat<Atomics>& seat) const noexcept {
    return seat.lanes_are_empty() && commons_.empty();
  }
  [[nodiscard]] Task* next_by_lanes(Seat<Atomics>& seat) noexcept;
  [[nodiscard]] Task* take_by_lanes(Seat<Atomics>& seat, sched::Lanes<Atomics>& lanes) noexcept;
  [[nodiscard]] Task* next_elsewhere(Seat<Atomics>& seat) noexcept;
  [[nodiscard]] Task* steal(Seat<Atomics>& seat) noexcept;
  [[nodiscard]] Task* steal_in_turn(Seat<Atomics>& seat) noexcept;
  [[nodiscard]] bool schedule_next(Seat<Atomics>& seat, const kernel::Worker& worker, Task& task) noexcept;
  void schedule_in_turn(Seat<Atomics>& seat, const kernel::Worker& worker, Task& task) noexcept;
  void enqueue(Seat<Atomics>& seat, Task& task) noexcept;
  void take_inbox(Seat<Atomics>& seat) noexcept;
  void offer(Seat<Atomics>& seat) noexcept;
  template <class Push>
  void give_lanes(Seat<Atomics>& from, Push push) noexcept;
  [[nodiscard]] Task* rest(Seat<Atomics>& seat);
  [[nodiscard]] bool is_wanted(const Seat<Atomics>& seat) const noexcept;
  [[nodiscard]] bool has_prey(const Seat<Atomics>& seat) const noexcept;
  void stop_searching(Seat<Atomics>& seat) noexcept;
  void call_for_help(Seat<Atomics>& seat, Time last_look) noexcept;
  Time weigh_polls(Seat<Atomics>& seat) noexcept;
  void part_if_quarrelling(Seat<Atomics>& seat, Duration since) noexcept;
  void hand_over(Seat<Atomics>& seat, Seat<Atomics>& to) noexcept;
  void rescue_others(Seat<Atomics>& seat);
  void take_lanes(Seat<Atomics>& seat, Seat<Atomics>& from) noexcept;
  void take_inbox_of(Seat<Atomics>& seat, Seat<Atomics>& from) noexcept;
  [[nodiscard]] bool is_apart(const Seat<Atomics>& seat) const noexcept { return parting_.lasts(seat.worker.now()); }
  void come_in(Seat<Atomics>& seat) noexcept;
  void go_out(Seat<Atomics>& seat) noexcept;

  void look_at_clock(Seat<Atomics>& seat);
  void fire(Seat<Atomics>& seat);
  void fire_for(Seat<Atomics>& seat, Seat<Atomics>& whose);
  [[nodiscard]] Time next_alarm(Seat<Atomics>& seat) noexcept;
  [[nodiscard]] bool is_dead() const noexcept;
  void tell_if_stuck(Seat<Atomics>& seat);
  void finish_if_closed();
  void ring() noexcept;
  /// Gives: what `look` gives while the others stand still, or sit in a poll that does not end.
  template <class F>
  auto with_others_halted(Seat<Atomics>& seat, F look);
  [[nodiscard]] std::string workers_text() const;

  RunOptions options_;
  std::uint16_t workers_;
  RealClock clock_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Port> port_;
  std::vector<std::unique_ptr<Seat<Atomics>>> seats_;
  std::vector<std::unique_ptr<Thread>> threads_;
  Beds beds_;
  mem::Ref<cx::Gateway> gateway_;
  BlockingPool blocking_;
  Recorder* recorder_ = nullptr;  // most runs have none
  std::unique_ptr<RecordedDoor> recorded_door_;
  TaskId main_{};
  std::atomic<bool> told_stuck_{false};
  Minder* minder_ = nullptr;  // none in a test of a machine alone

  Parting parting_;
  alignas(128) sched::Commons<Atomics> commons_;
  alignas(128) lockfree::Orders<> orders_;
};

}  // namespace calm::runtime
