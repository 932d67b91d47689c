// rewrite.hpp — changes a plan into one that means the same: one rule at one place, or all that are allowed everywhere.
// Laws:    COM-3, COM-4
// Threads: pure functions
// Cancel:  not applicable
//
// A rule is used where its switch is on, the tree has its form and every condition in rule_table holds; else a refusal says
// which of these it was. Every use leaves a certificate; check.hpp verifies those without any of this.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calm/model/outcome.hpp"
#include "calm/plan/certificate.hpp"
#include "calm/plan/plan.hpp"
#include "calm/plan/rule.hpp"

namespace calm::plan {

/// Why a rule was not used.
struct Refusal {
  enum class Kind : std::uint8_t { policy, form, condition };

  Rule rule{};
  Path place{};
  Kind kind{};
  std::optional<Condition> condition{};  ///< that does not hold, of Kind::condition
  std::string who{};                     ///< what stands against it
};

/// Gives: what, who, law and next, a line each.
std::string to_string(const Refusal& refusal);

/// A plan after one rewrite.
struct Rewritten {
  Plan plan;
  Certificate certificate;
};

/// Uses the rule once, at that place.
/// Fails: with the first thing that stands against it.
Outcome<Rewritten, Refusal> apply(const Plan& plan, Rule rule, const Path& place, Policy policy = Policy::all());

/// A plan that no allowed rule changes any more.
struct Simplified {
  Plan plan;
  std::vector<Certificate> certificates{};  ///< in the order in which the rules were used
  std::vector<Refusal> refusals{};          ///< where a rule has its form and a condition does not hold, in the end
};

/// Uses every allowed rule as long as one can be used: the outermost place first, then from left to right, rules in the order
/// of rule_table. The same plan and policy give the same result.
Simplified simplify(const Plan& plan, Policy policy);

}  // namespace calm::plan
