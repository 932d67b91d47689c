// struck.hpp — a cancel at every await point of a program that counts for itself: what it counted must come out right.
// Laws:    none of its own
// Threads: one
// Cancel:  of the task and of its innermost scope, everywhere, under several seeds
#pragma once

#include <cstdint>
#include <string>

#include "calm/lab/everywhere.hpp"
#include "calm/lab/gtest.hpp"
#include "calm/lab/report.hpp"
#include "calm/model/outcome.hpp"

namespace calm::contest {

/// Needs: a program that ends with an error when its counts are wrong; Ok and Cancelled are fine.
template <class F>
void strike_and_count(F program, std::uint64_t seeds = 6) {
  const auto check = [](const lab::LabReport& report) {
    return report.end.is_ok() || report.end.is_cancelled() ? std::string() : "it ended with " + report.end.explain();
  };
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    EXPECT_LAB_CLEAN(lab::cancel_everywhere({.seed = seed}, program, {.check = check}));
    EXPECT_LAB_CLEAN(lab::cancel_scopes_everywhere({.seed = seed}, program, {.check = check}));
  }
}

}  // namespace calm::contest
