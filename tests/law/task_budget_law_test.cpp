// Budgets as the kernel keeps them: what a child gets, and what happens when they are used up.
#include <gtest/gtest.h>

#include "tests/law/law_bench.hpp"

namespace calm::kernel {
namespace {

Budget polls(std::uint64_t count) { return {.polls = Quota(count)}; }

// --- BUD-3 ---

TEST(TaskBudget, BUD_3_is_the_meet_of_what_region_and_spawner_have_left_and_what_was_asked) {
  LawBench bench({.root_budget = {.cost = Quota(1000), .priority = 3}});
  const RegionId region = bench.region(bench.root(), {.budget = {.deadline = Time::at_ns(900), .polls = Quota(50)}});
  EXPECT_EQ(bench.view(region).budget,
            (Budget{.deadline = Time::at_ns(900), .polls = Quota(50), .cost = Quota(1000), .priority = 3}));
  const TaskId spawner = bench.running(region, {.budget = {.polls = Quota(10), .cost = Quota(100), .priority = 7}});
  EXPECT_TRUE(bench.park(spawner));
  EXPECT_EQ(bench.poll_again(spawner), PollStart::run);
  EXPECT_TRUE(bench.kernel->spend(bench.worker, spawner, 30));

  const TaskId child = bench.task(region, {.spawner = spawner});
  EXPECT_EQ(bench.kernel->budget_of(child),
            (Budget{.deadline = Time::at_ns(900), .polls = Quota(8), .cost = Quota(70), .priority = 7}));
  const TaskId tighter = bench.task(
      region, {.budget = {.deadline = Time::at_ns(100), .polls = Quota(2), .cost = Quota(500), .priority = 1},
               .spawner = spawner});
  EXPECT_EQ(bench.kernel->budget_of(tighter),
            (Budget{.deadline = Time::at_ns(100), .polls = Quota(2), .cost = Quota(70), .priority = 7}));
}

TEST(TaskBudget, BUD_3_nothing_widens_a_budget) {
  LawBench bench({.root_budget = {.deadline = Time::at_ns(10), .polls = Quota(1), .cost = Quota(1), .priority = 9}});
  const Budget wide{.deadline = Time::at_ns(1000), .polls = Quota(1000), .cost = Quota(1000), .priority = 0};
  const RegionId region = bench.region(bench.root(), {.budget = wide});
  EXPECT_TRUE(within(bench.view(region).budget, bench.view(bench.root()).budget));
  const TaskId task = bench.task(region, {.budget = wide});
  EXPECT_TRUE(within(*bench.kernel->budget_of(task), bench.view(region).budget));
}

TEST(TaskBudget, BUD_3_a_region_gets_what_its_owner_has_left) {
  LawBench bench;
  const TaskId owner = bench.running(bench.root(), {.budget = {.polls = Quota(5), .cost = Quota(40)}});
  EXPECT_TRUE(bench.kernel->spend(bench.worker, owner, 15));
  const RegionId region = bench.region(bench.root(), {.budget = polls(90), .owner = owner});
  EXPECT_EQ(bench.view(region).budget, (Budget{.polls = Quota(4), .cost = Quota(25)}));
}

TEST(TaskBudget, BUD_3_quotas_are_ceilings_of_each_task_and_not_a_shared_pool) {
  LawBench bench;
  const RegionId region = bench.region(bench.root(), {.budget = {.polls = Quota(3), .cost = Quota(10)}});
  const TaskId first = bench.running(region);
  EXPECT_TRUE(bench.kernel->spend(bench.worker, first, 10));
  EXPECT_TRUE(bench.park(first));
  const TaskId second = bench.running(region);
  EXPECT_TRUE(bench.kernel->spend(bench.worker, second, 10));
  EXPECT_EQ(bench.kernel->budget_of(second), (Budget{.polls = Quota(2), .cost = Quota(0)}));
}

// --- BUD-4, BUD-5: cost ---

TEST(TaskBudget, BUD_4_BUD_5_cost_is_spent_whole_or_not_at_all_and_then_cost_budget_is_requested) {
  LawBench bench;
  const TaskId task = bench.running(bench.root(), {.budget = {.cost = Quota(10)}});
  EXPECT_TRUE(bench.kernel->spend(bench.worker, task, 4));
  EXPECT_TRUE(bench.kernel->spend(bench.worker, task, 6)) << "exactly the rest";
  EXPECT_TRUE(bench.kernel->spend(bench.worker, task, 0));
  EXPECT_EQ(bench.kernel->budget_of(task)->cost, Quota(0));
  EXPECT_FALSE(bench.kernel->is_cancel_requested(task));
  EXPECT_EQ(bench.kernel->spend(bench.worker, task, 1), Status(Errc::budget_exhausted));
  EXPECT_TRUE(bench.kernel->is_cancel_requested(task));
  EXPECT_EQ(bench.reason(task).kind(), CancelKind::cost_budget);
  EXPECT_EQ(bench.reason(task).region(), bench.root());
  EXPECT_EQ(bench.reason(task).task(), task);
}

TEST(TaskBudget, BUD_4_a_refused_amount_uses_up_nothing) {
  LawBench bench;
  const TaskId task = bench.running(bench.root(), {.budget = {.cost = Quota(10)}});
  EXPECT_EQ(bench.kernel->spend(bench.worker, task, 11), Status(Errc::budget_exhausted));
  EXPECT_EQ(bench.kernel->budget_of(task)->cost, Quota(10));
}

TEST(TaskBudget, BUD_5_clean_up_is_not_limited_in_cost) {
  LawBench bench;
  const TaskId task = bench.running(bench.root(), {.budget = {.cost = Quota(0)}});
  EXPECT_EQ(bench.kernel->spend(bench.worker, task, 1), Status(Errc::budget_exhausted));
  expect_unchanged(bench, {}, [&] { return bench.kernel->spend(bench.worker, task, UINT64_MAX); });
}

TEST(TaskBudget, BUD_5_without_a_quota_cost_is_free) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  expect_unchanged(bench, {}, [&] { return bench.kernel->spend(bench.worker, task, UINT64_MAX); });
}

// --- BUD-5: polls ---

TEST(TaskBudget, BUD_5_quota_n_allows_exactly_n_polls_and_the_next_runs_on_clean_up) {
  for (const std::uint64_t quota : {1U, 2U, 7U}) {
    LawBench bench;
    const TaskId task = bench.task(bench.root(), {.budget = polls(quota)});
    for (std::uint64_t poll = 1; poll <= quota; ++poll) {
      EXPECT_EQ(bench.poll_again(task), PollStart::run);
      EXPECT_FALSE(bench.kernel->is_cancel_requested(task)) << poll << " of " << quota;
      EXPECT_EQ(bench.kernel->budget_of(task)->polls, Quota(quota - poll));
      EXPECT_TRUE(bench.park(task));
    }
    EXPECT_EQ(bench.poll_again(task), PollStart::run) << "it cleans up now";
    ASSERT_TRUE(bench.kernel->is_cancel_requested(task));
    EXPECT_EQ(bench.reason(task).kind(), CancelKind::poll_quota);
    EXPECT_EQ(bench.reason(task).task(), task);
    EXPECT_EQ(bench.kernel->budget_of(task)->polls, Quota(0)) << "failure-atomic";
    EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
    EXPECT_TRUE(bench.park(task));
    PollStart last{};
    EXPECT_EQ(bench.polls_until_stopped(task, last), 299U) << "300 with the one that requested";
    EXPECT_EQ(last, PollStart::drop);
  }
}

TEST(TaskBudget, BUD_5_TSK_8_quota_0_allows_no_poll_and_the_body_never_begins) {
  LawBench bench;
  const TaskId task = bench.task(bench.root(), {.budget = polls(0)});
  EXPECT_EQ(bench.poll(task), PollStart::drop);
  EXPECT_EQ(bench.reason(task).kind(), CancelKind::poll_quota);
  EXPECT_FALSE(bench.view(task).started);
  EXPECT_EQ(bench.state(task), TaskState::cancelling);
  EXPECT_TRUE(bench.end(task));
  EXPECT_EQ(bench.kernel->outcome_of(task), OutcomeKind::cancelled);
}

TEST(TaskBudget, BUD_5_wakes_that_are_one_poll_count_as_one) {
  LawBench bench;
  const TaskId task = bench.parked(bench.root(), {.budget = polls(10)});
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(bench.wake(task));
  EXPECT_EQ(bench.poll(task), PollStart::run);
  EXPECT_EQ(bench.kernel->budget_of(task)->polls, Quota(8));
  EXPECT_EQ(bench.kernel->begin_poll(bench.worker, task), PollStart::stale);
  EXPECT_EQ(bench.kernel->budget_of(task)->polls, Quota(8)) << "a stale entry is no poll";
}

// --- BUD-5: deadline ---

TEST(TaskBudget, BUD_5_the_deadline_is_reached_when_it_is_now) {
  const Time deadline = Time::at_ns(1000);
  for (const bool by_poll : {true, false}) {
    LawBench bench;
    const TaskId task = bench.parked(bench.root(), {.budget = {.deadline = deadline}});
    ASSERT_EQ(bench.host.watches.size(), 1U) << "the host minds it";
    EXPECT_EQ(bench.host.watches[0], std::make_pair(task, deadline));
    const auto look = [&] {
      if (!by_poll) {
        EXPECT_TRUE(bench.kernel->deadline_reached(bench.worker, task));
        return;
      }
      EXPECT_EQ(bench.poll_again(task), PollStart::run);
      EXPECT_TRUE(bench.park(task));
    };
    bench.at(Time::at_ns(999));
    look();
    EXPECT_FALSE(bench.kernel->is_cancel_requested(task));
    bench.at(deadline);
    look();
    ASSERT_TRUE(bench.kernel->is_cancel_requested(task));
    EXPECT_EQ(bench.reason(task).kind(), CancelKind::deadline);
    EXPECT_EQ(bench.reason(task).task(), task);
    EXPECT_EQ(bench.reason(task).at(), deadline);
    if (!by_poll) {
      EXPECT_TRUE(bench.is_queued(task)) << "a parked task is woken";
    }
  }
}

TEST(TaskBudget, BUD_5_TSK_8_a_task_whose_deadline_has_passed_never_begins) {
  LawBench bench;
  bench.at(Time::at_ns(5));
  const TaskId task = bench.task(bench.root(), {.budget = {.deadline = Time()}});
  EXPECT_EQ(bench.poll(task), PollStart::drop) << "time 0 is a valid instant";
  EXPECT_EQ(bench.reason(task).kind(), CancelKind::deadline);
  EXPECT_FALSE(bench.view(task).started);
}

TEST(TaskBudget, BUD_5_a_deadline_that_comes_after_the_end_changes_nothing) {
  LawBench bench;
  const TaskId task = bench.running(bench.root(), {.budget = {.deadline = Time::at_ns(10)}});
  EXPECT_TRUE(bench.end(task));
  bench.at(Time::at_ns(10));
  expect_unchanged(bench, {}, [&] { return bench.kernel->deadline_reached(bench.worker, task); });
}

TEST(TaskBudget, BUD_5_polls_and_deadline_used_up_together_request_once) {
  LawBench bench;
  const TaskId task = bench.parked(bench.root(), {.budget = {.deadline = Time::at_ns(10), .polls = Quota(1)}});
  bench.at(Time::at_ns(10));
  EXPECT_EQ(bench.poll_again(task), PollStart::run);
  EXPECT_TRUE(bench.park(task));
  EXPECT_TRUE(bench.kernel->deadline_reached(bench.worker, task));
  EXPECT_EQ(bench.events(trace::EventKind::cancel_request).size(), 1U);
}

}  // namespace
}  // namespace calm::kernel
