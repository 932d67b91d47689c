// Permits: never more than there are, in the order of asking, in every schedule and with a cancel anywhere.
#include "calm/sync/semaphore.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "calm/runtime/run.hpp"
#include "contest.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using contest::ms;

struct TakesPermits {
  Semaphore& semaphore;
  lab::Shared<std::uint32_t>& inside;
  lab::Shared<int>& done;
  std::array<std::uint32_t, 3> wants;

  Task<void> operator()(Cx cx, int number) const {
    const std::uint32_t count = wants.at(static_cast<std::size_t>(number));
    const Semaphore::Permit permit = co_await semaphore.acquire(cx, count);
    inside.changed(cx) += permit.count();
    if (inside.get(cx) > semaphore.all()) co_await fail(Errc::protocol);
    const Outcome<void> end = co_await outcome(give_way(cx));
    inside.changed(cx) -= permit.count();
    if (end.is_ok()) ++done.changed(cx);
  }
  static Task<void> give_way(Cx cx) { co_await yield(cx); }
};

template <int tasks, int victim, std::uint32_t... wants>
Task<void> sharing(Cx cx) {
  Semaphore semaphore(cx, 3);
  lab::Shared<std::uint32_t> inside(cx, 0);
  lab::Shared<int> done(cx, 0);
  co_await contest::run_contest(cx, TakesPermits{semaphore, inside, done, {wants...}}, tasks, victim);
  const int least = victim < 0 ? tasks : tasks - 1;
  if (!cx.is_cancelled() && done.get(cx) < least) co_await fail(Errc::protocol);
  if (inside.get(cx) != 0 || semaphore.free() != 3) co_await fail(Errc::busy);
}

TEST(Semaphore, CHN_12_mixed_weights_never_exceed_the_permits_in_any_schedule) {
  EXPECT_GE(contest::explore_both_ways(sharing<2, -1, 2, 2>), 2U);
  EXPECT_GE(contest::explore_all_of(sharing<3, -1, 2, 1, 2>), 6U);
  EXPECT_GE(contest::explore_all_of(sharing<3, -1, 1, 3, 1>), 6U);
}

TEST(Semaphore, CHN_12_a_cancelled_waiter_lets_those_behind_it_go_on_in_every_schedule) {
  EXPECT_GT(contest::explore_both_ways(sharing<2, 1, 2, 2>), 2U);
  EXPECT_GT(contest::explore_all_of(sharing<3, 1, 2, 3, 1>), 20U);
  EXPECT_GT(contest::explore_all_of(sharing<3, 0, 3, 2, 1>), 20U);
}

TEST(Semaphore, CAN_13_a_cancel_at_any_await_point_wakes_who_waits_for_permits) {
  contest::cancel_everywhere_in(sharing<3, -1, 2, 3, 1>);
  contest::cancel_everywhere_in(sharing<3, 1, 2, 3, 1>);
}

TEST(Semaphore, CHN_12_who_asks_for_much_is_not_overtaken_and_when_it_leaves_the_next_go_on) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Semaphore semaphore(cx, 3);
    std::string order;
    const auto body = [&](Scope& scope) -> Task<void> {
      Semaphore::Permit mine = co_await semaphore.acquire(scope.cx(), 2);
      const auto asks = [&](Cx inner, std::uint32_t count) -> Task<void> {
        const auto permit = co_await semaphore.acquire(inner, count);
        order += static_cast<char>('0' + permit.count());
      };
      auto large = co_await scope.fiber(asks, 3U);
      co_await sleep(scope.cx(), ms(1));
      (void)co_await scope.fiber(asks, 1U);
      co_await sleep(scope.cx(), ms(1));
      EXPECT_EQ(order, "") << "one is free, but who came first needs three";
      EXPECT_FALSE(semaphore.try_acquire(scope.cx()));
      large.cancel();
      co_await sleep(scope.cx(), ms(1));
      EXPECT_EQ(order, "1");
      EXPECT_EQ(semaphore.free(), 1U);
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    EXPECT_EQ(semaphore.free(), 3U);
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(Semaphore, CHN_12_asking_for_what_nobody_could_give_is_a_clear_error) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Semaphore semaphore(cx, 3);
    const auto asks = [&](Cx inner, std::uint32_t count) -> Task<std::uint32_t> {
      const auto permit = co_await semaphore.acquire(inner, count);
      co_return permit.count();
    };
    for (const std::uint32_t count : {0U, 4U}) {
      const Outcome<std::uint32_t> end = co_await outcome(asks(cx, count));
      EXPECT_TRUE(end.is_err());
      if (end.is_err()) {
        EXPECT_EQ(end.error().code(), Errc::invalid_argument);
        EXPECT_NE(end.error().explain().find("[CHN-12]"), std::string::npos) << end.error().explain();
      }
    }
    EXPECT_EQ(semaphore.free(), 3U);
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(Semaphore, OBL_5_a_permit_that_outlives_its_task_is_a_leak_and_is_given_back_all_the_same) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Semaphore semaphore(cx, 3);
    std::optional<Semaphore::Permit> shelf;
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto forgets = [&](Cx inner) -> Task<void> { shelf.emplace(co_await semaphore.acquire(inner, 2)); };
      (void)co_await scope.fiber(forgets);
    };
    co_await scope(cx, body);
    EXPECT_EQ(semaphore.free(), 1U);
    shelf.reset();
    EXPECT_EQ(semaphore.free(), 3U);
  });
  ASSERT_FALSE(report.is_clean());
  EXPECT_NE(to_string(report).find("semaphore permit"), std::string::npos) << to_string(report);
}

TEST(Semaphore, CHN_12_permits_that_are_free_do_not_let_a_task_keep_the_thread) {
  const auto program = [](Cx cx) -> Task<int> {
    Semaphore semaphore(cx, 1);
    bool other_ran = false;
    int turns = 0;
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto other = [&](Cx /*cx*/) -> Task<void> {
        other_ran = true;
        co_return;
      };
      (void)co_await scope.fiber(other);
      while (!other_ran && turns < 1'000'000) {
        const auto permit = co_await semaphore.acquire(scope.cx());
        ++turns;
      }
    };
    co_await scope(cx, body);
    co_return turns;
  };
  EXPECT_LE(block_on(program).value(), 129);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
