// environment.hpp — lets whoever starts a test say which run it makes: CALM_LAB_SEED and CALM_LAB_SCHEDULE.
// Laws:    LAB-3 (one command replays a failing test)
// Threads: reads the environment
// Cancel:  not applicable
#pragma once

#include "calm/lab/config.hpp"

namespace calm::lab {

/// Gives: the configuration with what the environment asks for. CALM_LAB_SCHEDULE is the word of a schedule; where that was
///        made by a program with a name, only the run of that name follows it. CALM_LAB_SEED is a seed for all runs.
/// Fails: a word or a number that cannot be read stops the program: a test that ran something else would say nothing.
LabConfig from_environment(LabConfig config = {});

/// Gives: true when the environment asks for a schedule, so that a test can make that one run only.
bool is_replaying() noexcept;

}  // namespace calm::lab
