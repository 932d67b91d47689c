// task_columns.hpp — a schedule of tasks for people: a column for each task, a line for each poll.
// Laws:    LAB-3
// Threads: one
// Cancel:  not applicable
#pragma once

#include <string>
#include <vector>

#include "calm/explore/program.hpp"
#include "calm/lab/task_program.hpp"

namespace calm::lab {

/// Runs the schedule and gives its steps as lines: what each did that others can see, and where its task stands then. The
/// program is left at the end of it. Needs: a schedule of this program.
[[nodiscard]] std::string task_columns(TaskProgram& program, const std::vector<explore::Process>& schedule);

}  // namespace calm::lab
