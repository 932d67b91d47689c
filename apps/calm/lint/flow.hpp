// flow.hpp — which promises each variable may hold, at every step of every function.
// Laws:    OBL-8
// Threads: pure functions
// Cancel:  not applicable
//
// A variable may be untouched, resolved, or hold the promise of one of the places that reserve; the analysis keeps the set of
// what is possible, unites the sets where ways meet, and goes round loops until nothing is new. What a call does is its
// summary: for each parameter what it may be when the function returns. Summaries begin with "never returns" and grow until
// none changes, which is how recursion ends. A variable's fate never depends on another variable, so each is followed alone.
// After a mistake a variable is what the operation would have left behind, so that one mistake is one warning.
#pragma once

#include <vector>

#include "apps/calm/lint/ir.hpp"
#include "apps/calm/lint/warning.hpp"

namespace calm::lint {

/// Gives: the warnings, sorted and each once, whatever the order of the functions.
/// Needs: a program that check_calls() accepts.
std::vector<Warning> find_leaks(const Program& program);

}  // namespace calm::lint
