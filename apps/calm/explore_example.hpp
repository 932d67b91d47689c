// explore_example.hpp — `calm explore` for the examples, which are programs of tasks.
// Laws:    LAB-5, LAB-6
// Threads: the main thread
// Cancel:  Ctrl-C ends the exploration; what was found by then is shown
#pragma once

#include <atomic>

#include "apps/calm/commands.hpp"
#include "examples/catalogue.hpp"

namespace calm::tool {

/// Explores every schedule of the example and prints what came of it. `stop` ends it early.
/// Gives: 0 when nothing was found; 1 when something was, when it does not repeat itself, or has too many tasks.
/// Fails: Refused when an option does not fit.
int explore_example(const ExploreOptions& asked, const examples::Example& example, const std::atomic<bool>& stop);

}  // namespace calm::tool
