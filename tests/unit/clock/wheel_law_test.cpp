// The laws of timers, one by one, on the wheel.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "calm/clock/wheel.hpp"

namespace calm::clock {
namespace {

constexpr std::uint64_t ms_ns = Wheel::tick_ns;
constexpr std::uint64_t day_ns = 24ULL * 3600 * 1'000'000'000;

Time at_ms(std::uint64_t ms) { return Time::at_ns(ms * ms_ns); }

/// Alarms with their wheel; what is left is disarmed at the end.
struct WheelBench {
  explicit WheelBench(Coalescing coalescing = {}) : wheel(coalescing) {}
  ~WheelBench() {
    for (Alarm& alarm : alarms) (void)wheel.disarm(alarm);
  }
  WheelBench(const WheelBench&) = delete;
  WheelBench& operator=(const WheelBench&) = delete;

  Alarm& arm(Time at, Time now = {}) {
    Alarm& alarm = alarms.emplace_back();
    alarm.at = at;
    EXPECT_TRUE(wheel.arm(alarm, now).is_ok());
    wheel.verify();
    return alarm;
  }
  /// Gives: the times of all that go off by now.
  std::vector<std::uint64_t> fire(Time now) {
    std::vector<std::uint64_t> times;
    while (const Alarm* const alarm = wheel.take_due(now)) times.push_back(alarm->at.ns());
    wheel.verify();
    return times;
  }

  std::deque<Alarm> alarms;
  Wheel wheel;
};

using Times = std::vector<std::uint64_t>;

TEST(WheelLaw, TMR_1_an_alarm_stands_in_the_slot_and_level_of_its_distance) {
  constexpr std::array<std::uint64_t, 4> resolution = {1, 256, 65'536, 16'777'216};
  for (const std::uint64_t now : {std::uint64_t{0}, std::uint64_t{255}, std::uint64_t{77'777'777}}) {
    WheelBench bench;
    for (std::uint64_t level = 0; level < 4; ++level) {
      const std::uint64_t last = level == 3 ? day_ns / ms_ns : resolution[level] * 256 - 1;
      for (const std::uint64_t away : {resolution[level], last}) {
        const Alarm& alarm = bench.arm(at_ms(now + away), at_ms(now));
        EXPECT_EQ(alarm.level, level) << now << " + " << away;
        EXPECT_EQ(alarm.slot, (now + away) / resolution[level] % 256) << now << " + " << away;
      }
    }
  }
}

TEST(WheelLaw, TMR_1_a_jump_over_every_boundary_of_the_levels_fires_what_it_passes_and_nothing_else) {
  for (const std::uint64_t span : {std::uint64_t{256}, std::uint64_t{65'536}, std::uint64_t{16'777'216}}) {
    for (const std::uint64_t start : {std::uint64_t{0}, std::uint64_t{1}, span - 1, span, 255 * span + span - 1}) {
      WheelBench bench;
      const Time now = at_ms(start);
      EXPECT_TRUE(bench.fire(now).empty());
      const std::array<Time, 3> times = {at_ms(start + span - 1), at_ms(start + span), at_ms(start + span + 1)};
      for (const Time at : times) bench.arm(at, now);
      EXPECT_EQ(bench.wheel.next(), times[0]);
      EXPECT_TRUE(bench.fire(times[0] - Duration::nanoseconds(1)).empty());
      EXPECT_EQ(bench.fire(times[1]), (Times{times[0].ns(), times[1].ns()}));
      EXPECT_EQ(bench.wheel.next(), times[2]);
      EXPECT_EQ(bench.fire(at_ms(start + 4 * span)), Times{times[2].ns()});
    }
  }
}

TEST(WheelLaw, TMR_2_beyond_24_hours_an_alarm_stands_in_the_heap_until_it_is_in_range) {
  WheelBench bench;
  const Alarm& near = bench.arm(Time::at_ns(day_ns));
  const Alarm& far = bench.arm(Time::at_ns(day_ns + ms_ns));
  EXPECT_EQ(near.level, 3);
  EXPECT_EQ(far.level, Wheel::overflow_level);
  EXPECT_EQ(bench.wheel.census().overflow, 1U);
  EXPECT_EQ(bench.wheel.next(), near.at);

  // It goes to the wheel when the whole bucket of 16 777.216 s is in range and the wheel is turned.
  constexpr std::uint64_t day_ms = day_ns / ms_ns;
  constexpr std::uint64_t bucket = (day_ms + 1) >> 24;
  const Time promotion = at_ms(((bucket + 1) << 24) - day_ms - 1);
  bench.arm(promotion, promotion - Duration::milliseconds(1));
  EXPECT_EQ(far.level, Wheel::overflow_level);
  EXPECT_EQ(bench.fire(promotion), Times{promotion.ns()});
  EXPECT_EQ(far.level, 3);
  EXPECT_EQ(bench.wheel.census().overflow, 0U);
  EXPECT_EQ(bench.fire(Time::at_ns(2 * day_ns)), (Times{near.at.ns(), far.at.ns()}));
}

TEST(WheelLaw, TMR_2_an_alarm_of_the_heap_may_be_earlier_than_one_that_came_to_the_wheel_later) {
  WheelBench bench;
  const Alarm& far = bench.arm(Time::at_ns(day_ns) + Duration::seconds(9 * 3600));
  const Time later = Time() + Duration::seconds(10 * 3600);
  EXPECT_TRUE(bench.fire(later).empty());
  ASSERT_EQ(far.level, Wheel::overflow_level);
  const Alarm& near = bench.arm(later + max_wheel, later);
  EXPECT_EQ(near.level, 3);
  EXPECT_EQ(bench.wheel.next(), far.at);
  EXPECT_EQ(bench.fire(near.at), (Times{far.at.ns(), near.at.ns()}));
}

TEST(WheelLaw, TMR_2_beyond_7_days_an_alarm_is_refused_and_nothing_has_changed) {
  WheelBench bench;
  const Time now = Time() + Duration::seconds(5);
  Alarm alarm;
  alarm.at = now + max_timer + Duration::nanoseconds(1);
  EXPECT_EQ(bench.wheel.arm(alarm, now), Errc::duration_exceeded);
  EXPECT_FALSE(alarm.is_armed());
  EXPECT_TRUE(bench.wheel.empty());
  alarm.at = Time::max();
  EXPECT_EQ(bench.wheel.arm(alarm, now), Errc::duration_exceeded);
  bench.arm(now + max_timer, now);
  EXPECT_EQ(bench.fire(now + max_timer), Times{(now + max_timer).ns()});
}

TEST(WheelLaw, TMR_2_clamping_is_asked_for_and_ends_after_7_days) {
  WheelBench bench;
  Alarm alarm;
  alarm.at = Time::max();
  EXPECT_TRUE(bench.wheel.arm(alarm, Time(), Beyond::clamp).is_ok());
  EXPECT_EQ(alarm.at, Time() + max_timer);
  EXPECT_EQ(bench.fire(Time() + max_timer), Times{alarm.at.ns()});
}

TEST(WheelLaw, TMR_3_times_inside_one_millisecond_fire_in_order_and_never_early) {
  WheelBench bench;
  for (const std::uint64_t ns : {900'000ULL, 100'000ULL, 500'000ULL, 1ULL, 999'999ULL}) {
    bench.arm(Time::at_ns(7 * ms_ns + ns));
  }
  EXPECT_TRUE(bench.fire(at_ms(7)).empty());
  EXPECT_EQ(bench.fire(Time::at_ns(7 * ms_ns + 1)), Times{7 * ms_ns + 1});
  EXPECT_EQ(bench.wheel.next(), Time::at_ns(7 * ms_ns + 100'000));
  EXPECT_EQ(bench.wheel.quiet_until(), bench.wheel.next());
  EXPECT_TRUE(bench.fire(Time::at_ns(7 * ms_ns + 99'999)).empty());
  EXPECT_EQ(bench.fire(Time::at_ns(7 * ms_ns + 899'999)), (Times{7 * ms_ns + 100'000, 7 * ms_ns + 500'000}));
  EXPECT_EQ(bench.fire(at_ms(8)), (Times{7 * ms_ns + 900'000, 7 * ms_ns + 999'999}));
}

TEST(WheelLaw, TMR_3_TMR_4_a_crowded_millisecond_fires_piece_by_piece_and_lets_go_of_any) {
  WheelBench bench;
  constexpr std::uint64_t begin = 7 * ms_ns;
  constexpr std::uint64_t apart = 997;
  for (std::uint64_t i = 0; i < 1000; ++i) (void)bench.arm(Time::at_ns(begin + (i * 7 % 1000) * apart));
  std::uint64_t fired = 0;
  std::uint64_t taken_back = 0;
  for (std::uint64_t now = begin; now < begin + ms_ns; now += 3001) {
    for (const std::uint64_t at : bench.fire(Time::at_ns(now))) {
      EXPECT_TRUE(at <= now && at + 3001 > now) << at << " at " << now;
      ++fired;
    }
    if (Alarm& alarm = bench.alarms[now % 1000]; alarm.is_armed()) {
      EXPECT_TRUE(bench.wheel.disarm(alarm));
      ++taken_back;
    }
  }
  EXPECT_GT(taken_back, 100U);
  EXPECT_EQ(fired + taken_back, 1000U);
  EXPECT_TRUE(bench.wheel.empty());
}

TEST(WheelLaw, TMR_3_equal_times_fire_in_the_order_of_arming_whichever_way_they_came_down) {
  WheelBench bench;
  const Time at = at_ms(70'000);
  const Alarm& first = bench.arm(at);  // level 2
  EXPECT_TRUE(bench.fire(at_ms(69'000)).empty());
  const Alarm& second = bench.arm(at, at_ms(69'000));  // level 1
  EXPECT_TRUE(bench.fire(at_ms(69'900)).empty());
  const Alarm& third = bench.arm(at, at_ms(69'900));  // level 0
  EXPECT_EQ(third.level, 0);
  EXPECT_EQ(bench.wheel.take_due(at), &first);
  EXPECT_EQ(bench.wheel.take_due(at), &second);
  EXPECT_EQ(bench.wheel.take_due(at), &third);
  EXPECT_EQ(bench.wheel.take_due(at), nullptr);
}

TEST(WheelLaw, TMR_3_a_batch_is_ordered_also_when_an_alarm_for_the_past_joins_it) {
  WheelBench bench;
  bench.arm(at_ms(10));
  bench.arm(at_ms(30));
  const Alarm* const first = bench.wheel.take_due(at_ms(40));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->at, at_ms(10));
  bench.arm(at_ms(20), at_ms(40));
  EXPECT_EQ(bench.fire(at_ms(40)), (Times{20 * ms_ns, 30 * ms_ns}));
}

TEST(WheelLaw, TMR_4_a_second_disarm_and_one_after_the_fire_are_refused) {
  WheelBench bench;
  Alarm& cancelled = bench.arm(at_ms(5));
  EXPECT_TRUE(bench.wheel.disarm(cancelled));
  EXPECT_FALSE(bench.wheel.disarm(cancelled));
  Alarm& fired = bench.arm(at_ms(5));
  EXPECT_EQ(bench.wheel.take_due(at_ms(5)), &fired);
  EXPECT_FALSE(bench.wheel.disarm(fired));
  EXPECT_EQ(bench.wheel.size(), 0U);
}

TEST(WheelLaw, TMR_4_every_arming_has_a_number_of_its_own) {
  WheelBench bench;
  Alarm& alarm = bench.arm(at_ms(5));
  const std::uint64_t first = alarm.sequence;
  EXPECT_TRUE(bench.wheel.disarm(alarm));
  EXPECT_TRUE(bench.wheel.arm(alarm, Time()).is_ok());
  EXPECT_GT(alarm.sequence, first);
}

TEST(WheelLaw, TMR_5_when_the_last_alarm_is_disarmed_nothing_is_left_to_look_at) {
  WheelBench bench;
  std::vector<Alarm*> all;
  for (const std::uint64_t ms : {1ULL, 300ULL, 70'000ULL, 17'000'000ULL, 100'000'000ULL})
    all.push_back(&bench.arm(at_ms(ms)));
  for (Alarm* const alarm : all) {
    EXPECT_TRUE(bench.wheel.disarm(*alarm));
    bench.wheel.verify();
  }
  EXPECT_TRUE(bench.wheel.empty());
  EXPECT_TRUE(bench.fire(at_ms(200'000'000)).empty());
}

TEST(WheelLaw, TMR_6_a_group_that_reaches_its_minimum_fires_at_the_end_of_its_window) {
  WheelBench bench({.window = Duration::milliseconds(10), .group_min = 3});
  bench.arm(at_ms(12));
  bench.arm(at_ms(15));
  bench.arm(at_ms(20));
  bench.arm(at_ms(21));  // of the next window
  EXPECT_TRUE(bench.fire(at_ms(12)).empty());
  EXPECT_EQ(bench.wheel.census().held, 1U);
  EXPECT_TRUE(bench.fire(at_ms(19)).empty());
  EXPECT_EQ(bench.fire(at_ms(20)), (Times{12 * ms_ns, 15 * ms_ns, 20 * ms_ns}));
  EXPECT_EQ(bench.fire(at_ms(21)), Times{21 * ms_ns});
}

TEST(WheelLaw, TMR_6_a_group_below_its_minimum_is_not_delayed) {
  WheelBench bench({.window = Duration::milliseconds(10), .group_min = 3});
  bench.arm(at_ms(12));
  bench.arm(at_ms(15));
  bench.arm(at_ms(300));
  EXPECT_EQ(bench.fire(at_ms(12)), Times{12 * ms_ns});
  EXPECT_EQ(bench.fire(at_ms(15)), Times{15 * ms_ns});
}

TEST(WheelLaw, TMR_6_coalescing_only_ever_delays_and_never_beyond_the_window) {
  const Duration window = Duration::microseconds(3700);
  WheelBench bench({.window = window, .group_min = 2});
  std::uint64_t number = 12'345;
  for (int i = 0; i < 300; ++i) {
    number = number * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    bench.arm(Time::at_ns(1 + (number >> 33) % 500'000'000));
  }
  std::uint64_t fired = 0;
  for (Time now; !bench.wheel.empty(); now = now + Duration::microseconds(100)) {
    for (const std::uint64_t at : bench.fire(now)) {
      ++fired;
      EXPECT_LE(at, now.ns());
      EXPECT_LT(now.ns() - at, static_cast<std::uint64_t>(window.ns()) + 100'000);
    }
  }
  EXPECT_EQ(fired, 300U);
}

TEST(WheelLaw, TMR_6_an_alarm_that_waits_for_its_group_can_be_disarmed) {
  WheelBench bench({.window = Duration::milliseconds(10), .group_min = 2});
  Alarm& held = bench.arm(at_ms(12));
  bench.arm(at_ms(15));
  EXPECT_TRUE(bench.fire(at_ms(13)).empty());
  EXPECT_TRUE(bench.wheel.disarm(held));
  EXPECT_EQ(bench.fire(at_ms(20)), Times{15 * ms_ns});
}

TEST(WheelLaw, TMR_7_an_alarm_that_is_collected_and_then_disarmed_does_not_fire) {
  WheelBench bench;
  Alarm& first = bench.arm(at_ms(5));
  Alarm& second = bench.arm(at_ms(6));
  const Alarm& third = bench.arm(at_ms(7));
  EXPECT_EQ(bench.wheel.take_due(at_ms(10)), &first);  // all three are collected
  EXPECT_TRUE(bench.wheel.disarm(second));
  EXPECT_EQ(bench.wheel.take_due(at_ms(10)), &third);
  EXPECT_EQ(bench.wheel.take_due(at_ms(10)), nullptr);
}

TEST(WheelLaw, TMR_8_endless_arming_and_disarming_leaves_nothing_in_the_wheel) {
  WheelBench bench;
  const Alarm& kept = bench.arm(at_ms(60'000));
  Alarm alarm;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const Time now = Time::at_ns(i * 1'000);
    alarm.at = now + Duration::nanoseconds(static_cast<std::int64_t>((i * 7'919) % day_ns));
    ASSERT_TRUE(bench.wheel.arm(alarm, now).is_ok());
    ASSERT_TRUE(bench.wheel.disarm(alarm));
    ASSERT_EQ(bench.wheel.size(), 1U);
  }
  const WheelCensus census = bench.wheel.census();
  EXPECT_EQ(census.levels[0] + census.levels[1] + census.levels[2] + census.levels[3] + census.overflow, 1U);
  EXPECT_EQ(bench.wheel.next(), kept.at);
}

TEST(WheelLaw, BUD_1_alarms_work_up_to_the_last_instant_there_is) {
  WheelBench bench;
  const Time last = Time::max();
  const Time before = last - Duration::seconds(3 * 24 * 3600);
  EXPECT_TRUE(bench.fire(before).empty());
  bench.arm(last, before);
  bench.arm(last - Duration::nanoseconds(1), before);
  bench.arm(last - Duration::milliseconds(300), before);
  EXPECT_EQ(bench.wheel.next(), last - Duration::milliseconds(300));
  EXPECT_EQ(bench.fire(last - Duration::nanoseconds(1)),
            (Times{(last - Duration::milliseconds(300)).ns(), last.ns() - 1}));
  EXPECT_EQ(bench.fire(last), Times{last.ns()});
  bench.arm(last, last);
  EXPECT_EQ(bench.fire(last), Times{last.ns()});
}

}  // namespace
}  // namespace calm::clock
