// world.hpp — one run of the lab from its first poll to the answers of the oracles.
// Laws:    LAB-1, LAB-2, LAB-6, LAB-7, I6
// Threads: one
// Cancel:  what is alive when the run is over is shut down after the oracles have looked
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "calm/kernel/futurelock.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/lab/choices.hpp"
#include "calm/lab/config.hpp"
#include "calm/lab/ground.hpp"
#include "calm/lab/host.hpp"
#include "calm/lab/kept_events.hpp"
#include "calm/lab/program.hpp"
#include "calm/lab/report.hpp"
#include "calm/lab/watching.hpp"

namespace calm::lab {

class LaneChoice;

class World {
 public:
  /// Needs: the ground is new, and made for this configuration; both outlive the world.
  World(const LabConfig& config, Ground& ground, const Watching& watching);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  /// Runs the program to its end; once.
  LabReport run(Program& program);

  // --- the same in steps, for who chooses himself ---

  /// Starts the program; once.
  void begin(Program& program);
  /// Gives: how many things can happen next: the polls of ready(), in order, then the clock when is_time_next().
  [[nodiscard]] std::uint32_t choices();
  [[nodiscard]] const std::deque<Ready>& ready() const noexcept { return host_.ready; }
  /// Gives: true when the clock may go on now.
  [[nodiscard]] bool is_time_next();
  /// Lets it happen. Needs: a choice below choices().
  void take(std::uint32_t choice);
  /// Gives: the sequence of the last event.
  [[nodiscard]] std::uint64_t recorded() const noexcept { return worker_.recorder().last(); }
  /// Appends the events after that one. Needs: they are of the last step.
  void copy_events(std::uint64_t after, std::vector<trace::Event>& events) const;
  [[nodiscard]] const kernel::LocalKernel& kernel() const noexcept { return kernel_; }
  [[nodiscard]] TaskId main() const noexcept { return main_; }

  // --- for who follows a recording: what comes from outside ---

  [[nodiscard]] kernel::Worker& worker() noexcept { return worker_; }
  [[nodiscard]] cx::Port& port() noexcept { return port_; }
  /// An alarm of the task, for that time, goes off now.
  void go_off(TaskId task, Time wanted);
  void reach_deadline(TaskId task);
  /// The program is asked to stop.
  void ask_to_stop();

  /// Asks the oracles. Needs: the run is over, or is left; once.
  LabReport finish();
  /// Ends a run that nobody wants to know the end of: frames are destroyed where they stand.
  void abandon() noexcept;

 private:
  bool step();
  bool step_by_lanes();
  [[nodiscard]] std::uint32_t staying() const noexcept;
  void let_happen(std::uint32_t choice, std::uint32_t count);
  void dispatch(const Ready& entry);
  void advance_time();
  void move_clock(Time to);
  void make_trouble();
  void remember(TaskId task);
  void look_for_futurelocks();
  [[nodiscard]] std::string misfit_text() const;
  void keep_name(TaskId task);
  Evidence look();
  void look_for_lost_wakes(Evidence& evidence);
  bool wait_is_over(TaskId task);
  void shut_down();
  void drop_the_rest();

  const LabConfig& config_;
  Touches* const touches_;
  const bool allocations_;  // are watched
  Choices choices_;
  SplitMix trouble_;
  LabHost& host_;
  kernel::LocalKernel& kernel_;
  LabPort port_;
  kernel::Worker& worker_;
  std::unique_ptr<LaneChoice> lanes_;  // where they choose
  TaskId main_;
  TaskId last_polled_;
  std::uint64_t steps_ = 0;
  std::uint64_t allocated_ = 0;
  bool led_ = false;  // by who calls take(), not by choices_
  KeptEvents events_;
  std::vector<TaskId> polled_;  // tasks that are alive, where somebody is woken for nothing
  trace::Names names_;
  std::vector<FiredAlarm> fired_;
  std::vector<OverdueTask> overdue_;
  std::vector<kernel::Futurelock> futurelocks_;  // found on the way, one for a task
  std::uint32_t next_look_ = kernel::futurelock_rounds;
  std::uint64_t batch_ = 0;
};

}  // namespace calm::lab
