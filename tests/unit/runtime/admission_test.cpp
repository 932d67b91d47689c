// A task that asks for nothing is admitted in one step where its spawner is alone; whatever it does ask for, or its region refuses,
// is as it is for every other spawn.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/mask.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/run.hpp"
#include "tests/unit/runtime/on_flavours.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

Task<void> rest(Cx cx) { co_await yield(cx); }
Task<TaskId> tell_id(Cx cx) { co_return cx.task(); }
Task<Budget> tell_budget(Cx cx) { co_return cx.budget(); }

class Admission : public OnFlavour {};
INSTANTIATE_TEST_SUITE_P(Flavours, Admission, both_flavours(), name_of_flavour);

TEST_P(Admission, HND_1_a_handle_knows_the_task_from_the_spawn_on) {
  const auto body = [](Scope& scope) -> Task<void> {
    Handle<TaskId> in_place = co_await scope.spawn(tell_id);
    Handle<TaskId> queued = co_await spawn(scope.cx(), tell_id);
    const TaskId first = in_place.id();
    const TaskId second = queued.id();
    EXPECT_TRUE(first && second && first != second);
    const TaskId itself = co_await std::move(in_place).join(scope.cx());
    EXPECT_EQ(first, itself);
    co_await yield(scope.cx());
    const TaskId itself_later = co_await std::move(queued).join(scope.cx());
    EXPECT_EQ(second, itself_later);
    EXPECT_FALSE(Handle<void>().id());
  };
  ASSERT_TRUE(run_body(body).is_ok());
}

TEST_P(Admission, REG_8_a_region_takes_as_many_tasks_as_it_may_and_again_when_one_has_left) {
  const auto body = [](Scope& scope) -> Task<void> {
    Handle<void> first = co_await scope.spawn(rest);
    const Handle<void> second = co_await scope.spawn(rest);
    const Outcome<Handle<void>> third = scope.spawn(rest);
    EXPECT_TRUE(third.is_err() && third.error().code() == Errc::admission_limit);
    co_await std::move(first).join(scope.cx());
    const Outcome<Handle<void>> again = scope.spawn(rest);
    EXPECT_TRUE(again.is_ok());
  };
  ASSERT_TRUE(run_body(body, {.limits = {.tasks = 2}}).is_ok());
}

TEST_P(Admission, REG_6_CAN_6_a_cancelled_region_takes_no_task) {
  bool ran = false;
  const auto body = [&ran](Scope& scope) -> Task<void> {
    const auto runs = [&ran](Cx /*cx*/) -> Task<void> {
      ran = true;
      co_return;
    };
    scope.cancel("no more");
    const Outcome<Handle<void>> late = scope.spawn(runs);
    EXPECT_TRUE(late.is_err() && late.error().code() == Errc::region_not_open);
    co_return;
  };
  EXPECT_TRUE(run_body(body).is_ok()) << "its body has not come to a checkpoint (CAN-9)";
  EXPECT_FALSE(ran);
}

/// Spawns where it ends, into a scope that outlives it.
struct SpawnsAtItsEnd {
  Scope& scope;
  Status& refused;

  ~SpawnsAtItsEnd() {
    const Outcome<Handle<void>> late = scope.spawn(rest);
    refused = late.is_err() ? Status(late.error().code()) : Status();
  }
};

TEST_P(Admission, REG_6_CAN_8_a_frame_that_is_dropped_is_refused_what_it_spawns) {
  Status refused;
  const auto body = [&refused](Scope& scope) -> Task<void> {
    const auto stays = [&scope, &refused](Cx cx) -> Task<void> {
      const SpawnsAtItsEnd last{scope, refused};
      const auto never_ends = [](Cx inner) -> Task<void> {
        for (;;) co_await yield(inner);
      };
      co_await with_cancel_mask(cx, never_ends);
    };
    (void)co_await scope.fiber(stays);
    co_await yield(scope.cx());
    scope.cancel("until it is forced");
  };
  (void)run_body(body, {.cleanup_time = Duration::milliseconds(1)});
  EXPECT_EQ(refused, Errc::region_not_open);
}

TEST_P(Admission, BUD_3_what_the_spawner_has_left_bounds_a_task_that_asks_for_nothing) {
  const auto bounded = [](Cx cx) -> Task<Budget> {
    Handle<Budget> child = co_await spawn(cx, tell_budget);
    const Budget budget = co_await std::move(child).join(cx);
    co_return budget;
  };
  const auto body = [&bounded](Scope& scope) -> Task<void> {
    const TaskOptions few{.budget = {.polls = Quota(40), .cost = Quota(7)}};
    Handle<Budget> few_one = co_await scope.spawn(few, bounded);
    const Outcome<Budget> left = co_await outcome(std::move(few_one).join(scope.cx()));
    EXPECT_TRUE(left.is_ok());
    if (!left.is_ok()) co_return;
    EXPECT_LT(left.value().polls.raw(), 40U);
    EXPECT_EQ(left.value().cost.raw(), 7U);

    const TaskOptions urgent{.budget = {.deadline = scope.cx().now() + Duration::seconds(3600), .priority = 9}};
    Handle<Budget> urgent_one = co_await scope.spawn(urgent, bounded);
    const Outcome<Budget> soon = co_await outcome(std::move(urgent_one).join(scope.cx()));
    EXPECT_TRUE(soon.is_ok());
    if (!soon.is_ok()) co_return;
    EXPECT_EQ(soon.value().priority, 9U);
    EXPECT_EQ(soon.value().deadline, urgent.budget.deadline);
  };
  ASSERT_TRUE(run_body(body).is_ok());
}

TEST_P(Admission, BUD_3_the_budget_of_a_region_bounds_a_task_that_asks_for_nothing) {
  const auto body = [](Scope& scope) -> Task<void> {
    Handle<Budget> child = co_await scope.spawn(tell_budget);
    const Budget budget = co_await std::move(child).join(scope.cx());
    EXPECT_EQ(budget.cost.raw(), 11U);
  };
  ASSERT_TRUE(run_body(body, {.budget = {.cost = Quota(11)}}).is_ok());
}

TEST_P(Admission, I2_the_scope_waits_for_every_task_that_it_took) {
  int ended = 0;
  const auto body = [&ended](Scope& scope) -> Task<void> {
    const auto ends = [&ended](Cx cx, int rests) -> Task<void> {
      for (int i = 0; i < rests; ++i) co_await yield(cx);
      ++ended;
    };
    for (int i = 0; i < 300; ++i) (void)co_await scope.spawn(ends, i % 3);
  };
  ASSERT_TRUE(run_body(body).is_ok());
  EXPECT_EQ(ended, 300);
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
