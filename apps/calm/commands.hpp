// commands.hpp — the commands of the calm tool; each prints to standard output and gives the exit status.
// Laws:    none
// Threads: the main thread
// Cancel:  not applicable
#pragma once

#include <string>

namespace calm::tool {

/// Exit status of a call whose words are off.
inline constexpr int bad_usage = 2;

/// Shows what calm can do, one stop after the other.
int tour();

/// Explains one error by name or number, or lists all of them when `which` is empty.
int explain_error(const std::string& which);

// The stops of the tour.
void show_cancel_chain();
void show_budget_meet();
void show_outcome_lattice();
void show_state_tables();

}  // namespace calm::tool
