// task_footprint.hpp — what one step of a program of tasks touched, in the words of the explorer: processes and locations.
// Laws:    LAB-4
// Threads: one
// Cancel:  a request is a write of the task, or of the region, it goes to
//
// A process is a task, known by who spawned it and as the how manieth: that does not depend on the order of steps that
// commute, as ids do. Everything else is known by the process that made it and its number there. One process more is the clock.
//
// Locations, and who touches them how. Where many do something whose order makes no difference, each of them reads, and who
// looks at the result writes:
//   run    of a task      a poll of it and a cancel request write; a wake and its spawn read: wakes commute; so does who
//                         spawns through a scope of it: what the child may use is what the task has left
//   end    of a task      its end writes; who joins it, or asks, reads
//   open   of a region    close and cancel write; whoever is admitted, or asks whether it is cancelled, reads
//   order  of a region    those who get a number in it write: tasks and finalizers
//   left   of a region    a child that leaves and a promise that is resolved read; its owner, its finalizers and who
//                         cancels it write: they look who is still there
//   promise, object       as the trace says
//   clock                 its steps write; who looks at the time, arms or has a deadline reads. Where time goes on only when
//                         nothing is runnable, every poll reads it: each of them keeps it from going on
//   entropy               who takes a number writes
//   memory                every poll writes, where that is asked for
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "calm/explore/footprint.hpp"
#include "calm/explore/program.hpp"
#include "calm/lab/touches.hpp"
#include "calm/model/id.hpp"
#include "calm/trace/event.hpp"

namespace calm::lab {

class TaskFootprint final : public Touches {
 public:
  using Process = explore::Process;
  static constexpr Process main_process = 0;
  static constexpr Process clock_process = explore::process_max - 1;
  static constexpr Process nobody = explore::process_max;

  /// `explore_time`: the clock is not kept waiting by who can run.
  /// `plain_memory`: every poll may touch what tasks share without saying so.
  TaskFootprint(bool explore_time, bool plain_memory) noexcept
      : explore_time_(explore_time), plain_memory_(plain_memory) {}

  /// A new run begins; what processes are called stays.
  void restart(TaskId main, RegionId root);

  /// Gives: nobody for a task that is not of this run.
  [[nodiscard]] Process process_of(TaskId task) const noexcept;
  /// Needs: a process of this run that is a task.
  [[nodiscard]] TaskId task_of(Process process) const noexcept { return tasks_[process].id; }
  /// Gives: the tasks of this run, ended ones too.
  [[nodiscard]] explore::ProcessSet processes() const noexcept { return processes_; }

  /// What is told from here to end_step() goes into `touched`. `deadline`: the task has one.
  void begin_poll(Process process, bool deadline, explore::Footprint& touched);
  /// The task did not run: the kernel looked who is still in the scopes of its frame, and may have cancelled them (CAN-8).
  void was_forced();
  void begin_clock(explore::Footprint& touched);
  /// Needs: the events of the step. Fails: std::length_error when there are more tasks than processes.
  void end_step(std::span<const trace::Event> events);

  /// What the next poll of a parked task would touch whatever it did.
  void pending(Process process, trace::ResourceId waits_for, explore::Footprint& touched) const;

  static void pending_clock(explore::Footprint& touched);

  // --- Touches ---

  void spawned(TaskId task, RegionId region, bool finalizer) override;
  void refused(RegionId region) override;
  void opened(RegionId region, RegionId parent, const kernel::RegionSpec& spec) override;
  void released(RegionId region) override;
  void reserved(ObligationId promise, RegionId region) override;
  void handed_over(ObligationId promise, TaskId to) override;
  void made(trace::ResourceId object) override;
  void kept_in(RegionId region) override;
  void looked_at(RegionId region) override;
  void cancelled(RegionId region) override;
  void cancelled(TaskId task) override;
  void woken(TaskId task) override;
  void looked_at_end(TaskId task) override;
  void awaits_end(TaskId task, TaskId waiter) override;
  void forgets_end(TaskId task) override;
  void looked_at_budget(TaskId task) override;
  void looked_at_time() override;
  void took_entropy() override;

 private:
  using Location = explore::Location;
  enum class Kind : std::uint8_t { run, end, open, order, left, promise, object, other };

  struct TaskEntry {
    TaskId id{};
    RegionId region{};
    Process waiter = nobody;
    bool finalizer = false;
    bool polled = false;
    std::uint32_t spawned = 0;  // so many tasks, and so on
    std::uint32_t regions = 0;
    std::uint32_t promises = 0;
    std::uint32_t objects = 0;
  };
  struct RegionEntry {
    RegionId id{};
    RegionId parent{};
    Process maker = nobody;
    std::uint32_t number = 0;
    Process owner = nobody;
    bool limited = false;  // who is admitted depends on who is there
    bool heap = false;     // the last to leave ends objects
    bool released = false;
  };
  struct Made {
    std::uint64_t bits;
    Location location;
    RegionId region;
  };

  static Location location(Kind kind, Process process, std::uint32_t number = 0);
  [[nodiscard]] static Location of(Kind kind, const RegionEntry& region) {
    return location(kind, region.maker, region.number);
  }
  [[nodiscard]] RegionEntry* find(RegionId region) noexcept;
  [[nodiscard]] const Made* find(const std::vector<Made>& made, std::uint64_t bits) const noexcept;
  [[nodiscard]] Location location_of(trace::ResourceId resource);
  Process child_of(Process parent, std::uint32_t number);

  void admit(RegionEntry& region);
  void leave(RegionEntry& region);
  void touch_cancel(RegionId region);
  [[nodiscard]] bool is_inside(const RegionEntry& region, RegionId outer) noexcept;
  void take(const trace::Event& event);
  void take_access(const trace::Event& event);
  void take_end(const trace::Event& event);
  void read(Location place) {
    if (touched_ != nullptr) touched_->read(place);
  }
  void write(Location place) {
    if (touched_ != nullptr) touched_->write(place);
  }

  const bool explore_time_;
  const bool plain_memory_;

  // For all runs.
  std::array<std::vector<Process>, explore::process_max> children_;
  Process known_ = 1;
  bool crowded_ = false;
  std::map<trace::ResourceId, std::uint32_t> named_;

  // Of this run.
  std::array<TaskEntry, explore::process_max> tasks_{};
  explore::ProcessSet processes_;
  std::vector<RegionEntry> regions_;
  std::vector<Made> promises_;
  std::vector<Made> objects_;

  // Of this step.
  Process running_ = nobody;
  explore::Footprint* touched_ = nullptr;
};

}  // namespace calm::lab
