#include "apps/calm/explore_failure.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string_view>
#include <utility>

#include "apps/calm/file.hpp"
#include "apps/calm/refused.hpp"
#include "calm/explore/columns.hpp"
#include "calm/explore/reorder.hpp"
#include "calm/explore/schedule_word.hpp"
#include "calm/explore/strategies.hpp"
#include "calm/explore/timeline.hpp"
#include "calm/observe/html.hpp"

namespace calm::tool {
namespace {

constexpr std::uint32_t most_preemptions = 4;
constexpr std::uint64_t executions_to_minimise = 100'000;
constexpr std::size_t longest_word = 400;  // that a terminal shows without pain

std::string_view plural(std::uint64_t count) { return count == 1 ? "" : "s"; }

/// Takes the failure that needs the fewest preemptions when its steps are put in another order that means the same. If the
/// report has all failures of a program, there is none with less.
void reorder_failures(explore::Program& program, const explore::Report& report, ShownFailure& shown) {
  bool all = report.exhausted && report.failures.size() == report.buggy;
  std::uint32_t fewest = UINT32_MAX;
  for (const explore::Failure& failure : report.failures) {
    const auto again = explore::run_again(program, {.schedule = failure.schedule, .checksum = std::nullopt});
    const auto reordered = again ? explore::with_fewest_preemptions(program, again.value().run) : std::nullopt;
    if (!reordered) all = false;
    if (!reordered || reordered->preemptions >= fewest) continue;
    fewest = reordered->preemptions;
    shown.problem = failure.problem;
    shown.schedule = reordered->schedule;
  }
  shown.fewest = all;
}

}  // namespace

ShownFailure shown_failure(explore::Program& program, const explore::Report& report, const explore::Options& options) {
  const explore::Failure& first = report.failures.front();
  ShownFailure shown{.problem = first.problem, .schedule = first.schedule, .word = {}};
  if (report.cut_short == 0) {
    explore::Options bounded = options;
    bounded.max_executions = executions_to_minimise;
    if (auto shortest = explore::fewest_preemptions(program, bounded, most_preemptions)) {
      shown.problem = std::move(shortest->failure.problem);
      shown.schedule = std::move(shortest->failure.schedule);
      shown.fewest = true;
    } else {
      reorder_failures(program, report, shown);
    }
  }
  shown.preemptions = explore::count_preemptions(program, shown.schedule);
  auto again = explore::run_again(program, {.schedule = shown.schedule, .checksum = std::nullopt});
  if (again) shown.word = explore::to_word(again.value().run);
  return shown;
}

void print_failure(explore::Program& program, const explore::Report& report, const ShownFailure& failure,
                   const std::string& command) {
  fmt::print("\nThe first problem came with execution {}: {}\n", report.first_problem(),
             report.failures.front().problem);
  fmt::print("{} {} preemption{}:\n", failure.fewest ? "It needs" : "This way to it has", failure.preemptions,
             plural(failure.preemptions));
  fmt::print("{}  {}\n", explore::columns(program, failure.schedule), failure.problem);
  if (!failure.word.empty() && failure.word.size() <= longest_word) {
    fmt::print("\nSee it again: {} --replay {}\n", command, failure.word);
  } else {
    fmt::print("\nSee it again: {}\n", command);
  }
}

void write_timeline(explore::Program& program, const std::vector<explore::Process>& schedule, const std::string& title,
                    const std::string& path) {
  const trace::NamedTrace timeline = explore::timeline_of(program, schedule);
  write_file(path, observe::to_html(timeline.trace, timeline.names, title));
}

int replay_schedule(explore::Program& program, const std::string& name, const std::string& word,
                    const std::string& html) {
  const auto read = explore::from_word(word);
  if (!read) throw Refused{std::string(read.error().message()) + "; copy it from the report of calm explore"};
  const auto again = explore::run_again(program, read.value());
  if (!again) {
    fmt::print(stderr, "calm: {}; next: the same program, --n and --m as in the report it comes from\n",
               again.error().message());
    return 1;
  }
  const explore::Rerun& rerun = again.value();
  const auto& schedule = read.value().schedule;
  std::string end = rerun.problem;
  if (end.empty()) end = rerun.ended ? "it ends without a problem" : "the schedule ends here, the program does not";
  fmt::print("{}  {}\n", explore::columns(program, schedule), end);
  if (!html.empty()) write_timeline(program, schedule, name + ": " + end, html);
  return rerun.problem.empty() ? 0 : 1;
}

}  // namespace calm::tool
