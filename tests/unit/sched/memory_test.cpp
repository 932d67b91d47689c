// What lanes do when there is no memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/no_memory.hpp"
#include "tests/unit/sched/lane_tasks.hpp"

namespace calm::sched {
namespace {

/// Takes everything, and gives it in that order.
std::vector<std::uint64_t> order_of(LocalLanes& lanes, bool memory) {
  std::vector<std::uint64_t> order;
  order.reserve(lanes.size());
  const auto take_all = [&] {
    while (!lanes.empty()) order.push_back(lanes.take(lanes.choose(false)).creation);
  };
  if (memory) {
    take_all();
  } else {
    const NoMemory gone;
    take_all();
  }
  return order;
}

void push_some(LaneTasks& tasks, LocalLanes& lanes, int from, int to) {
  for (int i = from; i < to; ++i) {
    lanes.push(tasks.timed(static_cast<std::uint64_t>(i * 7 % 10)));
    lanes.push(tasks.ready(static_cast<std::uint8_t>(1 + i * 5 % 8)));
    lanes.push(tasks.cancelled(static_cast<std::uint8_t>(i % 3)));
  }
}

TEST(LanesWithoutMemory, HND_3_no_push_is_refused_and_the_order_stays) {
  LaneTasks tasks;
  LocalLanes lanes;
  push_some(tasks, lanes, 0, 100);
  const std::vector<std::uint64_t> with = order_of(lanes, true);

  LaneTasks others;
  LocalLanes without;
  push_some(others, without, 0, 100);
  EXPECT_EQ(order_of(without, false), with);
}

TEST(LanesWithoutMemory, HND_3_entries_with_a_place_and_without_one_keep_their_order) {
  LaneTasks tasks;
  LocalLanes lanes;
  push_some(tasks, lanes, 0, 150);
  const std::vector<std::uint64_t> with = order_of(lanes, true);

  LaneTasks others;
  LocalLanes without;
  push_some(others, without, 0, 20);
  ASSERT_TRUE(without.reserve(40, 40));
  EXPECT_EQ(without.next_deadline(), Deadline(Time()));  // now they have places
  push_some(others, without, 20, 150);
  EXPECT_EQ(order_of(without, false), with);
}

TEST(LanesWithoutMemory, HND_3_places_that_cannot_be_made_are_said_to_be_refused) {
  LocalLanes lanes;
  bool made = true;
  {
    const NoMemory gone;
    made = lanes.reserve(100, 100);
  }
  EXPECT_FALSE(made);
  EXPECT_TRUE(lanes.reserve(100, 100));
}

}  // namespace
}  // namespace calm::sched
