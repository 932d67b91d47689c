// Runs in which lanes choose, under a governor: their order, what stands of its decisions in the trace, and fairness.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "calm/cx/scope.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/lane_choice.hpp"
#include "calm/lab/oracles.hpp"
#include "calm/lab/replay.hpp"
#include "calm/sched/governor.hpp"
#include "tests/unit/lab/found.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::lab {
namespace {

LabConfig governed(std::string_view name, std::uint64_t seed = 1) {
  const sched::Governor* const governor = sched::find_governor(name);
  EXPECT_NE(governor, nullptr) << name;
  return {.seed = seed, .governor = governor};
}

Task<void> note_turn(Cx /*cx*/, std::string& turns, char name) {
  turns += name;
  co_return;
}

Task<void> note_turns(Cx cx, std::string& turns, char name) {
  for (int i = 0; i < 2; ++i) {
    turns += name;
    co_await yield(cx);
  }
}

/// Spawns tasks with budgets of all sorts in one poll, and waits for them.
Task<int> spawn_of_all_sorts(Cx cx, std::string& turns) {
  turns.clear();
  const auto body = [&turns](Scope& scope) -> Task<int> {
    const Cx own = scope.cx();
    const Time now = own.now();
    const struct {
      char name;
      Budget budget;
    } wanted[] = {{'a', {}},
                  {'b', {.priority = 3}},
                  {'c', {.deadline = now + Duration::seconds(2)}},
                  {'d', {.deadline = now + Duration::seconds(1), .priority = 9}},
                  {'e', {.priority = 7}},
                  {'f', {.deadline = now + Duration::seconds(1)}},
                  {'g', {.priority = 3}}};
    for (const auto& one : wanted) {
      const char name = one.name;
      const auto child = [&turns, name](Cx inner) -> Task<void> { co_await note_turn(inner, turns, name); };
      const TaskOptions options{.budget = one.budget};
      (void)co_await scope.spawn(options, child);
    }
    co_return 0;
  };
  const int value = co_await scope(cx, body);
  co_return value;
}

TEST(LaneChoice, SCH_1_with_a_governor_the_lab_dispatches_in_the_order_of_the_lanes) {
  std::string turns;
  const auto program = [&turns](Cx cx) -> Task<int> {
    const int value = co_await spawn_of_all_sorts(cx, turns);
    co_return value;
  };
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const LabReport report = check_determinism(governed("none", seed), program);
    EXPECT_TRUE(report.is_clean()) << to_string(report);
    EXPECT_EQ(turns, "dfcebga") << "deadlines, then priorities, then the rest; first come, first served";
    EXPECT_FALSE(report.chosen_by_seed);
  }
}

/// Many tasks take turns, then most of them are cancelled while others have deadlines.
Task<int> cancel_amid_deadlines(Cx cx) {
  const auto body = [](Scope& outer) -> Task<int> {
    const auto inner_body = [](Scope& inner) -> Task<int> {
      for (int i = 0; i < 40; ++i) {
        const auto child = [](Cx own) -> Task<void> { co_await sleep(own, Duration::seconds(60)); };
        (void)co_await inner.spawn(child);
      }
      co_await sleep(inner.cx(), Duration::milliseconds(5));
      co_return 0;
    };
    for (int i = 0; i < 20; ++i) {
      const auto child = [](Cx own) -> Task<void> {
        co_await sleep(own, Duration::milliseconds(3));
        for (int turn = 0; turn < 3; ++turn) co_await yield(own);
      };
      const TaskOptions options{.budget = {.deadline = outer.cx().now() + Duration::milliseconds(4)}};
      (void)co_await outer.spawn(options, child);
    }
    const auto child_of_all = [inner_body](Cx own) -> Task<int> {
      const int value = co_await scope(own, inner_body);
      co_return value;
    };
    const auto timed = outer.cx().with_deadline(outer.cx().now() + Duration::milliseconds(3));
    (void)co_await outcome(child_of_all(Cx(timed)));
    co_return 0;
  };
  const int value = co_await scope(cx, body);
  co_return value;
}

TEST(LaneChoice, SCH_3_every_decision_of_a_governor_stands_in_the_trace_with_its_reasons) {
  for (const sched::Governor* const governor : sched::governors()) {
    const LabReport report = check_determinism({.governor = governor}, cancel_amid_deadlines);
    EXPECT_TRUE(report.is_clean()) << governor->name() << '\n' << to_string(report);
    const std::vector<sched::Decision> decisions = decisions_of(report.trace);
    ASSERT_GT(decisions.size(), 5U) << governor->name();
    bool tasks = false;
    bool deadlines = false;
    bool compared = false;
    for (const sched::Decision& decision : decisions) {
      tasks = tasks || decision.potential.tasks > 40;
      deadlines = deadlines || decision.potential.deadlines > 0;
      compared = compared || (decision.compared && decision.candidates[0] > 0);
    }
    EXPECT_TRUE(tasks && deadlines) << governor->name();
    EXPECT_EQ(compared, governor->name() == "lyapunov");
  }
}

TEST(LaneChoice, SCH_3_without_a_governor_there_are_no_decisions_and_a_schedule_repeats_the_run_without_one) {
  const LabReport plain = run({}, cancel_amid_deadlines);
  EXPECT_TRUE(decisions_of(plain.trace).empty());
  const LabReport lanes = run(governed("none"), cancel_amid_deadlines);
  const LabReport again = run(with_schedule({}, lanes.schedule), cancel_amid_deadlines);
  EXPECT_TRUE(again.is_clean()) << to_string(again);
  EXPECT_EQ(again.state_digest, lanes.state_digest);
  EXPECT_EQ(again.end_time, lanes.end_time);
  EXPECT_EQ(again.steps, lanes.steps);
}

TEST(LaneChoice, LAB_6_fairness_is_asked_of_every_dispatch_that_lanes_chose) {
  const TaskId task(7, Generation(1));
  const LaneDispatch cancel{.task = task, .lane = sched::Lane::cancel, .limit = 16, .others = true};
  const auto asked = [](const std::vector<LaneDispatch>& dispatches) {
    Problems problems;
    ask_fairness({.dispatches = dispatches}, problems);
    return problems;
  };
  std::vector<LaneDispatch> streak(16, cancel);
  EXPECT_TRUE(asked(streak).empty());
  streak.push_back(cancel);
  ASSERT_EQ(asked(streak).size(), 1U);
  EXPECT_EQ(asked(streak)[0].oracle, Oracle::fairness);
  EXPECT_SAYS(asked(streak)[0].text, "as number 17 of a streak of cancel work, 16 may be");
  streak.back().limit = 32;
  EXPECT_TRUE(asked(streak).empty()) << "something is drained";
  streak.back() = {.task = task, .lane = sched::Lane::cancel, .limit = 16};
  EXPECT_TRUE(asked(streak).empty()) << "nothing else waited";

  const LaneDispatch ready{.task = task, .lane = sched::Lane::ready, .waited = 128, .bound = 128, .limit = 16};
  EXPECT_TRUE(asked({ready}).empty());
  LaneDispatch late = ready;
  late.waited = 129;
  ASSERT_EQ(asked({late}).size(), 1U);
  EXPECT_SAYS(asked({late})[0].text, "after 129 others, 128 may be");
  late.lane = sched::Lane::timed;
  EXPECT_TRUE(asked({late}).empty());
}

/// Spawns three groups of equals in one poll, mixed: deadlines A to C, then priorities P to S, then plain tasks x to z.
Task<int> spawn_equals(Cx cx, std::string& turns) {
  turns.clear();
  const auto body = [&turns](Scope& scope) -> Task<int> {
    const Cx own = scope.cx();
    const Time soon = own.now() + Duration::seconds(1);
    for (const char name : std::string_view("xPAyQBzRCS")) {
      Budget budget;
      if (name >= 'P' && name <= 'S') budget.priority = 3;
      if (name >= 'A' && name <= 'C') budget.deadline = soon;
      const auto child = [&turns, name](Cx inner) -> Task<void> { co_await note_turn(inner, turns, name); };
      const TaskOptions options{.budget = budget};
      (void)co_await scope.spawn(options, child);
    }
    co_return 0;
  };
  const int value = co_await scope(cx, body);
  co_return value;
}

std::string sorted(std::string_view text) {
  std::string result(text);
  std::sort(result.begin(), result.end());
  return result;
}

TEST(LaneChoice, SCH_7_random_ties_are_the_seeds_among_equals_only_and_the_same_for_a_seed) {
  std::string turns;
  const auto program = [&turns](Cx cx) -> Task<int> {
    const int value = co_await spawn_equals(cx, turns);
    co_return value;
  };
  std::set<std::string> deadlines;
  std::set<std::string> priorities;
  std::set<std::string> plain;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    LabConfig config = governed("none", seed);
    EXPECT_TRUE(run(config, program).is_clean());
    EXPECT_EQ(turns, "ABCPQRSxyz") << "who came first, unless it is asked for";
    config.random_ties = true;
    const LabReport report = check_determinism(config, program);
    EXPECT_TRUE(report.is_clean()) << to_string(report);
    ASSERT_EQ(turns.size(), 10U);
    const std::string first = turns;
    (void)run(config, program);
    EXPECT_EQ(turns, first) << "the same seed";
    const std::string_view all = first;
    EXPECT_EQ(sorted(all.substr(0, 3)), "ABC") << first;
    EXPECT_EQ(sorted(all.substr(3, 4)), "PQRS") << first;
    EXPECT_EQ(sorted(all.substr(7)), "xyz") << first;
    deadlines.emplace(all.substr(0, 3));
    priorities.emplace(all.substr(3, 4));
    plain.emplace(all.substr(7));
    const LabReport again = run(with_schedule({}, report.schedule), program);
    EXPECT_EQ(turns, first) << "the schedule repeats it";
    EXPECT_TRUE(again.is_clean()) << to_string(again);
  }
  EXPECT_EQ(deadlines.size(), 6U) << "all orders of three";
  EXPECT_GT(priorities.size(), 12U);
  EXPECT_EQ(plain.size(), 6U);
}

TEST(LaneChoice, SCH_4_SCH_7_random_ties_leave_nobody_waiting_for_longer_than_the_bound) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    LabConfig config = governed("lyapunov", seed);
    config.random_ties = true;
    const LabReport report = check_determinism(config, cancel_amid_deadlines);
    EXPECT_TRUE(report.is_clean()) << to_string(report);  // fairness is one of the oracles
  }
}

TEST(LaneChoice, LAB_6_a_run_that_takes_turns_is_fair) {
  std::string turns;
  const auto program = [&turns](Cx cx) -> Task<int> {
    turns.clear();
    const auto body = [&turns](Scope& scope) -> Task<int> {
      for (const char name : {'a', 'b', 'c'}) {
        const auto child = [&turns, name](Cx inner) -> Task<void> { co_await note_turns(inner, turns, name); };
        (void)co_await scope.spawn(child);
      }
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
  EXPECT_TRUE(run(governed("none"), program).is_clean());
  EXPECT_EQ(turns, "abcabc");
}

}  // namespace
}  // namespace calm::lab
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
