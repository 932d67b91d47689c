#include "calm/lab/explore.hpp"

#include <ostream>
#include <utility>

#include "calm/explore/optimal.hpp"
#include "calm/explore/prioritised.hpp"
#include "calm/explore/strategies.hpp"
#include "calm/lab/environment.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/task_columns.hpp"
#include "calm/lab/task_program.hpp"

namespace calm::lab {
namespace {

constexpr std::uint64_t random_executions = 10'000;
constexpr std::uint32_t most_preemptions = 4;

LabConfig lab_config(const ExploreConfig& config) {
  return {.max_steps = config.max_steps,
          .kernel = config.kernel,
          .explore_time = config.explore_time,
          .program = config.program};
}

TaskProgram::Check check_of(const ExploreConfig& config) {
  return [&config](const LabReport& report) -> std::string {
    if (config.check) {
      if (std::string text = config.check(report); !text.empty()) return text;
    }
    if (!config.must_end_ok || !report.is_clean() || report.end.is_ok()) return {};
    return "calm: the program ended as " + report.end.explain() +
           "\n  law:  LAB-6 what must hold in every schedule\n  next: see the schedule below, or say must_end_ok = false";
  };
}

explore::Options options_of(const ExploreConfig& config) {
  explore::Options options;
  options.max_executions = config.max_executions;
  options.max_steps = config.max_steps;
  options.stop_at_first_problem = config.stop_at_first_problem;
  options.stop = config.stop;
  return options;
}

explore::Report explore_by(const ExploreConfig& config, TaskProgram& program) {
  explore::Options options = options_of(config);
  switch (config.strategy) {
    case Strategy::optimal:
      return explore::explore_optimal(program, options);
    case Strategy::all:
      return explore::explore_all(program, options);
    case Strategy::bounded:
      return explore::explore_all(program, options, config.preemptions);
    case Strategy::persistence:
      return explore::explore_prioritised(program, options);
    case Strategy::random:
    case Strategy::pct:
      break;
  }
  if (options.max_executions == UINT64_MAX) options.max_executions = random_executions;
  if (config.strategy == Strategy::random) return explore::explore_random(program, options, config.seed);
  return explore::explore_pct(program, options, config.seed, config.depth);
}

/// Puts the way to the first failure into the report, with as few preemptions as can be found.
void show_failure(const ExploreConfig& config, TaskProgram& program, ExploreReport& report) {
  explore::Options options = options_of(config);
  options.max_executions = config.minimise_executions;
  options.stop = nullptr;
  const auto shortest = explore::fewest_preemptions(program, options, most_preemptions);
  const std::vector<explore::Process>& schedule =
      shortest ? shortest->failure.schedule : report.counts.failures.front().schedule;
  report.fewest = shortest.has_value();
  report.preemptions = shortest ? shortest->preemptions : explore::count_preemptions(program, schedule);
  report.columns = task_columns(program, schedule);
  (void)program.problem(false);
  report.failure = program.report();
}

/// The one run that the environment asks for.
ExploreReport replay_one(const ExploreConfig& config, const LabConfig& asked, Program& program) {
  ExploreReport report{.replayed = true};
  LabReport run = run_program(asked, program);
  if (std::string text = check_of(config)(run); !text.empty()) run.problems.push_back({Oracle::check, std::move(text)});
  report.counts.executions = 1;
  report.counts.buggy = run.is_clean() ? 0 : 1;
  if (!run.is_clean()) report.failure = std::move(run);
  return report;
}

}  // namespace

ExploreReport explore_program(const ExploreConfig& config, Program& program) {
  const LabConfig lab = lab_config(config);
  if (is_replaying()) {
    const LabConfig asked = from_environment(lab);
    if (asked.choices) return replay_one(config, asked, program);
  }
  TaskProgram tasks(lab, program, check_of(config), config.plain_memory);
  ExploreReport report;
  report.counts = explore_by(config, tasks);
  if (!report.ok()) show_failure(config, tasks, report);
  return report;
}

std::string to_string(const ExploreReport& report) {
  const explore::Report& counts = report.counts;
  std::string text =
      "calm explore: " + std::to_string(counts.executions) + (counts.executions == 1 ? " execution" : " executions") +
      (report.exhausted() ? ", and there are no more; " : ", and there may be more; ") +
      std::to_string(counts.deadlocks) + " deadlocked, " + std::to_string(counts.buggy) + " with a problem";
  if (!report.failure) return text;
  for (const Problem& problem : report.failure->problems) text += "\n" + problem.text;
  if (!report.replayed) {
    text += "\ncalm explore: it needs " + std::string(report.fewest ? "" : "at most ") +
            std::to_string(report.preemptions) + (report.preemptions == 1 ? " preemption" : " preemptions") + "\n" +
            report.columns;
    text += "  again: CALM_LAB_SCHEDULE=" + report.failure->replay_word() + " and the command of this run\n";
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const ExploreReport& report) { return out << to_string(report); }

}  // namespace calm::lab
