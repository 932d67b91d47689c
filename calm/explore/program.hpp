// program.hpp — what the explorer needs of a program: who can run, run one step, what did it touch.
// Laws:    LAB-4, LAB-5 (the explorer knows nothing else of a program)
// Threads: one
// Cancel:  not applicable
//
// What the explorer relies on:
//   the same choices give the same steps: a difference is found and reported, never skipped
//   what enables or disables a step conflicts with it
//   a step that is blocked is no event; what it would touch is asked when nothing can run any more
//   the ways a step can go, where it has several, follow from what happens before it; each way touches the same
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "calm/explore/footprint.hpp"

namespace calm::explore {

/// One sequence of steps: a task, a thread, the clock.
using Process = std::uint8_t;
inline constexpr Process process_max = 64;

/// One of several ways the same step of a process can go: which store a load reads from, say. 0 where there is only one.
using Way = std::uint16_t;

/// A set of processes.
class ProcessSet {
 public:
  constexpr ProcessSet() noexcept = default;
  constexpr explicit ProcessSet(std::uint64_t bits) noexcept : bits_(bits) {}
  constexpr void add(Process process) noexcept { bits_ |= std::uint64_t{1} << process; }
  constexpr void remove(Process process) noexcept { bits_ &= ~(std::uint64_t{1} << process); }
  [[nodiscard]] constexpr bool has(Process process) const noexcept { return (bits_ >> process & 1U) != 0; }
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  [[nodiscard]] constexpr std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(std::popcount(bits_));
  }
  /// Needs: not empty.
  [[nodiscard]] constexpr Process lowest() const noexcept { return static_cast<Process>(std::countr_zero(bits_)); }
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }

  friend constexpr bool operator==(ProcessSet, ProcessSet) noexcept = default;

 private:
  std::uint64_t bits_ = 0;
};

/// What a step says of itself beside its footprint.
enum class StepKind : std::uint8_t {
  fixed,  ///< what it touches, and that it can run one way, depends on its own process alone: a plain read, a write
  free,   ///< both may depend on what others did: a compare-and-swap, a lock, a receive, a whole poll of a task
  last,  ///< it can run only when no other process can, and conflicts with every step: no order across it can be another
  woken,  ///< as free; and it cannot run before a step of another process, after the last of its own, that conflicts with it
};

class Execution;

class Program {
 public:
  Program() noexcept = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  /// Back to the beginning.
  virtual void restart() = 0;
  /// Gives: the processes that can take a step now.
  [[nodiscard]] virtual ProcessSet enabled() = 0;
  /// Takes the first steps of this run again, as many as `size`. Needs: the program is at its beginning. Gives: how many of
  ///        them are taken; fewer than `size` when the next one cannot run or does not touch the same.
  [[nodiscard]] virtual std::uint32_t repeat(const Execution& run, std::uint32_t size);
  /// Runs one step. Needs: enabled. Gives: what it touched, in a footprint that is empty at first.
  virtual StepKind step(Process process, Footprint& touched) = 0;
  /// Gives: true when a step may have more than one way to go. explore_optimal() and explore_all() try each, explore_random()
  ///        and explore_pct() any; who only runs schedules goes way 0 unless told.
  [[nodiscard]] bool branches() const noexcept { return branches_; }
  /// Gives: in how many ways the next step of the process can go. Needs: enabled.
  [[nodiscard]] virtual Way ways(Process /*process*/) { return 1; }
  /// Says which way the next step of the process goes; without it, way 0. Needs: below ways().
  virtual void choose(Process /*process*/, Way /*way*/) {}
  /// Gives: what a person wants to know of the last step beside what it touched; mostly nothing.
  [[nodiscard]] virtual std::string note() { return {}; }
  /// Gives: the processes that have not ended and cannot run now.
  [[nodiscard]] virtual ProcessSet blocked() = 0;
  /// Gives: the processes that have nothing to do now, wait for nothing, and could have run before: another one took it from
  ///        them, as an alarm that is taken back from the clock. The same in every execution.
  [[nodiscard]] virtual ProcessSet idle() { return ProcessSet(); }
  /// What the step would touch that a blocked or idle process would take.
  virtual void pending(Process process, Footprint& touched) = 0;
  /// Gives: those of the blocked ones that repeat their reads and write nothing, until what they read changes.
  [[nodiscard]] virtual ProcessSet spinning() { return {}; }
  /// Gives: true as soon as something is wrong; the execution ends there.
  [[nodiscard]] virtual bool failed() { return false; }
  /// Gives: what is wrong, when failed(), or when the execution has come to its end; empty when nothing is. `deadlock` says
  ///        that processes are blocked for ever.
  [[nodiscard]] virtual std::string problem(bool deadlock) = 0;
  /// Gives: what the last step calls itself, for people: `lock`; empty when it has no word for it.
  [[nodiscard]] virtual std::string_view last_step() { return {}; }
  /// Gives: a name for people.
  [[nodiscard]] virtual std::string name_of(Process process) { return "p" + std::to_string(process); }

 protected:
  /// For a program with steps that have several ways.
  void set_branches(bool branches) noexcept { branches_ = branches; }

 private:
  bool branches_ = false;
};

/// Takes one step, this way. Needs: enabled.
inline StepKind take_step(Program& program, Process process, Way way, Footprint& touched) {
  if (way != 0) program.choose(process, way);
  return program.step(process, touched);
}

}  // namespace calm::explore
