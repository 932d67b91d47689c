#include "calm/trace/check.hpp"

#include <algorithm>
#include <tuple>

#include "calm/trace/check_parts.hpp"
#include "calm/trace/ledger_check.hpp"

namespace calm::trace {
namespace {

/// OBL-10 has a checker of its own; its problems come by sequence.
void check_marking(const Trace& trace, Findings& findings, Checked& result) {
  std::size_t at = 0;
  for (LedgerProblem& problem : check_ledger(trace)) {
    while (at + 1 < trace.events.size() && trace.events[at].sequence != problem.sequence) ++at;
    findings.say(Clause::ledger, at, "OBL-10 the ledger from events alone", std::move(problem.text));
  }
  result.promises = static_cast<std::size_t>(std::count_if(
      trace.events.begin(), trace.events.end(), [](const Event& event) { return event.kind == EventKind::reserve; }));
}

}  // namespace

Checked check_trace(const Trace& trace) {
  Checked result{.events = trace.events.size()};
  Findings findings(trace);
  check_numbers(trace, findings);
  if (trace.overwritten == 0) {
    check_lives(trace, findings, result);
    check_marking(trace, findings, result);
    check_dispatch(trace, findings, result);
  }
  result.violations = findings.take();
  std::sort(result.violations.begin(), result.violations.end(), [](const Violation& a, const Violation& b) {
    return std::tie(a.index, a.clause, a.text) < std::tie(b.index, b.clause, b.text);
  });
  return result;
}

}  // namespace calm::trace
