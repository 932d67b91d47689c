// Promises as values: kept, taken back, dropped, handed on, and held open by a scope.
#include "calm/cx/obligation.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "calm/cx/scope.hpp"
#include "calm/lab/lab.hpp"
#include "tests/unit/cx/in_lab.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

/// Gives: how many promises came to this end in the run.
int resolved(const lab::LabReport& report, ObligationState to) {
  int count = 0;
  for (const trace::Event& event : report.trace.events) {
    if (event.kind == trace::EventKind::resolve && trace::resolution_in(event.argument) == to) ++count;
  }
  return count;
}

TEST(Obligation, OBL_1_is_resolved_once) {
  const auto report = run([](Cx cx) -> Task<void> {
    Obligation kept = co_await reserve(cx, ObligationKind::ack);
    Obligation taken_back = co_await reserve(cx, ObligationKind::lease);
    EXPECT_TRUE(kept.id());
    EXPECT_TRUE(kept.commit());
    EXPECT_EQ(kept.commit(), Errc::obligation_already_resolved);
    EXPECT_EQ(kept.abort(), Errc::obligation_already_resolved);
    EXPECT_TRUE(taken_back.abort());
    EXPECT_EQ(taken_back.hand_to(cx.task()), Errc::obligation_already_resolved);
    EXPECT_FALSE(kept.id());
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(resolved(report, ObligationState::committed), 1);
  EXPECT_EQ(resolved(report, ObligationState::aborted), 1);
}

TEST(Obligation, OBL_4_one_that_is_dropped_is_aborted_and_named) {
  const auto report = run([](Cx cx) -> Task<void> {
    const Obligation forgotten = co_await reserve(cx, ObligationKind::ack);
    EXPECT_TRUE(forgotten.id());
  });
  EXPECT_EQ(resolved(report, ObligationState::aborted), 1);
  ASSERT_FALSE(report.is_clean());
  EXPECT_NE(to_string(report).find("obligation_test.cpp"), std::string::npos) << to_string(report);
}

TEST(Obligation, OBL_2_a_kind_that_is_only_counted_has_no_token) {
  const auto report = run([](Cx cx) -> Task<void> {
    const Outcome<Obligation> refused = reserve(cx, ObligationKind::lock_guard);
    EXPECT_TRUE(refused.is_err());
    EXPECT_EQ(refused.error().code(), Errc::invalid_argument);
    co_return;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
}

TEST(Obligation, OBL_5_goes_to_another_task_and_the_first_one_may_end) {
  const auto report = run([](Cx cx) -> Task<void> {
    const auto body = [](Scope& scope) -> Task<void> {
      std::optional<Obligation> shelf;
      const auto makes = [&shelf, task = scope.cx().task()](Cx inner) -> Task<void> {
        shelf.emplace(co_await reserve(inner, ObligationKind::lease));
        EXPECT_TRUE(shelf->hand_to(task));
      };
      auto maker = co_await scope.fiber(makes);
      co_await std::move(maker).join(scope.cx());
      EXPECT_TRUE(shelf->commit());
    };
    co_await scope(cx, body);
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(resolved(report, ObligationState::committed), 1);
}

TEST(Obligation, OBL_5_what_a_cancelled_task_holds_is_aborted_without_a_complaint) {
  const auto report = run([](Cx cx) -> Task<void> {
    const auto body = [](Scope& scope) -> Task<void> {
      std::optional<Obligation> shelf;
      const auto makes = [&shelf](Cx inner) -> Task<void> {
        shelf.emplace(co_await reserve(inner, ObligationKind::lease));
        co_await sleep(inner, ms(1000));
      };
      auto maker = co_await scope.fiber(makes);
      co_await sleep(scope.cx(), ms(1));
      maker.cancel();
      const Outcome<void> end = co_await outcome(std::move(maker).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
      EXPECT_EQ(shelf->commit(), Errc::obligation_already_resolved);
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(resolved(report, ObligationState::aborted), 1);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
