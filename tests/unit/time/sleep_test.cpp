// Sleeps and deadlines over the whole reach of the wheel, in the lab and on the calling thread.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "calm/cx/port.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/lab/everywhere.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/lab.hpp"
#include "calm/runtime/run.hpp"
#include "tests/both_worlds.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

constexpr Duration sleep_day = Duration::seconds(24 * 3600);

template <class F>
void sleep_in_lab(F program) {
  const auto report = lab::run({}, std::move(program));
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_TRUE(report.end.is_ok()) << report.end.explain();
}

Task<void> sleeps_for(CxOf<cap::time> cx, Duration how_long) { co_await sleep(cx, how_long); }

TEST(Sleep, TMR_2_more_than_7_days_is_refused_with_a_clear_error) {
  sleep_in_lab([](Cx cx) -> Task<void> {
    const Outcome<void> end = co_await outcome(sleeps_for(cx, sleep_day * 8));
    EXPECT_TRUE(end.is_err());
    EXPECT_EQ(end.error().code(), Errc::duration_exceeded);
    EXPECT_NE(end.error().explain().find("7 days"), std::string::npos) << end.error().explain();
    EXPECT_NE(end.error().explain().find("ask for clamping"), std::string::npos) << end.error().explain();
    EXPECT_TRUE(comes_at(cx.now(), Time()));
  });
}

TEST(Sleep, TMR_2_clamping_is_asked_for_and_ends_after_7_days) {
  sleep_in_lab([](Cx cx) -> Task<void> {
    co_await sleep(cx, sleep_day * 30, clock::Beyond::clamp);
    EXPECT_EQ(cx.now(), Time() + sleep_day * 7);
  });
}

TEST(Sleep, TMR_2_a_sleep_beyond_24_hours_ends_at_its_time) {
  sleep_in_lab([](Cx cx) -> Task<void> {
    const auto body = [](Scope& scope) -> Task<void> {
      auto week = co_await scope.spawn(sleeps_for, sleep_day * 7);
      auto day = co_await scope.spawn(sleeps_for, sleep_day);
      co_await sleep(scope.cx(), sleep_day * 3);
      EXPECT_EQ(scope.cx().now(), Time() + sleep_day * 3);
    };
    co_await scope(cx, body);
    EXPECT_EQ(cx.now(), Time() + sleep_day * 7);
  });
}

TEST(Sleep, TMR_2_a_deadline_more_than_7_days_away_is_kept_to_the_nanosecond) {
  sleep_in_lab([](Cx cx) -> Task<void> {
    const Duration limit = sleep_day * 30 + Duration::nanoseconds(1);
    const auto narrowed = cx.with_deadline(cx.now() + limit);
    const auto days = [](Cx inner) -> Task<void> {
      for (;;) co_await sleep(inner, sleep_day * 7);
    };
    const Outcome<void> end = co_await outcome(days(narrowed));
    EXPECT_TRUE(end.is_cancelled());
    EXPECT_EQ(cx.now(), Time() + limit);
  });
}

/// Tasks whose sleeps end in one millisecond, at one time and at others.
Task<void> sleeps_in_one_tick(Cx cx) {
  const auto body = [](Scope& scope) -> Task<void> {
    auto first = co_await scope.spawn(sleeps_for, Duration::microseconds(1700));
    auto second = co_await scope.spawn(sleeps_for, Duration::microseconds(1200));
    co_await sleep(scope.cx(), Duration::microseconds(1700));
  };
  co_await scope(cx, body);
  EXPECT_GE(cx.now(), Time() + Duration::microseconds(1700));
}

TEST(Sleep, TMR_3_sleeps_in_one_millisecond_end_in_order_under_every_schedule) {
  for (const bool time : {false, true}) {
    if (time && !in_lab()) continue;  // real time needs no exploration
    const lab::ExploreReport report = lab::explore(sleeps_in_one_tick, {.explore_time = time});
    EXPECT_TRUE(report.ok() && report.exhausted()) << report;
  }
}

TEST(Sleep, CAN_13_a_sleep_cancelled_at_any_await_point_leaves_no_alarm) {
  const auto cancels = lab::cancel_everywhere({}, sleeps_in_one_tick);
  EXPECT_TRUE(cancels.is_clean()) << to_string(cancels);
  EXPECT_EQ(cancels.points_hit, cancels.points_seen);
}

TEST(Sleep, QUI_4_timers_fire_while_a_region_drains_and_clean_up_may_arm_them) {
  std::vector<Time> fired;
  sleep_in_lab([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto clean_up = [&](Cx inner) -> Task<void> {
        co_await sleep(inner, Duration::milliseconds(5));
        fired.push_back(inner.now());
      };
      co_await scope.defer_async(clean_up);
      auto child = co_await scope.spawn(sleeps_for, Duration::seconds(300));
      scope.cancel("enough");
    };
    const Outcome<void> end = co_await outcome(scope(cx, body));
    EXPECT_TRUE(end.is_cancelled());
  });
  ASSERT_EQ(fired.size(), 1U);
  EXPECT_TRUE(comes_at(fired[0], Time() + Duration::milliseconds(5)));
}

TEST(Sleep, TMR_3_on_the_calling_thread_sleeps_end_in_order_and_never_early) {
  std::vector<int> order;
  const auto end = block_on([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto one = [&](Cx inner, int number, Time until) -> Task<void> {
        co_await sleep_until(inner, until);
        EXPECT_GE(inner.now(), until);
        order.push_back(number);
      };
      const Time start = scope.cx().now();
      auto late = co_await scope.fiber(one, 3, start + Duration::microseconds(2300));
      auto soon = co_await scope.fiber(one, 1, start + Duration::microseconds(300));
      auto then = co_await scope.fiber(one, 2, start + Duration::microseconds(2299));
    };
    co_await scope(cx, body);
  });
  EXPECT_TRUE(end.is_ok());
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
