#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "apps/calm/commands.hpp"
#include "apps/calm/explorable.hpp"
#include "apps/calm/explore_example.hpp"
#include "apps/calm/explore_failure.hpp"
#include "apps/calm/explore_progress.hpp"
#include "apps/calm/refused.hpp"
#include "apps/calm/scenario/problem.hpp"
#include "calm/explore/not_deterministic.hpp"
#include "calm/explore/optimal.hpp"
#include "calm/explore/prioritised.hpp"
#include "calm/explore/schedule_word.hpp"
#include "calm/explore/strategies.hpp"
#include "calm/explore/threads.hpp"
#include "examples/catalogue.hpp"

namespace calm::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view strategies[] = {"optimal", "all", "bounded", "persistence", "random", "pct"};

/// Needs: one of the strategies.
explore::Report explore_by(const ExploreOptions& asked, explore::Program& program, const explore::Options& options,
                           explore::Listener& listener) {
  if (asked.strategy == "all") return explore::explore_all(program, options, UINT32_MAX, &listener);
  if (asked.strategy == "bounded") return explore::explore_all(program, options, asked.preemptions, &listener);
  if (asked.strategy == "persistence") return explore::explore_prioritised(program, options, &listener);
  explore::Options limited = options;
  if (limited.max_executions == UINT64_MAX) limited.max_executions = 10'000;
  if (asked.strategy == "random") return explore::explore_random(program, limited, asked.seed, &listener);
  if (asked.strategy == "pct") return explore::explore_pct(program, limited, asked.seed, asked.depth, &listener);
  return explore::explore_optimal(program, options, &listener);
}

void print_json(const ExploreOptions& asked, std::uint32_t n, std::uint32_t m, const explore::Report& report,
                double seconds) {
  fmt::print(
      "{{\"program\": \"{}\", \"n\": {}, \"m\": {}, \"strategy\": \"{}\", \"executions\": {}, \"blocked\": {}, "
      "\"fingerprints\": {}, \"deadlocks\": {}, \"lassos\": {}, \"buggy\": {}, \"first_bug\": {}, \"exhausted\": {}, "
      "\"seconds\": {:.6f}}}\n",
      asked.program, n, m, asked.strategy, report.executions, report.blocked,
      report.fingerprints_known ? std::to_string(report.fingerprints) : "null", report.deadlocks, report.lassos,
      report.buggy, report.ok() ? "null" : std::to_string(report.first_problem()), report.exhausted, seconds);
}

void print_text(const ExploreOptions& asked, const explore::Report& report, const std::optional<std::uint64_t>& known,
                double seconds) {
  fmt::print("{}: {} execution{}", asked.program, report.executions, report.executions == 1 ? "" : "s");
  fmt::print("{}\n", report.exhausted ? ", and there are no more" : ", and there may be more");
  if (known) fmt::print("  known         {}\n", *known);
  fmt::print("  different     {}\n",
             report.fingerprints_known ? std::to_string(report.fingerprints) : "too many to keep");
  fmt::print("  blocked       {}\n  deadlocks     {}\n", report.blocked, report.deadlocks);
  if (report.lassos != 0) fmt::print("  lassos        {}\n", report.lassos);
  fmt::print("  with problems {}\n", report.buggy);
  fmt::print("  steps         {} and {} to come back to a branch\n", report.steps, report.replayed);
  fmt::print("  time          {:.3f} s, {:.0f} executions/s\n", seconds,
             static_cast<double>(report.executions) / (seconds > 0 ? seconds : 1e-9));
}

/// Gives: the command that explores the same program.
std::string command_text(const ExploreOptions& asked) {
  std::string command = "calm explore " + asked.program;
  if (asked.n) command += fmt::format(" --n {}", *asked.n);
  if (asked.m) command += fmt::format(" --m {}", *asked.m);
  return command;
}

/// Shows the failure, if there is one, as text and as a timeline, as far as that was asked for.
void tell_failure(const ExploreOptions& asked, explore::Program& program, const explore::Report& report,
                  const explore::Options& options) {
  if (report.failures.empty()) {
    if (!asked.html.empty()) fmt::print(stderr, "calm: there is no problem to draw; {} is not written\n", asked.html);
    return;
  }
  if (asked.json && asked.html.empty()) return;
  const ShownFailure failure = shown_failure(program, report, options);
  if (!asked.json) print_failure(program, report, failure, command_text(asked));
  if (!asked.html.empty())
    write_timeline(program, failure.schedule, asked.program + ": " + failure.problem, asked.html);
}

int explore_program(const ExploreOptions& asked) {
  if (asked.list) {
    list_explorables();
    fmt::print("\nExamples, which are programs of tasks:\n");
    for (const examples::Example& example : examples::all()) {
      fmt::print("  {:<20}{}\n", example.name, example.about);
    }
    return 0;
  }
  if (asked.gallery) return show_gallery();
  if (const examples::Example* const example = examples::find(asked.program)) {
    const Interruptible interruptible;
    return explore_example(asked, *example, Interruptible::flag());
  }
  const Explorable explorable = find_explorable(asked.program);
  const std::uint32_t n = parameter(asked.program, "n", explorable.n, asked.n);
  const std::uint32_t m = parameter(asked.program, "m", explorable.m, asked.m);
  if (std::find(std::begin(strategies), std::end(strategies), asked.strategy) == std::end(strategies)) {
    throw Refused{scenario::unknown_text("strategy", asked.strategy, {std::begin(strategies), std::end(strategies)})};
  }
  if (asked.max_steps == 0 || asked.max_steps > explore::word_steps_max) {
    throw Refused{
        fmt::format("--max-steps {} is out of range; give one from 1 to {}", asked.max_steps, explore::word_steps_max)};
  }
  if (asked.strategy == "pct" && asked.depth == 0) throw Refused{"--depth 0 finds nothing; give 1 or more"};

  explore::Threads program(explorable.setup(n, m));
  if (!asked.replay.empty()) return replay_schedule(program, asked.program, asked.replay, asked.html);
  explore::Options options;
  options.max_executions = asked.max_executions;
  options.max_steps = asked.max_steps;
  options.stop = &Interruptible::flag();
  const std::optional<std::uint64_t> known = explorable.known(n, m);
  Progress progress(asked.strategy == "optimal" ? known.value_or(0) : 0, asked.progress);
  const ExploreFiles files{asked.resume, asked.save};
  const bool in_parts = !files.resume.empty() || !files.save.empty();
  if (in_parts && asked.strategy != "optimal") {
    throw Refused{"--save and --resume are for the strategy optimal; leave --strategy out"};
  }
  const Interruptible interruptible;
  const auto start = Clock::now();
  const explore::Report report =
      in_parts
          ? explore_in_parts(program, options, progress, fmt::format("{} --n {} --m {}", asked.program, n, m), files)
          : explore_by(asked, program, options, progress);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (asked.json) {
    print_json(asked, n, m, report, seconds);
  } else {
    print_text(asked, report, known, seconds);
  }
  tell_failure(asked, program, report, options);
  if (!known) return report.ok() ? 0 : 1;
  const bool as_known =
      asked.strategy != "optimal" || !report.exhausted || (report.executions == *known && report.blocked == 0);
  if (!as_known)
    fmt::print(stderr, "calm: {} executions are known, {} were explored [LAB-5]\n", *known, report.executions);
  return as_known ? 0 : 1;
}

/// As explore_program; a program that does not repeat itself is told as one.
int explore_or_say_why(const ExploreOptions& asked) {
  return or_refused([&asked] {
    try {
      return explore_program(asked);
    } catch (const explore::NotDeterministic& error) {
      fmt::print(stderr, "{}\n", error.what());
      return 1;
    }
  });
}

}  // namespace

void add_explore(CLI::App& app, ExploreOptions& options, int& status) {
  auto* explore = app.add_subcommand("explore", "visit every execution of a small concurrent program once");
  explore->add_option("PROGRAM", options.program, "its name; --list shows them");
  explore->add_flag("--list", options.list, "list the programs and what they take");
  explore->add_flag("--gallery", options.gallery, "explore all programs with a known bug and compare strategies");
  explore->add_option("--n", options.n, "how many threads, as the program says");
  explore->add_option("--m", options.m, "how many rounds, as the program says");
  explore->add_option("--strategy", options.strategy, "optimal (default), all, bounded, persistence, random or pct");
  explore->add_option("--seed", options.seed, "for random and pct");
  explore->add_option("--depth", options.depth, "for pct: of the bug that is looked for");
  explore->add_option("--preemptions", options.preemptions, "for bounded: how many an execution may have");
  explore->add_option("--max-executions", options.max_executions, "stop after so many");
  explore->add_option("--max-steps", options.max_steps, "of one execution; beyond them it is said to have no end");
  explore->add_option("--replay", options.replay, "run this schedule alone and show it")->type_name("WORD");
  explore->add_option("--html", options.html, "write the timeline of the failure, or of the schedule")
      ->type_name("FILE");
  explore->add_option("--save", options.save, "where to keep what is left when it is stopped")->type_name("FILE");
  explore->add_option("--resume", options.resume, "go on with what --save kept")->type_name("FILE");
  explore->add_flag("--progress", options.progress, "tell every second how far it is, also where nobody looks on");
  explore->add_flag("--explore-time", options.explore_time,
                    "for an example: let the next deadline come at any point, not only when nothing can run");
  explore->add_flag(
      "--declared", options.declared,
      "for an example: its tasks share no variable without lab::Shared, so not every order of polls differs");
  explore->add_flag("--json", options.json, "print one JSON record");
  explore->callback([&options, &status] { status = explore_or_say_why(options); });
}

}  // namespace calm::tool
