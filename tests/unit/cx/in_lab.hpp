// in_lab.hpp — what the tests of room cx share: a run in the lab, and short times.
// Laws:    none of its own
// Threads: one
// Cancel:  not applicable
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "calm/lab/lab.hpp"
#include "calm/model/time.hpp"
#include "tests/both_worlds.hpp"

namespace calm {

constexpr Duration ms(int count) { return Duration::milliseconds(count); }

/// Runs the program in the lab.
template <class F>
lab::LabReport run(F program, std::uint64_t seed = 1) {
  return lab::run({.seed = seed}, std::move(program));
}

/// Runs the program in the lab; nothing may be wrong with the run, and it ends well.
template <class F>
void run_well(F program) {
  const auto report = run(std::move(program));
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_TRUE(report.end.is_ok()) << report.end.explain();
}

}  // namespace calm
