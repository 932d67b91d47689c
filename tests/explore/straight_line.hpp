// straight_line.hpp — random programs without branches, and how many executions they have, counted in another way.
// Laws:    LAB-4, LAB-5
// Threads: one
// Cancel:  not applicable
//
// The count is a depth-first search with sleep sets, remembered by how far each process has come and who sleeps: it visits no
// execution itself, so millions are counted in milliseconds. It shares nothing with the explorer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calm/explore/program.hpp"

namespace calm::explore {

/// One step: what it touches, or a lock that it takes or frees.
struct Operation {
  enum class Kind : std::uint8_t { access, lock, unlock };
  Kind kind = Kind::access;
  std::vector<Touch> touches;  // of a lock: one write
  bool free = false;           // told to the explorer as a step that might change with its place
};

struct StraightLine {
  std::vector<std::vector<Operation>> processes;
};

/// Gives: a small program, the same for the same seed.
StraightLine random_program(std::uint64_t seed);
/// Gives: one line for each process, `p0: r1 w2 (w0 w1) lock3 unlock3`.
std::string to_string(const StraightLine& program);
/// Gives: the number of its executions up to the order of steps that commute; deadlocks count.
std::uint64_t count_executions(const StraightLine& program);

/// Runs it for the explorer.
class StraightLineRun final : public Program {
 public:
  /// With `broken`, every n-th write is told as a read: a dependence relation that is not true.
  explicit StraightLineRun(const StraightLine& program, std::uint32_t broken = 0);

  void restart() override;
  [[nodiscard]] ProcessSet enabled() override;
  StepKind step(Process process, Footprint& touched) override;
  [[nodiscard]] ProcessSet blocked() override;
  void pending(Process process, Footprint& touched) override;
  [[nodiscard]] std::string problem(bool /*deadlock*/) override { return {}; }

 private:
  [[nodiscard]] bool can_run(std::size_t process) const;
  void tell(const Operation& operation, Footprint& touched) const;

  const StraightLine& program_;
  std::uint32_t broken_;
  std::vector<std::size_t> at_;
  std::vector<bool> locked_;
};

}  // namespace calm::explore
