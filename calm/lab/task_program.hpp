// task_program.hpp — a program of tasks as the explorer sees it: a process is a task, a step is one poll of it.
// Laws:    LAB-4, LAB-5, LAB-6 (every execution is asked all oracles)
// Threads: one
// Cancel:  not applicable
//
// The clock is a process as well. It can go on when nothing is runnable; with LabConfig::explore_time whenever an alarm or a
// deadline is to come. A program that was left in the middle is not run on: its frames are destroyed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calm/explore/program.hpp"
#include "calm/lab/config.hpp"
#include "calm/lab/ground.hpp"
#include "calm/lab/program.hpp"
#include "calm/lab/report.hpp"
#include "calm/lab/task_footprint.hpp"
#include "calm/lab/world.hpp"

namespace calm::lab {

class TaskProgram final : public explore::Program {
 public:
  /// What a run is asked beside the oracles; what it gives, unless empty, is a problem.
  using Check = std::function<std::string(const LabReport&)>;

  /// Needs: both outlive this object; a configuration without faults and choices.
  /// `plain_memory`: as ExploreConfig says.
  TaskProgram(const LabConfig& config, lab::Program& program, Check check = {}, bool plain_memory = false);
  ~TaskProgram() override;

  /// Gives: what came of the last execution that was asked for its problem.
  [[nodiscard]] const LabReport& report() const noexcept { return report_; }

  // --- for who shows a run: between steps ---

  /// Gives: the events of the last step.
  [[nodiscard]] std::span<const trace::Event> step_events();
  /// Gives: where the task stands, `worker.cpp:88 in worker_loop`; nothing for one that has ended, and for the clock.
  [[nodiscard]] std::string place_of(explore::Process process);
  [[nodiscard]] explore::Process process_of(TaskId task) const noexcept { return footprint_.process_of(task); }

  void restart() override;
  [[nodiscard]] explore::ProcessSet enabled() override;
  explore::StepKind step(explore::Process process, explore::Footprint& touched) override;
  [[nodiscard]] explore::ProcessSet blocked() override;
  [[nodiscard]] explore::ProcessSet idle() override;
  void pending(explore::Process process, explore::Footprint& touched) override;
  [[nodiscard]] std::string problem(bool deadlock) override;
  [[nodiscard]] std::string name_of(explore::Process process) override;

 private:
  void leave() noexcept;
  void clear() noexcept;
  [[nodiscard]] bool is_ready(explore::Process process) const noexcept;
  [[nodiscard]] std::optional<std::uint32_t> awaits_of(explore::Process process) const noexcept;

  const LabConfig& config_;
  lab::Program& program_;
  Check check_;
  TaskFootprint footprint_;
  std::unique_ptr<Ground> ground_;  // as new whenever there is no world
  std::unique_ptr<World> world_;
  std::vector<trace::Event> step_events_;
  std::array<bool, explore::process_max> yielded_{};  // its last step left it able to go on
  std::array<std::string, explore::process_max> names_;
  std::array<explore::Footprint, explore::process_max> pending_;  // of those that blocked() gave
  LabReport report_;
};

}  // namespace calm::lab
