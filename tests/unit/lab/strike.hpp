// strike.hpp — for tests in which every allocation fails in turn: how the runs ended, and that all of them were quiet.
// Laws:    none of its own
// Threads: one
// Cancel:  not applicable
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "calm/lab/everywhere.hpp"
#include "calm/lab/lab.hpp"

namespace calm::lab {

/// How each run ended.
struct Ends {
  int ok = 0;
  int exhausted = 0;
  int panicked = 0;
  int other = 0;

  std::string count(const LabReport& report) {
    if (report.end.is_ok()) {
      ++ok;
    } else if (report.end.is_err() && report.end.error().code() == Errc::resource_exhausted) {
      ++exhausted;
    } else if (report.end.is_panicked()) {
      ++panicked;
    } else {
      ++other;
    }
    return {};
  }
};

/// Runs the program once for each of its allocations, which fails; each of these runs is quiet at its end.
EverywhereReport strike(auto program, Ends& ends) {
  EverywhereOptions options;
  options.check = [&ends](const LabReport& report) { return ends.count(report); };
  EverywhereReport report = fail_allocations_everywhere({}, program, options);
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_TRUE(report.sees_new);
  EXPECT_GT(report.points_seen, 0U);
  EXPECT_EQ(report.points_hit, report.points_seen);
  EXPECT_EQ(ends.ok + ends.exhausted + ends.panicked + ends.other, static_cast<int>(report.points_seen) + 1);
  return report;
}

}  // namespace calm::lab
