// host.hpp — the lab as the kernel and the tasks see it: a queue to choose from, virtual time, seeded entropy, and eyes.
// Laws:    LAB-1 (only clock, entropy and choice differ from production), TMR-3
// Threads: one
// Cancel:  a fault may request one at an await point
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calm/check/require.hpp"
#include "calm/clock/deadlines.hpp"
#include "calm/clock/wheel.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/port.hpp"
#include "calm/kernel/host.hpp"
#include "calm/lab/evidence.hpp"
#include "calm/lab/inputs.hpp"
#include "calm/lab/names.hpp"
#include "calm/lab/schedule.hpp"
#include "calm/lab/touches.hpp"
#include "calm/lab/watching.hpp"
#include "calm/mem/allocation_points.hpp"
#include "calm/model/split_mix.hpp"

namespace calm::lab {

/// What the lab itself needs is not refused: only the program and the runtime below it are to suffer.
using OwnMemory = mem::AllocationPoints::Pause;

/// A task that may run, and the event that made it so.
struct Ready {
  TaskId task;
  std::uint64_t cause;
};

class LabHost final : public kernel::Host<lockfree::LocalAtomics> {
 public:
  using Task = kernel::TaskRecord<lockfree::LocalAtomics>;

  /// As new.
  void start_over() noexcept {
    ready.clear();
    watches = {};
    std::construct_at(&alarms);  // it owns nothing
    wanted.clear();
    findings.clear();
    listening = true;
    touches = nullptr;
    inputs = nullptr;
  }

  void schedule(kernel::Worker& worker, Task& task) noexcept override {
    const OwnMemory own;
    ready.push_back({task.id(), worker.recorder().last()});
  }
  void watch(kernel::Worker& /*worker*/, TaskId task, Time deadline) noexcept override {
    if (inputs != nullptr) return;  // it says when a deadline is reached
    const OwnMemory own;
    CALM_REQUIRE(HND_3, watches.add(task, deadline));
    if (touches != nullptr) touches->looked_at_time();
  }
  void report(kernel::Worker& /*worker*/, const kernel::Finding& finding) noexcept override {
    if (finding.kind == kernel::FindingKind::forced) return;  // lawful in a bounded region; the trace has it
    const OwnMemory own;
    if (listening) findings.push_back(finding);
  }
  [[nodiscard]] kernel::AwaitPoint await_point(const Task& task) const noexcept override {
    const auto* const root = static_cast<const cx::TaskRoot*>(task.frame);
    return root == nullptr ? kernel::AwaitPoint() : root->await_point();
  }
  [[nodiscard]] bool take_frames_back(const Task& task) noexcept override {
    auto* const root = static_cast<cx::TaskRoot*>(task.frame);
    return root == nullptr || root->take_frames_back();
  }
  [[nodiscard]] std::uint64_t pending_timers() const noexcept override {
    return inputs != nullptr ? inputs->armed() : alarms.size();
  }
  [[nodiscard]] std::uint64_t undrained_channels() const noexcept override {
    return port == nullptr ? 0 : port->undrained_channels();
  }

  std::deque<Ready> ready;  ///< in the order in which they became runnable
  clock::Deadlines watches;
  clock::Wheel alarms;
  std::vector<Time> wanted;  ///< what each alarm was armed for, by its sequence
  std::vector<kernel::Finding> findings;
  bool listening = true;           ///< until the oracles have been asked
  Touches* touches = nullptr;      ///< hears what steps do; none: nobody asks
  Inputs* inputs = nullptr;        ///< says what comes from outside; none: the lab makes that up
  const cx::Port* port = nullptr;  ///< of the run, while there is one
};

class LabPort final : public cx::KernelPort<lockfree::LocalAtomics> {
 public:
  LabPort(kernel::LocalKernel& kernel, LabHost& host, std::uint64_t seed, const Faults& faults,
          std::vector<AwaitSite>* sites) noexcept
      : KernelPort(kernel), host_(host), numbers_(seed ^ 0x9E3779B97F4A7C15), faults_(faults), sites_(sites) {
    watched_ = sites != nullptr || faults.cancel_task_at != 0 || faults.cancel_scope_at != 0;
    time_is_watched_ = host.touches != nullptr || host.inputs != nullptr;
    if (host.inputs != nullptr) set_shared(host.inputs->several());
    ghosts_ = true;
    host.port = this;
  }
  LabPort(const LabPort&) = delete;
  LabPort& operator=(const LabPort&) = delete;
  ~LabPort() { host_.port = nullptr; }

  Status arm(Worker& worker, clock::Alarm& alarm, clock::Beyond beyond) noexcept override {
    const OwnMemory own;
    if (host_.inputs != nullptr) return host_.inputs->arm(alarm, worker.now(), beyond);
    if (Touches* const touches = host_.touches) touches->looked_at_time();
    if (const Status status = host_.alarms.arm(alarm, worker.now(), beyond); !status) return status;
    host_.wanted.push_back(alarm.at);
    return {};
  }
  void disarm(Worker& /*worker*/, clock::Alarm& alarm) noexcept override {
    if (host_.inputs != nullptr) return host_.inputs->disarm(alarm);
    (void)host_.alarms.disarm(alarm);
    if (Touches* const touches = host_.touches) touches->looked_at_time();
  }
  std::uint64_t entropy(Worker& /*worker*/) noexcept override {
    if (host_.inputs != nullptr) return host_.inputs->entropy();
    if (Touches* const touches = host_.touches) touches->took_entropy();
    return numbers_.next();
  }

  [[nodiscard]] mem::Ref<cx::Gateway> gateway() noexcept override {
    return host_.inputs != nullptr ? host_.inputs->gateway() : mem::Ref<cx::Gateway>();
  }
  [[nodiscard]] cx::BlockingDoor* blocking_door() noexcept override {
    return host_.inputs != nullptr ? host_.inputs->blocking_door() : nullptr;
  }

  // --- as the kernel does it, and told ---

  kernel::Made<TaskId> spawn(Worker& worker, RegionId region, const kernel::TaskSpec& spec) override {
    if (Touches* const touches = host_.touches) touches->looked_at_budget(spec.spawner);
    return told_task(KernelPort::spawn(worker, region, spec), region, false);
  }
  kernel::Made<TaskId> defer(Worker& worker, RegionId region, cx::TaskRoot& root) override {
    return told_task(KernelPort::defer(worker, region, root), region, true);
  }
  kernel::Made<RegionId> create_region(Worker& worker, RegionId parent, const kernel::RegionSpec& spec) override {
    const auto made = KernelPort::create_region(worker, parent, spec);
    if (Touches* const touches = host_.touches) {
      touches->looked_at(parent);
      if (made) touches->opened(made.id, parent, spec);
    }
    return made;
  }
  using KernelPort::release;
  void release(Worker& worker, RegionId region) override {
    KernelPort::release(worker, region);
    if (Touches* const touches = host_.touches) touches->released(region);
  }
  Status cancel(Worker& worker, RegionId region, const kernel::CancelSpec& spec) override {
    if (Touches* const touches = host_.touches) touches->cancelled(region);
    return KernelPort::cancel(worker, region, spec);
  }
  [[nodiscard]] bool is_cancelled(RegionId region) const noexcept override {
    if (Touches* const touches = host_.touches) touches->looked_at(region);
    return KernelPort::is_cancelled(region);
  }
  Status wake(Worker& worker, TaskId task) noexcept override {
    if (Touches* const touches = host_.touches) touches->woken(task);
    return KernelPort::wake(worker, task);
  }
  Status request_cancel(Worker& worker, TaskId task, const kernel::CancelSpec& spec) override {
    if (Touches* const touches = host_.touches) touches->cancelled(task);
    return KernelPort::request_cancel(worker, task, spec);
  }
  Status await_end(Worker& worker, TaskId task, TaskId waiter) override {
    const Status status = KernelPort::await_end(worker, task, waiter);
    if (Touches* const touches = host_.touches) {
      touches->looked_at_end(task);
      if (status == Errc::would_block) touches->awaits_end(task, waiter);
    }
    return status;
  }
  bool forget_end(Worker& worker, TaskId task) override {
    if (Touches* const touches = host_.touches) touches->forgets_end(task);
    return KernelPort::forget_end(worker, task);
  }
  [[nodiscard]] bool has_ended(TaskId task) const noexcept override {
    if (Touches* const touches = host_.touches) touches->looked_at_end(task);
    return KernelPort::has_ended(task);
  }
  kernel::Made<ObligationId> reserve(Worker& worker, RegionId region, const kernel::ObligationSpec& spec) override {
    const auto made = KernelPort::reserve(worker, region, spec);
    if (Touches* const touches = host_.touches) {
      touches->looked_at(region);
      if (made) touches->reserved(made.id, region);
    }
    return made;
  }
  Status hand_over(Worker& worker, ObligationId obligation, kernel::Holder to) override {
    if (Touches* const touches = host_.touches) touches->handed_over(obligation, to.task);
    return KernelPort::hand_over(worker, obligation, to);
  }
  void uncount_away(Worker& worker, TaskId holder, ObligationKind kind) noexcept override {
    if (Touches* const touches = host_.touches) touches->looked_at_budget(holder);
    KernelPort::uncount_away(worker, holder, kind);
  }
  Status begin_making(Worker& worker, RegionId region, std::size_t bytes, std::size_t align, void*& memory) override {
    if (Touches* const touches = host_.touches) touches->kept_in(region);
    return KernelPort::begin_making(worker, region, bytes, align, memory);
  }
  void time_seen(Worker& worker) noexcept override {
    if (host_.inputs != nullptr) return worker.set_time(host_.inputs->clock(worker.now()));
    host_.touches->looked_at_time();
  }
  [[nodiscard]] trace::ResourceId new_object() noexcept override {
    const auto object = trace::ResourceId::registered(++objects_);
    if (Touches* const touches = host_.touches) touches->made(object);
    return object;
  }

  void reached(cx::TaskRoot& root) noexcept override {
    const OwnMemory own;
    ++points_;
    if (sites_ != nullptr) sites_->push_back({user_site(root), root.id()});
    if (points_ == faults_.cancel_task_at) {
      (void)request_cancel(root.worker(), root.id(), {.message = "a fault: cancel at an await point"});
    }
    if (points_ == faults_.cancel_scope_at) {
      const cx::Context* const context = root.wait()->context();
      const RegionId region = context == nullptr ? root.region() : context->region();
      (void)cancel(root.worker(), region, {.message = "a fault: cancel at an await point"});
    }
  }

  void marked(trace::ResourceId mark, std::string_view name) noexcept override {
    const OwnMemory own;
    mark_names.try_emplace(mark, name);
  }

  [[nodiscard]] std::uint64_t points() const noexcept { return points_; }

  std::map<trace::ResourceId, std::string> mark_names;

 private:
  kernel::Made<TaskId> told_task(kernel::Made<TaskId> made, RegionId region, bool finalizer) {
    if (Touches* const touches = host_.touches) {
      touches->looked_at(region);
      if (made) {
        touches->spawned(made.id, region, finalizer);
      } else {
        touches->refused(region);
      }
    }
    return made;
  }

  LabHost& host_;
  SplitMix numbers_;
  Faults faults_;
  std::vector<AwaitSite>* sites_;
  std::uint64_t points_ = 0;
  std::uint32_t objects_ = 0;
};

}  // namespace calm::lab
