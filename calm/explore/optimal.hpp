// optimal.hpp — visits one execution for each way that steps which do not commute can follow each other, and no more.
// Laws:    LAB-4, LAB-5
// Threads: one
// Cancel:  not applicable
//
// Optimal dynamic partial order reduction with wakeup trees, after Abdulla, Aronis, Jonsson and Sagonas. At the end of each
// execution all its races are looked at: where two steps of different processes conflict with nothing between them, the
// later one is tried first, as a sequence at the point before the earlier one: everything that does not happen after the
// earlier one, then the later one. A sequence that an earlier branch, or a branch still to come, leads to is left out.
#pragma once

#include "calm/explore/execution.hpp"
#include "calm/explore/program.hpp"
#include "calm/explore/report.hpp"
#include "calm/explore/tally.hpp"

namespace calm::explore {

/// Explores the program until nothing is left, or an option says stop.
/// Fails: NotDeterministic when the program does not repeat itself; what the program throws.
Report explore_optimal(Program& program, const Options& options = {}, Listener* listener = nullptr);

struct Saved;

/// The same in several parts: goes on `from` where an exploration of this program was stopped, none for the beginning, and
/// leaves in `to` where it was stopped itself. The report counts from the first beginning, options.max_executions too.
Report explore_optimal(Program& program, const Options& options, Listener* listener, const Saved* from, Saved& to);

}  // namespace calm::explore
