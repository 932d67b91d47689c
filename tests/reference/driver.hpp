// driver.hpp — gives one operation to the kernel and to the reference model, and compares what both say.
// Laws:    LAB-10; HND-3 (an operation that is refused has changed nothing: the state digest is what it was); I2, I3, REG-9
//          and CAN-8 at the end of a program
// Threads: one
// Cancel:  not applicable
//
// It plays the host and keeps to its duties: only a task in its own poll does what needs one, and a task that is dropped is
// not resumed, only unwound and completed. Everything else may be wrong: stale ids, wrong states, limits, second resolutions. Where an
// operation needs a task that is being polled and there is none, the next task in the queue is polled instead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calm/kernel/kernel.hpp"
#include "operations.hpp"
#include "reference_model.hpp"
#include "side_by_side.hpp"

namespace calm::reference {

/// The host of the kernel under test: it writes down what it is told.
class RecordingHost final : public kernel::Host<lockfree::LocalAtomics> {
 public:
  void schedule(kernel::Worker&, Task& task) noexcept override { told.scheduled.push_back(task.id()); }
  void watch(kernel::Worker&, TaskId task, Time deadline) noexcept override {
    told.watched.emplace_back(task, deadline);
  }
  void report(kernel::Worker&, const kernel::Finding& finding) noexcept override { told.found.push_back(finding); }
  [[nodiscard]] kernel::AwaitPoint await_point(const Task&) const noexcept override { return {}; }
  [[nodiscard]] bool take_frames_back(const Task& task) noexcept override { return !in_calls.contains(task.id()); }
  [[nodiscard]] std::uint64_t pending_timers() const noexcept override { return 0; }
  [[nodiscard]] std::uint64_t undrained_channels() const noexcept override { return 0; }

  Told told;
  std::set<TaskId> in_calls;  ///< tasks whose frames something outside uses
};

/// Records by order of creation: all that ever were, and of these the ones that can still be named.
template <class Id>
class Names {
 public:
  void add(Id id) { all_.push_back(id); }

  /// Gives: one of those that `good` likes; every 16th choice one of all, stale ones too. No id when there is none.
  template <class Good>
  Id pick(std::uint16_t choice, Good good) const {
    const std::size_t place = choice / 16U;
    if (choice % 16 == 15 && !all_.empty()) return all_[place % all_.size()];
    found_.clear();
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(found_), good);
    return found_.empty() ? Id() : found_[place % found_.size()];
  }

 private:
  std::vector<Id> all_;
  mutable std::vector<Id> found_;
};

class Driver {
 public:
  Driver(const Setup& setup, Coverage& coverage, Fault fault);

  /// Gives: what differs after the operation; nothing when both sides agree.
  std::string step(const Operation& operation);

  /// Ends the program. Gives: what differs, or does not come to rest.
  std::string drain();

  [[nodiscard]] const Moves& moves() const { return model_.moves; }
  [[nodiscard]] trace::Trace trace() const { return kernel_->trace().value(); }

 private:
  using Handler = void (Driver::*)(const Operation&);
  static const Handler handlers[do_count];

  // One for each operation, in the order of Do. `a` chooses the record, `b` a second one, `c` and `d` say how (specs.hpp).
  void create_region(const Operation& operation);
  void close(const Operation& operation);
  void cancel(const Operation& operation);
  void end_body(const Operation& operation);
  void advance(const Operation& operation);
  void defer(const Operation& operation);
  void await_close(const Operation& operation);
  void forget_close(const Operation& operation);
  void use_heap(const Operation& operation);
  void release_region(const Operation& operation);
  void spawn(const Operation& operation);
  void wake(const Operation& operation);
  void poll_next(const Operation& operation);
  void begin_poll(const Operation& operation);
  void end_poll(const Operation& operation);
  void complete(const Operation& operation);
  void begin_finalizing(const Operation& operation);
  void unwound(const Operation& operation);
  void request_cancel(const Operation& operation);
  void checkpoint(const Operation& operation);
  void enter_mask(const Operation& operation);
  void leave_mask(const Operation& operation);
  void spend(const Operation& operation);
  void deadline_reached(const Operation& operation);
  void await_end(const Operation& operation);
  void forget_end(const Operation& operation);
  void release_task(const Operation& operation);
  void reserve(const Operation& operation);
  void commit(const Operation& operation);
  void abort(const Operation& operation);
  void hand_over(const Operation& operation);
  void drop_token(const Operation& operation);
  void count(const Operation& operation);
  void uncount(const Operation& operation);
  void pass_time(const Operation& operation);
  void call(const Operation& operation);
  void spin(const Operation& operation);

  void poll(TaskId id);
  void end_call(TaskId id);

  bool drain_one();
  [[nodiscard]] bool is_stubborn(const TaskRow& task) const;
  void drain_polled(TaskId id);
  bool drain_bodies();
  bool drain_services();
  bool drain_deadlines();
  bool drain_calls();
  bool drain_sleepers();
  void drain_step(Status kernel, Status model);

  // Choosing. The one chosen last is asked for everything there is to ask after the operation.
  RegionId a_region(std::uint16_t choice);
  RegionId an_open_region(std::uint16_t choice);
  RegionId a_region_to_close(const Operation& operation);
  TaskId a_task(std::uint16_t choice);
  TaskId a_live_task(std::uint16_t choice);
  TaskId a_task_near(RegionId region, std::uint16_t choice);
  TaskId a_running_task(std::uint16_t choice);
  TaskId a_polled_task(std::uint16_t choice);
  ObligationId an_obligation(std::uint16_t choice);
  kernel::Holder a_holder(RegionId region, std::uint16_t choice, std::uint16_t task, bool own_poll);
  [[nodiscard]] bool dropped(TaskId id) const;
  [[nodiscard]] bool unwinding(TaskId id) const;

  // Comparing.
  void same(Do what, Status kernel, Status model);
  template <class T>
  void same_value(const char* what, const T& kernel, const T& model) {
    if (kernel == model) [[likely]]
      return;
    text_ += std::string("  ") + what + " differs\n";
  }
  void compare();
  void compare_region();
  void compare_task();
  void compare_obligation();

  RecordingHost host_;
  kernel::Config config_;
  std::unique_ptr<kernel::LocalKernel> kernel_;
  kernel::Worker& worker_;
  ReferenceKernel model_;
  Coverage& coverage_;
  kernel::Snapshot before_;
  std::optional<std::uint64_t> digest_{};  // of before_, once it was asked for
  Time now_{};
  bool stubborn_;

  Names<RegionId> regions_;
  Names<TaskId> tasks_;
  Names<ObligationId> obligations_;
  std::deque<TaskId> queue_;
  std::vector<std::pair<TaskId, Time>> watched_;

  std::string text_;
  bool refused_ = false;
  RegionId region_{};
  TaskId task_{};
  ObligationId obligation_{};
};

}  // namespace calm::reference
