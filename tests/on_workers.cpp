// What runs a test of the lab on threads. CALM_TEST_WORKERS=N asks for it: then every lab::run() of the program is a run on N
// workers of the production runtime, with the real clock, and an exploration is some such runs: of all schedules those that
// threads come to, in the two ways of run_way.hpp. The linker puts it before the lab's own (--wrap).
// Laws:    LAB-1
// Threads: N workers, and one that minds them
// Cancel:  not applicable
#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "calm/lab/explore.hpp"
#include "calm/lab/lab.hpp"
#include "tests/watched_run.hpp"

namespace calm::lab {

/// The lab's own.
LabReport run_in_lab(const LabConfig& config, Program& program, const Watching& watching) __asm__(
    "__real__ZN4calm3lab11run_programERKNS0_9LabConfigERNS0_7ProgramERKNS0_8WatchingE");
/// What is called in its place.
LabReport run_somewhere(const LabConfig& config, Program& program, const Watching& watching) __asm__(
    "__wrap__ZN4calm3lab11run_programERKNS0_9LabConfigERNS0_7ProgramERKNS0_8WatchingE");
ExploreReport explore_in_lab(const ExploreConfig& config, Program& program) __asm__(
    "__real__ZN4calm3lab15explore_programERKNS0_13ExploreConfigERNS0_7ProgramE");
ExploreReport explore_somewhere(const ExploreConfig& config, Program& program) __asm__(
    "__wrap__ZN4calm3lab15explore_programERKNS0_13ExploreConfigERNS0_7ProgramE");

namespace {

/// Runs in place of an exploration: fewer where each starts many threads.
constexpr std::uint64_t runs_of_exploration(std::uint16_t workers) { return workers > 2 ? 2 : 4; }

std::uint16_t workers_asked() {
  const char* const text = std::getenv("CALM_TEST_WORKERS");
  if (text == nullptr) return 0;
  const std::string_view number(text);
  std::uint16_t workers = 0;
  (void)std::from_chars(number.data(), number.data() + number.size(), workers);
  return workers;
}

/// A fault, a choice or an ear is the lab's alone.
bool is_plain(const LabConfig& config, const Watching& watching) {
  const bool watched =
      watching.sites != nullptr || watching.allocations || watching.touches != nullptr || watching.switches != nullptr;
  return config.faults == Faults() && !config.explore_time && !config.choices && config.governor == nullptr && !watched;
}

/// Gives: what was said, without what the lab does not mind: that a task had to be forced is how some tests mean it.
std::string complaints_in(const std::string& said) {
  std::istringstream lines(said);
  std::string complaints;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" used up its clean-up budget, its frame is dropped") != std::string::npos) continue;
    complaints.append(line).append("\n");
  }
  return complaints;
}

LabReport run_on_workers(std::uint16_t workers, RunWay way, std::uint64_t seed, const kernel::Config& kernel,
                         Program& program) {
  Watched watched =
      run_watched(program, {.workers = workers, .way = way, .seed = seed, .kernel = kernel, .title = "a test"});
  LabReport report{.seed = seed, .end = std::move(watched.end)};
  report.trace = std::move(watched.trace);
  if (!watched.not_quiet.empty()) report.problems.push_back({Oracle::region_quiet, std::move(watched.not_quiet)});
  std::string complaints = complaints_in(watched.said);
  if (!complaints.empty()) report.problems.push_back({Oracle::check, std::move(complaints)});
  return report;
}

/// Gives: what the exploration would call a problem of this run; nothing when it is none.
std::string problem_of(const ExploreConfig& config, const LabReport& report) {
  if (!report.is_clean()) return to_string(report);
  if (config.check) {
    if (std::string text = config.check(report); !text.empty()) return text;
  }
  return config.must_end_ok && !report.end.is_ok() ? "it ended as " + report.end.explain() : std::string();
}

}  // namespace

LabReport run_somewhere(const LabConfig& config, Program& program, const Watching& watching) {
  const std::uint16_t workers = workers_asked();
  if (workers == 0) return run_in_lab(config, program, watching);
  if (!is_plain(config, watching)) {
    ADD_FAILURE() << "this test needs the lab; next: take it out of tests/ON_WORKERS";
    return run_in_lab(config, program, watching);
  }
  return run_on_workers(workers, way_here(workers), config.seed, config.kernel, program);
}

ExploreReport explore_somewhere(const ExploreConfig& config, Program& program) {
  const std::uint16_t workers = workers_asked();
  if (workers == 0) return explore_in_lab(config, program);
  ExploreReport explored;
  for (std::uint64_t seed = 1; seed <= runs_of_exploration(workers) && explored.ok(); ++seed) {
    LabReport report = run_on_workers(workers, way_here(workers, seed - 1), seed, config.kernel, program);
    ++explored.counts.executions;
    ++explored.counts.fingerprints;
    const std::string problem = problem_of(config, report);
    if (problem.empty()) continue;
    ++explored.counts.buggy;
    report.problems.push_back({Oracle::check, problem});
    explored.failure = std::move(report);
  }
  explored.counts.exhausted = true;
  return explored;
}

}  // namespace calm::lab
