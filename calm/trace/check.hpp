// check.hpp — a trace checked from the outside: the laws of the kernel asked again of events, without a kernel to ask.
// Laws:    I1, I2, I5, REG-1..6, TSK-1, TSK-2, TSK-6, CAN-5, CAN-7, CAN-9, CAN-10, OBL-10, TMR-3, SCH-7, LAB-2
// Threads: a pure function
// Cancel:  not applicable
//
// Knows events, ids and the tables of `model`, nothing else. What it cannot know: the body of a scope has no event, nor has
// the end of a poll, a wake, a deferral or a change of a budget. Losers are asked for where a request says RaceLost; that a
// combinator waits for them, and the fairness bound of SCH-4, are to be asked when combinators and lanes leave events.
//
// Of a trace whose beginning is missing (Trace::overwritten) only the clause `numbers` is asked: nothing else can be told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calm/trace/reader.hpp"

namespace calm::trace {

/// What a trace is asked for.
enum class Clause : std::uint8_t {
  numbers,     ///< sequences without a gap, causes before their effects, time that goes on
  ownership,   ///< one rooted tree; everything in it is admitted by an open region
  tasks,       ///< moves of TSK-1, each task ends once
  regions,     ///< moves of REG-1, a close over nothing live
  witness,     ///< request, acknowledgement, end; never weaker; everyone in a cancelled region is told
  finalizers,  ///< exactly once, newest first, one by one
  ledger,      ///< never negative, zero when Closed
  timers,      ///< never early, by time
  dispatch,    ///< a wake before a poll, a choice where there is one, only who is polled acts
  losers,      ///< end before their region does
};

struct ClauseRow {
  Clause clause;
  std::string_view name;
};

inline constexpr ClauseRow clause_table[] = {
    {Clause::numbers, "numbers"},       {Clause::ownership, "ownership"}, {Clause::tasks, "task moves"},
    {Clause::regions, "region moves"},  {Clause::witness, "witness"},     {Clause::finalizers, "finalizers"},
    {Clause::ledger, "ledger"},         {Clause::timers, "timers"},       {Clause::dispatch, "dispatch"},
    {Clause::losers, "losers drained"},
};

constexpr std::string_view to_string(Clause clause) noexcept {
  return clause_table[static_cast<std::uint8_t>(clause)].name;
}

/// One event that no lawful run has at this place.
struct Violation {
  Clause clause{};
  std::size_t index = 0;       ///< of the event in the trace
  std::uint64_t sequence = 0;  ///< of the event
  std::string_view law;        ///< with a word on what it says
  std::string text;            ///< what is wrong
};

/// What came of a check.
struct Checked {
  std::size_t events = 0;
  std::size_t regions = 0;
  std::size_t tasks = 0;
  std::size_t promises = 0;
  bool closed = false;                  ///< the root is Closed: the run is whole
  bool dispatched = false;              ///< every poll names its cause, so that the clause `dispatch` was asked
  std::vector<Violation> violations{};  ///< by ascending place, and in the order of clauses at one place

  [[nodiscard]] bool ok() const noexcept { return violations.empty(); }
};

/// Gives: everything in the trace that must not be. A trace may end anywhere: what is missing after its last event is no
///        violation. Fails: std::bad_alloc.
[[nodiscard]] Checked check_trace(const Trace& trace);

}  // namespace calm::trace
