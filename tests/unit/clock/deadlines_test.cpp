// Deadlines of tasks: in order, and without those of tasks that have ended piling up.
#include "calm/clock/deadlines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace calm::clock {
namespace {

Time deadline_at(std::int64_t ms) { return Time() + Duration::milliseconds(ms); }
TaskId numbered(std::uint32_t index) { return {index, Generation()}; }

TEST(Deadlines, BUD_5_come_by_time_then_by_who_was_first) {
  Deadlines deadlines;
  EXPECT_TRUE(deadlines.add(numbered(1), deadline_at(20)));
  EXPECT_TRUE(deadlines.add(numbered(2), deadline_at(10)));
  EXPECT_TRUE(deadlines.add(numbered(3), deadline_at(20)));
  EXPECT_EQ(deadlines.take_due(deadline_at(9)), std::nullopt);
  EXPECT_EQ(deadlines.take_due(deadline_at(30)), numbered(2));
  EXPECT_EQ(deadlines.take_due(deadline_at(30)), numbered(1));
  EXPECT_EQ(deadlines.take_due(deadline_at(30)), numbered(3));
  EXPECT_TRUE(deadlines.empty());
}

TEST(Deadlines, BUD_5_come_in_order_however_they_were_added_and_taken) {
  struct Added {
    Time at;
    TaskId task;
  };
  Deadlines deadlines;
  std::vector<Added> expected;  // in the order of coming
  std::uint32_t random = 1;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    random = random * 1664525 + 1013904223;
    // Runs that rise, runs of one time, and others; now and then some are taken, or all.
    const std::int64_t ms = i % 300 < 100 ? i : i % 300 < 200 ? 2000 : random >> 20;
    ASSERT_TRUE(deadlines.add(numbered(i), deadline_at(ms)));
    expected.push_back({deadline_at(ms), numbered(i)});
    const std::size_t kept = i % 701 == 700 ? 0 : i % 97 == 96 ? expected.size() / 2 : expected.size();
    while (expected.size() > kept) {
      const auto earlier = [](const Added& a, const Added& b) { return a.at < b.at; };
      const auto next = std::min_element(expected.begin(), expected.end(), earlier);
      ASSERT_EQ(deadlines.next(), next->at);
      ASSERT_EQ(deadlines.take_due(Time::max()), next->task);
      expected.erase(next);
    }
  }
}

TEST(Deadlines, TMR_8_of_endless_tasks_that_end_at_once_a_bounded_number_is_kept) {
  Deadlines deadlines;
  std::size_t most = 0;
  std::uint64_t asked = 0;
  constexpr std::uint32_t tasks = 100'000;
  for (std::uint32_t i = 10; i < tasks; ++i) {
    // Ten tasks live on; each other one has ended when the next comes.
    const auto is_live = [i, &asked](TaskId task) {
      ++asked;
      return task.index() < 20 || task.index() == i;
    };
    ASSERT_TRUE(deadlines.add(numbered(i), deadline_at(1'000'000)));
    deadlines.sweep(is_live);
    most = std::max(most, deadlines.size());
  }
  EXPECT_LE(most, Deadlines::sweep_min);
  EXPECT_LT(asked, 2 * std::uint64_t{tasks}) << "sweeping costs a constant time for each that was added";
}

TEST(Deadlines, TMR_8_a_sweep_keeps_the_live_ones_and_their_order) {
  Deadlines deadlines;
  for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_TRUE(deadlines.add(numbered(i), deadline_at(1000 - i / 2)));
  deadlines.sweep([](TaskId task) { return task.index() % 10 < 2; });
  EXPECT_EQ(deadlines.size(), 200U);
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::uint32_t first = 990 - 10 * i;
    EXPECT_EQ(deadlines.take_due(deadline_at(2000)), numbered(first));
    EXPECT_EQ(deadlines.take_due(deadline_at(2000)), numbered(first + 1));
  }
  EXPECT_TRUE(deadlines.empty());
}

}  // namespace
}  // namespace calm::clock
