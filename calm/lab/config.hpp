// config.hpp — what a run of the lab is made with.
// Laws:    LAB-1, LAB-7, OBL-4 and OBL-5 (tokens are strict and leaks fail the run in the lab)
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calm/kernel/config.hpp"
#include "calm/lab/schedule.hpp"

namespace calm::sched {
class Governor;
}  // namespace calm::sched

namespace calm::lab {

/// The kernel as the lab runs it. The trace needs room for the events of one step only: the lab keeps all of them.
constexpr kernel::Config strict_kernel() noexcept {
  kernel::Config config;
  config.leaks.policy = kernel::LeakPolicy::panic;
  config.strict_tokens = true;
  config.trace_capacity = std::uint64_t{1} << 14;
  return config;
}

struct LabConfig {
  std::uint64_t seed = 1;
  std::uint64_t max_steps = 1'000'000;  ///< polls and advances of the clock; beyond them the run is stopped and says so
  kernel::Config kernel = strict_kernel();  ///< one worker
  Faults faults{};
  /// The clock may go on to the next alarm or deadline at any step, as one more choice; else only when nothing is runnable.
  bool explore_time = false;
  /// To be made again; without them the seed chooses. See Schedule::choices.
  std::optional<std::vector<std::uint32_t>> choices{};
  /// With one, lanes choose as a worker does, FIFO among equals, and it is asked for suggestions (sched::find_governor): its
  /// decisions stand in the trace as marks, see lane_choice.hpp. Without one, and where there are choices, lanes have no say.
  const sched::Governor* governor = nullptr;
  /// Where lanes choose, the seed chooses among equals: tasks of one lane with the same priority or deadline (SCH-7).
  bool random_ties = false;
  std::string program{};  ///< a name for the run, where a test has several
  bool names = false;     ///< fill in LabReport::names, which costs time at every step
};

/// Gives: the configuration with what the schedule says: seed, faults, choices.
inline LabConfig with_schedule(LabConfig config, const Schedule& schedule) {
  config.seed = schedule.seed;
  config.faults = schedule.faults;
  config.explore_time = schedule.explore_time;
  config.choices = schedule.choices;
  return config;
}

}  // namespace calm::lab
