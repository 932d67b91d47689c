#include "program_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "calm/cx/scope.hpp"
#include "calm/lab/lab.hpp"
#include "calm/trace/check.hpp"
#include "interpreter.hpp"
#include "journal.hpp"
#include "program_certain.hpp"
#include "tests/watched_run.hpp"

namespace calm::programs {
namespace {

/// One of the programs that run at once.
struct Side {
  explicit Side(const Program& its_program) : program(its_program) {}

  const Program& program;
  Journal journal{false, Host::threads};
  std::optional<OutcomeKind> end{};
};

struct RunSide {
  Side* side;
  Task<void> operator()(Cx cx) const {
    const Outcome<std::uint32_t> end = co_await outcome(interpret(cx, side->program, side->journal));
    side->end = end.kind();
  }
};

/// All of them.
struct SideBySide {
  std::deque<Side>* sides;

  struct Body {
    std::deque<Side>* sides;
    Task<void> operator()(Scope& scope) const {
      for (Side& side : *sides) {
        const RunSide run{&side};
        (void)co_await scope.spawn(run);
      }
    }
  };

  Task<void> operator()(Cx cx) const {
    const Body body{sides};
    co_await scope(cx, body, {.policy = FoldPolicy::collect});
  }
};

/// Finds what was said that must not be. A dropped token is told, once each (OBL-4), and so is a task that was forced (CAN-8).
void check_said(const std::string& said, std::uint64_t dropped, std::uint64_t forced,
                std::vector<std::string>& problems) {
  std::istringstream lines(said);
  std::uint64_t told_dropped = 0;
  std::uint64_t told_forced = 0;
  std::string others;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("dropped while Reserved") != std::string::npos) {
      ++told_dropped;
    } else if (line.find("used up its clean-up budget") != std::string::npos) {
      ++told_forced;
    } else if (!line.empty()) {
      others += line + "\n";
    }
  }
  if (!others.empty()) problems.push_back("it said: " + others);
  if (told_dropped != dropped) {
    problems.push_back(fmt::format("{} tokens were dropped and {} reported [OBL-4]", dropped, told_dropped));
  }
  if (told_forced > forced) {
    problems.push_back(fmt::format("{} tasks were forced and {} reported [CAN-8]", forced, told_forced));
  }
}

/// LAB-1: a program that depends on nobody's speed does on threads what it does in the lab.
void compare_with_lab(const Side& side, std::vector<std::string>& problems) {
  struct Interpreted {
    const Program* program;
    Journal* journal;
    CALM_CORO_WRAPPER Task<std::uint32_t> operator()(Cx cx) const { return interpret(cx, *program, *journal); }
  };
  Journal journal(false, Host::threads);
  const auto report = lab::run({.seed = side.program.seed, .max_steps = 100'000}, Interpreted{&side.program, &journal});
  journal.finish(false);
  if (!report.is_clean() || !report.end.is_ok()) {
    problems.push_back("not even the lab likes it: " + to_string(report));
    return;
  }
  if (side.end != OutcomeKind::ok) problems.push_back("it ends well in the lab, and not on threads [LAB-1]");
  const std::vector<std::string> different = differences(deeds_in(journal), deeds_in(side.journal));
  problems.insert(problems.end(), different.begin(), different.end());
}

/// The laws once more, asked of the events alone.
void check_trace_of(const trace::Trace& trace, std::vector<std::string>& problems) {
  const trace::Checked checked = trace::check_trace(trace);
  for (const trace::Violation& violation : checked.violations) {
    if (problems.size() >= 20) break;
    problems.push_back(
        fmt::format("event {} of the trace: {} [{}]", violation.sequence, violation.text, violation.law));
  }
}

void append(std::vector<std::string>& all, std::uint64_t seed, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) all.push_back(fmt::format("program {}: {}", seed, problem));
}

constexpr std::uint64_t beside = 4;

OnThreads manner_of(std::uint64_t group, std::uint16_t workers) {
  Random random(group * 31 + workers);
  OnThreads how{.workers = workers, .seed = group + 1};
  if (group % 8 == 3) how.stops_after = Duration::microseconds(random.below(3000));
  how.certain = group % 8 > 4;
  how.way = way_asked().value_or(group / 8 % 2 == 0 ? RunWay::usual : RunWay::shared);
  return how;
}

}  // namespace

std::vector<std::string> run_on_threads(const std::vector<Program>& programs, const OnThreads& how) {
  std::deque<Side> sides;
  for (const Program& program : programs) sides.emplace_back(program);
  const SideBySide all{&sides};
  lab::ProgramOf<SideBySide> root(all);
  const Watched watched = run_watched(root, {.workers = how.workers,
                                             .way = how.way,
                                             .seed = how.seed,
                                             .stops_after = how.stops_after,
                                             .title = fmt::format("program {}", programs.front().seed)});
  std::vector<std::string> problems;
  if (!watched.not_quiet.empty()) problems.push_back(watched.not_quiet + " [QUI-1]");
  if (!watched.end.is_ok() && !how.stops_after) problems.push_back("the run ended as " + watched.end.explain());
  check_trace_of(watched.trace, problems);
  std::uint64_t forced = 0;
  for (const trace::Event& event : watched.trace.events) forced += event.kind == trace::EventKind::forced ? 1 : 0;
  if (watched.trace.overwritten != 0) forced = UINT64_MAX;  // it cannot be known
  std::uint64_t dropped = 0;
  for (Side& side : sides) {
    side.journal.finish(forced != 0);
    dropped += side.journal.dropped();
    append(problems, side.program.seed, side.journal.problems());
    if (how.stops_after) continue;
    if (!side.end) problems.push_back(fmt::format("program {} has no end [I1]", side.program.seed));
    if (!how.certain) continue;
    std::vector<std::string> differences;
    compare_with_lab(side, differences);
    append(problems, side.program.seed, differences);
  }
  check_said(watched.said, dropped, forced, problems);
  return problems;
}

std::string threads_campaign(std::uint64_t first, std::uint64_t count, std::uint16_t workers) {
  for (std::uint64_t at = first; at < first + count; at += beside) {
    const OnThreads how = manner_of(at / beside, workers);
    std::vector<Program> programs;
    for (std::uint64_t seed = at; seed < std::min(at + beside, first + count); ++seed) {
      programs.push_back(how.certain ? certain_part(make_program(seed)) : make_program(seed));
    }
    const std::vector<std::string> problems = run_on_threads(programs, how);
    if (problems.empty()) continue;
    std::string text =
        fmt::format("calm: programs {} to {} on {} workers, in the {} way{} break a law:\n", at, at + beside - 1,
                    workers, to_string(how.way), how.stops_after ? ", stopped in the middle," : "");
    for (const std::string& problem : problems) fmt::format_to(std::back_inserter(text), "  {}\n", problem);
    for (const Program& program : programs) text += to_string(program);
    return text + fmt::format("  next: CALM_TEST_WAY={} BUILD/tests/lab/calm_programs --threads {} {} {}\n",
                              to_string(how.way), workers, at, beside);
  }
  return {};
}

}  // namespace calm::programs
