// What a few tasks and their regions still have to do, in numbers.
#include "calm/kernel/holdings.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/kernel_host.hpp"

namespace calm::kernel {
namespace {

using LocalTask = TaskRecord<lockfree::LocalAtomics>;

Holdings holdings_of(Bench& bench, const std::vector<TaskId>& ids) {
  std::vector<LocalTask*> tasks;
  tasks.reserve(ids.size());
  for (const TaskId id : ids) tasks.push_back(bench.kernel->find(id));
  return bench.kernel->holdings(bench.worker, tasks);
}

TEST(Holdings, SCH_3_count_promises_with_their_ages) {
  Bench bench;
  const TaskId task = bench.running(bench.root());
  EXPECT_EQ(holdings_of(bench, {task}), Holdings{});
  bench.at(Time::at_ns(1'000'000'000));
  ASSERT_TRUE(bench.kernel->reserve(bench.worker, bench.root(), {.kind = ObligationKind::ack, .holder = task}));
  bench.at(Time::at_ns(1'100'000'000));
  const auto second = bench.kernel->reserve(bench.worker, bench.root(), {.kind = ObligationKind::ack, .holder = task});
  ASSERT_TRUE(bench.kernel->count(bench.worker, task, ObligationKind::send_permit));
  bench.at(Time::at_ns(1'300'000'000));
  EXPECT_EQ(holdings_of(bench, {task}), (Holdings{.obligations = 3, .obligation_age_ms = 500}));
  ASSERT_TRUE(bench.kernel->commit(bench.worker, second.id));
  EXPECT_EQ(holdings_of(bench, {task}), (Holdings{.obligations = 2, .obligation_age_ms = 300}));
  EXPECT_EQ(holdings_of(bench, {}), Holdings{});
}

TEST(Holdings, SCH_3_count_each_region_of_the_tasks_once) {
  Bench bench;
  const RegionId closing = bench.region(bench.root());
  const RegionId open = bench.region(bench.root());
  const TaskId first = bench.parked(closing);
  const TaskId second = bench.parked(closing);
  const TaskId third = bench.parked(open);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(bench.kernel->defer(bench.worker, closing, nullptr));
  ASSERT_TRUE(bench.kernel->close(bench.worker, closing));
  EXPECT_EQ(holdings_of(bench, {first, second, third}), (Holdings{.finalizers = 3, .closing_regions = 1}));
  EXPECT_EQ(holdings_of(bench, {third}), Holdings{});
}

TEST(Holdings, SCH_3_a_look_is_bounded) {
  Bench bench;
  const TaskId task = bench.running(bench.root());
  for (std::uint32_t i = 0; i < 2 * holdings_each_max; ++i) {
    ASSERT_TRUE(bench.kernel->reserve(bench.worker, bench.root(), {.kind = ObligationKind::ack, .holder = task}));
    ASSERT_TRUE(bench.kernel->defer(bench.worker, bench.root(), nullptr));
  }
  EXPECT_EQ(holdings_of(bench, {task}), (Holdings{.obligations = holdings_each_max, .finalizers = holdings_each_max}));
}

}  // namespace
}  // namespace calm::kernel
