// machine_port.hpp — what task code needs of the production host: clock, entropy, alarms, and the thread it is on.
// Laws:    I7, SHD-5, SHD-6, SCH-7, TMR
// Threads: by workers; gateway() anywhere
// Cancel:  not applicable
#pragma once

#include "calm/check/require.hpp"
#include "calm/runtime/machine.hpp"
#include "calm/runtime/recorder.hpp"

namespace calm::runtime {

template <lockfree::AtomicsPolicy Atomics>
class Machine<Atomics>::Port final : public cx::KernelPort<Atomics> {
 public:
  using Worker = kernel::Worker;

  Port(Kernel& kernel, Machine& machine) noexcept : cx::KernelPort<Atomics>(kernel), machine_(machine) {
    this->time_is_watched_ = true;
    this->time_is_followed_ = false;
    this->set_quick();
    this->set_shared(machine.workers_ > 1);  // one worker polls all there is: what tasks share needs no turns
    if (!this->is_shared()) this->only_ = &kernel.worker(0);
    if constexpr (Atomics::shared) {
      this->company_.prepare();
      kernel.keep_among(this->company_);
    }
  }

  /// The run is recorded: every look at the clock is, too. Needs: before the first task.
  void follow_time() noexcept { this->time_is_followed_ = true; }

  Status arm(Worker& worker, clock::Alarm& alarm, clock::Beyond beyond) noexcept override {
    Seat<Atomics>& seat = Machine::seat_of(worker);
    const Status armed = seat.alarms.arm(alarm, worker.now(), beyond, &worker.member()).status;
    seat.hurry_if_late();
    return armed;
  }
  void disarm(Worker& worker, clock::Alarm& alarm) noexcept override {
    auto* const owner = alarm.wheel == worker.index() ? &worker.member() : nullptr;
    (void)machine_.seats_[alarm.wheel]->alarms.disarm(alarm, owner);
  }
  bool poll_in_place(Worker& worker, cx::TaskRoot& task) override { return machine_.poll_in_place(worker, task); }
  /// A task that asks for nothing, spawned by one that is alone, is admitted in one step. A fiber may spawn into the scope of
  /// another task, whose budget it is then that counts.
  Status admit_plainly(const cx::Context& context, cx::Crew& crew, cx::TaskRoot& shell) override {
    const cx::TaskRoot& spawner = *context.root();
    Worker* const worker = spawner.has_limits() ? nullptr : spawner.polled_by();
    if (worker != nullptr && machine_.admit_alone(*worker, crew, shell)) [[likely]]
      return {};
    return this->admit(context, &crew, shell, nullptr);
  }
  std::uint64_t entropy(Worker& worker) noexcept override { return Machine::seat_of(worker).entropy.next(); }

  [[nodiscard]] mem::Ref<cx::Gateway> gateway() noexcept override { return machine_.gateway_; }
  [[nodiscard]] cx::BlockingDoor* blocking_door() noexcept override {
    if (machine_.recorder_ != nullptr) [[unlikely]]
      return machine_.recorded_door_.get();
    return &machine_.blocking_;
  }

 protected:
  [[nodiscard]] Worker& of_this_thread() noexcept override {
    Worker* const worker = worker_of_this_thread();
    CALM_REQUIRE(SHD_6, worker != nullptr);  // a thread that is no worker hands errands in
    return *worker;
  }

 private:
  /// Task code wants to know: it gets what the clock says now.
  void time_seen(Worker& worker) noexcept override {
    worker.set_time(machine_.clock_.now());
    Machine::seat_of(worker).hurry_if_late();
    if (machine_.recorder_ != nullptr) [[unlikely]]
      machine_.recorder_->input(sched::InputKind::clock, worker.now().ns());
  }

  Machine& machine_;
};

}  // namespace calm::runtime
