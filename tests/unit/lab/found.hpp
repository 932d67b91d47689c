// found.hpp — looks for a problem of a report, for tests on its text.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "calm/lab/report.hpp"

namespace calm::lab {

/// Gives: the text of the first problem of this oracle; empty when it found none.
inline std::string text_of(const LabReport& report, Oracle oracle) {
  for (const Problem& problem : report.problems) {
    if (problem.oracle == oracle) return problem.text;
  }
  return {};
}

/// Gives: how many problems this oracle found.
inline int count_of(const LabReport& report, Oracle oracle) {
  int count = 0;
  for (const Problem& problem : report.problems) count += problem.oracle == oracle ? 1 : 0;
  return count;
}

}  // namespace calm::lab

/// The text has all of these, in any order.
#define EXPECT_SAYS(text, part) \
  EXPECT_NE((text).find(part), std::string::npos) << "missing: " << (part) << "\nin: " << (text)
