// What the running poll has spawned: behind all others, and taken back by who joins it.
#include "calm/sched/newborns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
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

/// Gives: true when it was taken out, and nothing else. A task is known by its frame.
template <class Newborn>
bool takes_back(Newborn& newborns, LaneTask& task) {
  LaneTask* const taken = newborns.take_back(task.frame);
  EXPECT_TRUE(taken == nullptr || taken == &task);
  return taken != nullptr;
}

TEST(Newborns, one_that_is_taken_back_leaves_the_others_in_their_order) {
  LaneTasks tasks;
  Queue queue;
  std::vector<LaneTask*> made;
  for (int i = 0; i < 5; ++i) queue.push_newborn(*made.emplace_back(&tasks.ready()));
  EXPECT_TRUE(takes_back(queue, *made[4]));
  EXPECT_TRUE(takes_back(queue, *made[1]));
  EXPECT_FALSE(takes_back(queue, *made[1])) << "it is there once";
  EXPECT_EQ(popped(queue), (std::vector<std::uint64_t>{1, 3, 4}));
  EXPECT_FALSE(takes_back(queue, *made[0])) << "the poll is over";
}

TEST(Newborns, gaps_of_those_that_were_taken_back_are_nobody) {
  LaneTasks tasks;
  for (const bool newest_first : {false, true}) {
    Newborns<lockfree::LocalAtomics> newborns;
    std::vector<LaneTask*> made;
    for (int i = 0; i < 8; ++i) newborns.push(*made.emplace_back(&tasks.ready()));
    for (std::size_t i = 0; i < 6; ++i) {
      LaneTask& one = *made[newest_first ? 6 - i : i + 1];
      EXPECT_TRUE(takes_back(newborns, one));
      EXPECT_FALSE(takes_back(newborns, one));
      // What a task that is polled in place has spawned and joined is gone again.
      LaneTask& inner = tasks.ready();
      newborns.push(inner);
      EXPECT_TRUE(takes_back(newborns, inner));
    }
    std::vector<LaneTask*> left;
    newborns.move_to([&left](LaneTask& task) { left.push_back(&task); });
    EXPECT_EQ(left, (std::vector<LaneTask*>{made[0], made[7]}));
    EXPECT_TRUE(newborns.empty());
  }
}

TEST(Newborns, when_all_were_taken_back_in_any_order_nobody_is_left) {
  LaneTasks tasks;
  std::vector<std::size_t> order{0, 1, 2, 3};
  do {
    Newborns<lockfree::LocalAtomics> newborns;
    std::vector<LaneTask*> made;
    for (std::size_t i = 0; i < order.size(); ++i) newborns.push(*made.emplace_back(&tasks.ready()));
    for (const std::size_t i : order) EXPECT_TRUE(takes_back(newborns, *made[i]));
    EXPECT_TRUE(newborns.empty());
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Newborns, HND_3_what_does_not_fit_is_in_the_queue_and_stays_there) {
  LaneTasks tasks;
  Queue queue;
  std::vector<LaneTask*> made;
  for (std::uint32_t i = 0; i <= Newborns<lockfree::LocalAtomics>::size_max; ++i) {
    queue.push_newborn(*made.emplace_back(&tasks.ready()));
  }
  EXPECT_FALSE(takes_back(queue, *made.front()));
  EXPECT_TRUE(takes_back(queue, *made.back()));
  const std::vector<std::uint64_t> order = popped(queue);
  ASSERT_EQ(order.size(), Newborns<lockfree::LocalAtomics>::size_max);
  for (std::uint64_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i + 1);
}

TEST(Newborns, only_the_last_are_looked_through) {
  LaneTasks tasks;
  Newborns<lockfree::LocalAtomics> newborns;
  newborns.push(tasks.ready());
  LaneTask& first = tasks.ready();
  newborns.push(first);
  for (std::uint32_t i = 1; i < Newborns<lockfree::LocalAtomics>::reach; ++i) newborns.push(tasks.ready());
  LaneTask& last = tasks.ready();
  newborns.push(last);
  EXPECT_FALSE(takes_back(newborns, first));
  EXPECT_TRUE(takes_back(newborns, last));
  EXPECT_TRUE(takes_back(newborns, first));
}

}  // namespace
}  // namespace calm::sched
