// Compiled with slow checks whatever the build says; see slow_off_test.cpp.
#undef CALM_SLOW_CHECKS
#define CALM_SLOW_CHECKS 1
#include <gtest/gtest.h>

#include "tests/unit/check/thrown_report.hpp"

namespace calm::check {
namespace {

TEST(Slow, switched_on_reports_like_an_invariant) {
  const int live = 3;
  const auto report = report_of([] { CALM_SLOW(REG_4, live == 2, live); });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->kind(), Kind::slow);
  EXPECT_EQ(report->law(), "REG-4");
  EXPECT_EQ(report->values(), "live = 3");
}

}  // namespace
}  // namespace calm::check
