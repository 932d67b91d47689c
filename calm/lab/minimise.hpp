// minimise.hpp — makes a failing run of the lab simpler: the same problem with as few switches between tasks as it needs.
// Laws:    LAB-3
// Threads: one
// Cancel:  not applicable
//
//   EXPECT_LAB_CLEAN(calm::lab::run_seeds(calm::lab::from_environment(), 1000, program));
//
// A run of a seed switches at nearly every step; a person has to follow each of them. Switches are taken out in halves,
// quarters and so on, and one by one at last, as long as an oracle that complained still does.
#pragma once

#include <cstdint>
#include <utility>

#include "calm/lab/config.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/program.hpp"
#include "calm/lab/report.hpp"

namespace calm::lab {

struct Minimised {
  LabReport report;            ///< its schedule repeats the run
  std::uint64_t switches = 0;  ///< to another task than the one that could go on, or than the one that waits longest
  std::uint64_t switches_before = 0;  ///< in the run that it was made from
  std::uint64_t runs = 0;             ///< that were made to find it
};

/// Needs: a run of this program under this configuration, with a problem; it is repeatable. At most `max_runs` are made.
Minimised minimise_program(const LabConfig& config, const LabReport& failing, Program& program,
                           std::uint64_t max_runs = 10'000);

/// The same for `program(cx)`; each run gets a copy of it.
template <class F>
Minimised minimise(const LabConfig& config, const LabReport& failing, F program) {
  ProgramOf<F> root(program);
  return minimise_program(config, failing, root);
}

LabReport run_seeds_of(const LabConfig& config, std::uint64_t count, Program& program);

/// Runs the program with `count` seeds, from the configured one on. A configuration with choices, as CALM_LAB_SCHEDULE gives
/// it, makes that one run only.
/// Gives: the first run with a problem, minimised; the last one when there is none.
template <class F>
LabReport run_seeds(const LabConfig& config, std::uint64_t count, F program) {
  ProgramOf<F> root(program);
  return run_seeds_of(config, count, root);
}

}  // namespace calm::lab
