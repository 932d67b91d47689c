// graphviz.hpp — a plan as a picture: text for `dot`, with what decides its length drawn bold.
// Laws:    COM-4
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <string>

#include "calm/plan/plan.hpp"

namespace calm::plan {

/// Gives: a digraph; leaves show their estimate and slack.
std::string to_graphviz(const Plan& plan);

}  // namespace calm::plan
