#include "calm/check/require.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <type_traits>
#include <utility>

#include "tests/unit/check/thrown_report.hpp"

namespace calm::check {
namespace {

constexpr int half_line = __LINE__ + 2;
constexpr int half(int number) {
  CALM_REQUIRE(I2, number % 2 == 0, number);
  CALM_INVARIANT(REG_4, number / 2 * 2 == number, number, number / 2);
  return number / 2;
}

// What a compiler says about half(number) in a constant expression.
template <int number>
concept HalfIsConstant = requires { typename std::integral_constant<int, half(number)>; };

static_assert(half(8) == 4);
static_assert(HalfIsConstant<8>);
static_assert(!HalfIsConstant<7>, "a failed check in a constant expression must not compile");

template <class T>
T positive(T number) noexcept(false) {
  CALM_REQUIRE(BUD_1, number > T{}, number);
  return number;
}

void check_without_exceptions(bool condition) noexcept { CALM_INVARIANT(I2, condition, condition); }

int sum(int a, int b) { return a + b; }

TEST(Require, a_failed_requirement_names_law_values_and_place) {
  const auto report = report_of([] { half(7); });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->kind(), Kind::require);
  EXPECT_EQ(report->law(), "I2");
  EXPECT_EQ(report->condition(), "number % 2 == 0");
  EXPECT_EQ(report->values(), "number = 7");
  EXPECT_EQ(report->file(), "tests/unit/check/require_test.cpp");
  EXPECT_EQ(report->line(), half_line);
  EXPECT_EQ(report->function(), "check::half");
}

TEST(Require, a_failed_invariant_names_its_law_with_a_dash) {
  const auto report = report_of([] { CALM_INVARIANT(REG_4, 1 > 2); });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->kind(), Kind::invariant);
  EXPECT_EQ(report->law(), "REG-4");
  EXPECT_EQ(report->values(), "");
}

TEST(Require, a_passing_check_reports_nothing) {
  EXPECT_FALSE(report_of([] { EXPECT_EQ(half(10), 5); }));
}

TEST(Require, values_are_evaluated_only_on_failure) {
  int evaluated = 0;
  const auto check = [&evaluated](bool condition) { CALM_REQUIRE(I2, condition, ++evaluated); };
  EXPECT_FALSE(report_of([&] { check(true); }));
  EXPECT_EQ(evaluated, 0);
  EXPECT_TRUE(report_of([&] { check(false); }));
  EXPECT_EQ(evaluated, 1);
}

TEST(Require, the_condition_is_evaluated_once) {
  int evaluated = 0;
  CALM_REQUIRE(I2, ++evaluated != 0);
  EXPECT_EQ(evaluated, 1);
}

TEST(Require, six_values_are_split_at_the_outer_commas_only) {
  const int a = 1;
  const int b = 2;
  const auto report =
      report_of([&] { CALM_REQUIRE(I2, a > b, sum(a, b), a, b, (std::pair{a, b}.second), 'b', "a, b"); });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->values(), "sum(a, b) = 3, a = 1, b = 2, (std::pair{a, b}.second) = 2, 'b' = 98, a, b");
}

TEST(Require, a_check_is_one_statement) {
  bool other = false;
  const auto branch = [&other](bool checked) {
    if (checked)
      CALM_REQUIRE(I2, checked, other);
    else
      other = true;
  };
  branch(true);
  EXPECT_FALSE(other);
  branch(false);
  EXPECT_TRUE(other);
}

TEST(Require, a_condition_may_be_anything_an_if_takes) {
  const auto owner = std::make_unique<int>(1);
  CALM_REQUIRE(I2, owner);
  CALM_REQUIRE(I2, owner.get());
  EXPECT_TRUE(report_of([] { CALM_REQUIRE(I2, std::unique_ptr<int>()); }));
}

TEST(Require, templates_show_the_value_of_their_instance) {
  const auto report = report_of([] { positive(-1.5); });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->values(), "number = -1.5");
  EXPECT_EQ(report->function(), "check::positive");
}

TEST(Require, a_thread_can_report_again_after_a_handler_threw) {
  EXPECT_TRUE(report_of([] { half(1); }));
  EXPECT_TRUE(report_of([] { half(3); }));
}

TEST(RequireDeathTest, a_throwing_handler_ends_the_program_at_a_noexcept_function) {
  check_without_exceptions(true);
  EXPECT_DEATH(
      {
        const ScopedHandler handler(throw_report);
        try {
          check_without_exceptions(false);
        } catch (...) {
          _exit(0);  // reached only if the exception got through
        }
      },
      "");
}

}  // namespace
}  // namespace calm::check
