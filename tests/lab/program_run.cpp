#include "program_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "calm/trace/text.hpp"
#include "interpreter.hpp"

namespace calm::programs {
namespace {

/// The program as the lab takes it.
struct Interpreted {
  const Program* program;
  Journal* journal;

  CALM_CORO_WRAPPER Task<std::uint32_t> operator()(Cx cx) const { return interpret(cx, *program, *journal); }
};

/// Gives: what the oracles found, without the reports of dropped tokens; the journal knows how many there must be.
std::vector<std::string> found_by_oracles(const lab::LabReport& report, const Journal& journal) {
  std::vector<std::string> found;
  std::uint64_t dropped = 0;
  for (const lab::Problem& problem : report.problems) {
    if (problem.text.find("dropped while Reserved") != std::string::npos) {
      ++dropped;
    } else {
      found.push_back(fmt::format("{}: {}", describe(problem.oracle).name, problem.text));
    }
  }
  if (dropped != journal.dropped()) {
    found.push_back(fmt::format("{} tokens were dropped and {} reported [OBL-4]", journal.dropped(), dropped));
  }
  return found;
}

Coverage coverage_of(const Journal& journal, const trace::Trace& trace) {
  Coverage coverage;
  for (std::size_t i = 0; i < journal.log().size(); i += Journal::line) ++coverage.statements[journal.log()[i + 2]];
  for (const trace::Event& event : trace.events) {
    ++coverage.events[static_cast<std::size_t>(event.kind)];
    if (event.kind == trace::EventKind::cancel_request) ++coverage.cancels[event.argument & 0xFF];
    if (event.kind == trace::EventKind::complete) ++coverage.ends[event.argument & 0x3];
  }
  return coverage;
}

/// I1, I2 from events alone: what began has ended, once.
void check_lives(const trace::Trace& trace, std::vector<std::string>& problems) {
  if (trace.overwritten != 0) return;
  std::map<std::uint64_t, int> begun;
  for (const trace::Event& event : trace.events) {
    const bool task = event.kind == trace::EventKind::spawn && event.resource == trace::ResourceId(event.region);
    if (task || event.kind == trace::EventKind::finalize) ++begun[event.task.bits()];
    if (event.kind == trace::EventKind::complete) --begun[event.task.bits()];
  }
  for (const auto& [task, count] : begun) {
    if (count != 0)
      problems.push_back(fmt::format("{} began and did not end once [I1]", to_string(TaskId::from_bits(task))));
  }
}

/// Gives: where two runs of one program part, or nothing.
std::string first_difference(const Ran& a, const Ran& b) {
  const std::size_t count = std::min(a.trace.events.size(), b.trace.events.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (a.trace.events[i] == b.trace.events[i]) continue;
    return fmt::format("two runs of one seed differ at event {}: {} and {} [I6]", i, to_string(a.trace.events[i]),
                       to_string(b.trace.events[i]));
  }
  if (a.trace == b.trace && a.digests == b.digests) return {};
  return fmt::format("two runs of one seed differ in length, state or log: {} and {} events [I6]",
                     a.trace.events.size(), b.trace.events.size());
}

}  // namespace

void Coverage::add(const Coverage& other) noexcept {
  const auto sum = [](auto& into, const auto& from) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] += from[i];
  };
  sum(statements, other.statements);
  sum(events, other.events);
  sum(cancels, other.cancels);
  sum(ends, other.ends);
}

Ran run_once(const Program& program) {
  Journal journal(program.faults.fail_allocation != 0);
  auto report =
      lab::run({.seed = program.seed, .max_steps = 100'000, .faults = program.faults}, Interpreted{&program, &journal});
  const auto is_forced = [](const trace::Event& event) { return event.kind == trace::EventKind::forced; };
  journal.finish(std::any_of(report.trace.events.begin(), report.trace.events.end(), is_forced));
  Ran ran{.digests = {report.trace_digest, report.state_digest, journal.digest()},
          .problems = found_by_oracles(report, journal),
          .steps = report.steps,
          .trace = std::move(report.trace)};
  ran.coverage = coverage_of(journal, ran.trace);
  check_lives(ran.trace, ran.problems);
  ran.problems.insert(ran.problems.end(), journal.problems().begin(), journal.problems().end());
  return ran;
}

Ran run_twice(const Program& program) {
  Ran first = run_once(program);
  const Ran second = run_once(program);
  if (std::string difference = first_difference(first, second); !difference.empty()) {
    first.problems.push_back(std::move(difference));
  }
  return first;
}

}  // namespace calm::programs
