// A runtime under a governor: the order follows what it suggests, and an inspection shows what that was.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "calm/cx/obligation.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/runtime.hpp"
#include "calm/sched/governor.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

/// What ran, a letter each: c for a task that was cancelled, t for one with a deadline, p for a plain one.
using Order = std::string;

Task<void> note(Cx /*cx*/, Order* order, char letter) {
  *order += letter;
  co_return;
}

Task<void> sleep_until_cancelled(Cx cx, Order* order, bool promises) {
  Outcome<Obligation> promise = reserve(cx, ObligationKind::custom);
  if (!promises) (void)promise.value().abort();
  (void)co_await outcome(sleep(cx, Duration::seconds(1000)));
  *order += 'c';
  if (promises) (void)promise.value().abort();
}

/// 40 sleepers are cancelled at once while plain tasks, or tasks with a deadline, wait for their turn.
struct Storm {
  Order* order = nullptr;
  bool promises = false;
  int plain = 3;
  int timed = 0;

  Task<void> operator()(Scope& scope) const {
    const Cx cx = scope.cx();
    std::vector<Handle<void>> sleepers;
    for (int i = 0; i < 40; ++i) {
      Handle<void> sleeper = co_await scope.fiber(sleep_until_cancelled, order, promises);
      sleepers.push_back(std::move(sleeper));
    }
    for (int i = 0; i < 100; ++i) co_await yield(cx);  // until all sleep
    for (int i = 0; i < plain; ++i) (void)co_await scope.fiber(note, order, 'p');
    TaskOptions due;
    due.budget.deadline = Deadline(cx.now() + Duration::seconds(1000));
    for (int i = 0; i < timed; ++i) (void)co_await scope.fiber(due, note, order, 't');
    for (const Handle<void>& sleeper : sleepers) sleeper.cancel();
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this, {.policy = FoldPolicy::collect}); }
};

RunOptions under(std::string_view governor, Flavour flavour = Flavour::automatic) {
  RunOptions options;
  options.workers = 1;
  options.flavour = flavour;
  options.governor = sched::find_governor(governor);
  EXPECT_NE(options.governor, nullptr) << governor;
  return options;
}

Order order_under(std::string_view governor, Flavour flavour, Storm storm) {
  Order order;
  storm.order = &order;
  (void)block_on(storm, under(governor, flavour));
  return order;
}

Order letters(int count, char letter) { return Order(static_cast<std::size_t>(count), letter); }

class UnderGovernor : public testing::TestWithParam<Flavour> {};
INSTANTIATE_TEST_SUITE_P(Flavours, UnderGovernor, testing::Values(Flavour::current_thread, Flavour::multi_worker),
                         [](const auto& tested) {
                           return std::string(tested.param == Flavour::current_thread ? "current_thread"
                                                                                      : "multi_worker");
                         });

TEST_P(UnderGovernor, SCH_3_none_changes_nothing) {
  const Order usual = letters(16, 'c') + 'p' + letters(16, 'c') + 'p' + letters(8, 'c') + 'p';
  EXPECT_EQ(order_under("none", GetParam(), {.promises = true}), usual);
}

TEST_P(UnderGovernor, SCH_3_SCH_4_drain_obligations_doubles_the_streak_where_promises_are_open) {
  EXPECT_EQ(order_under("drain-obligations", GetParam(), {.promises = true}),
            letters(32, 'c') + 'p' + letters(8, 'c') + "pp");
  EXPECT_EQ(order_under("drain-obligations", GetParam(), {.promises = false}),
            letters(16, 'c') + 'p' + letters(16, 'c') + 'p' + letters(8, 'c') + 'p');
}

TEST_P(UnderGovernor, SCH_3_meet_deadlines_puts_deadlines_before_cancelled_tasks) {
  const Storm storm{.plain = 0, .timed = 2};
  EXPECT_EQ(order_under("none", GetParam(), storm), letters(16, 'c') + 't' + letters(16, 'c') + 't' + letters(8, 'c'));
  EXPECT_EQ(order_under("meet-deadlines", GetParam(), storm), "tt" + letters(40, 'c'));
}

TEST_P(UnderGovernor, SCH_3_meeting_deadlines_is_bounded) {
  const Storm storm{.plain = 0, .timed = 20};
  EXPECT_EQ(order_under("meet-deadlines", GetParam(), storm),
            letters(16, 't') + 'c' + letters(4, 't') + letters(39, 'c'));
}

/// The same storm in a scope that is cancelled as a whole, so that its region closes.
struct Closing {
  Order* order;

  struct Inner {
    Order* order;
    Task<void> operator()(Scope& scope) const {
      for (int i = 0; i < 40; ++i) (void)co_await scope.fiber(sleep_until_cancelled, order, false);
      for (int i = 0; i < 100; ++i) co_await yield(scope.cx());
    }
    CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
  };
  Task<void> operator()(Scope& scope) const {
    Handle<void> inner = co_await scope.fiber(Inner{order});
    for (int i = 0; i < 200; ++i) co_await yield(scope.cx());
    for (int i = 0; i < 3; ++i) (void)co_await scope.fiber(note, order, 'p');
    inner.cancel();
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this, {.policy = FoldPolicy::collect}); }
};

TEST_P(UnderGovernor, SCH_3_drain_regions_doubles_the_streak_where_a_region_closes) {
  const auto first_plain = [](std::string_view governor, Flavour flavour) {
    Order order;
    (void)block_on(Closing{&order}, under(governor, flavour));
    EXPECT_EQ(order.size(), 43U) << order;
    return order.find('p');
  };
  const std::size_t usual = first_plain("none", GetParam());
  EXPECT_LE(usual, 16U);
  EXPECT_GT(first_plain("drain-regions", GetParam()), usual);
  EXPECT_LE(first_plain("drain-regions", GetParam()), 32U);
}

TEST_P(UnderGovernor, SCH_3_SCH_4_lyapunov_doubles_the_streak_where_that_leaves_less_undone) {
  const Storm storm{.promises = false, .plain = 3};
  EXPECT_EQ(order_under("none", GetParam(), storm),
            letters(16, 'c') + 'p' + letters(16, 'c') + 'p' + letters(8, 'c') + 'p');
  EXPECT_EQ(order_under("lyapunov", GetParam(), storm), letters(32, 'c') + 'p' + letters(8, 'c') + "pp");
}

TEST_P(UnderGovernor, SCH_3_lyapunov_changes_nothing_where_that_would_not_help) {
  const Storm storm{.plain = 0, .timed = 2};
  EXPECT_EQ(order_under("lyapunov", GetParam(), storm), order_under("none", GetParam(), storm));
}

Task<void> sleep_long(Cx cx) { co_await sleep(cx, Duration::seconds(1000)); }

/// Cancels tasks by the dozen until it is stopped.
struct Storms {
  Task<void> operator()(Scope& scope) const {
    for (;;) {
      std::vector<Handle<void>> sleepers;
      for (int i = 0; i < 60; ++i) {
        Handle<void> sleeper = co_await scope.spawn(sleep_long);
        sleepers.push_back(std::move(sleeper));
      }
      co_await sleep(scope.cx(), Duration::milliseconds(1));
      for (const Handle<void>& sleeper : sleepers) sleeper.cancel();
      co_await sleep(scope.cx(), Duration::milliseconds(1));
    }
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this, {.policy = FoldPolicy::collect}); }
};

class GovernorOn : public testing::TestWithParam<std::uint16_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, GovernorOn, testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(GovernorOn, SCH_3_OBS_1_an_inspection_shows_what_the_governor_said_and_why) {
  for (const sched::Governor* const governor : sched::governors()) {
    Runtime runtime({.workers = GetParam(), .governor = governor});
    std::string text;
    std::thread looker([&] {
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (text.find("; one of them ") == std::string::npos && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        text = runtime.inspect();
      }
      runtime.shut_down();
    });
    EXPECT_TRUE(runtime.block_on(Storms()).is_cancelled());
    looker.join();
    const std::string name(governor->name());
    EXPECT_NE(text.find("governor " + name + ", asked "), std::string::npos) << text;
    EXPECT_NE(text.find("): tasks "), std::string::npos) << text;  // the potential by its terms, with the constraint
  }
}

TEST(Governor, SCH_3_without_one_nobody_is_asked) {
  Runtime runtime({.workers = 1});
  std::string text;
  std::thread looker([&] {
    while (text.find("worker 0") == std::string::npos) text = runtime.inspect();
    runtime.shut_down();
  });
  (void)runtime.block_on(Storms());
  looker.join();
  EXPECT_EQ(text.find("\n  governor "), std::string::npos) << text;
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace calm
