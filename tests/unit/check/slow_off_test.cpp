// Compiled without slow checks whatever the build says. Includes no other header of calm that could use CALM_SLOW in an
// inline function: that would then exist in two versions.
#undef CALM_SLOW_CHECKS
#include <gtest/gtest.h>

#include "tests/unit/check/thrown_report.hpp"

namespace calm::check {
namespace {

constexpr int guarded(int number) {
  CALM_SLOW(I2, number > 0, number);
  return number;
}
static_assert(guarded(-1) == -1);

TEST(Slow, switched_off_evaluates_neither_condition_nor_values) {
  int evaluated = 0;
  const int used_only_here = 3;
  EXPECT_FALSE(report_of([&] { CALM_SLOW(I2, ++evaluated == used_only_here, ++evaluated); }));
  EXPECT_EQ(evaluated, 0);
}

TEST(Slow, switched_off_is_still_one_statement) {
  bool other = false;
  if (other)
    CALM_SLOW(I2, false);
  else
    other = true;
  EXPECT_TRUE(other);
}

}  // namespace
}  // namespace calm::check
