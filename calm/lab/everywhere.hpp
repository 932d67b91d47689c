// everywhere.hpp — strikes a program at every place where a fault could strike, one run for each: a cancel at every await
// point, a failure of every allocation.
// Laws:    LAB-7, LAB-6 (all oracles on in every run)
// Threads: one
// Cancel:  this is where programs learn to live with it
//
// The first run counts the places; then each of them is struck in a run of its own, with the same seed, so everything before
// it happens again. A configuration that names a place already, as CALM_LAB_SCHEDULE does, makes that one run only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calm/lab/config.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/program.hpp"
#include "calm/lab/report.hpp"

namespace calm::lab {

enum class Strike : std::uint8_t {
  cancel_task,      ///< the task that comes to the await point is cancelled there
  cancel_scope,     ///< the innermost region that the await point is in
  fail_allocation,  ///< the program links calm::fail_new; without it only calm's own caches are seen
};

struct EverywhereOptions {
  std::uint64_t max_runs = 10'000;  ///< beyond them the places are taken at even distances, and the report says so
  std::uint64_t failures_kept = 5;  ///< reports of failed runs; the others are counted
  /// Called after every run; what it gives, unless empty, is one more problem of the run.
  std::function<std::string(const LabReport&)> check{};
};

/// A line of the program with an await point.
struct SiteCoverage {
  std::string place{};     ///< `worker.cpp:88 in worker_loop`
  std::uint64_t seen = 0;  ///< times that a task came to it in the first run
  std::uint64_t hit = 0;   ///< of them struck
};

struct EverywhereReport {
  Strike strike{};
  std::uint64_t points_seen = 0;      ///< await points, or allocations, of the first run
  std::uint64_t points_hit = 0;       ///< struck in a run of their own
  bool sampled = false;               ///< there were more than max_runs
  bool sees_new = true;               ///< for allocations: operator new is replaced
  std::vector<SiteCoverage> sites{};  ///< by file and line; not for allocations
  std::uint64_t failed = 0;           ///< runs with a problem
  std::vector<LabReport> failures{};  ///< the first of them

  [[nodiscard]] bool is_clean() const noexcept { return failed == 0; }
};

/// Gives: what was struck, the lines that were not, and each kept failure with the word that repeats it.
std::string to_string(const EverywhereReport& report);

EverywhereReport strike_everywhere(const LabConfig& config, Program& program, Strike strike,
                                   const EverywhereOptions& options);

/// Cancels at every await point in turn. Each run copies the program.
template <class F>
EverywhereReport cancel_everywhere(const LabConfig& config, F program, const EverywhereOptions& options = {}) {
  ProgramOf<F> root(program);
  return strike_everywhere(config, root, Strike::cancel_task, options);
}

/// The same with the innermost scope instead of the task.
template <class F>
EverywhereReport cancel_scopes_everywhere(const LabConfig& config, F program, const EverywhereOptions& options = {}) {
  ProgramOf<F> root(program);
  return strike_everywhere(config, root, Strike::cancel_scope, options);
}

/// Fails every allocation in turn.
template <class F>
EverywhereReport fail_allocations_everywhere(const LabConfig& config, F program,
                                             const EverywhereOptions& options = {}) {
  ProgramOf<F> root(program);
  return strike_everywhere(config, root, Strike::fail_allocation, options);
}

}  // namespace calm::lab
