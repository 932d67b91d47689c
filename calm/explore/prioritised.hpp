// prioritised.hpp — visits the executions that grow out of the most promising ones first.
// Laws:    LAB-5
// Threads: one
// Cancel:  not applicable
//
// At the end of an execution each of its races makes a beginning for another one: everything that does not happen after the
// earlier step, then the later step. After its beginning an execution goes on with whoever has not run for the longest time.
// Beginnings wait in a line, by the persistence score of the execution they come from; of one execution, the earliest race
// first. Each is made once, so the line runs dry, and then all executions have been visited; some are met more than once, and
// all that wait are kept in memory: this is for finding a bug soon, optimal exploration is for showing that there is none.
#pragma once

#include "calm/explore/program.hpp"
#include "calm/explore/report.hpp"
#include "calm/explore/tally.hpp"

namespace calm::explore {

/// Explores the program until nothing is left, or an option says stop. In the report, `blocked` counts executions that were
/// met again.
/// Fails: NotDeterministic when the program does not repeat itself; what the program throws.
Report explore_prioritised(Program& program, const Options& options = {}, Listener* listener = nullptr);

}  // namespace calm::explore
