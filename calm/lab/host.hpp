// host.hpp — the lab as the kernel and the tasks see it: a queue to choose from, virtual time, seeded entropy, and eyes.
// Laws:    LAB-1 (only clock, entropy and choice differ from production), TMR-3
// Threads: one
// Cancel:  a fault may request one at an await point
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calm/check/require.hpp"
#include "calm/clock/alarm.hpp"
#include "calm/clock/deadlines.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/port.hpp"
#include "calm/kernel/host.hpp"
#include "calm/lab/evidence.hpp"
#include "calm/lab/names.hpp"
#include "calm/lab/schedule.hpp"
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

  void schedule(kernel::Worker& worker, Task& task) noexcept override {
    const OwnMemory own;
    ready.push_back({task.id(), worker.recorder().last()});
  }
  void watch(kernel::Worker& /*worker*/, TaskId task, Time deadline) noexcept override {
    const OwnMemory own;
    CALM_REQUIRE(HND_3, watches.add(task, deadline));
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
  [[nodiscard]] std::uint64_t pending_timers() const noexcept override { return alarms.size(); }
  [[nodiscard]] std::uint64_t undrained_channels() const noexcept override { return 0; }

  std::deque<Ready> ready;  ///< in the order in which they became runnable
  clock::Deadlines watches;
  clock::AlarmQueue alarms;
  std::vector<Time> wanted;  ///< what each alarm was armed for, by its sequence
  std::vector<kernel::Finding> findings;
  bool listening = true;  ///< until the oracles have been asked
};

class LabPort final : public cx::KernelPort<lockfree::LocalAtomics> {
 public:
  LabPort(kernel::LocalKernel& kernel, LabHost& host, std::uint64_t seed, const Faults& faults,
          std::vector<AwaitSite>* sites) noexcept
      : KernelPort(kernel), host_(host), numbers_(seed ^ 0x9E3779B97F4A7C15), faults_(faults), sites_(sites) {
    watched_ = sites != nullptr || faults.cancel_task_at != 0 || faults.cancel_scope_at != 0;
    ghosts_ = true;
  }

  void arm(Worker& /*worker*/, clock::Alarm& alarm) noexcept override {
    const OwnMemory own;
    host_.alarms.arm(alarm);
    host_.wanted.push_back(alarm.at);
  }
  void disarm(Worker& /*worker*/, clock::Alarm& alarm) noexcept override { (void)host_.alarms.disarm(alarm); }
  std::uint64_t entropy(Worker& /*worker*/) noexcept override { return numbers_.next(); }

  void reached(cx::TaskRoot& root) noexcept override {
    const OwnMemory own;
    ++points_;
    if (sites_ != nullptr) sites_->push_back({user_site(root), root.id()});
    if (points_ == faults_.cancel_task_at) {
      (void)request_cancel(root.worker(), root.id(), {.message = "a fault: cancel at an await point"});
    }
    if (points_ == faults_.cancel_scope_at) {
      const cx::Context* const context = root.wait()->context();
      const RegionId region = context == nullptr ? root.region() : context->region;
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
  LabHost& host_;
  SplitMix numbers_;
  Faults faults_;
  std::vector<AwaitSite>* sites_;
  std::uint64_t points_ = 0;
};

}  // namespace calm::lab
