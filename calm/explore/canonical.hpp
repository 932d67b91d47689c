// canonical.hpp — an execution of the explorer as steps of the canonical form.
// Laws:    LAB-4, LAB-12
// Threads: a pure function
// Cancel:  not applicable
//
// Execution::fingerprint() is a faster hash of the same form, kept up step by step; this one is for comparing and showing.
#pragma once

#include <vector>

#include "calm/explore/execution.hpp"
#include "calm/trace/foata.hpp"

namespace calm::explore {

/// Gives: the steps in the order of the execution. A step says what it touched, in ascending order. Fails: std::bad_alloc.
[[nodiscard]] std::vector<trace::Step> steps_of(const Execution& execution);

}  // namespace calm::explore
