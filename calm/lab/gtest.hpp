// gtest.hpp — GoogleTest and the lab: a run that is not clean fails the test and prints the command that repeats it.
// Laws:    LAB-3
// Threads: the test's
// Cancel:  not applicable
//
//   TEST(Transfer, loses_nothing) {
//     const auto report = calm::lab::run(calm::lab::from_environment({.seed = 7}), transfer);
//     EXPECT_LAB_CLEAN(report);
//   }
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <climits>
#include <cstddef>
#include <string>

#include <unistd.h>

#include "calm/lab/environment.hpp"
#include "calm/lab/everywhere.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/report.hpp"

namespace calm::lab {

/// Gives: the program that runs the tests.
inline std::string path_of_this_program() {
  std::array<char, PATH_MAX> path{};
  const auto size = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  return size > 0 ? std::string(path.data(), static_cast<std::size_t>(size)) : "THE_TEST";
}

/// Gives: the shell command that makes this run of the running test again. Needs: the test takes its configuration from
///        from_environment().
inline std::string replay_command(const LabReport& report) {
  std::string command = "CALM_LAB_SCHEDULE=" + report.replay_word() + " " + path_of_this_program();
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  if (test == nullptr) return command;
  return command.append(" --gtest_filter=").append(test->test_suite_name()).append(".").append(test->name());
}

/// For EXPECT_LAB_CLEAN.
inline testing::AssertionResult is_lab_clean(const LabReport& report) {
  if (report.is_clean()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << to_string(report) << "\n  replay: " << replay_command(report) << "\n";
}

/// The same for a campaign.
inline testing::AssertionResult is_lab_clean(const EverywhereReport& report) {
  if (report.is_clean()) return testing::AssertionSuccess();
  testing::AssertionResult result = testing::AssertionFailure() << to_string(report);
  for (const LabReport& failure : report.failures) result << "\n  replay: " << replay_command(failure);
  return result << "\n";
}

/// The same for an exploration: clean when no execution had a problem. Whether all were visited is for report.exhausted().
inline testing::AssertionResult is_lab_clean(const ExploreReport& report) {
  if (report.ok()) return testing::AssertionSuccess();
  testing::AssertionResult result = testing::AssertionFailure() << to_string(report);
  if (report.failure) result << "\n  replay: " << replay_command(*report.failure);
  return result << "\n";
}

}  // namespace calm::lab

// NOLINTBEGIN(readability-identifier-naming): they stand beside those of GoogleTest
#define EXPECT_LAB_CLEAN(report) EXPECT_TRUE(::calm::lab::is_lab_clean(report))
#define ASSERT_LAB_CLEAN(report) ASSERT_TRUE(::calm::lab::is_lab_clean(report))
// NOLINTEND(readability-identifier-naming)
