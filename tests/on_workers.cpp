// What runs a test of the lab on threads. CALM_TEST_WORKERS=N asks for it: then every lab::run() of the program is a run on N
// workers of the production runtime, with the real clock. The linker puts it before the lab's own (--wrap).
// Laws:    LAB-1
// Threads: N workers, and one that minds them
// Cancel:  not applicable
#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "calm/lab/lab.hpp"
#include "tests/watched_run.hpp"

namespace calm::lab {

/// The lab's own.
LabReport run_in_lab(const LabConfig& config, Program& program, const Watching& watching) __asm__(
    "__real__ZN4calm3lab11run_programERKNS0_9LabConfigERNS0_7ProgramERKNS0_8WatchingE");
/// What is called in its place.
LabReport run_somewhere(const LabConfig& config, Program& program, const Watching& watching) __asm__(
    "__wrap__ZN4calm3lab11run_programERKNS0_9LabConfigERNS0_7ProgramERKNS0_8WatchingE");

namespace {

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

}  // namespace

LabReport run_somewhere(const LabConfig& config, Program& program, const Watching& watching) {
  const std::uint16_t workers = workers_asked();
  if (workers == 0) return run_in_lab(config, program, watching);
  if (!is_plain(config, watching)) {
    ADD_FAILURE() << "this test needs the lab; next: take it out of tests/ON_WORKERS";
    return run_in_lab(config, program, watching);
  }
  Watched watched =
      run_watched(program, {.workers = workers, .seed = config.seed, .kernel = config.kernel, .title = "a test"});
  LabReport report{.seed = config.seed, .end = std::move(watched.end)};
  report.trace = std::move(watched.trace);
  if (!watched.not_quiet.empty()) report.problems.push_back({Oracle::region_quiet, std::move(watched.not_quiet)});
  if (!watched.said.empty()) report.problems.push_back({Oracle::check, std::move(watched.said)});
  return report;
}

}  // namespace calm::lab
