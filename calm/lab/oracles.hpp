// oracles.hpp — the questions that every run of the lab must answer, each a function that knows only the evidence.
// Laws:    LAB-6
// Threads: pure functions
// Cancel:  not applicable
//
// Fairness is asked where lanes choose (LabConfig::governor): a seeded choice among all runnable tasks keeps no bound.
#pragma once

#include <vector>

#include "calm/lab/evidence.hpp"
#include "calm/lab/report.hpp"

namespace calm::lab {

using Problems = std::vector<Problem>;

/// All of them, in the order of Oracle; what a trace is asked for is left out where events are missing.
/// Fails: std::bad_alloc, as each of them.
Problems ask_oracles(const Evidence& evidence);

// --- about the end (end_oracles.cpp) ---

/// I1, I2: every task has ended and every region is Closed.
void ask_leaks(const Evidence& evidence, Problems& problems);
/// OBL-4..6, CAN-8, CAN-12: what the kernel noticed.
void ask_findings(const Evidence& evidence, Problems& problems);
/// TSK-6, CAN-13: no task sleeps at a wait that is over.
void ask_lost_wakes(const Evidence& evidence, Problems& problems);
/// OBL-7.
void ask_futurelocks(const Evidence& evidence, Problems& problems);
/// Tasks that wait for each other, or for something that nobody will give (deadlock.cpp). Needs: stuck.
void ask_deadlocks(const Evidence& evidence, Problems& problems);

// --- about the way (trace_oracles.cpp) ---

/// All that trace::check_trace() asks: the tree, the moves, witnesses, finalizers, the ledger, who was polled because of what.
void ask_trace(const Evidence& evidence, Problems& problems);
/// BUD-5: who is polled after its deadline has been cancelled.
void ask_deadlines(const Evidence& evidence, Problems& problems);
/// TMR-3: no alarm is early, and those of one moment go off by time and then by arming.
void ask_alarms(const Evidence& evidence, Problems& problems);
/// SCH-4: streaks of cancel work end while other work waits, and ready work is served within its bound.
void ask_fairness(const Evidence& evidence, Problems& problems);

}  // namespace calm::lab
