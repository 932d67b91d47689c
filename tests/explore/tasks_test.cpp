#include <gtest/gtest.h>

#include <string>

#include "calm/calm.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/shared.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace {

using calm::Cx;
using calm::Duration;
using calm::Errc;
using calm::Scope;
using calm::Task;
using calm::lab::ExploreConfig;
using calm::lab::ExploreReport;
using calm::lab::Shared;
using calm::lab::Strategy;

/// Explores in both ways: optimally there is one execution for each that differs among all orders, and none in vain.
template <class F>
ExploreReport explore_both_ways(F program, ExploreConfig config = {}) {
  config.stop_at_first_problem = false;
  const ExploreReport report = calm::lab::explore(program, config);
  EXPECT_TRUE(report.exhausted());
  EXPECT_EQ(report.counts.blocked, 0U);
  EXPECT_EQ(report.counts.executions, report.counts.fingerprints);
  config.strategy = Strategy::all;
  const ExploreReport all = calm::lab::explore(program, config);
  EXPECT_TRUE(all.exhausted());
  EXPECT_EQ(report.counts.executions, all.counts.fingerprints) << "of " << all.counts.executions << " orders";
  EXPECT_EQ(report.counts.buggy == 0, all.counts.buggy == 0);
  return report;
}

Task<void> yields(Cx cx, int times) {
  for (int i = 0; i < times; ++i) co_await calm::yield(cx);
}

template <int tasks, int times>
Task<void> independent(Cx cx) {
  const auto body = [](Scope& scope) -> Task<void> {
    for (int i = 0; i < tasks; ++i) (void)co_await scope.spawn(yields, times);
  };
  co_await calm::scope(cx, body);
}

TEST(ExploreTasks, LAB_5_tasks_that_share_nothing_have_one_execution) {
  EXPECT_EQ(explore_both_ways(independent<2, 2>).counts.executions, 1U);
  EXPECT_EQ(explore_both_ways(independent<3, 1>).counts.executions, 1U);
  EXPECT_EQ(calm::lab::explore(independent<8, 5>).counts.executions, 1U);
}

template <int tasks>
Task<void> one_step_on_a_counter(Cx cx) {
  Shared<int> counter(cx, 0);
  const auto body = [&counter](Scope& scope) -> Task<void> {
    const auto add = [&counter](Cx inner) -> Task<void> {
      ++counter.changed(inner);
      co_return;
    };
    for (int i = 0; i < tasks; ++i) (void)co_await scope.spawn(add);
  };
  co_await calm::scope(cx, body);
  if (counter.get(cx) != tasks) co_await calm::fail(Errc::invalid_argument);
}

TEST(ExploreTasks, LAB_5_writes_of_one_variable_come_in_every_order) {
  EXPECT_EQ(explore_both_ways(one_step_on_a_counter<2>).counts.executions, 2U);
  EXPECT_EQ(explore_both_ways(one_step_on_a_counter<3>).counts.executions, 6U);
  EXPECT_EQ(calm::lab::explore(one_step_on_a_counter<5>).counts.executions, 120U);
}

Task<void> lost_update(Cx cx) {
  Shared<int> counter(cx, 0);
  const auto body = [&counter](Scope& scope) -> Task<void> {
    const auto add = [&counter](Cx inner) -> Task<void> {
      const int seen = counter.get(inner);
      co_await calm::yield(inner);
      counter.set(inner, seen + 1);
    };
    for (int i = 0; i < 2; ++i) (void)co_await scope.spawn(add);
  };
  co_await calm::scope(cx, body);
  if (counter.get(cx) != 2) co_await calm::fail(Errc::invalid_argument);
}

TEST(ExploreTasks, LAB_5_an_increment_in_two_steps_loses_an_update) {
  // As increment(2): both reads before both writes, in either order of the writes, and so on: (2!)^2.
  const ExploreReport report = explore_both_ways(lost_update);
  EXPECT_EQ(report.counts.executions, 4U);
  EXPECT_EQ(report.counts.buggy, 2U);
}

}  // namespace
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
