// A failing run with fewer switches: the same problem, a schedule that repeats it, and nothing that is not needed.
#include "calm/lab/minimise.hpp"

#include <gtest/gtest.h>

#include "calm/cx/scope.hpp"
#include "tests/unit/lab/planted.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::lab {
namespace {

/// Its wake is lost when the waiter comes before the last step of the opener; others make many switches meanwhile.
Task<int> lost_wake(Cx cx) {
  planted::Gate gate;
  const auto body = [&gate](Scope& scope) -> Task<int> {
    const auto noise = [](Cx inner) -> Task<void> {
      for (int i = 0; i < 10; ++i) co_await yield(inner);
    };
    const auto wait = [&gate](Cx inner) -> Task<void> { co_await planted::pass(inner, gate); };
    const auto open = [&gate](Cx inner) -> Task<void> {
      for (int i = 0; i < 3; ++i) co_await yield(inner);
      gate.open_and_forget();
    };
    for (int i = 0; i < 3; ++i) (void)co_await scope.spawn(noise);
    (void)co_await scope.spawn(open);
    (void)co_await scope.spawn(wait);
    co_return 0;
  };
  const int value = co_await scope(cx, body);
  co_return value;
}

TEST(Minimise, LAB_3_a_failing_schedule_of_a_seed_keeps_only_the_switches_it_needs) {
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const LabReport report = run({.seed = seed}, lost_wake);
    if (report.is_clean()) continue;
    ++failed;
    const Minimised small = minimise({}, report, lost_wake);
    EXPECT_GT(small.switches_before, 15U);
    EXPECT_LE(small.switches, 3U) << "of " << small.switches_before;
    ASSERT_FALSE(small.report.is_clean());
    EXPECT_EQ(small.report.problems.front().oracle, report.problems.front().oracle);
    const auto schedule = parse_schedule(small.report.replay_word());
    ASSERT_TRUE(schedule.is_ok());
    EXPECT_EQ(run({}, schedule.value(), lost_wake).trace_digest, small.report.trace_digest);
  }
  EXPECT_GT(failed, 0U);
}

TEST(Minimise, LAB_3_a_failure_that_needs_no_switch_keeps_none) {
  const auto program = [](Cx cx) -> Task<int> {
    planted::Gate gate;
    const auto body = [&gate](Scope& scope) -> Task<int> {
      const auto wait = [&gate](Cx inner) -> Task<void> { co_await planted::pass(inner, gate); };
      for (int i = 0; i < 4; ++i) (void)co_await scope.spawn(wait);
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
  const LabReport report = run({.seed = 3}, program);
  ASSERT_FALSE(report.is_clean());
  EXPECT_EQ(minimise({}, report, program).switches, 0U);
}

TEST(Minimise, LAB_3_the_first_seed_that_fails_is_given_minimised) {
  const LabReport report = run_seeds({.seed = 1}, 100, lost_wake);
  ASSERT_FALSE(report.is_clean());
  EXPECT_FALSE(report.chosen_by_seed);
  const LabReport again = run_seeds(with_schedule({}, report.schedule), 100, lost_wake);
  EXPECT_EQ(again.trace_digest, report.trace_digest);
}

TEST(Minimise, LAB_3_seeds_that_find_nothing_give_the_last_run) {
  const auto program = [](Cx cx) -> Task<int> {
    co_await yield(cx);
    co_return 0;
  };
  const LabReport report = run_seeds({.seed = 5}, 10, program);
  EXPECT_TRUE(report.is_clean());
  EXPECT_EQ(report.seed, 14U);
}

}  // namespace
}  // namespace calm::lab
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
