#include "calm/time/interval.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "calm/cx/scope.hpp"
#include "calm/lab/everywhere.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/lab.hpp"
#include "tests/both_worlds.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

constexpr Duration tick_ms(std::int64_t count) { return Duration::milliseconds(count); }

struct TickSeen {
  std::int64_t due;
  std::int64_t now;
  std::uint64_t missed;
  friend bool operator==(const TickSeen&, const TickSeen&) = default;
};

/// What holds of a tick that was taken at that time and of the next one, however late they come.
void expect_next(MissedTicks how, Tick tick, Time taken, Time next) {
  const Time in_step = tick.due + tick_ms(10);
  if (how == MissedTicks::burst) {
    EXPECT_EQ(next, in_step);
  } else if (how == MissedTicks::skip) {
    EXPECT_EQ(next, in_step + tick_ms(10) * static_cast<std::int64_t>(tick.missed));
  } else {
    EXPECT_TRUE(next >= in_step && next <= taken + tick_ms(10)) << to_string(next) << " after " << to_string(taken);
  }
  if (how != MissedTicks::skip) {
    EXPECT_EQ(tick.missed, 0U);
  }
}

/// Takes six ticks of 10 ms and is busy for 35 ms after the second.
std::vector<TickSeen> ticks_with_a_pause(MissedTicks missed) {
  std::vector<TickSeen> seen;
  const auto report = lab::run({}, [&](Cx cx) -> Task<void> {
    Interval interval(cx, tick_ms(10), missed);
    for (int i = 0; i < 6; ++i) {
      const Time due = interval.next();
      const Tick tick = co_await interval.tick(cx);
      EXPECT_EQ(tick.due, due);
      EXPECT_GE(cx.now(), due);
      expect_next(missed, tick, cx.now(), interval.next());
      seen.push_back({(tick.due - Time()).ns() / 1'000'000, (cx.now() - Time()).ns() / 1'000'000, tick.missed});
      if (i == 1) co_await sleep(cx, tick_ms(35));
    }
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  return seen;
}

/// Takes them, and in the lab compares what they were with this.
void expect_ticks(MissedTicks missed, const std::vector<TickSeen>& in_the_lab) {
  const std::vector<TickSeen> seen = ticks_with_a_pause(missed);
  EXPECT_EQ(seen.size(), in_the_lab.size());
  if (in_lab()) {
    EXPECT_EQ(seen, in_the_lab);
  }
}

TEST(Interval, burst_gives_every_tick_and_catches_up) {
  expect_ticks(MissedTicks::burst,
               (std::vector<TickSeen>{{10, 10, 0}, {20, 20, 0}, {30, 55, 0}, {40, 55, 0}, {50, 55, 0}, {60, 60, 0}}));
}

TEST(Interval, delay_counts_the_next_period_from_the_late_tick) {
  expect_ticks(MissedTicks::delay,
               (std::vector<TickSeen>{{10, 10, 0}, {20, 20, 0}, {30, 55, 0}, {65, 65, 0}, {75, 75, 0}, {85, 85, 0}}));
}

TEST(Interval, skip_leaves_out_what_was_missed_and_keeps_the_beat) {
  expect_ticks(MissedTicks::skip,
               (std::vector<TickSeen>{{10, 10, 0}, {20, 20, 0}, {30, 55, 2}, {60, 60, 0}, {70, 70, 0}, {80, 80, 0}}));
}

Task<void> ticks_until(CxOf<cap::time> cx, Interval& interval, int& ticks) {
  for (;;) {
    co_await interval.tick(cx);
    ++ticks;
  }
}

TEST(Interval, CAN_13_a_cancelled_tick_has_consumed_nothing) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Interval interval(cx, tick_ms(10));
    const Time start = interval.next() - tick_ms(10);
    int ticks = 0;
    const Outcome<void> end = co_await outcome(ticks_until(cx.with_deadline(cx.now() + tick_ms(15)), interval, ticks));
    EXPECT_TRUE(end.is_cancelled());
    if (in_lab()) {  // on workers who is late may see the deadline first
      EXPECT_EQ(ticks, 1);
    }
    const Tick tick = co_await interval.tick(cx);
    EXPECT_EQ(tick.due, start + tick_ms(10) * (ticks + 1));
    EXPECT_TRUE(comes_at(cx.now(), tick.due));
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
}

/// Two tasks with intervals of their own that meet every 6 ms.
Task<void> two_intervals(Cx cx) {
  const auto body = [](Scope& scope) -> Task<void> {
    const auto ticks = [](Cx inner, std::int64_t period, int count) -> Task<void> {
      const Time start = inner.now();  // not 0 where the clock went on before the task began
      Interval interval(inner, tick_ms(period));
      for (int i = 1; i <= count; ++i) {
        const Tick tick = co_await interval.tick(inner);
        EXPECT_EQ(tick.due, start + tick_ms(period * i));
        EXPECT_GE(inner.now(), tick.due);
      }
    };
    auto fast = co_await scope.spawn(ticks, std::int64_t{2}, 3);
    auto slow = co_await scope.spawn(ticks, std::int64_t{3}, 2);
  };
  co_await scope(cx, body);
}

TEST(Interval, TMR_3_ticks_are_never_early_under_every_schedule_and_every_cancel) {
  const lab::ExploreReport report = lab::explore(two_intervals, {.explore_time = true});
  EXPECT_TRUE(report.ok() && report.exhausted()) << report;
  const auto cancels = lab::cancel_everywhere({}, two_intervals);
  EXPECT_TRUE(cancels.is_clean()) << to_string(cancels);
  EXPECT_EQ(cancels.points_hit, cancels.points_seen);
}

TEST(Interval, BUD_1_ticks_at_the_last_instant_do_not_wrap) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Interval interval(cx, Duration::max(), MissedTicks::skip);
    const auto wait = [](Cx inner, Interval& ticks) -> Task<void> { co_await ticks.tick(inner); };
    const Outcome<void> end = co_await outcome(wait(cx, interval));
    EXPECT_TRUE(end.is_err());
    EXPECT_EQ(end.error().code(), Errc::duration_exceeded);
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
