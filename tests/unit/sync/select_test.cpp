// The first of several waits; the others have left their lines and consumed nothing.
#include "calm/sync/select.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <variant>

#include "calm/sync/mutex.hpp"
#include "calm/sync/notify.hpp"
#include "calm/sync/semaphore.hpp"
#include "contest.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using contest::ms;

TEST(Select, COM_5_gives_the_result_of_the_wait_that_ends_first) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Mutex<int> mutex(cx, 7);
    Notify notify(cx);
    {
      auto first = co_await select(cx, notify.wait(cx), mutex.lock(cx), sleep(cx, ms(1000)));
      EXPECT_EQ(first.index(), 1U);
      EXPECT_EQ(*std::get<1>(first), 7);
      EXPECT_TRUE(comes_at(cx.now(), Time()));
      auto second = co_await select(cx, notify.wait(cx), sleep(cx, ms(3000)), sleep(cx, ms(2)));
      EXPECT_EQ(second.index(), 2U);
      EXPECT_TRUE(comes_at(cx.now(), Time() + ms(2)));
    }
    EXPECT_FALSE(mutex.is_locked());
    notify.notify_one();
    auto third = co_await select(cx, notify.wait(cx), mutex.lock(cx));
    EXPECT_EQ(third.index(), 0U) << "both were ready: the one that is written first";
    EXPECT_FALSE(mutex.is_locked());
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(Select, COM_5_a_wait_that_was_not_chosen_has_left_its_line) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Mutex<> mutex(cx);
    Semaphore semaphore(cx, 2);
    Notify chosen(cx);
    const auto body = [&](Scope& scope) -> Task<void> {
      auto held = co_await mutex.lock(scope.cx());
      const auto permits = co_await semaphore.acquire(scope.cx(), 1);
      const auto selects = [&](Cx inner) -> Task<void> {
        auto first = co_await select(inner, mutex.lock(inner), semaphore.acquire(inner, 2), sleep(inner, ms(1)));
        EXPECT_EQ(first.index(), 2U);
        EXPECT_TRUE(semaphore.try_acquire(inner)) << "nobody waits, so one permit is to be had";
        chosen.notify_one();
        co_await sleep(inner, ms(5));
      };
      (void)co_await scope.fiber(selects);
      co_await chosen.wait(scope.cx());
      held.unlock();
      EXPECT_FALSE(mutex.is_locked()) << "it went to nobody";
    };
    co_await scope(cx, body);
    EXPECT_EQ(semaphore.free(), 2U);
  });
  EXPECT_LAB_CLEAN(report);
}

/// A task selects from two locks that others hold and hand on at any time; a third waits behind it in both lines.
template <int victim>
Task<void> between_two_locks(Cx cx) {
  Mutex<> left(cx);
  Mutex<> right(cx);
  lab::Shared<int> done(cx, 0);
  const auto locks = [&](Cx inner, int number) -> Task<void> {
    if (number == 0) {
      auto first = co_await select(inner, left.lock(inner), right.lock(inner));
      ++done.changed(inner);
    } else {
      Mutex<>& one = number == 1 ? left : right;
      const auto guard = co_await one.lock(inner);
      co_await yield(inner);
      ++done.changed(inner);
    }
  };
  co_await contest::run_contest(cx, locks, 3, victim);
  const int least = victim < 0 ? 3 : 2;
  if (!cx.is_cancelled() && done.get(cx) < least) co_await fail(Errc::protocol);
  if (left.is_locked() || right.is_locked()) co_await fail(Errc::busy);
}

TEST(Select, COM_5_a_lock_that_was_granted_and_not_chosen_goes_on_in_every_schedule) {
  EXPECT_GE(contest::explore_both_ways(between_two_locks<-1>), 4U);
}

TEST(Select, COM_5_a_cancelled_select_leaves_all_its_lines_in_every_schedule) {
  EXPECT_GT(contest::explore_all_of(between_two_locks<0>), 4U);
  EXPECT_GT(contest::explore_all_of(between_two_locks<1>), 4U);
}

TEST(Select, CAN_13_a_cancel_at_any_await_point_wakes_a_select) {
  contest::cancel_everywhere_in(between_two_locks<-1>);
  contest::cancel_everywhere_in(between_two_locks<0>);
}

TEST(Select, COM_5_both_granted_in_one_step_leaves_one_for_the_next) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Notify left(cx);
    Notify right(cx);
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto selects = [&](Cx inner) -> Task<void> {
        auto first = co_await select(inner, left.wait(inner), right.wait(inner));
        EXPECT_EQ(first.index(), 0U);
        co_await right.wait(inner);  // what was not chosen was kept
      };
      (void)co_await scope.fiber(selects);
      co_await sleep(scope.cx(), ms(1));
      right.notify_one();
      left.notify_one();
    };
    co_await scope(cx, body);
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(Select, CAN_7_a_tighter_budget_of_one_of_the_waits_ends_it) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Notify never(cx);
    const auto selects = [&](Cx inner) -> Task<void> {
      const auto tighter = inner.with_deadline(inner.now() + ms(3));
      (void)co_await select(inner, never.wait(tighter), sleep(inner, ms(9000)));
    };
    const Outcome<void> end = co_await outcome(selects(cx));
    EXPECT_TRUE(end.is_cancelled());
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(3)));
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(Select, COM_5_fails_with_the_wait_that_fails_and_leaves_the_others) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Mutex<> mutex(cx);
    Notify notify(cx);
    const auto held = co_await mutex.lock(cx);
    const auto selects = [&](Cx inner) -> Task<void> {
      (void)co_await select(inner, notify.wait(inner), mutex.lock(inner));
    };
    const Outcome<void> end = co_await outcome(selects(cx));
    EXPECT_TRUE(end.is_err());
    EXPECT_TRUE(notify.line().empty());
  });
  EXPECT_LAB_CLEAN(report);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
