#include "apps/calm/explore_example.hpp"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/calm/lab_text.hpp"
#include "apps/calm/refused.hpp"
#include "apps/calm/scenario/problem.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/schedule.hpp"

namespace calm::tool {
namespace {

using Clock = std::chrono::steady_clock;

lab::Strategy strategy_of(const std::string& name) {
  constexpr std::pair<std::string_view, lab::Strategy> rows[] = {
      {"optimal", lab::Strategy::optimal}, {"all", lab::Strategy::all},
      {"bounded", lab::Strategy::bounded}, {"persistence", lab::Strategy::persistence},
      {"random", lab::Strategy::random},   {"pct", lab::Strategy::pct}};
  std::vector<std::string_view> names;
  for (const auto& [row, strategy] : rows) {
    if (row == name) return strategy;
    names.push_back(row);
  }
  throw Refused{scenario::unknown_text("strategy", name, names)};
}

/// Runs one schedule of the example and shows what came of it.
int replay(const std::string& word, const examples::Example& example) {
  const auto schedule = lab::parse_schedule(word);
  if (!schedule) throw Refused{std::string(schedule.error().message())};
  lab::LabReport report;
  {
    const CapturedOutput output;
    report = lab::run({.program = std::string(example.name)}, schedule.value(), example.program);
  }
  fmt::print("{}", describe(report));
  return went_well(report) ? 0 : 1;
}

std::string fingerprints_text(const explore::Report& counts) {
  return counts.fingerprints_known ? std::to_string(counts.fingerprints) : "null";
}

void print_json(const ExploreOptions& asked, const explore::Report& counts, double seconds) {
  fmt::print(
      "{{\"program\": \"{}\", \"n\": 0, \"m\": 0, \"strategy\": \"{}\", \"executions\": {}, \"blocked\": {}, "
      "\"fingerprints\": {}, \"deadlocks\": {}, \"lassos\": {}, \"buggy\": {}, \"first_bug\": {}, \"exhausted\": {}, "
      "\"seconds\": {:.6f}}}\n",
      asked.program, asked.strategy, counts.executions, counts.blocked, fingerprints_text(counts), counts.deadlocks,
      counts.lassos, counts.buggy, counts.failures.empty() ? "null" : std::to_string(counts.failures.front().execution),
      counts.exhausted, seconds);
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
  if (!report.failure) return;
  fmt::print("\n{}See it again: calm explore {} --replay {}\n", to_string(report), asked.program,
             report.failure->replay_word());
}

}  // namespace

int explore_example(const ExploreOptions& asked, const examples::Example& example, const std::atomic<bool>& stop) {
  if (asked.n || asked.m) throw Refused{asked.program + " takes no --n and no --m; leave them out"};
  if (!asked.html.empty()) {
    throw Refused{asked.program + " is an example; calm run --trace writes a run of it, and calm trace draws that"};
  }
  if (asked.strategy == "pct" && asked.depth == 0) throw Refused{"--depth 0 finds nothing; give 1 or more"};
  if (!asked.replay.empty()) return replay(asked.replay, example);
  lab::ExploreConfig config{.strategy = strategy_of(asked.strategy),
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
  return report.ok() ? 0 : 1;
}

}  // namespace calm::tool
