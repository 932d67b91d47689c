// program.hpp — a real task that does what the steps of a scenario say: one deed after the other, each in its own poll.
// Laws:    LAB-1 (real tasks, real waits), LAB-11, CAN-7 (a deed that is cancelled answers `cancelled`)
// Threads: one
// Cancel:  ends the deed it waits in; the program itself stays for the next step, until it is dismissed
//
// Between two deeds a program waits for an order, which no cancel ends: so a scenario says itself what a cancelled task
// does next.
#pragma once

#include <string>

#include "apps/calm/scenario/channel.hpp"
#include "apps/calm/scenario/scenario.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/spawned.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/budget.hpp"
#include "calm/model/id.hpp"

namespace calm::scenario {

class World;

/// What a step makes its program do. What it fails with is its answer.
using Deed = Task<Answer> (*)(Cx cx, World& world, const Step& step);

class Program {
 public:
  explicit Program(World& world) noexcept : world_(world) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Makes the task. Fails: as the kernel's spawn, and there is none. Needs: the program outlives the task.
  Status spawn(RegionId region, const Budget& budget);
  [[nodiscard]] TaskId task() const noexcept { return task_; }

  /// Gives: the step that it has begun and not ended; nullptr when it waits for an order.
  [[nodiscard]] const Step* busy() const noexcept { return step_; }
  /// Needs: not busy; the step outlives the deed.
  void order(Deed deed, const Step& step) noexcept {
    deed_ = deed;
    step_ = &step;
  }
  /// Its next order is to end.
  void dismiss() noexcept { dismissed_ = true; }
  /// Gives: what came of the deed that ended last.
  [[nodiscard]] const Answer& answer() const noexcept { return answer_; }
  /// Gives: why the deed could not be done; empty when it was.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

  /// Destroys its frames where they stand, if there are any left.
  void drop();

  [[nodiscard]] bool has_order() const noexcept { return step_ != nullptr || dismissed_; }

 private:
  static Task<void> obey(Cx cx, Program& program);
  void keep(Outcome<Answer> end);

  World& world_;
  TaskId task_;
  Deed deed_ = nullptr;
  const Step* step_ = nullptr;
  bool dismissed_ = false;
  Answer answer_;
  std::string fault_;
};

}  // namespace calm::scenario
