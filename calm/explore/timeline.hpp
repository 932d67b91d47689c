// timeline.hpp — an execution as a trace, for everything that shows traces.
// Laws:    LAB-2, LAB-9
// Threads: one
// Cancel:  not applicable
#pragma once

#include <vector>

#include "calm/explore/program.hpp"
#include "calm/trace/names.hpp"

namespace calm::explore {

/// Runs the schedule. A process is a task, a switch to it a poll, each touch of a step an access of a place; places have the
/// numbers that columns() gives them, and the cause of an access is the last one that it conflicts with. Time counts steps.
/// Needs: a schedule of this program. Fails: std::bad_alloc; what the program throws.
[[nodiscard]] trace::NamedTrace timeline_of(Program& program, const std::vector<Process>& schedule);

}  // namespace calm::explore
