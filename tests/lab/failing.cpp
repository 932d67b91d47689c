// Tests that fail under some seeds; replay_command_test.py runs them and then the commands that they print.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "calm/cx/scope.hpp"
#include "calm/lab/environment.hpp"
#include "calm/lab/everywhere.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/gtest.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/shared.hpp"
#include "tests/unit/lab/planted.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

/// Its wake is lost when the waiter comes first.
lab::LabReport race_for_the_gate(std::uint64_t seed) {
  planted::Gate gate;
  const lab::LabConfig config = lab::from_environment({.seed = seed, .program = "gate"});
  const lab::LabReport report = lab::run(config, [&gate](Cx cx) -> Task<int> {
    const auto body = [&gate](Scope& scope) -> Task<int> {
      auto waiter = co_await scope.spawn([&gate](Cx inner) -> Task<void> { co_await planted::pass(inner, gate); });
      co_await yield(scope.cx());
      gate.open_and_forget();
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  });
  std::printf("seed %llu digest %016llx\n", static_cast<unsigned long long>(report.seed),
              static_cast<unsigned long long>(report.trace_digest));
  return report;
}

TEST(Failing, under_some_seeds) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const lab::LabReport report = race_for_the_gate(seed);
    ASSERT_LAB_CLEAN(report);
  }
}

/// The bug needs a cancel: nobody opens the gate when its opener is gone.
TEST(Failing, under_a_cancel) {
  planted::Gate gate;
  const auto program = [&gate](Cx cx) -> Task<int> {
    gate = {};
    const auto body = [&gate](Scope& scope) -> Task<int> {
      auto waiter = co_await scope.spawn([&gate](Cx inner) -> Task<void> { co_await planted::pass(inner, gate); });
      auto opener = co_await scope.spawn([&gate](Cx inner) -> Task<void> {
        co_await sleep(inner, Duration::milliseconds(1));
        gate.open(inner);
      });
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
  const lab::EverywhereReport report = lab::cancel_everywhere(lab::from_environment(), program);
  std::printf("%llu points\n", static_cast<unsigned long long>(report.points_hit));
  EXPECT_LAB_CLEAN(report);
}

/// Every schedule is visited; the one that fails is printed with its command.
TEST(Failing, in_some_schedules) {
  const auto program = [](Cx cx) -> Task<void> {
    lab::Shared<bool> ready(cx, false);
    const auto body = [&ready](Scope& scope) -> Task<void> {
      const auto set = [&ready](Cx inner) -> Task<void> {
        ready.set(inner, true);
        co_return;
      };
      (void)co_await scope.spawn(set);
      co_await yield(scope.cx());
      if (!ready.get(scope.cx())) co_await fail(Errc::conflict);
    };
    co_await scope(cx, body);
  };
  const lab::ExploreReport report = lab::explore(program, {.program = "explored"});
  std::printf("%llu executions\n", static_cast<unsigned long long>(report.counts.executions));
  EXPECT_LAB_CLEAN(report);
}

/// A run of another name does not follow the schedule of the one above.
TEST(Failing, another_program_keeps_its_seed) {
  const lab::LabReport report =
      lab::run(lab::from_environment({.seed = 77, .program = "other"}), [](Cx cx) -> Task<int> {
        co_await yield(cx);
        co_return 0;
      });
  std::printf("other seed %llu\n", static_cast<unsigned long long>(report.seed));
  EXPECT_LAB_CLEAN(report);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
