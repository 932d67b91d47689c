#include "apps/calm/explore_example.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "apps/calm/lab_text.hpp"
#include "apps/calm/refused.hpp"
#include "apps/calm/scenario/problem.hpp"
#include "calm/lab/explore.hpp"

namespace calm::tool {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<lab::Strategy> strategy_of(std::string_view name) {
  if (name == "optimal") return lab::Strategy::optimal;
  if (name == "all") return lab::Strategy::all;
  if (name == "bounded") return lab::Strategy::bounded;
  if (name == "random") return lab::Strategy::random;
  if (name == "pct") return lab::Strategy::pct;
  return std::nullopt;
}

std::string fingerprints_text(const explore::Report& counts) {
  return counts.fingerprints_known ? std::to_string(counts.fingerprints) : "null";
}

void print_json(const ExploreOptions& asked, const explore::Report& counts, double seconds) {
  fmt::print(
      "{{\"program\": \"{}\", \"n\": 0, \"m\": 0, \"strategy\": \"{}\", \"executions\": {}, \"blocked\": {}, "
      "\"fingerprints\": {}, \"deadlocks\": {}, \"buggy\": {}, \"exhausted\": {}, \"seconds\": {:.6f}}}\n",
      asked.program, asked.strategy, counts.executions, counts.blocked, fingerprints_text(counts), counts.deadlocks,
      counts.buggy, counts.exhausted, seconds);
}

void print_text(const ExploreOptions& asked, const lab::ExploreReport& report, double seconds) {
  const explore::Report& counts = report.counts;
  fmt::print("{}: {} execution{}{}\n", asked.program, counts.executions, counts.executions == 1 ? "" : "s",
             counts.exhausted ? ", and there are no more" : ", and there may be more");
  fmt::print("  different     {}\n  blocked       {}\n  deadlocks     {}\n  with problems {}\n",
             fingerprints_text(counts), counts.blocked, counts.deadlocks, counts.buggy);
  fmt::print("  steps         {} and {} to come back to a branch\n", counts.steps, counts.replayed);
  fmt::print("  time          {:.3f} s, {:.0f} executions/s\n", seconds,
             static_cast<double>(counts.executions) / (seconds > 0 ? seconds : 1e-9));
  if (report.failure) fmt::print("\n{}", to_string(report));
}

}  // namespace

int explore_example(const ExploreOptions& asked, const examples::Example& example, const std::atomic<bool>& stop) {
  if (asked.n || asked.m) throw Refused{asked.program + " takes no --n and no --m; leave them out"};
  if (!asked.replay.empty() || !asked.html.empty()) {
    throw Refused{asked.program +
                  " is an example: CALM_LAB_SCHEDULE=WORD runs a schedule of it, calm trace draws a run"};
  }
  if (asked.strategy == "pct" && asked.depth == 0) throw Refused{"--depth 0 finds nothing; give 1 or more"};
  const auto strategy = strategy_of(asked.strategy);
  if (!strategy) {
    throw Refused{scenario::unknown_text("strategy", asked.strategy, {"optimal", "all", "bounded", "random", "pct"})};
  }
  lab::ExploreConfig config{.strategy = *strategy,
                            .max_executions = asked.max_executions,
                            .stop_at_first_problem = false,
                            .explore_time = asked.explore_time,
                            .plain_memory = !asked.declared,
                            .seed = asked.seed,
                            .depth = asked.depth,
                            .preemptions = asked.preemptions};
  config.program = example.name;
  config.stop = &stop;
  const auto start = Clock::now();
  lab::ExploreReport report;
  try {
    const CapturedOutput output;  // of every execution
    report = lab::explore(example.program, config);
  } catch (const std::exception& error) {  // it does not repeat itself, or has too many tasks
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (asked.json) {
    print_json(asked, report.counts, seconds);
  } else {
    print_text(asked, report, seconds);
  }
  return 0;
}

}  // namespace calm::tool
