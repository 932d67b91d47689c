// The tests that docs/guide/lab.md shows.
#include <gtest/gtest.h>

#include <string>

#include "calm/calm.hpp"
#include "calm/lab/everywhere.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/gtest.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/minimise.hpp"
#include "calm/lab/replay.hpp"
#include "calm/lab/replay_file.hpp"
#include "calm/lab/shared.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace {

using calm::Cx;
using calm::Duration;
using calm::Task;

Task<int> answer(Cx cx) {
  const auto body = [](calm::Scope& scope) -> Task<int> {
    auto left = co_await scope.spawn([](Cx inner) -> Task<int> {
      co_await calm::sleep(inner, Duration::milliseconds(2));
      co_return 40;
    });
    auto right = co_await scope.spawn([](Cx inner) -> Task<int> {
      co_await calm::yield(inner);
      co_return 2;
    });
    const int most = co_await std::move(left).join(scope.cx());
    const int rest = co_await std::move(right).join(scope.cx());
    co_return most + rest;
  };
  const int sum = co_await calm::scope(cx, body);
  co_return sum;
}

// [seeds]
TEST(Guide, LAB_6_a_program_is_clean_under_every_seed) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto report = calm::lab::run(calm::lab::from_environment({.seed = seed}), answer);
    ASSERT_LAB_CLEAN(report);
  }
}
// [/seeds]

// [cancel]
TEST(Guide, LAB_7_a_program_survives_a_cancel_anywhere) {
  EXPECT_LAB_CLEAN(calm::lab::cancel_everywhere(calm::lab::from_environment(), answer));
  EXPECT_LAB_CLEAN(calm::lab::cancel_scopes_everywhere(calm::lab::from_environment(), answer));
}
// [/cancel]

// [trouble]
TEST(Guide, LAB_7_a_program_survives_wakes_for_nothing_and_a_clock_that_jumps) {
  calm::lab::LabConfig config{.seed = 3};
  config.faults.spurious_wakes = 200;  // in 200 of 1000 steps
  config.faults.clock_jumps = 50;
  EXPECT_LAB_CLEAN(calm::lab::check_determinism(calm::lab::from_environment(config), answer));
}
// [/trouble]

// [file]
TEST(Guide, LAB_3_a_run_is_kept_in_a_file_and_made_again) {
  const calm::lab::LabConfig config{.seed = 3, .program = "answer"};
  const std::string file = write_recording(config, calm::lab::run(config, answer));
  const auto recording = calm::lab::read_recording(file).value();
  const auto again = calm::lab::replay(recording.config, expected_report(recording), answer);
  EXPECT_LAB_CLEAN(again);  // a divergence would show both events
}
// [/file]

// [minimise]
TEST(Guide, LAB_3_the_first_failing_seed_is_minimised) {
  EXPECT_LAB_CLEAN(calm::lab::run_seeds(calm::lab::from_environment(), 100, answer));
}
// [/minimise]

// [explore]
Task<void> two_withdrawals(Cx cx) {
  calm::lab::Shared<int> balance(cx, 100);
  const auto withdraw = [&balance](Cx inner) -> Task<void> {
    const int seen = balance.get(inner);
    co_await calm::yield(inner);  // the bug: what was seen may be old by now
    balance.set(inner, seen - 10);
  };
  const auto body = [&withdraw](calm::Scope& scope) -> Task<void> {
    for (int i = 0; i < 2; ++i) (void)co_await scope.spawn(withdraw);
  };
  co_await calm::scope(cx, body);
  if (balance.get(cx) != 80) co_await calm::fail(calm::Errc::conflict);
}

TEST(Guide, LAB_5_every_schedule_is_visited_once) {
  const auto report = calm::lab::explore(two_withdrawals, {.stop_at_first_problem = false});
  EXPECT_TRUE(report.exhausted());
  EXPECT_EQ(report.counts.executions, 4U);
  EXPECT_EQ(report.counts.buggy, 2U) << report;  // prints a failure with the fewest preemptions, and how to repeat it
}
// [/explore]

}  // namespace
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
