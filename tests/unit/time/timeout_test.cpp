#include "calm/time/timeout.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "calm/cx/mask.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/lab/everywhere.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/lab.hpp"
#include "tests/both_worlds.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

constexpr Duration late_ms(std::int64_t count) { return Duration::milliseconds(count); }

template <class F>
void timeout_in_lab(F program) {
  const auto report = lab::run({}, std::move(program));
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_TRUE(report.end.is_ok()) << report.end.explain();
}

Task<int> answers_after(CxOf<cap::time> cx, std::int64_t ms) {
  co_await sleep(cx, late_ms(ms));
  co_return 42;
}

TEST(Timeout, work_that_ends_in_time_gives_its_value_and_leaves_no_alarm) {
  timeout_in_lab([](Cx cx) -> Task<void> {
    const Duration limit = late_ms(in_lab() ? 10 : 100'000);  // a worker may be late, the lab is not
    const int value = co_await timeout(cx, limit, answers_after, std::int64_t{5});
    EXPECT_EQ(value, 42);
    EXPECT_TRUE(comes_at(cx.now(), Time() + late_ms(5)));
    co_await sleep(cx, late_ms(20));
    EXPECT_TRUE(comes_at(cx.now(), Time() + late_ms(25)));
  });
}

TEST(Timeout, work_that_does_not_end_in_time_gives_the_error_at_that_time_and_the_task_goes_on) {
  timeout_in_lab([](Cx cx) -> Task<void> {
    const Outcome<int> end = co_await outcome(timeout(cx, late_ms(10), answers_after, std::int64_t{50'000}));
    EXPECT_TRUE(end.is_err());
    EXPECT_EQ(end.error().code(), Errc::timeout);
    EXPECT_TRUE(comes_at(cx.now(), Time() + late_ms(10)));
    EXPECT_FALSE(cx.is_cancelled());
    co_await sleep(cx, late_ms(1));
  });
}

TEST(Timeout, the_work_is_told_timeout) {
  timeout_in_lab([](Cx cx) -> Task<void> {
    const auto looks = [](Cx inner) -> Task<int> {
      const Outcome<int> end = co_await outcome(answers_after(inner, 50'000));
      EXPECT_TRUE(end.is_cancelled());
      EXPECT_EQ(end.reason().kind(), CancelKind::timeout);
      co_return 7;  // a value that it has come to all the same is kept
    };
    const int value = co_await timeout(cx, late_ms(10), looks);
    EXPECT_EQ(value, 7);
  });
}

TEST(Timeout, errors_and_exceptions_of_the_work_pass_as_they_are) {
  timeout_in_lab([](Cx cx) -> Task<void> {
    const auto fails = [](Cx /*inner*/) -> Task<int> { co_return err(Errc::full); };
    const Outcome<int> failed = co_await outcome(timeout(cx, late_ms(10), fails));
    EXPECT_TRUE(failed.is_err());
    EXPECT_EQ(failed.error().code(), Errc::full);
    const auto throws = [](Cx /*inner*/) -> Task<void> {
      throw std::runtime_error("broken");
      co_return;
    };
    const Outcome<void> thrown = co_await outcome(timeout(cx, late_ms(10), throws));
    EXPECT_TRUE(thrown.is_panicked());
  });
}

TEST(Timeout, a_time_that_has_passed_ends_the_first_wait_and_work_without_one_still_gives_its_value) {
  timeout_in_lab([](Cx cx) -> Task<void> {
    const Outcome<int> end = co_await outcome(timeout(cx, Duration(), answers_after, std::int64_t{1}));
    EXPECT_TRUE(end.is_err());
    EXPECT_EQ(end.error().code(), Errc::timeout);
    const auto at_once = [](Cx /*inner*/) -> Task<int> { co_return 3; };
    const int value = co_await timeout(cx, late_ms(-5), at_once);
    EXPECT_EQ(value, 3);
    EXPECT_TRUE(comes_at(cx.now(), Time()));
  });
}

TEST(Timeout, of_two_the_smaller_decides_whichever_is_outside) {
  for (const bool outer_is_smaller : {false, true}) {
    timeout_in_lab([outer_is_smaller](Cx cx) -> Task<void> {
      const Duration outer = late_ms(outer_is_smaller ? 10 : 20'000);
      const auto inside = [outer_is_smaller](Cx inner) -> Task<int> {
        const Duration limit = late_ms(outer_is_smaller ? 20'000 : 10);
        const int value = co_await timeout(inner, limit, answers_after, std::int64_t{50'000});
        co_return value;
      };
      const Outcome<int> end = co_await outcome(timeout(cx, outer, inside));
      EXPECT_TRUE(end.is_err());
      EXPECT_EQ(end.error().code(), Errc::timeout);
      EXPECT_TRUE(comes_at(cx.now(), Time() + late_ms(10)));
    });
  }
}

TEST(Timeout, I5_everything_in_the_work_has_ended_before_the_error_comes) {
  std::vector<std::string> log;
  timeout_in_lab([&](Cx cx) -> Task<void> {
    const auto work = [&](Cx inner) -> Task<void> {
      const auto body = [&](Scope& scope) -> Task<void> {
        const auto clean_up = [&](Cx last) -> Task<void> {
          co_await sleep(last, late_ms(3));
          log.push_back("finalizer");
        };
        co_await scope.defer_async(clean_up);
        const auto stubborn = [&](Cx child) -> Task<void> {
          const auto masked = [&](Cx quiet) -> Task<void> {
            co_await sleep(quiet, late_ms(15));
            log.push_back("masked child");
          };
          co_await with_cancel_mask(child, masked);
        };
        auto child = co_await scope.fiber(stubborn);
        co_await sleep(scope.cx(), late_ms(100'000));
      };
      co_await scope(inner, body);
    };
    const Outcome<void> end = co_await outcome(timeout(cx, late_ms(10), work));
    EXPECT_TRUE(end.is_err());
    EXPECT_EQ(end.error().code(), Errc::timeout);
    EXPECT_TRUE(comes_at(cx.now(), Time() + late_ms(18)));
    log.push_back("error");
  });
  EXPECT_EQ(log, (std::vector<std::string>{"masked child", "finalizer", "error"}));
}

TEST(Timeout, CAN_4_a_cancel_of_the_task_goes_before_the_timeout) {
  std::atomic<bool> begun = false;
  std::atomic<bool> stopped = false;
  const auto report = lab::run({}, [&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto waits = [&](Cx inner) -> Task<void> {
        const auto stubborn = [&](Cx work) -> Task<void> {
          const auto masked = [&](Cx quiet) -> Task<void> {
            begun = true;
            co_await sleep(quiet, late_ms(30));
            co_await catch_up(quiet, stopped);
          };
          co_await with_cancel_mask(work, masked);
          co_await checkpoint(work);
        };
        co_await timeout(inner, late_ms(10), stubborn);
      };
      auto child = co_await scope.spawn(waits);
      co_await sleep(scope.cx(), late_ms(20));
      co_await catch_up(scope.cx(), begun);
      child.cancel("stop");
      stopped = true;
      const Outcome<void> end = co_await outcome(std::move(child).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled()) << end.explain();
      EXPECT_EQ(end.reason().kind(), CancelKind::user);
    };
    const Outcome<void> all = co_await outcome(scope(cx, body));
    EXPECT_TRUE(all.is_cancelled());
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
}

/// A child and its parent race against one timeout that comes at the time of both.
Task<void> work_against_time(Cx cx) {
  const auto work = [](Cx inner) -> Task<int> {
    const auto body = [](Scope& scope) -> Task<int> {
      auto child = co_await scope.spawn(answers_after, std::int64_t{5});
      co_await sleep(scope.cx(), late_ms(5));
      const int value = co_await std::move(child).join(scope.cx());
      co_return value;
    };
    const int value = co_await scope(inner, body);
    co_return value;
  };
  const Outcome<int> end = co_await outcome(timeout(cx, late_ms(5), work));
  const bool lawful = (end.is_ok() && end.value() == 42) || (end.is_err() && end.error().code() == Errc::timeout) ||
                      (end.is_cancelled() && !time::tells_of_lateness(end.reason()));
  EXPECT_TRUE(lawful) << end.explain();
  co_await checkpoint(cx);
}

TEST(Timeout, I5_value_or_error_and_nothing_else_under_every_schedule) {
  for (const bool time : {false, true}) {
    if (time && !in_lab()) continue;  // real time needs no exploration
    const lab::ExploreReport report = lab::explore(work_against_time, {.explore_time = time});
    EXPECT_TRUE(report.ok() && report.exhausted()) << report;
  }
}

TEST(Timeout, CAN_13_a_cancel_at_every_await_point_leaves_nothing_behind) {
  const auto tasks = lab::cancel_everywhere({}, work_against_time);
  EXPECT_TRUE(tasks.is_clean()) << to_string(tasks);
  EXPECT_EQ(tasks.points_hit, tasks.points_seen);
  const auto scopes = lab::cancel_scopes_everywhere({}, work_against_time);
  EXPECT_TRUE(scopes.is_clean()) << to_string(scopes);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
