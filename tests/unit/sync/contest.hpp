// contest.hpp — what the tests of primitives share: every schedule of a program, and a cancel at every await point of it.
// Laws:    none of its own
// Threads: one; workers, where the test runs on them
// Cancel:  a sibling cancels one of the contestants, at any time
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "calm/cx/scope.hpp"
#include "calm/lab/everywhere.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/gtest.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/shared.hpp"
#include "tests/both_worlds.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::contest {

constexpr Duration ms(std::int64_t count) { return Duration::milliseconds(count); }

/// Visits every schedule; none may have a problem, and none is visited twice. Gives: how many there are; on workers, which
/// come to some of them, as many as anyone could ask for.
template <class F>
std::uint64_t explore_all_of(F program) {
  const auto report = lab::explore(program);
  EXPECT_LAB_CLEAN(report);
  EXPECT_TRUE(report.exhausted());
  EXPECT_EQ(report.counts.blocked, 0U);
  EXPECT_EQ(report.counts.executions, report.counts.fingerprints);
  return in_lab() ? report.counts.executions : UINT64_MAX;
}

/// The same, and every order of steps has the fingerprint of one of them: the footprints miss nothing that differs.
template <class F>
std::uint64_t explore_both_ways(F program) {
  const std::uint64_t executions = explore_all_of(program);
  if (!in_lab()) return executions;
  const auto all = lab::explore(program, {.strategy = lab::Strategy::all});
  EXPECT_LAB_CLEAN(all);
  EXPECT_TRUE(all.exhausted());
  EXPECT_EQ(executions, all.counts.fingerprints) << "of " << all.counts.executions << " orders";
  return executions;
}

/// Gives: whether there are as many schedules as there must be. On workers nobody knows.
inline testing::AssertionResult are_all(std::uint64_t schedules, std::uint64_t expected) {
  if (schedules == expected || !in_lab()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << schedules << " schedules where there must be " << expected;
}

/// A cancel of the task, and of its scope, at every await point, under several seeds.
template <class F>
void cancel_everywhere_in(F program, std::uint64_t seeds = 6) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    EXPECT_LAB_CLEAN(lab::cancel_everywhere({.seed = seed}, program));
    EXPECT_LAB_CLEAN(lab::cancel_scopes_everywhere({.seed = seed}, program));
  }
}

/// Starts `task` for each number below `count`, and one more that cancels number `victim`; none below 0.
template <class F>
Task<void> run_contest(Cx cx, F task, int count, int victim) {
  const auto body = [&](Scope& scope) -> Task<void> {
    for (int number = 0; number < count; ++number) {
      auto contestant = co_await scope.fiber(task, number);
      if (number != victim) continue;
      const auto cancels = [](Cx /*cx*/, Handle<void> handle) -> Task<void> {
        handle.cancel();
        co_return;
      };
      (void)co_await scope.fiber(cancels, std::move(contestant));
    }
  };
  (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
}

}  // namespace calm::contest
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
