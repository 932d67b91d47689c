#include "calm/lab/minimise.hpp"

#include <algorithm>
#include <vector>

#include "calm/check/require.hpp"
#include "calm/lab/choices.hpp"

namespace calm::lab {
namespace {

bool has(const LabReport& report, Oracle oracle) noexcept {
  return std::any_of(report.problems.begin(), report.problems.end(),
                     [oracle](const Problem& problem) { return problem.oracle == oracle; });
}

/// Takes switches out of a run as long as the problem stays.
class Minimiser {
 public:
  Minimiser(const LabConfig& config, Oracle oracle, Program& program, std::uint64_t max_runs)
      : config_(config), oracle_(oracle), program_(program), max_runs_(max_runs) {
    config_.choices.reset();
  }

  /// Needs: the run that these switches lead has the problem.
  Minimised run(std::vector<Switches::Switch> list) {
    Minimised best{.report = lead(list), .switches_before = list.size()};
    CALM_REQUIRE(LAB_3, has(best.report, oracle_));
    for (std::size_t chunk = std::max<std::size_t>(list.size() / 2, 1); !list.empty();) {
      const bool smaller = without_chunks(list, chunk, best.report);
      if (runs_ >= max_runs_ || (!smaller && chunk == 1)) break;
      if (!smaller) chunk /= 2;
      chunk = std::min(chunk, std::max<std::size_t>(list.size(), 1));
    }
    best.switches = list.size();
    best.runs = runs_;
    return best;
  }

 private:
  /// Gives: true when at least one chunk was not needed.
  bool without_chunks(std::vector<Switches::Switch>& list, std::size_t chunk, LabReport& best) {
    bool smaller = false;
    for (std::size_t at = 0; at < list.size() && runs_ < max_runs_;) {
      std::vector<Switches::Switch> fewer = list;
      const std::size_t end = std::min(at + chunk, fewer.size());
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at), fewer.begin() + static_cast<std::ptrdiff_t>(end));
      LabReport report = lead(fewer);
      if (has(report, oracle_)) {
        list = std::move(fewer);
        best = std::move(report);
        smaller = true;
      } else {
        at = end;
      }
    }
    return smaller;
  }

  LabReport lead(const std::vector<Switches::Switch>& list) {
    ++runs_;
    Switches switches{.list = list, .led = true};
    return run_program(config_, program_, {.switches = &switches});
  }

  LabConfig config_;
  Oracle oracle_;
  Program& program_;
  std::uint64_t max_runs_;
  std::uint64_t runs_ = 0;
};

}  // namespace

Minimised minimise_program(const LabConfig& config, const LabReport& failing, Program& program,
                           std::uint64_t max_runs) {
  CALM_REQUIRE(LAB_3, !failing.is_clean());
  LabConfig same = with_schedule(config, failing.schedule);
  Switches switches;
  (void)run_program(same, program, {.switches = &switches});
  return Minimiser(same, failing.problems.front().oracle, program, max_runs).run(std::move(switches.list));
}

LabReport run_seeds_of(const LabConfig& config, std::uint64_t count, Program& program) {
  CALM_REQUIRE(LAB_3, count >= 1);
  LabConfig next = config;
  for (std::uint64_t made = 1;; ++made, ++next.seed) {
    LabReport report = run_program(next, program);
    if (config.choices) return report;
    if (!report.is_clean()) return minimise_program(next, report, program).report;
    if (made == count) return report;
  }
}

}  // namespace calm::lab
