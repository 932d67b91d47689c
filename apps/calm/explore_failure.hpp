// explore_failure.hpp — what `calm explore` tells of a failure: the shortest way to it, and how to see it again.
// Laws:    LAB-3, LAB-9
// Threads: the main thread
// Cancel:  not applicable
#pragma once

#include <string>
#include <vector>

#include "calm/explore/program.hpp"
#include "calm/explore/report.hpp"

namespace calm::tool {

/// An execution with a problem, and what it takes to come to it.
struct ShownFailure {
  std::string problem;
  std::vector<explore::Process> schedule;
  std::uint32_t preemptions = 0;
  bool fewest = false;  ///< there is none with less
  std::string word;     ///< for --replay
};

/// Gives: the first failure of the report, or one with fewer preemptions. Needs: there is one.
ShownFailure shown_failure(explore::Program& program, const explore::Report& report, const explore::Options& options);

/// Prints it as columns, with the command that shows it again. `command` is `calm explore NAME --n N`.
void print_failure(explore::Program& program, const explore::Report& report, const ShownFailure& failure,
                   const std::string& command);

/// Writes the timeline of a schedule. Fails: Refused.
void write_timeline(explore::Program& program, const std::vector<explore::Process>& schedule, const std::string& title,
                    const std::string& path);

/// Leads the program along a schedule word and prints what happens. `html`: where the timeline goes; empty for nowhere.
/// Gives: 0; 1 when there is a problem, or the schedule does not fit the program. Fails: Refused when it is no schedule.
int replay_schedule(explore::Program& program, const std::string& name, const std::string& word,
                    const std::string& html);

}  // namespace calm::tool
