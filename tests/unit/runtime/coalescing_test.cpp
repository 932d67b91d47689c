// Timers of a runtime that may wait for each other: those of one window go off at its end, never early; one alone keeps its time.
#include "calm/clock/coalescing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "calm/combinator/never.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/run.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

constexpr Duration window = Duration::milliseconds(10);
constexpr Duration an_hour = Duration::seconds(3600);

/// Gives: when the window that a time lies in is over.
Time end_of_window(Time at) {
  const auto length = static_cast<std::uint64_t>(window.ns());
  return Time::at_ns((at.ns() + length - 1) / length * length);
}

/// One who sleeps: until when, when it lay down and when it went on.
struct Nap {
  Time until{};
  Time before{};
  Time after{};
};

/// A program whose fibers sleep until some times of one window that is still to come, in turns until all of them lay down before
/// the first of these times. On a machine that others use one may be kept from it for as long as it likes.
auto naps_in_one_window(std::vector<Nap>& naps) {
  return [&naps](Scope& scope) -> Task<void> {
    for (bool in_time = false; !in_time;) {
      const Time first = end_of_window(scope.cx().now() + window) + Duration::milliseconds(1);
      naps = {{first + Duration::milliseconds(6)}, {first}, {first + Duration::milliseconds(2)}};
      const auto sleep_all = [&naps](Scope& inner) -> Task<void> {
        const auto take_a_nap = [&naps](Cx cx, int which) -> Task<void> {
          Nap& nap = naps[static_cast<std::size_t>(which)];
          nap.before = cx.now();
          co_await sleep_until(cx, nap.until);
          nap.after = cx.now();
        };
        for (int i = 0; i < 3; ++i) (void)co_await inner.fiber(take_a_nap, i);
      };
      co_await calm::scope(scope.cx(), sleep_all);
      in_time = std::all_of(naps.begin(), naps.end(), [first](const Nap& nap) { return nap.before < first; });
    }
  };
}

class CoalescingOn : public testing::TestWithParam<std::uint16_t> {
 protected:
  /// Runs the body in a scope of the main task.
  template <class F>
  Outcome<void> run_body(clock::Coalescing coalescing, F body) {
    return block_on(Program<F>{std::move(body)}, {.workers = GetParam(), .coalescing = coalescing});
  }

 private:
  template <class F>
  struct Program {
    F body;
    CALM_CORO_WRAPPER Task<void> operator()(Cx cx) { return scope(cx, body); }
  };
};
INSTANTIATE_TEST_SUITE_P(Workers, CoalescingOn, testing::Values(std::uint16_t{1}, std::uint16_t{2}),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(CoalescingOn, TMR_6_timers_of_one_window_go_off_together_at_its_end) {
  std::vector<Nap> naps;
  ASSERT_TRUE(run_body({.window = window}, naps_in_one_window(naps)).is_ok());
  ASSERT_EQ(naps.size(), 3U);
  for (const Nap& nap : naps) EXPECT_GE(nap.after, end_of_window(nap.until)) << nap.until.ns();
  EXPECT_LE(naps[1].after, naps[2].after) << "in their order (TMR-3)";
  EXPECT_LE(naps[2].after, naps[0].after);
}

TEST_P(CoalescingOn, TMR_3_TMR_6_no_timer_goes_off_early_with_a_window_or_without) {
  for (const Duration length : {Duration(), Duration::microseconds(700), window}) {
    std::vector<Nap> naps;
    ASSERT_TRUE(run_body({.window = length}, naps_in_one_window(naps)).is_ok());
    for (const Nap& nap : naps) EXPECT_GE(nap.after, nap.until) << "window " << length.ns();
  }
}

TEST_P(CoalescingOn, TMR_6_a_timer_that_is_alone_in_its_window_keeps_its_time) {
  Nap nap;
  const auto body = [&nap](Scope& scope) -> Task<void> {
    nap.until = scope.cx().now() + Duration::milliseconds(1);
    co_await sleep_until(scope.cx(), nap.until);
    nap.after = scope.cx().now();
  };
  ASSERT_TRUE(run_body({.window = an_hour}, body).is_ok());
  EXPECT_GE(nap.after, nap.until);
}

TEST_P(CoalescingOn, CAN_13_TMR_6_a_cancel_ends_sleeps_that_wait_for_the_end_of_their_window) {
  int ended = 0;
  const auto body = [&ended](Scope& scope) -> Task<void> {
    const auto sleeps = [&ended](Cx cx) -> Task<void> {
      const Outcome<void> end = co_await outcome(sleep(cx, Duration::milliseconds(1)));
      if (end.is_cancelled()) ++ended;
    };
    for (int i = 0; i < 3; ++i) (void)co_await scope.fiber(sleeps);
    const Time both_held = scope.cx().now() + Duration::milliseconds(3);
    while (scope.cx().now() < both_held) co_await yield(scope.cx());
    scope.cancel("enough");
  };
  EXPECT_TRUE(run_body({.window = an_hour, .group_min = 1}, body).is_cancelled());
  EXPECT_EQ(ended, 3);
}

TEST_P(CoalescingOn, BUD_5_TMR_6_the_deadline_of_a_task_waits_for_no_window) {
  Outcome<void> end = ok();
  const auto body = [&end](Scope& scope) -> Task<void> {
    TaskOptions options;
    options.budget.deadline = Deadline(scope.cx().now() + Duration::milliseconds(1));
    const auto rests = [&end](Cx cx) -> Task<void> { end = co_await outcome(never<>(cx)); };
    (void)co_await scope.fiber(options, rests);
  };
  (void)run_body({.window = an_hour, .group_min = 1}, body);
  ASSERT_TRUE(end.is_cancelled()) << to_string(end);
  EXPECT_EQ(end.reason().kind(), CancelKind::deadline);
}

TEST(Coalescing, TMR_6_is_off_unless_a_window_is_given) {
  EXPECT_EQ(RunOptions().coalescing, clock::Coalescing());
  EXPECT_EQ(clock::Coalescing().window, Duration());
}

TEST(Coalescing, TMR_6_is_switched_on_for_a_runtime_with_a_window) {
  const auto serve = [](Cx cx) -> Task<void> { co_await sleep(cx, Duration::milliseconds(1)); };
  // [on]
  RunOptions options;
  options.coalescing.window = Duration::milliseconds(20);
  const Outcome<void> end = block_on(serve, options);
  // [/on]
  EXPECT_TRUE(end.is_ok()) << to_string(end);
}

TEST(Coalescing, TMR_6_a_window_or_a_group_that_cannot_be_is_refused) {
  const auto ends = [](Cx /*cx*/) -> Task<void> { co_return; };
  for (const clock::Coalescing& wrong : {clock::Coalescing{.window = Duration::nanoseconds(-1)},
                                         clock::Coalescing{.window = clock::max_wheel + Duration::nanoseconds(1)},
                                         clock::Coalescing{.window = window, .group_min = 0}}) {
    const Outcome<void> end = block_on(ends, {.coalescing = wrong});
    ASSERT_TRUE(end.is_err());
    EXPECT_EQ(end.error().code(), Errc::invalid_argument);
    EXPECT_NE(end.error().message().find("RunOptions::coalescing"), std::string::npos) << end.error().message();
  }
  EXPECT_TRUE(block_on(ends, {.coalescing = {.window = clock::max_wheel, .group_min = 1}}).is_ok());
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
