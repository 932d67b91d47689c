// Timers by id.
#include "calm/clock/timers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace calm::clock {
namespace {

Time after_ms(std::int64_t ms) { return Time() + Duration::milliseconds(ms); }

TEST(Timers, TMR_4_a_cancel_needs_the_exact_id_and_a_stale_one_is_refused) {
  Timers timers;
  const auto made = timers.insert(after_ms(5), Time());
  ASSERT_TRUE(made);
  EXPECT_EQ(timers.cancel(TimerId()), Errc::stale_handle);
  EXPECT_EQ(timers.cancel(TimerId(made.id.index() + 1, made.id.generation())), Errc::stale_handle);
  EXPECT_EQ(timers.cancel(TimerId(made.id.index(), Generation(made.id.generation().value() + 1))), Errc::stale_handle);
  EXPECT_EQ(timers.cancel(TimerId(12'345'678, made.id.generation())), Errc::stale_handle);
  EXPECT_EQ(timers.size(), 1U);
  EXPECT_TRUE(timers.cancel(made.id).is_ok());
  EXPECT_EQ(timers.cancel(made.id), Errc::stale_handle);
  EXPECT_FALSE(timers.take_due(after_ms(10)).has_value());
}

TEST(Timers, TMR_4_the_id_of_a_timer_that_fired_is_stale_also_when_its_place_is_used_again) {
  Timers timers;
  const TimerId first = timers.insert(after_ms(5), Time()).id;
  const auto fired = timers.take_due(after_ms(5));
  ASSERT_TRUE(fired.has_value());
  EXPECT_EQ(fired->id, first);
  const TimerId second = timers.insert(after_ms(9), after_ms(5)).id;
  EXPECT_EQ(second.index(), first.index());
  EXPECT_EQ(timers.cancel(first), Errc::stale_handle);
  EXPECT_EQ(timers.size(), 1U);
  EXPECT_TRUE(timers.cancel(second).is_ok());
}

TEST(Timers, TMR_4_no_id_comes_twice_also_after_the_storage_was_given_back) {
  Timers timers;
  std::set<TimerId> seen;
  for (int round = 0; round < 20; ++round) {
    std::vector<TimerId> ids;
    for (int i = 0; i < 300; ++i) ids.push_back(timers.insert(after_ms(1 + i), Time()).id);
    for (const TimerId id : ids) {
      EXPECT_TRUE(seen.insert(id).second) << to_string(id);
      EXPECT_TRUE(timers.cancel(id).is_ok());
    }
  }
}

TEST(Timers, TMR_5_when_the_last_live_timer_is_cancelled_the_storage_is_purged) {
  Timers timers;
  std::vector<TimerId> ids;
  for (int i = 0; i < 10'000; ++i) ids.push_back(timers.insert(after_ms(i), Time()).id);
  EXPECT_GE(timers.places(), 10'000U);
  for (const TimerId id : ids) EXPECT_TRUE(timers.cancel(id).is_ok());
  EXPECT_LE(timers.places(), 64U);
  EXPECT_TRUE(timers.wheel().empty());
}

TEST(Timers, TMR_8_storage_follows_the_live_timers_under_endless_insert_and_cancel) {
  Timers timers;
  std::vector<TimerId> live;
  std::uint64_t number = 99;
  for (int i = 0; i < 200'000; ++i) {
    number = number * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    const bool grow = (i / 2'000) % 2 == 0 ? (number >> 40) % 4 != 0 : (number >> 40) % 4 == 0;
    if (grow || live.empty()) {
      live.push_back(timers.insert(after_ms(static_cast<std::int64_t>((number >> 33) % 100'000)), Time()).id);
    } else {
      std::swap(live[(number >> 33) % live.size()], live.back());
      ASSERT_TRUE(timers.cancel(live.back()).is_ok());
      live.pop_back();
    }
    ASSERT_EQ(timers.size(), live.size());
    ASSERT_LE(timers.places(), 64 * (live.size() + 1));
  }
}

TEST(Timers, HND_3_at_the_limit_a_timer_is_refused_and_nothing_has_changed) {
  Timers timers({}, 2);
  EXPECT_TRUE(timers.insert(after_ms(1), Time()));
  EXPECT_TRUE(timers.insert(after_ms(2), Time()));
  EXPECT_EQ(timers.insert(after_ms(3), Time()).status, Errc::resource_exhausted);
  EXPECT_EQ(timers.size(), 2U);
}

TEST(Timers, TMR_2_more_than_7_days_is_refused_unless_clamping_is_asked_for) {
  Timers timers;
  EXPECT_EQ(timers.insert(Time::max(), Time()).status, Errc::duration_exceeded);
  EXPECT_EQ(timers.size(), 0U);
  EXPECT_TRUE(timers.insert(Time::max(), Time(), {}, Beyond::clamp));
  EXPECT_EQ(timers.wheel().next(), Time() + max_timer);
}

}  // namespace
}  // namespace calm::clock
