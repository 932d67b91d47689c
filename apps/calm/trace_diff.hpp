// trace_diff.hpp — two runs side by side: the same but for the order of steps that commute, or where they part.
// Laws:    LAB-4
// Threads: the main thread
// Cancel:  not applicable
#pragma once

#include "calm/trace/names.hpp"

namespace calm::tool {

/// Prints how the two compare. Gives: 0 when one is the other with steps swapped that commute, else 1.
/// Fails: Refused when a trace has no canonical form.
int print_difference(const trace::Trace& a, const trace::Trace& b);

}  // namespace calm::tool
