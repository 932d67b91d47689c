// lab.hpp — runs a program on one thread with virtual time and seeded choice: the same seed, the same run.
// Laws:    LAB-1, LAB-2, LAB-3, LAB-6, I6
// Threads: one
// Cancel:  as in any host
//
//   const auto report = calm::lab::run({.seed = 7}, program);   // program(cx) gives a Task
//   EXPECT_TRUE(report.is_clean()) << to_string(report);
#pragma once

#include <utility>

#include "calm/lab/config.hpp"
#include "calm/lab/program.hpp"
#include "calm/lab/report.hpp"
#include "calm/lab/watching.hpp"

namespace calm::lab {

/// Runs the program to quiet with all oracles on. Fails: std::bad_alloc.
LabReport run_program(const LabConfig& config, Program& program, const Watching& watching = {});

/// The same for `program(cx)`; it is copied into the run.
template <class F>
LabReport run(const LabConfig& config, F program) {
  ProgramOf<F> root(program);
  return run_program(config, root);
}

/// Repeats what the schedule says, whatever seed the configuration has.
template <class F>
LabReport run(const LabConfig& config, const Schedule& schedule, F program) {
  return run(with_schedule(config, schedule), std::move(program));
}

}  // namespace calm::lab
