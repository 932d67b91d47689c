// Faults: a cancel at every await point, wakes for nothing, a clock that jumps.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "calm/cx/mask.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/scope.hpp"
#include "calm/lab/everywhere.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/replay.hpp"
#include "tests/unit/lab/found.hpp"
#include "tests/unit/lab/planted.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::lab {
namespace {

using planted::Gate;

/// How often each thing that must happen in pairs has happened.
struct Pairs {
  int opened = 0;
  int closed = 0;
};

Task<int> open_door(Cx cx, Pairs& pairs) {
  co_await checkpoint(cx);
  ++pairs.opened;
  co_return 1;
}
Task<void> close_door(Cx cx, Pairs& pairs) {
  co_await yield(cx);
  ++pairs.closed;
}
Task<int> walk_through(Cx cx, int steps) {
  for (int i = 0; i < steps; ++i) co_await sleep(cx, Duration::milliseconds(1));
  co_return steps;
}

/// Uses most of what tasks can do, and leaves nothing behind whatever happens.
auto house(Pairs& pairs) {
  return [&pairs](Cx cx) -> Task<int> {
    const auto body = [&pairs](Scope& scope) -> Task<int> {
      const auto visit = [&pairs](Cx inner) -> Task<int> {
        const auto acquire = [&pairs](Cx at) -> Task<int> {
          const int door = co_await open_door(at, pairs);
          co_return door;
        };
        const auto use = [](Cx at, int& /*door*/) -> Task<int> {
          const int steps = co_await walk_through(at, 3);
          co_return steps;
        };
        const auto release = [&pairs](Cx at, int& /*door*/) -> Task<void> { co_await close_door(at, pairs); };
        const int steps = co_await bracket(inner, acquire, use, release);
        co_return steps;
      };
      auto first = co_await scope.spawn(visit);
      auto second = co_await scope.spawn(visit);
      co_await scope.defer_async([](Cx inner) -> Task<void> { co_await yield(inner); });
      const int one = co_await std::move(first).join(scope.cx());
      const int two = co_await std::move(second).join(scope.cx());
      co_return one + two;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
}

TEST(Faults, LAB_7_a_cancel_at_every_await_point_leaves_nothing_behind) {
  Pairs pairs;
  EverywhereOptions options;
  options.check = [&pairs](const LabReport&) {
    const Pairs was = std::exchange(pairs, {});
    return was.opened == was.closed ? std::string() : "a door is open";
  };
  const EverywhereReport report = cancel_everywhere({.seed = 3}, house(pairs), options);
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_GE(report.points_seen, 16U);
  EXPECT_EQ(report.points_hit, report.points_seen);
  EXPECT_FALSE(report.sampled);
  EXPECT_GE(report.sites.size(), 8U);
  for (const SiteCoverage& site : report.sites) EXPECT_EQ(site.hit, site.seen) << site.place;
  const std::string text = to_string(report);
  EXPECT_SAYS(text, std::to_string(report.points_seen) + " of " + std::to_string(report.points_seen) +
                        " await points struck; " + std::to_string(report.sites.size()) + " of ");
}

TEST(Faults, LAB_7_a_cancel_of_every_scope_leaves_nothing_behind) {
  Pairs pairs;
  const EverywhereReport report = cancel_scopes_everywhere({.seed = 3}, house(pairs));
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(report.points_hit, report.points_seen);
  EXPECT_EQ(pairs.opened, pairs.closed);
}

/// The bug: when the one who opens the gate is cancelled, nobody does.
auto forgetful(Gate& gate) {
  return [&gate](Cx cx) -> Task<int> {
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
}

TEST(Faults, LAB_7_LAB_3_a_bug_that_needs_a_cancel_is_found_and_repeats_from_its_word) {
  Gate gate;
  const EverywhereReport report = cancel_everywhere({.seed = 2}, forgetful(gate));
  ASSERT_FALSE(report.is_clean());
  const std::string text = to_string(report);
  EXPECT_SAYS(text, "calm: with a cancel of the task at await point ");
  EXPECT_SAYS(text, ", tests/unit/lab/fault_test.cpp:");
  EXPECT_SAYS(text, "calm: deadlock: nothing can run and no alarm is armed");
  EXPECT_SAYS(text, "calm lab: the schedule is calm1-s2-p");

  const LabReport& failure = report.failures.front();
  const LabReport again = run({}, parse_schedule(failure.replay_word()).value(), forgetful(gate));
  EXPECT_EQ(again.trace, failure.trace);
  EXPECT_EQ(count_of(again, Oracle::deadlock), 1);

  const LabConfig one = with_schedule({}, parse_schedule(failure.replay_word()).value());
  const EverywhereReport single = cancel_everywhere(one, forgetful(gate));
  EXPECT_EQ(single.points_hit, 1U);
  ASSERT_EQ(single.failures.size(), 1U);
  EXPECT_EQ(single.failures.front().trace, failure.trace);
}

TEST(Faults, LAB_7_a_program_that_fails_without_faults_is_not_struck) {
  Gate gate;
  const EverywhereReport report = cancel_everywhere({}, [&gate](Cx cx) -> Task<int> {
    co_await planted::pass(cx, gate);
    co_return 0;
  });
  EXPECT_EQ(report.failed, 1U);
  EXPECT_EQ(report.points_hit, 0U);
}

TEST(Faults, LAB_7_many_points_are_struck_at_even_distances_and_every_line_once) {
  const auto program = [](Cx cx) -> Task<int> {
    for (int i = 0; i < 500; ++i) co_await yield(cx);
    co_await checkpoint(cx);
    for (int i = 0; i < 500; ++i) co_await yield(cx);
    co_return 0;
  };
  const EverywhereReport report = cancel_everywhere({}, program, {.max_runs = 10});
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_TRUE(report.sampled);
  EXPECT_EQ(report.points_seen, 1001U);
  EXPECT_GE(report.points_hit, 10U);
  EXPECT_LE(report.points_hit, 13U);
  EXPECT_EQ(report.sites.size(), 3U);
  for (const SiteCoverage& site : report.sites) EXPECT_GT(site.hit, 0U) << site.place;
  EXPECT_SAYS(to_string(report), "at even distances because there are so many");
}

TEST(Faults, LAB_7_lines_that_were_never_struck_are_named) {
  EverywhereReport report;
  report.sites = {{.place = "worker.cpp:88 in loop", .seen = 3, .hit = 0}};
  EXPECT_SAYS(to_string(report), "never struck: worker.cpp:88 in loop");
}

/// Gives: how many polls the trace tells of.
std::size_t polls_of(const LabReport& report) {
  std::size_t polls = 0;
  for (const trace::Event& event : report.trace.events) polls += event.kind == trace::EventKind::poll ? 1 : 0;
  return polls;
}

TEST(Faults, LAB_7_TSK_6_wakes_for_nothing_change_no_result) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Pairs pairs;
    LabConfig config{.seed = seed};
    const LabReport plain = run(config, house(pairs));
    config.faults.spurious_wakes = 500;
    const LabReport report = check_determinism(config, house(pairs));
    EXPECT_TRUE(report.is_clean()) << to_string(report);
    EXPECT_TRUE(report.end.is_ok());
    EXPECT_EQ(report.end_time, plain.end_time);
    EXPECT_GT(polls_of(report), polls_of(plain));
    EXPECT_EQ(pairs.opened, pairs.closed);
  }
}

TEST(Faults, LAB_7_TMR_3_a_clock_that_jumps_makes_sleepers_late_and_never_early) {
  bool late = false;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    int ended = 0;
    LabConfig config{.seed = seed};
    config.faults = {.clock_jumps = 300, .jump_max = Duration::milliseconds(20)};
    const LabReport report = run(config, [&](Cx cx) -> Task<int> {
      const auto body = [&](Scope& scope) -> Task<int> {
        for (int i = 5; i > 0; --i) {
          auto sleeper = co_await scope.spawn([&ended, &late, i](Cx inner) -> Task<void> {
            const Time until = inner.now() + Duration::milliseconds(i);
            co_await sleep_until(inner, until);
            EXPECT_GE(inner.now(), until);
            late = late || inner.now() > until;
            ++ended;
          });
        }
        co_return 0;
      };
      const int value = co_await scope(cx, body);
      co_return value;
    });
    EXPECT_TRUE(report.is_clean()) << to_string(report);
    EXPECT_EQ(ended, 5);
  }
  EXPECT_TRUE(late);
}

TEST(Faults, BUD_5_LAB_7_a_deadline_that_the_clock_jumps_over_cancels) {
  LabConfig config;
  config.faults = {.clock_jumps = 1000, .jump_max = Duration::milliseconds(20)};
  config.kernel.root_budget.deadline = Deadline(Time() + Duration::milliseconds(50));
  const LabReport report = run(config, [](Cx cx) -> Task<int> {
    for (int i = 0; i < 1000; ++i) co_await yield(cx);
    co_return 0;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_TRUE(report.end.is_cancelled());
}

}  // namespace
}  // namespace calm::lab
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
