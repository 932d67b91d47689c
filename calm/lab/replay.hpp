// replay.hpp — runs a program again and says where the two runs part: the first event that differs, from both.
// Laws:    LAB-3, LAB-6 (determinism), SCH-9, I6
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "calm/lab/config.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/report.hpp"
#include "calm/trace/event.hpp"

namespace calm::lab {

/// The first event that two runs do not share. One side is missing when that run had no more events.
struct Divergence {
  std::uint64_t index = 0;  ///< how many events they share
  std::optional<trace::Event> expected{};
  std::optional<trace::Event> actual{};
};

/// Gives: where the runs part; nothing when they are the same event for event, times included.
std::optional<Divergence> first_difference(const trace::Trace& expected, const trace::Trace& actual);

/// Gives: both events in words, with their times.
std::string to_string(const Divergence& divergence);

/// Adds a problem to `actual` when it is not the run that was expected: the first different event, or the state at the end.
/// Gives: that difference.
std::optional<Divergence> expect_same(const LabReport& expected, LabReport& actual);

/// Makes the run of the report again: seed, faults and choices are its own, limits those of the configuration.
/// Gives: the report of the new run; a divergence is one of its problems.
template <class F>
LabReport replay(const LabConfig& config, const LabReport& recorded, F program) {
  LabReport report = run(config, recorded.schedule, std::move(program));
  (void)expect_same(recorded, report);
  return report;
}

/// Runs the program twice (I6). Gives: the report of the first run; with a problem that shows both events when the second
/// one was another.
template <class F>
LabReport check_determinism(const LabConfig& config, F program) {
  LabReport first = run(config, program);
  LabReport second = run(config, std::move(program));
  if (expect_same(first, second)) first.problems.push_back(second.problems.back());
  return first;
}

}  // namespace calm::lab
