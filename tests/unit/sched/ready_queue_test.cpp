// The plain tasks of one worker among several: who is next, whatever a ring has room for, and what a thief leaves.
#include "calm/sched/ready_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <vector>

#include "calm/lockfree/atomics.hpp"

namespace calm::sched {
namespace {

using SharedQueue = ReadyQueue<lockfree::RealAtomics>;
using PlainTask = SharedQueue::Task;

/// Records numbered from 1 on, as `creation` says.
class PlainTasks {
 public:
  PlainTask& make() {
    PlainTask& task = tasks_.emplace_back();
    task.creation = tasks_.size();
    return task;
  }

 private:
  std::deque<PlainTask> tasks_;
};

/// Takes so many. Gives: their numbers; 0 where nobody was there.
std::vector<std::uint64_t> pop_some(SharedQueue& queue, std::size_t count) {
  std::vector<std::uint64_t> order;
  for (std::size_t i = 0; i < count; ++i) {
    bool oldest = false;
    const PlainTask* const task = queue.pop(oldest);
    order.push_back(task == nullptr ? 0 : task->creation);
  }
  return order;
}

/// Gives: from, from + 1, … to.
std::vector<std::uint64_t> numbers(std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint64_t> all(to - from + 1);
  std::iota(all.begin(), all.end(), from);
  return all;
}

TEST(ReadyQueue, SCH_1_who_comes_first_is_first_though_the_ring_is_full) {
  PlainTasks tasks;
  SharedQueue queue;
  queue.set_open(true);
  for (int i = 0; i < 1000; ++i) queue.push(tasks.make());
  EXPECT_EQ(pop_some(queue, 500), numbers(1, 500));
  for (int i = 0; i < 10; ++i) queue.push(tasks.make());
  EXPECT_EQ(pop_some(queue, 510), numbers(501, 1010));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(pop_some(queue, 1), std::vector<std::uint64_t>{0});
}

TEST(ReadyQueue, SCH_6_others_take_from_an_open_queue_and_not_from_a_closed_one) {
  PlainTasks tasks;
  SharedQueue queue;
  SharedQueue thief;
  for (int i = 0; i < 6; ++i) queue.push(tasks.make());
  EXPECT_EQ(queue.backlog(), 0U);
  EXPECT_EQ(thief.steal_from(queue), nullptr);
  queue.set_open(true);
  EXPECT_EQ(queue.backlog(), 6U);
  const PlainTask* const stolen = thief.steal_from(queue);
  ASSERT_NE(stolen, nullptr);
  EXPECT_LE(stolen->creation, 3U);
  queue.set_open(false);
  queue.push(tasks.make());
  EXPECT_EQ(pop_some(queue, 5), (std::vector<std::uint64_t>{4, 5, 6, 7, 0})) << "the order stays that of coming";
}

/// Opens and closes it in between.
TEST(ReadyQueue, SCH_1_the_order_is_that_of_coming_open_or_closed) {
  PlainTasks tasks;
  SharedQueue queue;
  std::uint64_t next = 1;
  for (int i = 0; i < 40; ++i) {
    queue.set_open(i % 3 == 1);
    for (int k = 0; k < 50; ++k) queue.push(tasks.make());
    const std::size_t some = i % 7 == 0 ? 3 : 45;
    EXPECT_EQ(pop_some(queue, some), numbers(next, next + some - 1)) << i;
    next += some;
  }
}

TEST(ReadyQueue, SCH_1_who_goes_behind_the_others_makes_way_for_who_waits_longest) {
  for (const bool open : {false, true}) {
    PlainTasks tasks;
    SharedQueue queue;
    queue.set_open(open);
    PlainTask& first = tasks.make();
    EXPECT_EQ(queue.rotate(first), &first) << "nobody else is there";
    for (int i = 0; i < 2; ++i) queue.push(tasks.make());
    PlainTask* next = queue.rotate(first);
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(next->creation, 2U);
    next = queue.rotate(*next);
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(next->creation, 3U);
    EXPECT_EQ(pop_some(queue, 3), (std::vector<std::uint64_t>{1, 2, 0}));
  }
}

TEST(ReadyQueue, TSK_4_SCH_7_it_is_not_as_simple_as_that_with_others_than_those_in_line) {
  for (const bool open : {false, true}) {
    PlainTasks tasks;
    SharedQueue queue;
    queue.set_open(open);
    PlainTask& last = tasks.make();
    queue.push_pinned(tasks.make());
    EXPECT_EQ(queue.rotate(last), nullptr);
    EXPECT_EQ(queue.pop_from_line(), nullptr);
    EXPECT_EQ(pop_some(queue, 1), std::vector<std::uint64_t>{2});
    queue.push_next(tasks.make());
    if (open) {
      EXPECT_EQ(queue.rotate(last), nullptr);
    }
    EXPECT_EQ(pop_some(queue, 1), std::vector<std::uint64_t>{3});
    queue.push_newborn(tasks.make());
    EXPECT_EQ(queue.rotate(last), nullptr);
    EXPECT_EQ(queue.pop_from_line(), nullptr);
    EXPECT_EQ(pop_some(queue, 1), std::vector<std::uint64_t>{4});
    EXPECT_EQ(queue.pop_from_line(), nullptr);
  }
}

TEST(ReadyQueue, SCH_7_one_that_was_just_woken_goes_first_and_at_most_sixteen_times_in_a_row) {
  PlainTasks tasks;
  SharedQueue queue;
  queue.set_open(true);
  PlainTask& waits = tasks.make();
  queue.push(waits);
  int passed = 0;
  for (;; ++passed) {
    queue.push_next(tasks.make());
    bool oldest = false;
    const PlainTask* const task = queue.pop(oldest);
    ASSERT_NE(task, nullptr);
    EXPECT_EQ(oldest, task == &waits);
    if (task == &waits) break;
    ASSERT_LT(passed, 100);
  }
  EXPECT_EQ(passed, 16);
  // The streak is over: the one that was woken last is behind all others now, and the next that is woken goes first again.
  queue.push(tasks.make());       // 19
  queue.push_next(tasks.make());  // 20
  EXPECT_EQ(pop_some(queue, 3), (std::vector<std::uint64_t>{20, 18, 19}));
}

TEST(ReadyQueue, SCH_7_there_is_one_such_place_and_who_stood_there_goes_behind_all) {
  PlainTasks tasks;
  SharedQueue queue;
  queue.set_open(true);
  queue.push(tasks.make());
  queue.push_next(tasks.make());
  queue.push_next(tasks.make());
  EXPECT_EQ(pop_some(queue, 3), (std::vector<std::uint64_t>{3, 1, 2}));
}

TEST(ReadyQueue, SCH_1_SCH_7_in_a_closed_queue_who_was_woken_stands_behind_the_others) {
  PlainTasks tasks;
  SharedQueue queue;
  queue.push(tasks.make());
  queue.push_next(tasks.make());
  queue.push_newborn(tasks.make());
  queue.push_next(tasks.make());
  EXPECT_EQ(pop_some(queue, 4), numbers(1, 4)) << "it is not known that all stand in one line";
  EXPECT_EQ(queue.pop_from_line(), nullptr);
  ASSERT_TRUE(queue.try_push_next(tasks.make()));
  ASSERT_TRUE(queue.try_push_next(tasks.make()));
  EXPECT_EQ(pop_some(queue, 2), numbers(5, 6)) << "now it is";
}

TEST(ReadyQueue, SCH_7_who_stood_in_the_first_place_when_the_queue_was_closed_keeps_it) {
  PlainTasks tasks;
  SharedQueue queue;
  queue.set_open(true);
  queue.push(tasks.make());
  ASSERT_TRUE(queue.try_push_next(tasks.make()));
  EXPECT_FALSE(queue.try_push_next(tasks.make())) << "one stands there";
  queue.set_open(false);
  EXPECT_FALSE(queue.try_push_next(tasks.make())) << "not all stand in the line";
  queue.push_next(tasks.make());  // 5
  EXPECT_EQ(pop_some(queue, 4), (std::vector<std::uint64_t>{2, 1, 5, 0}));
}

TEST(ReadyQueue, TSK_4_pinned_tasks_take_turns_with_the_others_and_are_not_stolen) {
  PlainTasks tasks;
  SharedQueue queue;
  SharedQueue thief;
  queue.set_open(true);
  for (int i = 0; i < 4; ++i) queue.push(tasks.make());         // 1 to 4
  for (int i = 0; i < 2; ++i) queue.push_pinned(tasks.make());  // 5 and 6
  PlainTask* const stolen = thief.steal_from(queue);
  ASSERT_NE(stolen, nullptr);
  std::vector<std::uint64_t> taken = pop_some(thief, 1);
  taken.push_back(stolen->creation);
  std::sort(taken.begin(), taken.end());
  EXPECT_EQ(taken, (std::vector<std::uint64_t>{1, 2})) << "half of what others may take, the oldest";
  std::vector<std::uint64_t> left = pop_some(queue, 4);
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::uint64_t>{3, 4, 5, 6}));
}

}  // namespace
}  // namespace calm::sched
