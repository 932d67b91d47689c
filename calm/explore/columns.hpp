// columns.hpp — a schedule for people: a column for each process, a line for each step.
// Laws:    LAB-3
// Threads: one
// Cancel:  not applicable
#pragma once

#include <string>
#include <vector>

#include "calm/explore/program.hpp"

namespace calm::explore {

/// Runs the schedule and gives its steps as lines, each with what it read and wrote, or the word it has for that; places are
/// numbered in the order in which they are met, and steps that come again and again are shown once. Who is blocked at the
/// end is said there. Needs: a schedule of this program, and the ways its steps went.
[[nodiscard]] std::string columns(Program& program, const std::vector<Process>& schedule,
                                  const std::vector<Way>& ways = {});

}  // namespace calm::explore
