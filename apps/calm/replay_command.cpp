#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

#include "apps/calm/commands.hpp"
#include "apps/calm/file.hpp"
#include "apps/calm/lab_text.hpp"
#include "apps/calm/refused.hpp"
#include "apps/calm/scenario/problem.hpp"
#include "calm/lab/follow.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/replay.hpp"
#include "calm/lab/replay_file.hpp"
#include "calm/sched/recorded_run.hpp"
#include "examples/catalogue.hpp"

namespace calm::tool {
namespace {

const examples::Example& example_of(const std::string& file, const std::string& program) {
  const examples::Example* const example = examples::find(program);
  if (example != nullptr) return *example;
  throw Refused{fmt::format("{}: {}", file, scenario::unknown_text("example", program, examples::names()))};
}

/// A run of the runtime (SCH-9).
int follow(const std::string& file, const std::string& text) {
  const Outcome<sched::RecordedRun> read = sched::read_run(text);
  if (!read) throw Refused{fmt::format("{}: {}", file, read.error().message())};
  const sched::RecordedRun& run = read.value();
  const examples::Example& example = example_of(file, run.program);
  lab::LabReport report;
  std::string printed;
  {
    const CapturedOutput output;
    report = lab::follow(run, example.program);
    printed = output.text();
  }
  const bool diverged = std::any_of(report.problems.begin(), report.problems.end(), [](const lab::Problem& problem) {
    return problem.oracle == lab::Oracle::determinism;
  });
  fmt::print("{}{}", printed, printed.empty() ? "" : "\n");
  if (!diverged) {
    fmt::print("replay: {} is the run of {}, {} steps of {}\n", run.program, file, run.steps.size(),
               run.workers == 1 ? "one worker" : fmt::format("{} workers", run.workers));
  }
  fmt::print("{}", describe(report));
  return diverged ? 1 : 0;
}

int replay(const std::string& file) {
  const std::string text = read_file(file);
  if (text.starts_with("calm-recording ")) return follow(file, text);
  const Outcome<lab::Recording> read = lab::read_recording(text);
  if (!read) throw Refused{fmt::format("{}: {}", file, read.error().message())};
  const lab::Recording& recording = read.value();
  const std::string& program = recording.config.program;
  const examples::Example& example = example_of(file, program);
  lab::LabReport report;
  std::string printed;
  {
    const CapturedOutput output;
    report = lab::run(recording.config, example.program);
    printed = output.text();
  }
  const bool diverged = lab::expect_same(lab::expected_report(recording), report).has_value();
  fmt::print("{}{}", printed, printed.empty() ? "" : "\n");
  if (!diverged) fmt::print("replay: {} is the run of {}, event for event\n", program, file);
  fmt::print("{}", describe(report));
  return diverged ? 1 : 0;
}

}  // namespace

void add_replay(CLI::App& app, std::string& file, int& status) {
  auto* const command = app.add_subcommand("replay", "make a recorded run again, and compare every event");
  command->add_option("FILE", file, "as calm run --record writes it")->required();
  command->callback([&file, &status] { status = or_refused([&file] { return replay(file); }); });
}

}  // namespace calm::tool
