// What the running poll has spawned: behind all others, and taken back by who joins it.
#include "calm/sched/newborns.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "calm/sched/ready_queue.hpp"
#include "tests/unit/sched/lane_tasks.hpp"

namespace calm::sched {
namespace {

using Queue = ReadyQueue<lockfree::LocalAtomics>;

std::vector<std::uint64_t> popped(Queue& queue) {
  std::vector<std::uint64_t> order;
  while (LaneTask* const task = queue.pop_oldest()) order.push_back(task->creation);
  return order;
}

TEST(Newborns, SCH_2_stand_behind_all_who_came_before_and_before_all_who_come_later) {
  LaneTasks tasks;
  Queue queue;
  queue.push(tasks.ready());
  queue.push_newborn(tasks.ready());
  queue.push(tasks.ready());
  queue.push_newborn(tasks.ready());
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(popped(queue), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_TRUE(queue.empty());
}

TEST(Newborns, SCH_2_one_that_gives_way_goes_behind_all_in_one_step) {
  LaneTasks tasks;
  Queue queue;
  LaneTask& first = tasks.ready();
  EXPECT_EQ(queue.rotate(first), &first) << "nobody else is there";
  EXPECT_TRUE(queue.empty());
  LaneTask& second = tasks.ready();
  queue.push(second);
  EXPECT_EQ(queue.rotate(first), &second);
  EXPECT_EQ(queue.backlog(), 1U);
  queue.push_newborn(tasks.ready());
  EXPECT_EQ(queue.rotate(second), nullptr) << "first come those that the poll has spawned";
  queue.push(second);
  EXPECT_EQ(popped(queue), (std::vector<std::uint64_t>{1, 3, 2}));
}

TEST(Newborns, one_that_is_taken_back_leaves_the_others_in_their_order) {
  LaneTasks tasks;
  Queue queue;
  std::vector<LaneTask*> made;
  for (int i = 0; i < 5; ++i) queue.push_newborn(*made.emplace_back(&tasks.ready()));
  EXPECT_TRUE(queue.take_back(*made[4]));
  EXPECT_TRUE(queue.take_back(*made[1]));
  EXPECT_FALSE(queue.take_back(*made[1])) << "it is there once";
  EXPECT_EQ(popped(queue), (std::vector<std::uint64_t>{1, 3, 4}));
  EXPECT_FALSE(queue.take_back(*made[0])) << "the poll is over";
}

TEST(Newborns, HND_3_what_does_not_fit_is_in_the_queue_and_stays_there) {
  LaneTasks tasks;
  Queue queue;
  std::vector<LaneTask*> made;
  for (std::uint32_t i = 0; i <= Newborns<lockfree::LocalAtomics>::size_max; ++i) {
    queue.push_newborn(*made.emplace_back(&tasks.ready()));
  }
  EXPECT_FALSE(queue.take_back(*made.front()));
  EXPECT_TRUE(queue.take_back(*made.back()));
  const std::vector<std::uint64_t> order = popped(queue);
  ASSERT_EQ(order.size(), Newborns<lockfree::LocalAtomics>::size_max);
  for (std::uint64_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i + 1);
}

TEST(Newborns, only_the_last_are_looked_through) {
  LaneTasks tasks;
  Newborns<lockfree::LocalAtomics> newborns;
  LaneTask& first = tasks.ready();
  newborns.push(first);
  for (std::uint32_t i = 1; i < Newborns<lockfree::LocalAtomics>::reach; ++i) newborns.push(tasks.ready());
  LaneTask& last = tasks.ready();
  newborns.push(last);
  EXPECT_FALSE(newborns.take_back(first));
  EXPECT_TRUE(newborns.take_back(last));
  EXPECT_TRUE(newborns.take_back(first));
}

}  // namespace
}  // namespace calm::sched
