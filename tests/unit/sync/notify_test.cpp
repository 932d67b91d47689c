// Wakes: of one, never lost; of all who wait now.
#include "calm/sync/notify.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "contest.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using contest::ms;

/// One task waits for what another does and says once.
Task<void> told_once(Cx cx) {
  Notify notify(cx);
  lab::Shared<bool> happened(cx, false);
  const auto body = [&](Scope& scope) -> Task<void> {
    const auto waits = [&](Cx inner) -> Task<void> {
      co_await notify.wait(inner);
      if (!happened.get(inner)) co_await fail(Errc::protocol);
    };
    const auto tells = [&](Cx inner) -> Task<void> {
      co_await yield(inner);
      happened.set(inner, true);
      notify.notify_one();
    };
    (void)co_await scope.fiber(waits);
    (void)co_await scope.fiber(tells);
  };
  co_await scope(cx, body);
}

TEST(Notify, CHN_12_a_wake_of_one_is_not_lost_whoever_is_first) {
  EXPECT_TRUE(contest::are_all(contest::explore_both_ways(told_once), 2));
}

TEST(Notify, CHN_12_a_wake_of_one_who_is_cancelled_goes_to_the_next_in_every_schedule) {
  // Two wakes before anyone waits are kept as one, so they come when both wait; the cancel comes before, between or after.
  const auto program = [](Cx cx) -> Task<void> {
    Notify notify(cx);
    lab::Shared<int> woken(cx, 0);
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto waits = [&](Cx inner) -> Task<void> {
        co_await notify.wait(inner);
        ++woken.changed(inner);
      };
      const auto tells = [&](Cx inner) -> Task<void> {
        co_await sleep(inner, ms(1));  // time goes on when all others wait
        notify.notify_one();
      };
      auto victim = co_await scope.fiber(waits);
      (void)co_await scope.fiber(waits);
      const auto cancels = [](Cx inner, Handle<void> handle) -> Task<void> {
        co_await sleep(inner, ms(1));
        handle.cancel();
      };
      (void)co_await scope.fiber(cancels, std::move(victim));
      (void)co_await scope.fiber(tells);
      (void)co_await scope.fiber(tells);
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    if (!cx.is_cancelled() && woken.get(cx) == 0) co_await fail(Errc::protocol);
  };
  EXPECT_GT(contest::explore_all_of(program), 6U);
}

TEST(Notify, CAN_13_a_cancel_at_any_await_point_wakes_who_waits_to_be_told) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    EXPECT_LAB_CLEAN(lab::cancel_scopes_everywhere({.seed = seed}, told_once));
  }
}

TEST(Notify, CHN_12_a_wake_of_all_is_for_those_who_wait_now) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Notify notify(cx);
    int woken = 0;
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto waits = [&](Cx inner) -> Task<void> {
        co_await notify.wait(inner);
        ++woken;
      };
      notify.notify_all();
      for (int i = 0; i < 3; ++i) (void)co_await scope.fiber(waits);
      co_await sleep(scope.cx(), ms(1));
      EXPECT_EQ(woken, 0) << "nothing of it is kept";
      notify.notify_all();
      co_await sleep(scope.cx(), ms(1));
      EXPECT_EQ(woken, 3);
    };
    co_await scope(cx, body);
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(Notify, CHN_12_a_wake_of_one_is_kept_once) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Notify notify(cx);
    notify.notify_one();
    notify.notify_one();
    co_await notify.wait(cx);
    const auto again = [&notify](Cx inner) -> Task<void> { co_await notify.wait(inner); };
    const Outcome<void> end = co_await outcome(again(cx.with_deadline(cx.now() + ms(5))));
    EXPECT_TRUE(end.is_cancelled());
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(5)));
  });
  EXPECT_LAB_CLEAN(report);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
