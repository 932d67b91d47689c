// port.hpp — what task code needs of its runtime, whichever kernel and host that is.
// Laws:    I7 (nothing is reached but through what was passed in), SHD-6, LAB-1
// Threads: by whoever polls the task, with the worker that does it
// Cancel:  step() decides whether a wait goes on or is cancelled: the one place where that happens
//
// Task code is written once and runs on the kernel of one worker and on that of several; this is the seam.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "calm/clock/wheel.hpp"
#include "calm/cx/gateway.hpp"
#include "calm/cx/live_kernel.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/kernel/config.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/lockfree/company.hpp"
#include "calm/model/outcome.hpp"

namespace calm {
struct TaskOptions;
}  // namespace calm

namespace calm::cx {

struct Context;

class BlockingDoor;
class Crew;

class Port {
 public:
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  using Worker = kernel::Worker;

  /// Gives: the worker of the calling thread, for those who are not in a poll of theirs: handles and tokens that moved.
  [[nodiscard]] Worker& here() noexcept { return only_ != nullptr ? *only_ : of_this_thread(); }
  /// Gives: the worker that polls everything, where tasks need no turns; else nullptr. The same from the first task on.
  [[nodiscard]] Worker* only_worker() const noexcept { return shared_ ? nullptr : only_; }
  /// Gives: true when tasks of the program may be polled by several threads at a time: what they share needs its turns then.
  ///        The same from the first task on.
  [[nodiscard]] bool is_shared() const noexcept { return shared_; }
  /// Gives: those who may poll at a time; nullptr when one thread polls everything.
  [[nodiscard]] lockfree::Company<>* company() noexcept { return shared_ ? &company_ : nullptr; }
  /// The same for who comes and goes: there is a company of one, too.
  [[nodiscard]] lockfree::Company<>& members() noexcept { return company_; }
  /// A channel that is registered to a region still holds values though everything in the region has ended; later it does no
  /// more, or is given up (QUI-1).
  void add_undrained_channel() noexcept { undrained_channels_.fetch_add(1, std::memory_order_relaxed); }
  void take_undrained_channel() noexcept { undrained_channels_.fetch_sub(1, std::memory_order_relaxed); }
  /// Gives: how many there are of them. Anywhere; relaxed: for who inspects.
  [[nodiscard]] std::uint64_t undrained_channels() const noexcept {
    return undrained_channels_.load(std::memory_order_relaxed);
  }
  /// Gives: true when no other thread polled a moment ago. Needs: a poll.
  [[nodiscard]] bool looks_alone() const noexcept { return !shared_ || company_.looks_alone(); }

  /// Starts a task in the region of this context, for the running one. Needs: a shell with its frame; the crew of that
  /// region's scope, none where there is no scope; what is asked for it, if anything is.
  /// Gives: ok: it is the kernel's, and knows its id. Else its frames are gone.
  Status admit(const Context& context, Crew* crew, TaskRoot& shell, const TaskOptions* options);
  /// The same for a task of a scope that asks for nothing, and is no fiber.
  virtual Status admit_plainly(const Context& context, Crew& crew, TaskRoot& shell) {
    return admit(context, &crew, shell, nullptr);
  }
  virtual kernel::Made<TaskId> spawn(Worker& worker, RegionId region, const kernel::TaskSpec& spec) = 0;
  virtual kernel::Made<RegionId> create_region(Worker& worker, RegionId parent, const kernel::RegionSpec& spec) = 0;
  /// Gives: where the region's record is, for the crew of its scope.
  [[nodiscard]] virtual void* place_of(RegionId region) const noexcept = 0;
  virtual kernel::Made<TaskId> defer(Worker& worker, RegionId region, TaskRoot& root) = 0;
  virtual Status close(Worker& worker, RegionId region) = 0;
  virtual Status cancel(Worker& worker, RegionId region, const kernel::CancelSpec& spec) = 0;
  virtual Status end_body(Worker& worker, RegionId region, const ChildEnd& end) = 0;
  virtual Status await_close(Worker& worker, RegionId region, TaskId waiter) = 0;
  virtual std::optional<ChildEnd> end_of(Worker& worker, RegionId region) = 0;
  virtual Reason reason_of(Worker& worker, RegionId region) = 0;
  [[nodiscard]] virtual bool is_cancelled(RegionId region) const noexcept = 0;
  [[nodiscard]] virtual bool is_closed(RegionId region) const noexcept = 0;
  virtual void release(Worker& worker, RegionId region) = 0;

  virtual Status wake(Worker& worker, TaskId task) noexcept = 0;
  /// The last of the tasks that a scope's owner lingers for is done: wakes the owner. Which of them is the last makes no
  /// difference to anyone, so this is not a wake like the others.
  virtual Status wake_lingerer(Worker& worker, TaskId owner) noexcept = 0;
  virtual Status request_cancel(Worker& worker, TaskId task, const kernel::CancelSpec& spec) = 0;
  [[nodiscard]] virtual bool is_cancel_requested(TaskId task) const noexcept = 0;
  /// Gives: why the running task is cancelled, and it has acknowledged that; nothing when it is not, or is masked.
  [[nodiscard]] Reason sees_cancel(Worker& worker, TaskId task) {
    return worker.is_clear() ? Reason() : checkpoint(worker, task);
  }
  [[nodiscard]] virtual bool is_masked(TaskId task) const noexcept = 0;
  virtual Reason reason_of(Worker& worker, TaskId task) = 0;
  virtual Status enter_mask(Worker& worker, TaskId task) = 0;
  virtual Status leave_mask(Worker& worker, TaskId task) = 0;
  virtual Status spend(Worker& worker, TaskId task, std::uint64_t cost) = 0;
  virtual std::optional<Budget> budget_of(TaskId task) const noexcept = 0;
  virtual Status await_end(Worker& worker, TaskId task, TaskId waiter) = 0;
  virtual bool forget_end(Worker& worker, TaskId task) = 0;
  [[nodiscard]] virtual bool has_ended(TaskId task) const noexcept = 0;
  /// Nobody will ask for this task any more. Needs: not is_quick(): there handles are known to shells only.
  virtual Status release(Worker& worker, TaskId task) = 0;
  /// A task that has not begun is polled here and now, for the running one that joins it, if the host can and will. Gives: true
  ///        when it has ended with its value and nothing beside that; false says nothing.
  virtual bool poll_in_place(Worker& /*worker*/, TaskRoot& /*task*/) { return false; }
  /// Gives: the region that the task was spawned into; none when it has ended.
  [[nodiscard]] virtual RegionId region_of(TaskId task) const noexcept = 0;
  /// Gives: the task's shell; nullptr when it has ended.
  [[nodiscard]] virtual TaskRoot* find(TaskId task) const noexcept = 0;

  virtual kernel::Made<ObligationId> reserve(Worker& worker, RegionId region, const kernel::ObligationSpec& spec) = 0;
  virtual Status resolve(Worker& worker, ObligationId obligation, ObligationState to) = 0;
  virtual Status drop_token(Worker& worker, ObligationId obligation) = 0;
  virtual Status hand_over(Worker& worker, ObligationId obligation, kernel::Holder to) = 0;

  /// Promises without a record (OBL-2): the running task makes one, and settles one of this holder's, which may be itself.
  /// What it does to its own the kernel hears when it suspends or ends; with several workers its record says so at once, for others
  /// to see, and what is settled elsewhere before the kernel has heard of it is settled ahead. Needs: a kind that is counted.
  void count(Worker& worker, ObligationKind kind) noexcept {
    const std::uint8_t index = kernel::counted_index(kind);
    if (!shared_) [[likely]] {
      ++worker.promises(index);
    } else {
      count_among_others(worker, kind);
    }
  }
  void uncount(Worker& worker, TaskId holder, ObligationKind kind) noexcept {
    const std::uint8_t index = kernel::counted_index(kind);
    if (holder != worker.running()) return uncount_away(worker, holder, kind);
    if (!shared_) [[likely]] {
      --worker.promises(index);
    } else {
      uncount_among_others(worker, kind);
    }
  }

  /// The same in one step, for the end of the poll to tell. Needs: the holder runs on this worker.
  static void count_here(Worker& worker, ObligationKind kind) noexcept {
    ++worker.promises(kernel::counted_index(kind));
  }
  static void uncount_here(Worker& worker, ObligationKind kind) noexcept {
    --worker.promises(kernel::counted_index(kind));
  }

  /// The same with several workers, for all to see. Needs: is_shared(); the holder runs on this one.
  [[gnu::always_inline]] void count_among_others(Worker& worker, ObligationKind kind) noexcept {
    auto* const record = worker.polled<lockfree::RealAtomics>();
    if (record == nullptr || !record->try_count_up(kernel::counted_index(kind))) [[unlikely]]
      count_now(worker, kind);
  }
  [[gnu::always_inline]] void uncount_among_others(Worker& worker, ObligationKind kind) noexcept {
    if (worker.promises(kernel::counted_index(kind)) > 0) [[unlikely]]
      return uncount_here(worker, kind);  // perhaps this one; the sum is what counts
    auto* const record = worker.polled<lockfree::RealAtomics>();
    if (record == nullptr || !record->try_count_down(kernel::counted_index(kind))) [[unlikely]]
      uncount_away(worker, worker.running(), kind);
  }

  /// Fails: duration_exceeded, as clock::Wheel::arm().
  [[nodiscard]] virtual Status arm(Worker& worker, clock::Alarm& alarm, clock::Beyond beyond) noexcept = 0;
  virtual void disarm(Worker& worker, clock::Alarm& alarm) noexcept = 0;
  /// Takes it back unless it has gone off; then nobody else touches it, and it may end or be armed again. With several
  /// workers one that has gone off may still be in the hands of the worker that found it due: disarm() waits for that.
  void let_go(Worker& worker, clock::Alarm& alarm) noexcept {
    if (alarm.is_armed() || (shared_ && alarm.state.has_fired())) disarm(worker, alarm);
  }
  virtual std::uint64_t entropy(Worker& worker) noexcept = 0;

  /// Gives: the time as task code may know it.
  [[nodiscard]] Time now(Worker& worker) noexcept {
    if (time_is_watched_) time_seen(worker);
    return worker.now();
  }
  /// Gives: the same as somebody saw it here a moment ago, for who comes again if it is too early. Where somebody follows who
  ///        looks at the clock it is now().
  [[nodiscard]] Time recent(Worker& worker) noexcept { return time_is_followed_ ? now(worker) : worker.now(); }
  /// Gives: a name for an object of the program that tasks share, for their footprints; none where nobody asks for it.
  [[nodiscard]] virtual trace::ResourceId new_object() noexcept { return {}; }

  /// Ghosts watch affinity and borrows, in debug builds and in the lab (GHO-1, GHO-2).
#if defined(CALM_SLOW_CHECKS) && CALM_SLOW_CHECKS
  static constexpr bool ghosts_by_default = true;
#else
  static constexpr bool ghosts_by_default = false;
#endif
  [[nodiscard]] bool has_ghosts() const noexcept { return ghosts_; }
  virtual void report(Worker& worker, const kernel::Finding& finding) noexcept = 0;

  /// Makes room for an object that lives until the region is Closed, and takes it over: as kernel::BasicKernel says.
  virtual Status begin_making(Worker& worker, RegionId region, std::size_t bytes, std::size_t align, void*& memory) = 0;
  virtual void end_making(Worker& worker, RegionId region, kernel::RegionHeap::Ending* ending) = 0;

  /// Gives: the way in for threads that are no workers; nothing in the lab, which has none.
  [[nodiscard]] virtual mem::Ref<Gateway> gateway() noexcept { return {}; }
  /// Gives: threads for calls that block; nothing in the lab, where the task makes them itself.
  [[nodiscard]] virtual BlockingDoor* blocking_door() noexcept { return nullptr; }

  /// Gives: true when nobody follows what tasks look at, so what can be known without asking the kernel need not be asked.
  [[nodiscard]] bool is_quick() const noexcept { return quick_; }
  /// Gives: what is_shared() and is_quick() say to the shells of tasks.
  [[nodiscard]] ShellOwners::OfPort shell_owners() const noexcept { return shell_owners_; }
  /// Gives: the kernel's stamp, see BasicKernel::cancel_stamp(); never 0.
  [[nodiscard]] std::uint64_t cancel_stamp() const noexcept { return stamp_->load(std::memory_order_acquire); }
  [[nodiscard]] virtual bool is_walking() const noexcept = 0;

  /// Whoever watches hears of every await point that a task comes to, once, before the wait is asked.
  [[nodiscard]] bool is_watched() const noexcept { return watched_; }
  virtual void reached(TaskRoot& /*root*/) noexcept {}
  /// The same for who looks at the clock.
  virtual void time_seen(Worker& /*worker*/) noexcept {}
  /// The same for the names of marks, which the trace does not keep.
  virtual void marked(trace::ResourceId /*mark*/, std::string_view /*name*/) noexcept {}

  /// Asks a wait that its task has parked at, or cancels it: CAN-7 and CAN-13 for all waits there are.
  WaitState step(TaskRoot& root, Wait& wait, ChildEnd& end) noexcept;

 protected:
  Port() noexcept = default;
  ~Port() = default;

  [[nodiscard]] virtual Worker& of_this_thread() noexcept = 0;
  virtual Reason checkpoint(Worker& worker, TaskId task) = 0;
  virtual void count_now(Worker& worker, ObligationKind kind) noexcept = 0;
  virtual void uncount_away(Worker& worker, TaskId holder, ObligationKind kind) noexcept = 0;

  /// Of workers: a host that wants them to know when they are alone lets them come and leave.
  lockfree::Company<> company_;
  Worker* only_ = nullptr;  ///< where there is one worker
  /// There are several workers; a host that has one may say so before the first task.
  void set_shared(bool shared) noexcept {
    shared_ = shared;
    shell_owners_ = ShellOwners::of_port(shared_, !quick_);
  }
  /// A host that follows nobody says so before the first task.
  void set_quick() noexcept {
    quick_ = true;
    shell_owners_ = ShellOwners::of_port(shared_, !quick_);
  }
  const lockfree::RealAtomics::Atomic<std::uint64_t>* stamp_ = nullptr;  ///< the kernel's

  std::atomic<std::uint64_t> undrained_channels_{0};

 private:
  bool shared_ = false;
  bool quick_ = false;
  ShellOwners::OfPort shell_owners_ = ShellOwners::of_port(false, true);

 protected:
  // The host sets them before the first poll.
  bool watched_ = false;
  bool time_is_watched_ = false;
  bool time_is_followed_ = true;  ///< each look at it, in order
  bool ghosts_ = ghosts_by_default;
};

inline TaskRoot::TaskRoot(Port& port) noexcept : Context(port), live_(), owners_(port.shell_owners()) {}
inline kernel::Worker& TaskRoot::worker() const noexcept {
  const std::uint64_t bits = runs_or_waits_.get();
  return is_worker(bits) ? worker_in(bits) : port().here();
}
inline RegionId TaskRoot::region() const noexcept { return port().region_of(id()); }
// Where the port is not quick nobody finds a task quiet: it need not be asked.
inline bool TaskRoot::is_quiet() const noexcept { return live_.quiet_at == port().cancel_stamp(); }
inline void TaskRoot::stands_in_line(const Wait& wait, trace::ResourceId resource) noexcept {
  stand_ = Stand::waits;
  runs_or_waits_.set(port().is_shared() ? what_ends(wait, resource) : resource.bits());
}

/// The seam's other side for one kernel; the host adds clock and entropy.
template <lockfree::AtomicsPolicy Atomics>
class KernelPort : public Port {
 public:
  explicit KernelPort(kernel::BasicKernel<Atomics>& kernel) noexcept : kernel_(&kernel), live_(kernel.anatomy()) {
    stamp_ = &kernel.cancel_stamp();
    if constexpr (!Atomics::shared) only_ = &kernel.worker(0);
    set_shared(Atomics::shared);
  }

  [[nodiscard]] kernel::BasicKernel<Atomics>& kernel() const noexcept { return *kernel_; }

  kernel::Made<TaskId> spawn(Worker& worker, RegionId region, const kernel::TaskSpec& spec) override {
    return kernel_->spawn(worker, region, spec);
  }
  kernel::Made<RegionId> create_region(Worker& worker, RegionId parent, const kernel::RegionSpec& spec) override {
    return kernel_->create_region(worker, parent, spec);
  }
  kernel::Made<TaskId> defer(Worker& worker, RegionId region, TaskRoot& root) override {
    return kernel_->defer(worker, region, &root);
  }
  Status close(Worker& worker, RegionId region) final { return kernel_->close(worker, region); }
  Status cancel(Worker& worker, RegionId region, const kernel::CancelSpec& spec) override {
    return kernel_->cancel(worker, region, spec);
  }
  Status end_body(Worker& worker, RegionId region, const ChildEnd& end) final {
    return kernel_->end_body(worker, region, end);
  }
  Status await_close(Worker& worker, RegionId region, TaskId waiter) final {
    return kernel_->await_close(worker, region, waiter);
  }
  std::optional<ChildEnd> end_of(Worker& worker, RegionId region) final { return kernel_->end_of(worker, region); }
  Reason reason_of(Worker& worker, RegionId region) final { return kernel_->reason_of(worker, region); }
  [[nodiscard]] bool is_cancelled(RegionId region) const noexcept override { return kernel_->is_cancelled(region); }
  [[nodiscard]] bool is_closed(RegionId region) const noexcept final {
    return kernel_->state(region) == RegionState::closed;
  }
  void release(Worker& worker, RegionId region) override { (void)kernel_->release(worker, region); }
  [[nodiscard]] void* place_of(RegionId region) const noexcept final { return kernel_->find_region(region); }

  Status wake(Worker& worker, TaskId task) noexcept override { return kernel_->wake(worker, task); }
  Status wake_lingerer(Worker& worker, TaskId owner) noexcept final { return kernel_->wake(worker, owner); }
  Status request_cancel(Worker& worker, TaskId task, const kernel::CancelSpec& spec) override {
    return kernel_->request_cancel(worker, task, spec);
  }
  [[nodiscard]] bool is_cancel_requested(TaskId task) const noexcept final {
    return kernel_->is_cancel_requested(task);
  }
  [[nodiscard]] bool is_walking() const noexcept final { return kernel_->is_walking(); }
  [[nodiscard]] bool is_masked(TaskId task) const noexcept final { return kernel_->is_masked(task); }
  Reason reason_of(Worker& worker, TaskId task) final {
    auto cancellation = kernel_->cancellation_of(worker, task);
    return cancellation ? std::move(cancellation->reason) : Reason();
  }
  Status enter_mask(Worker& worker, TaskId task) final { return kernel_->enter_mask(worker, task); }
  Status leave_mask(Worker& worker, TaskId task) final { return kernel_->leave_mask(worker, task); }
  Status spend(Worker& worker, TaskId task, std::uint64_t cost) final { return kernel_->spend(worker, task, cost); }
  std::optional<Budget> budget_of(TaskId task) const noexcept final { return kernel_->budget_of(task); }
  Status await_end(Worker& worker, TaskId task, TaskId waiter) override {
    return kernel_->await_end(worker, task, waiter);
  }
  bool forget_end(Worker& worker, TaskId task) override { return kernel_->forget_end(worker, task); }
  [[nodiscard]] bool has_ended(TaskId task) const noexcept override {
    return kernel_->state(task) == TaskState::completed;
  }
  Status release(Worker& worker, TaskId task) final { return kernel_->release(worker, task); }
  [[nodiscard]] RegionId region_of(TaskId task) const noexcept final {
    const auto* const record = kernel_->find(task);
    return record == nullptr ? RegionId() : kernel_->around(*record).id();
  }
  [[nodiscard]] TaskRoot* find(TaskId task) const noexcept final {
    const auto* const record = kernel_->find(task);
    return record == nullptr || has_ended(task) ? nullptr : static_cast<TaskRoot*>(record->frame);
  }

  kernel::Made<ObligationId> reserve(Worker& worker, RegionId region, const kernel::ObligationSpec& spec) override {
    return kernel_->reserve(worker, region, spec);
  }
  Status resolve(Worker& worker, ObligationId obligation, ObligationState to) final {
    return to == ObligationState::committed ? kernel_->commit_and_drop(worker, obligation)
                                            : kernel_->abort_and_drop(worker, obligation);
  }
  Status drop_token(Worker& worker, ObligationId obligation) final { return kernel_->drop_token(worker, obligation); }
  void report(Worker& worker, const kernel::Finding& finding) noexcept final { kernel_->report(worker, finding); }
  Status begin_making(Worker& worker, RegionId region, std::size_t bytes, std::size_t align, void*& memory) override {
    return kernel_->begin_making(worker, region, bytes, align, memory);
  }
  void end_making(Worker& worker, RegionId region, kernel::RegionHeap::Ending* ending) final {
    kernel_->end_making(worker, region, ending);
  }
  Status hand_over(Worker& worker, ObligationId obligation, kernel::Holder to) override {
    return kernel_->hand_over(worker, obligation, to);
  }

 protected:
  ~KernelPort() = default;

  [[nodiscard]] Worker& of_this_thread() noexcept override {
    CALM_REQUIRE(SHD_6, !Atomics::shared);  // with several workers the host knows
    return kernel_->worker(0);
  }
  Reason checkpoint(Worker& worker, TaskId task) final { return kernel_->acknowledged(worker, task); }
  void count_now(Worker& worker, ObligationKind kind) noexcept final {
    if (!worker.running()) return;
    const Status counted = kernel_->count(worker, worker.running(), kind);
    CALM_REQUIRE(OBL_2, counted.is_ok(), worker.running().bits());  // 65535 of a kind are too many
  }
  void uncount_away(Worker& worker, TaskId holder, ObligationKind kind) noexcept override {
    (void)kernel_->uncount(worker, holder, kind, worker.running(), Atomics::shared);
  }

 private:
  kernel::BasicKernel<Atomics>* kernel_;
  LiveKernel live_;
};

}  // namespace calm::cx
