// conditions.hpp — asks the side conditions of a rewrite before it is done.
// Laws:    COM-4
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calm/plan/plan.hpp"
#include "calm/plan/rule.hpp"

namespace calm::plan {

/// A rewrite of one node, not done yet.
struct Proposal {
  Rule rule;
  const Node* before;
  Node after;
  std::vector<const Node*> inner;   ///< assoc: the node that goes up; dedup: what runs once now
  std::vector<const Node*> others;  ///< assoc: those beside it; commute: all parts; dedup: what races now
};

/// A condition that does not hold, and why.
struct Broken {
  Condition condition;
  std::string who;
};

/// Gives: nothing when every condition that the rule needs holds.
std::optional<Broken> find_broken(const Plan& plan, const Proposal& proposal);

}  // namespace calm::plan
