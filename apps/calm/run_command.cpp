#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/commands.hpp"
#include "apps/calm/file.hpp"
#include "apps/calm/lab_text.hpp"
#include "apps/calm/refused.hpp"
#include "apps/calm/scenario/problem.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/lane_choice.hpp"
#include "calm/lab/replay.hpp"
#include "calm/lab/replay_file.hpp"
#include "calm/model/text.hpp"
#include "calm/sched/governor.hpp"
#include "calm/trace/codec.hpp"
#include "calm/trace/json.hpp"
#include "examples/catalogue.hpp"

namespace calm::tool {
namespace {

using examples::Example;

constexpr std::size_t shown_failures = 5;

lab::LabConfig config_of(const Example& example, std::uint64_t seed, const sched::Governor* governor = nullptr) {
  return {.seed = seed, .governor = governor, .program = std::string(example.name)};
}

/// Gives: nullptr when none is asked for.
const sched::Governor* governor_of(const RunExampleOptions& options) {
  if (options.governor.empty()) return nullptr;
  if (const sched::Governor* const found = sched::find_governor(options.governor)) return found;
  std::vector<std::string_view> names;
  for (const sched::Governor* const governor : sched::governors()) names.push_back(governor->name());
  throw Refused{scenario::unknown_text("governor", options.governor, names)};
}

/// What a governor said in the run, for people.
std::string governor_line(const sched::Governor& governor, const lab::LabReport& report) {
  const std::vector<sched::Decision> decisions = lab::decisions_of(report.trace);
  std::map<std::string_view, std::size_t> counts;
  for (const sched::Decision& decision : decisions) ++counts[to_string(decision.suggestion)];
  std::vector<std::string> said;
  for (const auto& [name, count] : counts) said.push_back(fmt::format("{} {}", count, name));
  return fmt::format("governor  {}, asked {} times: {}", governor.name(), decisions.size(), fmt::join(said, ", "));
}

/// A run and what it printed.
struct Run {
  lab::LabReport report;
  std::string printed;
};

/// Runs it twice: the same seed must give the same events and the same text (I6).
Run run_in_lab(const Example& example, std::uint64_t seed, const sched::Governor* governor) {
  lab::LabConfig config = config_of(example, seed, governor);
  config.names = true;
  Run first;
  {
    const CapturedOutput output;
    first.report = lab::run(config, example.program);
    first.printed = output.text();
  }
  const CapturedOutput output;
  lab::LabReport second = lab::run(config, example.program);
  if (lab::expect_same(first.report, second)) {
    first.report.problems.push_back(second.problems.back());
  } else if (output.text() != first.printed) {
    first.report.problems.push_back({lab::Oracle::determinism,
                                     "calm: the same run printed something else\n  law:  I6 determinism\n  next: take "
                                     "time, numbers and choices from the Cx"});
  }
  return first;
}

void write_files(const Example& example, const RunExampleOptions& options, const lab::LabReport& report) {
  if (!options.record.empty()) {
    write_file(options.record, lab::write_recording(config_of(example, report.seed), report));
  }
  if (options.trace.ends_with(".json")) {
    write_file(options.trace, trace::to_json(report.trace, report.names));
  } else if (!options.trace.empty()) {
    const auto bytes = trace::encode(report.trace);
    write_file(options.trace, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
}

int run_one_seed(const Example& example, const RunExampleOptions& options) {
  const sched::Governor* const governor = governor_of(options);
  const Run run = run_in_lab(example, options.seed, governor);
  write_files(example, options, run.report);
  std::vector<std::string> lines{again_line(example.name, options.seed)};
  if (governor != nullptr) {
    lines[0] += fmt::format(" --governor {}", governor->name());
    lines.push_back(governor_line(*governor, run.report));
  }
  if (!options.record.empty()) lines.push_back("recorded  calm replay " + options.record);
  if (!options.trace.empty()) lines.push_back("traced    calm trace show " + options.trace);
  fmt::print("{}{}{}", run.printed, run.printed.empty() ? "" : "\n", describe(run.report, lines));
  return went_well(run.report) ? 0 : 1;
}

/// What many runs have in common, and where they differ.
struct Summary {
  std::set<std::uint64_t> traces;
  std::set<std::string> printed;
  std::map<std::string, std::uint64_t> ends;  ///< how many runs ended so
  std::uint64_t failed = 0;
  std::vector<lab::LabReport> shown;  ///< the first of those that failed
};

Summary run_all(const Example& example, const RunExampleOptions& options) {
  Summary summary;
  for (std::uint64_t i = 0; i < options.seeds; ++i) {
    Run run = run_in_lab(example, options.seed + i, nullptr);
    summary.traces.insert(run.report.trace_digest);
    summary.printed.insert(run.printed);
    ++summary.ends[std::string(to_string(run.report.end.kind()))];
    if (went_well(run.report)) continue;
    ++summary.failed;
    if (summary.shown.size() < shown_failures) summary.shown.push_back(std::move(run.report));
  }
  return summary;
}

std::string same_or(std::size_t count, std::string_view others) {
  return count == 1 ? std::string("the same in all of them") : fmt::format("{} {}", count, others);
}

int run_many_seeds(const Example& example, const RunExampleOptions& options) {
  const Summary summary = run_all(example, options);
  fmt::print("lab: {}, {} seeds from {}, each run twice\n", example.name, options.seeds, options.seed);
  std::vector<std::string> ends;
  ends.reserve(summary.ends.size());
  for (const auto& [kind, count] : summary.ends) ends.push_back(fmt::format("{} {}", count, kind));
  fmt::print("  ended as  {}\n", fmt::join(ends, ", "));
  fmt::print("  traces    {}\n", same_or(summary.traces.size(), "different ones, by their digests"));
  fmt::print("  printed   {}\n", same_or(summary.printed.size(), "different texts"));
  fmt::print("  failed    {}\n", summary.failed == 0 ? std::string("none") : fmt::format("{} runs", summary.failed));
  for (const lab::LabReport& report : summary.shown) {
    fmt::print("\n{}", describe(report, {again_line(example.name, report.seed)}));
  }
  if (summary.failed > summary.shown.size()) fmt::print("\nand {} more\n", summary.failed - summary.shown.size());
  return summary.failed == 0 ? 0 : 1;
}

/// For CLI11, which would take -1 and numbers that are too large for some other seed.
std::string is_seed(const std::string& word) {
  std::uint64_t seed = 0;
  const char* const end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, seed);
  if (parsed.ec == std::errc() && parsed.ptr == end) return {};
  return calm::quoted(word) + " is no seed; it is a number from 0 to 18446744073709551615";
}

void print_list() {
  for (const Example& example : examples::all()) fmt::print("{:<20} {}\n", example.name, example.about);
}

/// The workers are those that CALM_WORKERS asks for.
int run_recorded(const Example& example, const std::string& file) {
  write_file(file, "");  // or it is refused here
  const Outcome<void> end = calm::block_on(example.program, {.record = {.file = file, .program = example.name}});
  return runtime::exit_status(cx::without_value(end));
}

int run(const RunExampleOptions& options) {
  if (options.list) {
    print_list();
    return 0;
  }
  if (options.example.empty()) throw Refused{"run needs an EXAMPLE; calm run --list shows them"};
  const Example* const found = examples::find(options.example);
  if (found == nullptr) throw Refused{scenario::unknown_text("example", options.example, examples::names())};
  const Example& example = *found;
  if (!options.lab && !options.record.empty()) return run_recorded(example, options.record);
  if (!options.lab) return calm::run(example.program);
  if (options.seeds == 0) return run_one_seed(example, options);
  if (options.seeds - 1 > std::numeric_limits<std::uint64_t>::max() - options.seed) {
    throw Refused{fmt::format("there are no {} seeds from {}", options.seeds, options.seed)};
  }
  return run_many_seeds(example, options);
}

}  // namespace

void add_run(CLI::App& app, RunExampleOptions& options, int& status) {
  auto* const command = app.add_subcommand("run", "run an example on this thread, or in the lab");
  command->add_option("EXAMPLE", options.example, "name of the example");
  command->add_flag("--list", options.list, "list the examples");
  auto* const lab = command->add_flag("--lab", options.lab, "virtual time and seeded choice, with all oracles on");
  command->add_option("--seed", options.seed, "of the choices; 1 without it")->needs(lab)->check(is_seed);
  auto* const seeds = command->add_option("--seeds", options.seeds, "run so many seeds, from --seed on");
  seeds->needs(lab)->check(CLI::Range(1U, 1'000'000U));
  auto* const record = command->add_option("--record", options.record, "write the run to this file, for calm replay");
  record->excludes(seeds);
  command
      ->add_option("--governor", options.governor,
                   "the lanes of a worker choose, not the seed, and this one suggests: none, meet-deadlines, "
                   "drain-obligations, drain-regions, lyapunov")
      ->needs(lab)
      ->excludes(seeds)
      ->excludes(record);
  command
      ->add_option("--trace", options.trace,
                   "write the trace to this file, for calm trace; as JSON, with names, if it ends in .json")
      ->needs(lab)
      ->excludes(seeds);
  command->callback([&options, &status] { status = or_refused([&options] { return run(options); }); });
}

}  // namespace calm::tool
