// Graded tokens and budgets: what holds when it runs. What does not compile is in tests/compile_fail.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "calm/cx/graded.hpp"
#include "calm/model/graded_budget.hpp"
#include "program_bench.hpp"

// Mistakes that clang refuses at compile time, and that must be errors elsewhere when they run.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wconsumed"
#endif

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
// NOLINTBEGIN(bugprone-use-after-move): the mistake that is tested
namespace calm {
namespace {

constexpr ObligationKind ack = ObligationKind::ack;
using AckToken = GradedToken<ack>;
using AckSpent = Spent<ack>;

int ended_as(const lab::LabReport& report, ObligationState state) {
  return static_cast<int>(places(report.trace, [state](const trace::Event& event) {
                            return event.kind == trace::EventKind::resolve &&
                                   trace::resolution_in(event.argument) == state;
                          }).size());
}

void expect_failed(const Outcome<void>& end, Errc code) {
  ASSERT_TRUE(end.is_err());
  EXPECT_EQ(end.error().code(), code);
}

bool is_late(Cx cx) { return cx.now() > at_ms(5); }

// [body]
Task<AckSpent> answers(Cx cx, AckToken token) {
  co_await yield(cx);
  if (is_late(cx)) co_return std::move(token).abort();
  co_return std::move(token).commit();
}

Task<void> answers_twice(Cx cx) {
  co_await with_graded<ack>(cx, answers);  // commits
  co_await sleep(cx, ms(10));
  co_await with_graded<ack>(cx, answers);  // is late and aborts
}
// [/body]

Task<Spent<ack, int>> keeps_it_and_answers(Cx, AckToken token) { co_return std::move(token).commit(42); }

TEST(Graded, OBL_8_a_body_spends_its_token_and_gives_a_value) {
  int answer = 0;
  const auto report =
      run_clean([&answer](Cx cx) -> Task<void> { answer = co_await with_graded<ack>(cx, keeps_it_and_answers); });
  EXPECT_EQ(answer, 42);
  EXPECT_EQ(ended_as(report, ObligationState::committed), 1);
  EXPECT_EQ(ended_as(report, ObligationState::aborted), 0);
}

TEST(Graded, OBL_8_a_body_commits_in_time_and_aborts_when_it_is_late) {
  const auto report = run_clean(answers_twice);
  EXPECT_EQ(ended_as(report, ObligationState::committed), 1);
  EXPECT_EQ(ended_as(report, ObligationState::aborted), 1);
}

TEST(Graded, OBL_8_a_token_may_be_moved_and_is_still_one) {
  const auto report = run_clean([](Cx cx) -> Task<void> {
    const auto body = [](Cx inner, AckToken token) -> Task<AckSpent> {
      AckToken mine = std::move(token);
      co_await yield(inner);
      co_return std::move(mine).commit();
    };
    co_await with_graded<ack>(cx, body);
  });
  EXPECT_EQ(ended_as(report, ObligationState::committed), 1);
  EXPECT_EQ(ended_as(report, ObligationState::aborted), 0);
}

Task<AckSpent> spends_it_twice(Cx, AckToken token) {
  (void)std::move(token).commit();
  co_return std::move(token).abort();
}

TEST(Graded, OBL_8_a_token_spent_twice_is_an_error_where_the_compiler_does_not_see_it) {
  const auto report = run_clean([](Cx cx) -> Task<void> {
    const Outcome<void> end = co_await outcome(with_graded<ack>(cx, spends_it_twice));
    expect_failed(end, Errc::obligation_already_resolved);
  });
  EXPECT_EQ(ended_as(report, ObligationState::committed), 1);
  EXPECT_EQ(ended_as(report, ObligationState::aborted), 0);
}

Task<AckSpent> answers_for_another(Cx cx, AckToken outer) {
  const auto inner = [&outer](Cx, AckToken token) -> Task<AckSpent> {
    auto spent = std::move(outer).commit();
    auto own = std::move(token).commit();
    (void)own;
    co_return spent;
  };
  co_await with_graded<ack>(cx, inner);
  co_return std::move(outer).commit();
}

TEST(Graded, OBL_8_the_spent_token_of_another_promise_is_no_answer) {
  const auto report = run_clean([](Cx cx) -> Task<void> {
    const Outcome<void> end = co_await outcome(with_graded<ack>(cx, answers_for_another));
    expect_failed(end, Errc::unresolved_obligations);
  });
  EXPECT_EQ(ended_as(report, ObligationState::committed), 2);
}

Task<AckSpent> never_comes_back(Cx, AckToken token) {
  {
    const AckToken dropped = std::move(token);
  }
  co_await fail(Errc::empty);
  co_return std::move(token).commit();
}

TEST(Graded, OBL_8_OBL_4_a_dropped_token_aborts_and_fails_a_run_of_the_lab_with_its_place) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    const Outcome<void> end = co_await outcome(with_graded<ack>(cx, never_comes_back));
    EXPECT_TRUE(end.is_err());
  });
  EXPECT_FALSE(report.is_clean());
  EXPECT_EQ(ended_as(report, ObligationState::aborted), 1);
  EXPECT_NE(to_string(report).find("graded_law_test.cpp"), std::string::npos) << to_string(report);
}

TEST(Graded, OBL_8_a_promise_that_is_refused_does_not_run_the_body) {
  bool ran = false;
  const auto report = run_clean([&ran](Cx cx) -> Task<void> {
    const auto body = [&ran](Scope& scope) -> Task<void> {
      const auto inner = [&ran](Cx, AckToken token) -> Task<AckSpent> {
        ran = true;
        co_return std::move(token).commit();
      };
      const Outcome<void> end = co_await outcome(with_graded<ack>(scope.cx(), inner));
      expect_failed(end, Errc::admission_limit);
    };
    co_await scope(cx, body, {.limits = {.obligations = 0}});
  });
  EXPECT_FALSE(ran);
  EXPECT_EQ(ended_as(report, ObligationState::committed), 0);
}

// --- budgets ---

// [budget]
using Ten = GradedBudget<Grade{.polls = 10, .cost = 100}>;  // at most ten polls and a cost of 100

Task<void> uses_at_most_ten_polls(Cx cx, Ten budget, int& seen) {
  const auto narrow = cx.with_budget(budget);
  for (;; ++seen) co_await yield(narrow);
}
// [/budget]

constexpr Budget polls_and_cost(std::uint64_t polls, std::uint64_t cost) {
  return {.polls = Quota(polls), .cost = Quota(cost)};
}

TEST(Graded, OBL_8_a_budget_is_cut_down_to_its_grade) {
  EXPECT_EQ(Ten().budget(), polls_and_cost(10, 100));
  EXPECT_EQ(Ten(polls_and_cost(3, 1000)).budget(), polls_and_cost(3, 100));
  constexpr Grade seven{.polls = 7, .cost = 100};
  EXPECT_EQ(Ten().shrink<seven>().budget(), polls_and_cost(7, 100));
  const GradedBudget<seven> passed = Ten(polls_and_cost(9, 9));
  EXPECT_EQ(passed.budget(), polls_and_cost(7, 9));
}

TEST(Graded, OBL_8_a_use_makes_budget_and_grade_smaller) {
  constexpr Grade use{.polls = 4, .cost = 10};
  const auto left = Ten().take<use>();
  static_assert(std::is_same_v<decltype(left), const Outcome<GradedBudget<Grade{.polls = 6, .cost = 90}>>>);
  ASSERT_TRUE(left.is_ok());
  EXPECT_EQ(left.value().budget(), polls_and_cost(6, 90));
  const auto none = Ten(polls_and_cost(3, 100)).take<use>();
  ASSERT_TRUE(none.is_err());
  EXPECT_EQ(none.error().code(), Errc::budget_exhausted);
  const auto endless = GradedBudget<Grade{}>().take<use>();
  static_assert(std::is_same_v<decltype(endless), const Outcome<GradedBudget<Grade{}>>>);
  ASSERT_TRUE(endless.is_ok());
  EXPECT_EQ(endless.value().budget(), Budget::infinite());
}

RC_GTEST_PROP(Graded, OBL_8_no_step_gives_more_than_the_budget_or_its_grade,
              (std::uint64_t polls, std::uint64_t cost)) {
  const Budget start = {.polls = Quota::from_raw(polls), .cost = Quota::from_raw(cost)};
  const Ten ten(start);
  RC_ASSERT(within(ten, start) && within(ten, budget_of(Ten::bound)));
  constexpr Grade smaller{.polls = 10, .cost = 5};
  const auto five = ten.shrink<smaller>();
  RC_ASSERT(within(five, ten) && within(five, budget_of(smaller)));
  const auto both = meet(ten, GradedBudget<Grade{.polls = 2}>());
  static_assert(std::is_same_v<decltype(both), const GradedBudget<Grade{.polls = 2, .cost = 100}>>);
  RC_ASSERT(within(both, ten) && both.budget().polls <= Quota(2));
  constexpr Grade one{.polls = 1, .cost = 1};
  const auto rest = ten.take<one>();
  RC_ASSERT(rest.is_ok() == (polls >= 1 && cost >= 1));
  if (rest.is_ok()) RC_ASSERT(within(rest.value(), ten) && rest.value().budget().polls < ten.budget().polls);
}

TEST(Graded, OBL_8_a_context_runs_under_a_graded_budget) {
  int seen = 0;
  run_clean([&seen](Cx cx) -> Task<void> {
    const GradedBudget<Grade{.polls = 1000, .cost = 1000}> large;
    const Outcome<void> end = co_await outcome(uses_at_most_ten_polls(cx, large, seen));
    EXPECT_TRUE(end.is_cancelled());
  });
  EXPECT_GE(seen, 9);
  EXPECT_LE(seen, 10);
}

}  // namespace
}  // namespace calm
// NOLINTEND(bugprone-use-after-move)
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
