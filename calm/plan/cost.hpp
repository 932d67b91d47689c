// cost.hpp — how long a plan takes by its estimates, what decides that, and how much later each leaf may be.
// Laws:    COM-4, BUD-7
// Threads: pure functions
// Cancel:  not applicable
//
// The tropical algebra: a join takes as long as its longest part (max), a race as its shortest (min), a timeout at most its
// limit (min). The slack of a leaf is how much longer it may take before the plan takes longer; where it is 0 the leaf is
// critical.
#pragma once

#include <string>
#include <vector>

#include "calm/model/time.hpp"
#include "calm/model/tropical.hpp"
#include "calm/plan/plan.hpp"

namespace calm::plan {

struct LeafTiming {
  Path place{};
  std::string name{};
  TimeSpan cost{};
  Duration slack{};  ///< Duration::max(): it may take as long as it likes; below 0: it is that much too late

  [[nodiscard]] bool is_critical() const noexcept { return slack <= Duration(); }
};

struct Timing {
  TimeSpan length{};  ///< of the whole plan; infinite where estimates are missing
  Path critical{};    ///< the node that decides the length: a leaf, or a timeout that ends before its work
  std::vector<LeafTiming> leaves{};  ///< from left to right, as often as they stand in the tree
};

/// Gives: how long the node takes.
TimeSpan length_of(const Plan& plan, const Node& node);

/// Gives: the timing of a plan that should take no longer than it does.
Timing timing(const Plan& plan);
/// The same for one that must be done within `due`: then slack is counted from there.
Timing timing(const Plan& plan, TimeSpan due);

/// Gives: the length, what decides it, and a line for each leaf.
std::string to_string(const Timing& timing);

}  // namespace calm::plan
