// check.hpp — verifies certificates: from the plan that was, what a certificate says, and nothing that the rewriter computed.
// Laws:    COM-4
// Threads: pure functions
// Cancel:  not applicable
//
// It has its own idea of every rule, as a relation between two trees, and of every condition. It shares the tree, its text
// and the table of rules with the rewriter, and no code of it.
#pragma once

#include <span>

#include "calm/model/outcome.hpp"
#include "calm/plan/certificate.hpp"
#include "calm/plan/plan.hpp"

namespace calm::plan {

/// Gives: the plan after the rewrite that the certificate tells of.
/// Fails: invalid_argument, with what is wrong with it.
Outcome<Plan> verify(const Plan& before, const Certificate& certificate);

/// Verifies one certificate after the other, and that they lead from one plan to the other.
/// Fails: invalid_argument, with the number of the certificate and what is wrong with it.
Outcome<void> verify_all(const Plan& before, std::span<const Certificate> certificates, const Plan& after);

}  // namespace calm::plan
