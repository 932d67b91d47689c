#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "calm/calm.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/schedule.hpp"
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
using calm::lab::LabReport;
using calm::lab::Shared;
using calm::lab::Strategy;

/// Runs the schedule of an execution once more: an exploration keeps its machine from one execution to the next, a run has
/// one of its own.
template <class F>
void expect_same_on_a_new_machine(F program, const ExploreConfig& config, const LabReport& execution) {
  const LabReport run = calm::lab::run({.kernel = config.kernel}, execution.schedule, program);
  EXPECT_EQ(run.trace, execution.trace);
  EXPECT_EQ(run.trace_digest, execution.trace_digest);
  EXPECT_EQ(run.state_digest, execution.state_digest);
  EXPECT_EQ(run.steps, execution.steps);
  EXPECT_EQ(run.end_time, execution.end_time);
  EXPECT_EQ(run.problems.size(), execution.problems.size());
}

/// Explores in both ways: optimally there is one execution for each that differs among all orders, and none in vain.
template <class F>
ExploreReport explore_both_ways(F program, ExploreConfig config = {}) {
  config.stop_at_first_problem = false;
  config.check = [&program, &config](const LabReport& execution) {
    expect_same_on_a_new_machine(program, config, execution);
    return std::string();
  };
  const ExploreReport report = calm::lab::explore(program, config);
  EXPECT_TRUE(report.exhausted());
  EXPECT_EQ(report.counts.blocked, 0U);
  EXPECT_EQ(report.counts.executions, report.counts.fingerprints);
  config.check = {};
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

// --- cancel, failure, joins ---

Task<void> cancel_against_completion(Cx cx) {
  Shared<int> done(cx, 0);
  const auto body = [&done](Scope& scope) -> Task<void> {
    const auto work = [&done](Cx inner) -> Task<void> {
      co_await calm::yield(inner);
      co_await calm::yield(inner);
      done.set(inner, 1);
    };
    auto worker = co_await scope.spawn(work);
    worker.cancel();
    const auto end = co_await calm::outcome(std::move(worker).join(scope.cx()));
    if (end.is_ok() || done.get(scope.cx()) != 0) throw std::logic_error("it went on");
  };
  co_await calm::scope(cx, body);
}

TEST(ExploreTasks, LAB_5_a_cancel_in_the_step_of_the_spawn_has_one_place) {
  const ExploreReport report = explore_both_ways(cancel_against_completion, {.must_end_ok = false});
  EXPECT_TRUE(report.ok()) << report;
  // The cancel is in the step of the spawn: nothing of the task can come before it.
  EXPECT_EQ(report.counts.executions, 1U);
}

Task<void> late_cancel(Cx cx) {
  const auto body = [](Scope& scope) -> Task<void> {
    auto worker = co_await scope.spawn(yields, 2);
    co_await calm::yield(scope.cx());
    worker.cancel();
  };
  co_await calm::scope(cx, body);
}

TEST(ExploreTasks, LAB_5_a_late_cancel_meets_every_state_of_the_task) {
  // Before the first poll, between the three, after the last.
  const ExploreReport report = explore_both_ways(late_cancel, {.must_end_ok = false});
  EXPECT_TRUE(report.ok()) << report;
  EXPECT_EQ(report.counts.executions, 4U);
}

Task<void> failing_child(Cx cx) {
  const auto body = [](Scope& scope) -> Task<void> {
    const auto fails = [](Cx inner) -> Task<void> {
      co_await calm::yield(inner);
      co_await calm::fail(Errc::full);
    };
    (void)co_await scope.spawn(yields, 2);
    (void)co_await scope.spawn(fails);
  };
  const auto end = co_await calm::outcome(calm::scope(cx, body));
  if (!end.is_err()) co_await calm::fail(Errc::invalid_argument);
}

TEST(ExploreTasks, LAB_5_a_failing_child_cancels_its_sibling_wherever_that_is) {
  const ExploreReport report = explore_both_ways(failing_child);
  EXPECT_TRUE(report.ok()) << report;
  EXPECT_GE(report.counts.executions, 4U);
}

Task<void> joins_in_order(Cx cx) {
  const auto body = [](Scope& scope) -> Task<void> {
    auto first = co_await scope.spawn(yields, 1);
    auto second = co_await scope.spawn(yields, 1);
    co_await std::move(first).join(scope.cx());
    co_await std::move(second).join(scope.cx());
  };
  co_await calm::scope(cx, body);
}

TEST(ExploreTasks, LAB_5_a_join_comes_before_the_end_of_its_task_or_after_it) {
  // The first is waited for in the step of its spawn; the second has ended by then, or not.
  EXPECT_EQ(explore_both_ways(joins_in_order).counts.executions, 2U);
}

Task<void> grandchildren(Cx cx) {
  Shared<int> seen(cx, 0);
  const auto body = [&seen](Scope& scope) -> Task<void> {
    const auto child = [&seen](Cx inner) -> Task<void> {
      const auto inside = [&seen](Scope& own) -> Task<void> {
        const auto leaf = [&seen](Cx deep) -> Task<void> {
          ++seen.changed(deep);
          co_return;
        };
        (void)co_await own.spawn(leaf);
        co_await calm::yield(own.cx());
        (void)co_await own.spawn(yields, 1);
      };
      co_await calm::scope(inner, inside);
    };
    (void)co_await scope.spawn(child);
    (void)co_await scope.spawn(child);
  };
  co_await calm::scope(cx, body);
  if (seen.get(cx) != 2) co_await calm::fail(Errc::invalid_argument);
}

TEST(ExploreTasks, LAB_5_children_that_start_children_keep_their_names_in_every_order) {
  const ExploreReport report = calm::lab::explore(grandchildren);
  EXPECT_TRUE(report.ok()) << report;
  EXPECT_TRUE(report.exhausted());
  EXPECT_EQ(report.counts.executions, report.counts.fingerprints);
  // Whose leaf is first; and for each child, whether its leaf has ended when it looks who is still in its scope.
  EXPECT_EQ(report.counts.executions, 8U);
}

Task<void> finalizers(Cx cx) {
  Shared<int> order(cx, 0);
  const auto body = [&order](Scope& scope) -> Task<void> {
    const auto last = [&order](Cx inner) -> Task<void> {
      co_await calm::yield(inner);
      order.set(inner, order.get(inner) * 10 + 1);
    };
    const auto first = [&order](Cx inner) -> Task<void> {
      order.set(inner, order.get(inner) * 10 + 2);
      co_return;
    };
    (void)co_await scope.defer_async(last);
    (void)co_await scope.defer_async(first);
    (void)co_await scope.spawn(yields, 1);
    (void)co_await scope.spawn(yields, 1);
  };
  co_await calm::scope(cx, body);
  if (order.get(cx) != 21) co_await calm::fail(Errc::invalid_argument);
}

TEST(ExploreTasks, REG_5_finalizers_run_newest_first_in_every_schedule) {
  const ExploreReport report = explore_both_ways(finalizers);
  EXPECT_TRUE(report.ok()) << report;
  EXPECT_EQ(report.counts.executions, 1U);
}

// --- time ---

Task<void> sleeper(Cx cx, int milliseconds) { co_await calm::sleep(cx, Duration::milliseconds(milliseconds)); }

Task<void> sleepers(Cx cx) {
  const auto body = [](Scope& scope) -> Task<void> {
    (void)co_await scope.spawn(sleeper, 2);
    (void)co_await scope.spawn(sleeper, 1);
    (void)co_await scope.spawn(sleeper, 1);
  };
  co_await calm::scope(cx, body);
}

TEST(ExploreTasks, LAB_5_sleepers_have_one_execution_when_time_waits_for_them) {
  EXPECT_EQ(explore_both_ways(sleepers).counts.executions, 1U);
}

Task<void> timeout_race(Cx cx) {
  Shared<int> winner(cx, 0);
  const auto body = [&winner](Scope& scope) -> Task<void> {
    const auto work = [&winner](Cx inner) -> Task<void> {
      co_await calm::yield(inner);
      if (winner.get(inner) == 0) winner.set(inner, 1);
    };
    const auto timeout = [&winner](Cx inner) -> Task<void> {
      co_await calm::sleep(inner, Duration::seconds(1));
      if (winner.get(inner) == 0) winner.set(inner, 2);
    };
    (void)co_await scope.spawn(work);
    (void)co_await scope.spawn(timeout);
  };
  co_await calm::scope(cx, body);
  if (winner.get(cx) == 2) co_await calm::fail(Errc::duration_exceeded);
}

TEST(ExploreTasks, LAB_5_a_timeout_wins_only_where_time_is_explored) {
  const ExploreReport patient = explore_both_ways(timeout_race);
  EXPECT_TRUE(patient.ok()) << patient;
  EXPECT_EQ(patient.counts.executions, 1U);
  const ExploreReport report = explore_both_ways(timeout_race, {.explore_time = true});
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.counts.executions, 2U);
  EXPECT_EQ(report.counts.buggy, 1U);
}

// --- channels ---

Task<void> sends_two(Cx cx, calm::channel::Sender<int> sender) {
  for (int i = 0; i < 2; ++i) {
    const calm::channel::Sent<int> sent = co_await sender.send(cx, i);
    if (!sent) co_return;
  }
}
Task<void> receives_all(Cx cx, calm::channel::Receiver<int> receiver) {
  while (true) {
    const std::optional<int> message = co_await receiver.next(cx);
    if (!message) break;
  }
}
Task<void> four_messages(Cx cx) {
  calm::channel::Mpsc<int> ends = co_await calm::channel::mpsc<int>(cx, 1);
  const auto body = [&ends](Scope& scope) -> Task<void> {
    (void)co_await scope.fiber(sends_two, ends.sender);
    (void)co_await scope.fiber(sends_two, std::move(ends.sender));
    (void)co_await scope.fiber(receives_all, std::move(ends.receiver));
  };
  co_await calm::scope(cx, body);
}

TEST(ExploreTasks, LAB_5_senders_to_one_channel_come_in_every_order) {
  const ExploreReport report = explore_both_ways(four_messages);
  EXPECT_TRUE(report.ok()) << report;
  EXPECT_GT(report.counts.executions, 1U);
}

// --- what goes wrong ---

Task<void> forgets_to_join(Cx cx) {
  Shared<bool> ready(cx, false);
  const auto body = [&ready](Scope& scope) -> Task<void> {
    const auto setter = [&ready](Cx inner) -> Task<void> {
      ready.set(inner, true);
      co_return;
    };
    (void)co_await scope.spawn(setter);
    co_await calm::yield(scope.cx());
    if (!ready.get(scope.cx())) co_await calm::fail(Errc::invalid_argument);
  };
  co_await calm::scope(cx, body);
}

TEST(ExploreTasks, LAB_3_a_failure_is_shown_with_the_fewest_preemptions_and_made_again) {
  const ExploreReport report = calm::lab::explore(forgets_to_join);
  ASSERT_FALSE(report.ok());
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_TRUE(report.fewest);
  EXPECT_EQ(report.preemptions, 0U) << report;
  EXPECT_NE(to_string(report).find("CALM_LAB_SCHEDULE=calm1-"), std::string::npos) << report;
  const auto schedule = calm::lab::parse_schedule(report.failure->replay_word());
  ASSERT_TRUE(schedule.is_ok());
  const auto again = calm::lab::run({.kernel = calm::lab::explored_kernel()}, schedule.value(), forgets_to_join);
  EXPECT_EQ(again.trace_digest, report.failure->trace_digest);
  EXPECT_TRUE(again.end.is_err());
}

/// The scope of `owner` does not close before the promise is kept; who has taken it waits for the owner first.
Task<void> circle(Cx cx) {
  Shared<std::optional<calm::Obligation>> given(cx);
  const auto body = [&given](Scope& scope) -> Task<void> {
    const auto owner = [&given](Cx inner) -> Task<void> {
      const auto inside = [&given](Scope& own) -> Task<void> {
        given.changed(own.cx()) = co_await calm::reserve(own.cx(), calm::ObligationKind::custom);
        co_await calm::yield(own.cx());
        auto& left = given.changed(own.cx());
        if (left) (void)left->commit();
        left.reset();
      };
      co_await calm::scope(inner, inside);
    };
    auto owning = co_await scope.spawn(owner);
    auto taker = [&given, handle = std::move(owning)](Cx inner) mutable -> Task<void> {
      if (!given.get(inner)) co_return;
      std::optional<calm::Obligation> taken = std::move(given.changed(inner));
      given.changed(inner).reset();
      (void)taken->hand_to(inner.task());
      co_await std::move(handle).join(inner);
      (void)taken->commit();
    };
    (void)co_await scope.spawn(std::move(taker));
  };
  co_await calm::scope(cx, body);
}

TEST(ExploreTasks, LAB_6_tasks_that_wait_for_each_other_are_found_as_a_deadlock) {
  const ExploreReport report = explore_both_ways(circle);
  EXPECT_EQ(report.counts.executions, 3U);  // the taker comes before the promise, after it, or in between
  EXPECT_EQ(report.counts.deadlocks, 1U);
  EXPECT_EQ(report.counts.buggy, 1U);
  EXPECT_NE(to_string(report).find("deadlock"), std::string::npos) << report;
}

TEST(ExploreTasks, LAB_5_every_strategy_finds_a_lost_update) {
  for (const Strategy strategy :
       {Strategy::optimal, Strategy::all, Strategy::bounded, Strategy::persistence, Strategy::random, Strategy::pct}) {
    const ExploreReport report = calm::lab::explore(lost_update, {.strategy = strategy, .max_executions = 1000});
    EXPECT_FALSE(report.ok()) << static_cast<int>(strategy);
    ASSERT_TRUE(report.failure.has_value());
    EXPECT_EQ(report.preemptions, 1U) << report;
  }
}

TEST(ExploreTasks, LAB_5_the_clock_is_a_choice_of_a_schedule_that_is_made_again) {
  const ExploreReport report = calm::lab::explore(timeout_race, {.explore_time = true});
  ASSERT_TRUE(report.failure.has_value());
  const auto schedule = calm::lab::parse_schedule(report.failure->replay_word());
  ASSERT_TRUE(schedule.is_ok());
  EXPECT_TRUE(schedule.value().explore_time);
  const auto again = calm::lab::run({}, schedule.value(), timeout_race);
  EXPECT_EQ(again.trace_digest, report.failure->trace_digest);
}

Task<void> crowd(Cx cx) {
  const auto body = [](Scope& scope) -> Task<void> {
    for (int i = 0; i < 70; ++i) (void)co_await scope.spawn(yields, 0);
  };
  co_await calm::scope(cx, body);
}

TEST(ExploreTasks, LAB_5_more_tasks_than_can_be_told_apart_are_refused) {
  try {
    (void)calm::lab::explore(crowd);
    FAIL() << "it was explored";
  } catch (const std::length_error& error) {
    EXPECT_NE(std::string(error.what()).find("too many to explore"), std::string::npos);
  }
}

}  // namespace
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
