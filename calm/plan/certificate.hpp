// certificate.hpp — what a rewrite leaves behind: enough to do it again, and to check it, without the rewriter.
// Laws:    COM-4
// Threads: values
// Cancel:  not applicable
#pragma once

#include <string>

#include "calm/plan/plan.hpp"
#include "calm/plan/rule.hpp"

namespace calm::plan {

struct Certificate {
  Rule rule{};
  Path place{};          ///< of the node that was rewritten, in the plan as it was then
  std::string before{};  ///< that node, as print.hpp writes it
  std::string after{};   ///< what stands there now
  Conditions claimed{};  ///< were found to hold

  friend bool operator==(const Certificate&, const Certificate&) = default;
};

/// Gives: the rule and the place, both nodes and the conditions, a line each.
std::string to_string(const Certificate& certificate);

/// Gives: `independence, budget`.
std::string to_string(Conditions conditions);

}  // namespace calm::plan
