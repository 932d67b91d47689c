// What stands between a caller and a callee: a bulkhead, a rate limiter, a circuit breaker, in every schedule and with a
// cancel anywhere.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "calm/combinator/bulkhead.hpp"
#include "calm/combinator/circuit_breaker.hpp"
#include "calm/combinator/rate_limiter.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "tests/unit/combinator/struck.hpp"
#include "tests/unit/sync/contest.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using contest::ms;

template <class F>
void guarded_in_lab(F program) {
  const auto report = lab::run({}, std::move(program));
  EXPECT_LAB_CLEAN(report);
  EXPECT_TRUE(report.end.is_ok()) << report.end.explain();
}

template <class T>
void expect_error(const Outcome<T>& end, Errc code) {
  EXPECT_TRUE(end.is_err());
  if (!end.is_err()) return;
  EXPECT_EQ(end.error().code(), code);
  EXPECT_NE(end.error().explain().find("[COM-1]"), std::string::npos) << end.error().explain();
}

// Who is cancelled in a contest: a number, or one of these.
constexpr int nobody = -1;
constexpr int anybody = -2;  // the lab strikes, wherever it likes

// --- bulkhead ---

/// `tasks` call at once; what is over the limit waits, what is over that too is refused, and each is one of these.
template <int tasks, int victim, std::uint32_t limit, std::uint32_t line>
Task<void> crowded(Cx cx) {
  Bulkhead bulkhead(cx, {.limit = limit, .waiting = line});
  lab::Shared<std::uint32_t> inside(cx, 0);
  lab::Shared<std::array<int, 4>> count(cx);
  const auto works = [&](Cx inner) -> Task<int> {
    if (++inside.changed(inner) > limit) co_await fail(Errc::conflict);
    const auto give_way = [](Cx deep) -> Task<void> { co_await yield(deep); };
    const Outcome<void> end = co_await outcome(give_way(inner));
    --inside.changed(inner);
    if (!end.is_ok()) co_await fail_with(Outcome<void>(end));
    co_return 1;
  };
  const auto calls = [&](Cx inner, int /*number*/) -> Task<void> {
    const Outcome<int> end = co_await outcome(bulkhead.call(inner, works));
    const bool refused = end.is_err() && end.error().code() == Errc::full;
    if (end.is_err() && !refused) ++count.changed(inner).at(3);
    if (refused) {
      ++count.changed(inner).at(1);
    } else {
      ++count.changed(inner).at(end.is_ok() ? 0 : 2);
    }
  };
  co_await contest::run_contest(cx, calls, tasks, victim);
  const std::array<int, 4>& now = count.get(cx);
  if (now[3] != 0 || inside.get(cx) != 0 || bulkhead.inside() != 0 || bulkhead.waiting() != 0) {
    co_await fail(Errc::conflict);
  }
  if (cx.is_cancelled()) co_return;
  const int fit = static_cast<int>(limit + line);
  if (now[0] + now[1] + now[2] > tasks || now[1] > (tasks > fit ? tasks - fit : 0)) co_await fail(Errc::protocol);
  if (victim == nobody && (now[2] != 0 || now[0] + now[1] != tasks || now[0] < (tasks < fit ? tasks : fit))) {
    co_await fail(Errc::protocol);
  }
}

TEST(Bulkhead, COM_1_no_more_than_the_limit_run_and_only_what_does_not_fit_is_refused_in_every_schedule) {
  EXPECT_GE(contest::explore_both_ways(crowded<2, nobody, 1, 1>), 2U);
  EXPECT_GE(contest::explore_both_ways(crowded<2, nobody, 1, 0>), 2U);
  EXPECT_GE(contest::explore_all_of(crowded<3, nobody, 1, 1>), 6U);
  EXPECT_GE(contest::explore_all_of(crowded<3, nobody, 2, 1>), 3U);
}

TEST(Bulkhead, CHN_4_a_cancelled_call_gives_its_place_to_the_next_in_every_schedule) {
  EXPECT_GE(contest::explore_all_of(crowded<2, 0, 1, 1>), 3U);
  EXPECT_GE(contest::explore_all_of(crowded<3, 1, 1, 2>), 6U);
}

TEST(Bulkhead, CAN_13_a_cancel_at_any_await_point_leaves_nobody_inside) {
  contest::strike_and_count(crowded<3, anybody, 1, 2>);
  contest::strike_and_count(crowded<3, anybody, 1, 1>);
}

TEST(Bulkhead, COM_1_full_is_a_clear_error_and_so_is_a_limit_of_0) {
  guarded_in_lab([](Cx cx) -> Task<void> {
    const auto answers = [](Cx /*cx*/) -> Task<int> { co_return 42; };
    Bulkhead one(cx, {.limit = 1});
    {
      Bulkhead::Place place = co_await one.enter(cx);
      const Outcome<int> end = co_await outcome(one.call(cx, answers));
      expect_error(end, Errc::full);
      EXPECT_EQ(one.inside(), 1U);
      place.leave();
      place.leave();
      EXPECT_EQ(one.inside(), 0U);
    }
    EXPECT_EQ(co_await one.call(cx, answers), 42);
    Bulkhead none(cx, {.limit = 0, .waiting = 3});
    const Outcome<int> never = co_await outcome(none.call(cx, answers));
    expect_error(never, Errc::invalid_argument);
  });
}

TEST(Bulkhead, COM_1_those_who_wait_are_served_in_the_order_they_came) {
  guarded_in_lab([](Cx cx) -> Task<void> {
    Bulkhead bulkhead(cx, {.limit = 1, .waiting = 3});
    std::string order;
    std::atomic<bool> all_there = false;
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto calls = [&](Cx inner, char name) -> Task<void> {
        const Bulkhead::Place place = co_await bulkhead.enter(inner);
        order += name;
        co_await sleep(inner, ms(10));
        co_await catch_up(inner, all_there);
      };
      for (const char name : {'a', 'b', 'c', 'd'}) {
        (void)co_await scope.fiber(calls, name);
        co_await sleep(scope.cx(), ms(1));
      }
      EXPECT_EQ(bulkhead.waiting(), 3U);
      all_there = true;
    };
    co_await scope(cx, body);
    EXPECT_EQ(order, "abcd");
  });
}

// --- rate limiter ---

/// Each takes tokens; together they took what the bucket lost.
template <int tasks, int victim>
Task<void> rationed(Cx cx) {
  RateLimiter limiter(cx, {.tokens = 1, .per = ms(10), .burst = 2});
  lab::Shared<std::uint32_t> taken(cx, 0);
  const auto takes = [&](Cx inner, int number) -> Task<void> {
    const std::uint32_t count = number == 1 ? 2 : 1;
    co_await limiter.acquire(inner, count);
    taken.changed(inner) += count;
  };
  co_await contest::run_contest(cx, takes, tasks, victim);
  const std::uint32_t came = 2 + static_cast<std::uint32_t>((cx.now() - Time()).ns() / ms(10).ns());
  if (taken.get(cx) > came || limiter.tokens(cx) > 2) co_await fail(Errc::protocol);
  if (cx.is_cancelled() || victim != nobody) co_return;
  if (taken.get(cx) != tasks + 1 || taken.get(cx) + limiter.tokens(cx) != came) co_await fail(Errc::busy);
}

TEST(RateLimiter, COM_1_no_more_tokens_are_taken_than_have_come_in_any_schedule) {
  EXPECT_GE(contest::explore_all_of(rationed<2, nobody>), 2U);
  EXPECT_GE(contest::explore_all_of(rationed<3, nobody>), 6U);
}

TEST(RateLimiter, CHN_4_a_cancelled_waiter_takes_no_token_and_the_next_moves_up_in_every_schedule) {
  EXPECT_GE(contest::explore_all_of(rationed<2, 1>), 2U);
  EXPECT_GE(contest::explore_all_of(rationed<3, 1>), 6U);
}

TEST(RateLimiter, CAN_13_a_cancel_at_any_await_point_wakes_who_waits_for_tokens) {
  contest::strike_and_count(rationed<3, anybody>);
}

TEST(RateLimiter, COM_1_a_burst_passes_at_once_and_then_they_come_evenly) {
  guarded_in_lab([](Cx cx) -> Task<void> {
    const Time start = cx.now();
    RateLimiter limiter(cx, {.tokens = 3, .per = ms(1), .burst = 3});
    const std::vector<std::int64_t> expected{0, 0, 0, 333'334, 666'667, 1'000'000, 1'333'334, 1'666'667, 2'000'000};
    for (const std::int64_t time : expected) {
      co_await limiter.acquire(cx);
      EXPECT_TRUE(comes_at(cx.now(), start + Duration::nanoseconds(time)))
          << "a third of a millisecond is rounded up each time and never twice";
    }
    co_await sleep(cx, ms(20));
    EXPECT_EQ(limiter.tokens(cx), 3U) << "the bucket holds no more";
  });
}

TEST(RateLimiter, CHN_4_who_is_cancelled_at_the_head_of_the_line_has_cost_the_others_nothing) {
  guarded_in_lab([](Cx cx) -> Task<void> {
    RateLimiter limiter(cx, {.tokens = 1, .per = ms(10), .burst = 5});
    co_await limiter.acquire(cx, 5);
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto takes = [&](Cx inner, std::uint32_t count) -> Task<void> { co_await limiter.acquire(inner, count); };
      const Handle<void> large = co_await scope.fiber(takes, 5U);
      co_await sleep(scope.cx(), ms(1));
      auto small = co_await scope.fiber(takes, 1U);
      co_await sleep(scope.cx(), ms(24));
      EXPECT_EQ(limiter.tokens(scope.cx()), 2U) << "who asks for much is not overtaken";
      const Outcome<bool> now = limiter.try_acquire(scope.cx());
      EXPECT_TRUE(now.is_ok() && !now.value()) << "others wait";
      large.cancel();
      co_await std::move(small).join(scope.cx());
      EXPECT_EQ(scope.cx().now(), Time() + ms(25));
      EXPECT_EQ(limiter.tokens(scope.cx()), 1U);
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    const Outcome<bool> now = limiter.try_acquire(cx);
    EXPECT_TRUE(now.is_ok() && now.value());
    const Outcome<bool> later = limiter.try_acquire(cx);
    EXPECT_TRUE(later.is_ok() && !later.value());
  });
}

TEST(RateLimiter, COM_1_arguments_that_could_never_be_served_are_clear_errors) {
  guarded_in_lab([](Cx cx) -> Task<void> {
    RateLimiter good(cx, {.tokens = 1, .per = ms(1), .burst = 2});
    for (const std::uint32_t count : {0U, 3U}) {
      const Outcome<void> end = co_await outcome(good.acquire(cx, count));
      expect_error(end, Errc::invalid_argument);
      const Outcome<bool> now = good.try_acquire(cx, count);
      expect_error(now, Errc::invalid_argument);
    }
    const std::array<RateLimiterOptions, 4> wrong{{{.tokens = 0, .per = ms(1), .burst = 1},
                                                   {.tokens = 1, .per = ms(0), .burst = 1},
                                                   {.tokens = 1, .per = ms(-5), .burst = 1},
                                                   {.tokens = 1, .per = ms(1), .burst = 0}}};
    for (const RateLimiterOptions& options : wrong) {
      RateLimiter bad(cx, options);
      const Outcome<void> end = co_await outcome(bad.acquire(cx));
      expect_error(end, Errc::invalid_argument);
    }
    const auto answers = [](Cx /*cx*/) -> Task<int> { co_return 42; };
    EXPECT_EQ(co_await good.call(cx, answers), 42);
    EXPECT_EQ(good.tokens(cx), 1U);
  });
}

TEST(RateLimiter, COM_1_a_token_in_many_years_is_waited_for_and_nothing_overflows) {
  combinator::Bucket bucket({.tokens = 1, .per = Duration::max(), .burst = UINT32_MAX}, Time());
  EXPECT_EQ(bucket.take(UINT32_MAX, Time()), std::nullopt);
  EXPECT_EQ(bucket.take(1, Time()), Time() + Duration::max());
  EXPECT_EQ(bucket.take(UINT32_MAX, Time()), Time() + Duration::max()) << "clamped";
  combinator::Bucket fast({.tokens = UINT32_MAX, .per = Duration::nanoseconds(1), .burst = 5}, Time());
  EXPECT_EQ(fast.take(5, Time()), std::nullopt);
  EXPECT_EQ(fast.take(1, Time()), Time() + Duration::nanoseconds(1));
  EXPECT_EQ(fast.count(Time::max()), 5U);
}

// --- circuit breaker ---

Task<int> callee(Cx cx, Outcome<int> answer) {
  co_await sleep(cx, ms(1));
  co_return answer;
}

TEST(CircuitBreaker, COM_1_failures_in_a_row_open_it_time_and_a_good_probe_close_it) {
  guarded_in_lab([](Cx cx) -> Task<void> {
    CircuitBreaker breaker(cx, {.failures = 2, .open_for = ms(100)});
    const Outcome<int> good = ok(1);
    const Outcome<int> bad = err(Errc::io);
    (void)co_await outcome(breaker.call(cx, callee, bad));
    (void)co_await outcome(breaker.call(cx, callee, good));
    (void)co_await outcome(breaker.call(cx, callee, bad));
    EXPECT_EQ(breaker.state(), CircuitState::closed) << "not in a row";
    (void)co_await outcome(breaker.call(cx, callee, bad));
    EXPECT_EQ(breaker.state(), CircuitState::open);
    const Time opened = cx.now();
    const Outcome<int> refused = co_await outcome(breaker.call(cx, callee, good));
    expect_error(refused, Errc::open_circuit);
    EXPECT_EQ(cx.now(), opened) << "it was not called";
    if (refused.is_err() && refused.error().cause() != nullptr) {
      EXPECT_EQ(refused.error().cause()->code(), Errc::io);
    } else {
      ADD_FAILURE() << "it says what failed last";
    }
    co_await sleep_until(cx, opened + ms(99));
    const Outcome<int> early = co_await outcome(breaker.call(cx, callee, good));
    expect_error(early, Errc::open_circuit);
    co_await sleep_until(cx, opened + ms(100));
    const Outcome<int> probe = co_await outcome(breaker.call(cx, callee, bad));
    EXPECT_TRUE(probe.is_err() && probe.error().code() == Errc::io);
    EXPECT_EQ(breaker.state(), CircuitState::open) << "a probe that fails opens for another while";
    co_await sleep(cx, ms(100));
    const int answer = co_await breaker.call(cx, callee, good);
    EXPECT_EQ(answer, 1);
    EXPECT_EQ(breaker.state(), CircuitState::closed);
  });
}

TEST(CircuitBreaker, COM_1_a_cancelled_call_is_neither_a_success_nor_a_failure_and_gives_its_probe_back) {
  guarded_in_lab([](Cx cx) -> Task<void> {
    CircuitBreaker breaker(cx, {.failures = 1, .open_for = ms(10), .probes = 1, .successes = 2});
    const Outcome<int> good = ok(1);
    const auto cancelled_call = [&](Cx inner) -> Task<void> {
      const auto never = [](Cx deep) -> Task<void> { co_await sleep(deep, ms(1'000'000)); };
      co_await breaker.call(inner, never);
    };
    const auto cancel_one = [&](Scope& scope) -> Task<void> {
      const Handle<void> handle = co_await scope.fiber(cancelled_call);
      co_await sleep(scope.cx(), ms(1));
      const Outcome<int> second = co_await outcome(breaker.call(scope.cx(), callee, good));
      if (breaker.state() == CircuitState::half_open) expect_error(second, Errc::open_circuit);
      handle.cancel();
    };
    const ScopeOptions collect{.policy = FoldPolicy::collect};
    (void)co_await outcome(scope(cx, cancel_one, collect));
    EXPECT_EQ(breaker.state(), CircuitState::closed) << "one failure would have opened it";
    (void)co_await outcome(breaker.call(cx, callee, Outcome<int>(err(Errc::io))));
    co_await sleep(cx, ms(10));
    (void)co_await outcome(scope(cx, cancel_one, collect));
    EXPECT_EQ(breaker.state(), CircuitState::half_open) << "a cancelled probe says nothing";
    EXPECT_EQ(co_await breaker.call(cx, callee, good), 1);
    EXPECT_EQ(breaker.state(), CircuitState::half_open) << "two are needed";
    EXPECT_EQ(co_await breaker.call(cx, callee, good), 1);
    EXPECT_EQ(breaker.state(), CircuitState::closed);
  });
}

TEST(CircuitBreaker, COM_1_what_began_before_a_change_of_state_does_not_count_after_it) {
  guarded_in_lab([](Cx cx) -> Task<void> {
    CircuitBreaker breaker(cx, {.failures = 1, .open_for = ms(10)});
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto slow = [&](Cx inner, Outcome<int> answer) -> Task<void> {
        const auto late = [](Cx deep, Outcome<int> given) -> Task<int> {
          co_await sleep(deep, ms(50));
          co_return given;
        };
        (void)co_await outcome(breaker.call(inner, late, std::move(answer)));
      };
      Handle<void> succeeds = co_await scope.fiber(slow, Outcome<int>(ok(1)));
      Handle<void> fails = co_await scope.fiber(slow, Outcome<int>(err(Errc::protocol)));
      (void)co_await outcome(breaker.call(scope.cx(), callee, Outcome<int>(err(Errc::io))));
      EXPECT_EQ(breaker.state(), CircuitState::open);
      co_await std::move(succeeds).join(scope.cx());
      co_await std::move(fails).join(scope.cx());
      EXPECT_EQ(breaker.state(), CircuitState::open) << "neither closed by the late success nor opened for longer";
      co_await sleep(scope.cx(), ms(10));  // a worker that was late may have opened it a moment ago
      EXPECT_EQ(co_await breaker.call(scope.cx(), callee, Outcome<int>(ok(2))), 2);
      EXPECT_EQ(breaker.state(), CircuitState::closed);
    };
    co_await scope(cx, body);
  });
}

TEST(CircuitBreaker, COM_1_what_throws_is_a_failure_and_errors_that_are_none_are_not) {
  guarded_in_lab([](Cx cx) -> Task<void> {
    const auto throws = [](Cx inner) -> Task<void> {
      co_await yield(inner);
      throw std::runtime_error("broken");
    };
    const auto is_failure = [](const Error& error) { return error.code() != Errc::invalid_argument; };
    CircuitBreaker breaker(cx, {.failures = 1, .open_for = ms(10), .is_failure = is_failure});
    (void)co_await outcome(breaker.call(cx, callee, Outcome<int>(err(Errc::invalid_argument))));
    EXPECT_EQ(breaker.state(), CircuitState::closed) << "the caller's fault";
    const Outcome<void> end = co_await outcome(breaker.call(cx, throws));
    EXPECT_TRUE(end.is_panicked());
    EXPECT_EQ(breaker.state(), CircuitState::open);
  });
}

/// Half-open from the start of the contest on: each of the tasks is called as a probe, or refused.
template <int tasks, int victim>
Task<void> probing(Cx cx) {
  const Duration open_for = ms(in_lab() ? 10 : 1);
  CircuitBreaker breaker(cx, {.failures = 1, .open_for = open_for, .probes = 1, .successes = 2});
  const auto breaks = [](Cx /*cx*/) -> Task<void> { co_await fail(Errc::io); };
  (void)co_await outcome(breaker.call(cx, breaks));
  const Outcome<void> slept = co_await outcome(sleep(cx, open_for));
  if (!slept.is_ok()) co_return;
  lab::Shared<int> inside(cx, 0);
  lab::Shared<std::array<int, 3>> count(cx);
  const auto works = [&](Cx inner) -> Task<void> {
    if (++inside.changed(inner) != 1) ++count.changed(inner).at(2);
    const auto give_way = [](Cx deep) -> Task<void> { co_await yield(deep); };
    const Outcome<void> end = co_await outcome(give_way(inner));
    --inside.changed(inner);
    if (!end.is_ok()) co_await fail_with(Outcome<void>(end));
  };
  const auto calls = [&](Cx inner, int /*number*/) -> Task<void> {
    const CircuitState before = breaker.state();
    const Outcome<void> end = co_await outcome(breaker.call(inner, works));
    if (end.is_ok() && before != CircuitState::closed) ++count.changed(inner).at(0);
    if (end.is_err() && end.error().code() != Errc::open_circuit) ++count.changed(inner).at(2);
  };
  co_await contest::run_contest(cx, calls, tasks, victim);
  const std::array<int, 3>& now = count.get(cx);
  if (inside.get(cx) != 0 || now[2] != 0) co_await fail(Errc::conflict);
  if (cx.is_cancelled()) co_return;
  const bool closed = breaker.state() == CircuitState::closed;
  if (closed != (now[0] >= 2)) co_await fail(Errc::protocol);
  // Whoever was cancelled, the probe is free again.
  const auto answers = [](Cx /*cx*/) -> Task<int> { co_return 42; };
  const Outcome<int> end = co_await outcome(breaker.call(cx, answers));
  if (!end.is_ok() && !cx.is_cancelled()) co_await fail(Errc::busy);
}

TEST(CircuitBreaker, COM_1_one_probe_at_a_time_and_each_is_counted_once_in_every_schedule) {
  EXPECT_GE(contest::explore_both_ways(probing<2, nobody>), 2U);
  EXPECT_GE(contest::explore_all_of(probing<2, 0>), 4U);
  EXPECT_GE(contest::explore_all_of(probing<3, 1>), 6U);
}

TEST(CircuitBreaker, COM_1_a_cancel_at_any_await_point_gives_the_probe_back) {
  contest::strike_and_count(probing<2, anybody>);
  contest::strike_and_count(probing<3, 1>);
}

TEST(CircuitBreaker, COM_1_a_0_in_its_options_is_a_clear_error) {
  guarded_in_lab([](Cx cx) -> Task<void> {
    const std::array<CircuitBreakerOptions, 4> wrong{
        {{.failures = 0}, {.open_for = ms(0)}, {.probes = 0}, {.successes = 0}}};
    for (const CircuitBreakerOptions& options : wrong) {
      CircuitBreaker breaker(cx, options);
      const Outcome<int> end = co_await outcome(breaker.call(cx, callee, Outcome<int>(ok(1))));
      expect_error(end, Errc::invalid_argument);
    }
  });
}

TEST(CircuitBreaker, COM_1_its_table_has_these_moves_and_no_others) {
  constexpr std::array<CircuitState, 3> states{CircuitState::closed, CircuitState::open, CircuitState::half_open};
  std::string moves;
  for (const CircuitState from : states) {
    for (const CircuitState to : states) {
      if (circuit_table.allows(from, to)) moves.append(to_string(from)).append(">").append(to_string(to)).append(" ");
    }
  }
  EXPECT_EQ(moves, "closed>open open>half-open half-open>closed half-open>open ");
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
