// Budgets of a part of a task: deadlines, polls and cost that narrow, and what happens when they are used up.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "calm/cx/cx.hpp"
#include "calm/cx/mask.hpp"
#include "calm/cx/scope.hpp"
#include "calm/lab/lab.hpp"
#include "tests/unit/cx/in_lab.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

Task<int> slow(CxOf<cap::time> cx) {
  co_await sleep(cx, ms(1'000'000));
  co_return 1;
}
Task<int> busy(CxOf<> cx, int rounds) {
  for (int i = 0; i < rounds; ++i) co_await yield(cx);
  co_return rounds;
}

TEST(WithDeadline, BUD_5_ends_a_wait_when_the_time_has_come) {
  run_well([](Cx cx) -> Task<void> {
    const Outcome<int> end = co_await outcome(slow(cx.with_deadline(cx.now() + ms(10))));
    EXPECT_TRUE(end.is_cancelled());
    EXPECT_EQ(end.reason().kind(), CancelKind::deadline);
    EXPECT_EQ(end.reason().task(), cx.task());
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(10)));
    EXPECT_FALSE(cx.is_cancelled());
    co_await sleep(cx, ms(1));  // the task itself goes on
  });
}

TEST(WithDeadline, leaves_a_wait_alone_that_ends_in_time) {
  run_well([](Cx cx) -> Task<void> {
    const auto quick = [](CxOf<cap::time> inner) -> Task<int> {
      co_await sleep(inner, ms(10));
      co_return 1;
    };
    const Duration limit = ms(in_lab() ? 20 : 200'000);  // a worker may be late, the lab is not
    const int value = co_await quick(cx.with_deadline(cx.now() + limit));
    EXPECT_EQ(value, 1);
    co_await sleep(cx, ms(50));  // its alarm is gone with it
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(60)));
  });
}

TEST(WithDeadline, BUD_3_an_inner_deadline_does_not_widen_an_outer_one) {
  run_well([](Cx cx) -> Task<void> {
    const Time start = cx.now();
    const auto outer = cx.with_deadline(start + ms(10));
    const auto inner = outer.with_deadline(start + ms(500));
    EXPECT_EQ(inner.budget().deadline, Deadline(start + ms(10)));
    const Outcome<int> end = co_await outcome(slow(inner));
    EXPECT_TRUE(end.is_cancelled());
    EXPECT_TRUE(comes_at(cx.now(), start + ms(10)));
    EXPECT_TRUE(inner.is_cancelled());
    EXPECT_FALSE(cx.is_cancelled());
  });
}

TEST(WithDeadline, BUD_6_touches_neither_priority_nor_quotas) {
  run_well([](Cx cx) -> Task<void> {
    const auto loud = cx.with_budget({.polls = Quota(7), .cost = Quota(9), .priority = 5});
    const Time soon = cx.now() + ms(10);
    const auto late = loud.with_deadline(soon);
    EXPECT_EQ(late.budget(), tighten(loud.budget(), soon));
    co_return;
  });
}

TEST(WithDeadline, one_that_has_passed_ends_the_first_wait) {
  run_well([](Cx cx) -> Task<void> {
    co_await sleep(cx, ms(5));
    const Outcome<int> end = co_await outcome(slow(cx.with_deadline(Time() + ms(5))));
    EXPECT_TRUE(end.is_cancelled());
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(5)));
  });
}

TEST(WithDeadline, a_mask_inside_holds_it_back_and_one_outside_does_not) {
  run_well([](Cx cx) -> Task<void> {
    const auto limited = cx.with_deadline(cx.now() + ms(10));
    const auto sleeps = [](Cx inner) -> Task<void> { co_await sleep(inner, ms(20)); };
    co_await with_cancel_mask(Cx(limited), sleeps);
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(20)));
    const auto limits_inside = [](Cx inner) -> Task<void> {
      const Outcome<int> end = co_await outcome(slow(inner.with_deadline(inner.now() + ms(10))));
      EXPECT_TRUE(end.is_cancelled());
    };
    co_await with_cancel_mask(cx, limits_inside);
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(30)));
  });
}

TEST(WithBudget, BUD_5_allows_exactly_as_many_polls_as_asked_for) {
  run_well([](Cx cx) -> Task<void> {
    const auto three = cx.with_budget({.polls = Quota(3)});
    const int rounds = co_await busy(three, 3);
    EXPECT_EQ(rounds, 3);
    EXPECT_EQ(three.budget().polls, Quota(0));
    const Outcome<int> end = co_await outcome(busy(three, 1));
    EXPECT_TRUE(end.is_cancelled());
    EXPECT_EQ(end.reason().kind(), CancelKind::poll_quota);
  });
}

TEST(WithBudget, BUD_4_a_cost_that_is_not_covered_uses_up_nothing) {
  run_well([](Cx cx) -> Task<void> {
    const auto ten = cx.with_budget({.cost = Quota(10)});
    EXPECT_TRUE(ten.spend(4));
    EXPECT_EQ(ten.budget().cost, Quota(6));
    EXPECT_EQ(ten.spend(7), Errc::budget_exhausted);
    EXPECT_EQ(ten.budget().cost, Quota(6));
    const Outcome<int> end = co_await outcome(busy(ten, 1));
    EXPECT_TRUE(end.is_cancelled());
    EXPECT_EQ(end.reason().kind(), CancelKind::cost_budget);
    EXPECT_TRUE(cx.spend(1000));  // the task has as much as before
  });
}

TEST(WithBudget, BUD_3_a_scope_inside_and_its_tasks_have_no_more) {
  run_well([](Cx cx) -> Task<void> {
    const Time soon = cx.now() + ms(10);
    const auto limited = cx.with_budget({.deadline = soon, .cost = Quota(5)});
    const auto body = [soon](Scope& scope) -> Task<void> {
      const auto child = [soon](Cx inner) -> Task<void> {
        EXPECT_EQ(inner.budget().deadline, Deadline(soon));
        EXPECT_EQ(inner.budget().cost, Quota(5));
        co_await slow(inner);
      };
      auto handle = co_await scope.spawn(child);
      const Outcome<void> end = co_await outcome(std::move(handle).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
    };
    const Outcome<void> end = co_await outcome(scope(Cx(limited), body));
    EXPECT_TRUE(end.is_cancelled());
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(10)));
  });
}

TEST(ScopeOptions, BUD_5_the_budget_of_a_scope_binds_its_body) {
  run_well([](Cx cx) -> Task<void> {
    const auto body = [](Scope& scope) -> Task<int> {
      const int value = co_await slow(scope.cx());
      co_return value;
    };
    const Outcome<int> end = co_await outcome(scope(cx, body, {.budget = {.deadline = cx.now() + ms(7)}}));
    EXPECT_TRUE(end.is_cancelled());
    EXPECT_EQ(end.reason().kind(), CancelKind::deadline);
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(7)));
  });
}

TEST(TaskOptions, BUD_5_the_budget_of_a_task_ends_it_alone) {
  run_well([](Cx cx) -> Task<void> {
    const auto body = [](Scope& scope) -> Task<void> {
      const Budget soon{.deadline = scope.cx().now() + ms(3)};
      auto handle = co_await scope.spawn(TaskOptions{.name = "short", .budget = soon}, slow);
      const Outcome<int> end = co_await outcome(std::move(handle).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
      EXPECT_EQ(end.reason().kind(), CancelKind::deadline);
    };
    const Outcome<void> end = co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    EXPECT_TRUE(end.is_cancelled());
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(3)));
  });
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
