#include "calm/model/time.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <limits>
#include <ratio>

#include "tests/law/generators.hpp"

namespace calm {
namespace {

using namespace std::chrono_literals;

TEST(DurationValue, takes_standard_durations_exactly) {
  static_assert(Duration(5ns).ns() == 5);
  static_assert(Duration(5us) == Duration::microseconds(5));
  static_assert(Duration(5ms) == Duration::milliseconds(5));
  static_assert(Duration(2h).ns() == 7'200'000'000'000);
  static_assert(Duration(1.5s) == Duration::milliseconds(1500));
  static_assert(Duration(-3s) == Duration::seconds(-3));
  static_assert(Duration(std::chrono::duration<std::int64_t, std::pico>(1999)).ns() == 1);
  static_assert(Duration(std::chrono::duration<std::int64_t, std::pico>(-1999)).ns() == -1);
  static_assert(Duration(std::chrono::duration<std::int64_t, std::ratio<1, 3>>(1)).ns() == 333'333'333);
  static_assert(Duration(std::chrono::nanoseconds::max()).ns() == INT64_MAX);
  static_assert(Duration(std::chrono::nanoseconds::min()).ns() == INT64_MIN);
  static_assert(Duration(std::chrono::duration<std::int64_t, std::ratio<INTMAX_MAX, INTMAX_MAX - 1>>(5)).ns() ==
                5'000'000'000);
}

TEST(DurationValue, goes_back_to_standard_durations) {
  static_assert(Duration::milliseconds(1500).to<std::chrono::seconds>() == 1s);
  static_assert(Duration::milliseconds(1500).to<std::chrono::milliseconds>() == 1500ms);
  static_assert(Duration::seconds(7200).to<std::chrono::hours>() == 2h);
  EXPECT_DOUBLE_EQ(Duration::milliseconds(1500).to<std::chrono::duration<double>>().count(), 1.5);
}

TEST(DurationValue, saturates_instead_of_overflowing) {
  EXPECT_EQ(Duration(std::chrono::hours::max()), Duration::max());
  EXPECT_EQ(Duration(std::chrono::hours::min()), Duration::min());
  EXPECT_EQ(Duration(std::chrono::duration<double>(1e300)), Duration::max());
  EXPECT_EQ(Duration(std::chrono::duration<double>(-std::numeric_limits<double>::infinity())), Duration::min());
  EXPECT_EQ(Duration(std::chrono::duration<std::uint64_t>(UINT64_MAX)), Duration::max());
  EXPECT_EQ(Duration::max() + Duration::nanoseconds(1), Duration::max());
  EXPECT_EQ(Duration::min() - Duration::nanoseconds(1), Duration::min());
  EXPECT_EQ(Duration::seconds(INT64_MAX), Duration::max());
  EXPECT_EQ(Duration::nanoseconds(2) * INT64_MIN, Duration::min());
  EXPECT_DEATH(Duration(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())), "law: +BUD-1");
}

TEST(TimeValue, stays_between_zero_and_the_last_instant) {
  EXPECT_EQ(Time() + Duration::nanoseconds(-1), Time());
  EXPECT_EQ(Time::max() + Duration::max(), Time::max());
  EXPECT_EQ(Time() - Duration::nanoseconds(1), Time());
  EXPECT_EQ(Time::max() - Duration::min(), Time::max());
  EXPECT_EQ(Time::max() - Time(), Duration::max());
  EXPECT_EQ(Time() - Time::max(), Duration::min());
  EXPECT_DEATH((void)Time::at_ns(UINT64_MAX), "law: +BUD-1");
}

RC_GTEST_PROP(TimeValue, adding_and_taking_away_agree_while_nothing_saturates,
              (std::int32_t before, std::uint32_t start)) {
  const Time time = Time::at_ns(std::uint64_t{start} + (std::uint64_t{1} << 40));
  const Duration step = Duration::nanoseconds(before);
  RC_ASSERT((time + step) - time == step);
  RC_ASSERT((time + step) - step == time);
  RC_ASSERT(((time + step) < time) == (step < Duration()));
}

RC_GTEST_PROP(TimeValue, arithmetic_keeps_the_order, (Time a, Time b, Duration d)) {
  RC_PRE(a <= b);
  RC_ASSERT(a + d <= b + d);
  RC_ASSERT(a - b <= Duration());
}

TEST(DeadlineValue, tells_what_is_left) {
  const Deadline deadline = Time::at_ns(100);
  EXPECT_EQ(deadline.left(Time::at_ns(40)), Duration::nanoseconds(60));
  EXPECT_EQ(deadline.left(Time::at_ns(100)), Duration());
  EXPECT_EQ(deadline.left(Time::at_ns(200)), Duration());
  EXPECT_EQ(Deadline::none().left(Time()), Duration::max());
  EXPECT_DEATH((void)Deadline::none().time(), "law: +BUD-1");
}

TEST(TimeText, uses_the_largest_exact_unit) {
  EXPECT_EQ(to_string(Duration()), "0s");
  EXPECT_EQ(to_string(Duration::seconds(2)), "2s");
  EXPECT_EQ(to_string(Duration::milliseconds(1500)), "1500ms");
  EXPECT_EQ(to_string(Duration::microseconds(-3)), "-3us");
  EXPECT_EQ(to_string(Duration::nanoseconds(1)), "1ns");
  EXPECT_EQ(to_string(Duration::max()), "for ever");
  EXPECT_EQ(to_string(Time()), "0s");
  EXPECT_EQ(to_string(Time::at_ns(1'250'000'000)), "1.25s");
  EXPECT_EQ(to_string(Time::at_ns(1)), "0.000000001s");
  EXPECT_EQ(to_string(Deadline::none()), "none");
  EXPECT_EQ(to_string(Deadline(Time::at_ns(3'000'000'000))), "3s");
}

}  // namespace
}  // namespace calm
