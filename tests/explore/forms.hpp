// forms.hpp — a listener that keeps which executions it saw, up to the order of steps that commute.
// Laws:    LAB-4
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <set>

#include "calm/explore/execution.hpp"
#include "calm/explore/tally.hpp"

namespace calm::explore {

/// Keeps the fingerprints of all executions.
class Forms final : public Listener {
 public:
  void ended(const Execution& execution, bool /*deadlock*/) override { seen.insert(execution.fingerprint()); }
  std::set<std::uint64_t> seen;
};

}  // namespace calm::explore
