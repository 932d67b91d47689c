// Oracles on whole programs: each planted bug is found, by its name, with task, site and law; programs without bugs are clean.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "calm/cx/mask.hpp"
#include "calm/cx/scope.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/replay.hpp"
#include "tests/unit/lab/found.hpp"
#include "tests/unit/lab/planted.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::lab {
namespace {

using planted::Gate;
using planted::Lock;

Task<void> wait_at_gate(Cx cx, Gate& gate) { co_await planted::pass(cx, gate); }

TEST(Oracles, LAB_6_a_clean_program_has_no_problems) {
  Gate gate;
  const auto program = [&gate](Cx cx) -> Task<int> {
    const auto body = [&gate](Scope& scope) -> Task<int> {
      gate = {};
      auto waiter = co_await scope.spawn([&gate](Cx inner) -> Task<void> { co_await wait_at_gate(inner, gate); });
      co_await sleep(scope.cx(), Duration::milliseconds(1));
      gate.open(scope.cx());
      co_await std::move(waiter).join(scope.cx());
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const LabReport report = check_determinism({.seed = seed}, program);
    EXPECT_TRUE(report.is_clean()) << to_string(report);
    EXPECT_TRUE(report.end.is_ok());
    EXPECT_FALSE(report.trace.events.empty());
    EXPECT_EQ(report.trace.overwritten, 0U);
  }
}

TEST(Oracles, LAB_6_a_lost_wake_is_found_with_task_site_and_law) {
  Gate gate{.number = 7};
  const LabReport report = run({.choices = std::vector<std::uint32_t>()}, [&gate](Cx cx) -> Task<int> {
    const auto body = [&gate](Scope& scope) -> Task<int> {
      auto waiter = co_await scope.spawn([&gate](Cx inner) -> Task<void> { co_await wait_at_gate(inner, gate); });
      co_await yield(scope.cx());
      co_await yield(scope.cx());
      gate.open_and_forget();
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  });
  EXPECT_EQ(count_of(report, Oracle::lost_wake), 1) << to_string(report);
  const std::string text = text_of(report, Oracle::lost_wake);
  EXPECT_SAYS(text, "calm: a wake was lost: t");
  EXPECT_SAYS(text, "sleeps at a wait that is over");
  EXPECT_SAYS(text, "at:   tests/unit/lab/oracle_test.cpp:");
  EXPECT_SAYS(text, "in lab::wait_at_gate");
  EXPECT_SAYS(text, "wait: for x7");
  EXPECT_SAYS(text, "law:  TSK-6");
  EXPECT_SAYS(text, "next: ");
  EXPECT_EQ(count_of(report, Oracle::deadlock), 0) << to_string(report);  // the lost wake explains it
  EXPECT_EQ(count_of(report, Oracle::task_leak), 1);
}

Task<void> take_both(Cx cx, Lock& first, Lock& second) {
  co_await planted::lock(cx, first);
  co_await yield(cx);
  co_await planted::lock(cx, second);
  second.unlock(cx);
  first.unlock(cx);
}

/// Two tasks that take two locks in opposite orders.
Task<int> philosophers(Cx cx, Lock& left, Lock& right) {
  const auto body = [&left, &right](Scope& scope) -> Task<int> {
    auto a = co_await scope.spawn([&](Cx inner) -> Task<void> { co_await take_both(inner, left, right); });
    auto b = co_await scope.spawn([&](Cx inner) -> Task<void> { co_await take_both(inner, right, left); });
    co_await std::move(a).join(scope.cx());
    co_await std::move(b).join(scope.cx());
    co_return 0;
  };
  const int value = co_await scope(cx, body);
  co_return value;
}

LabReport dine(std::uint64_t seed) {
  Lock left{.number = 1};
  Lock right{.number = 2};
  return run({.seed = seed}, [&](Cx cx) -> Task<int> {
    const int value = co_await philosophers(cx, left, right);
    co_return value;
  });
}

/// The first seed that leads to the deadlock.
LabReport dine_badly() {
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    LabReport report = dine(seed);
    if (!report.is_clean()) return report;
  }
  return {};
}

TEST(Oracles, LAB_6_a_deadlock_is_printed_as_a_cycle_of_names_and_await_sites) {
  const LabReport report = dine_badly();
  ASSERT_EQ(count_of(report, Oracle::deadlock), 1) << to_string(report);
  const std::string text = text_of(report, Oracle::deadlock);
  EXPECT_SAYS(text, "calm: deadlock: 2 tasks wait for each other");
  EXPECT_SAYS(text, "at tests/unit/lab/oracle_test.cpp:");
  EXPECT_SAYS(text, "in lab::take_both waits for x1, held by t");
  EXPECT_SAYS(text, "in lab::take_both waits for x2, held by t");
  EXPECT_SAYS(text, "custom, made at tests/unit/lab/oracle_test.cpp:");
  EXPECT_SAYS(text, "law:  LAB-6");
  EXPECT_EQ(count_of(report, Oracle::lost_wake), 0) << to_string(report);
}

TEST(Oracles, OBL_7_LAB_6_a_futurelock_is_found_with_what_the_task_owes) {
  const LabReport report = dine_badly();
  ASSERT_EQ(count_of(report, Oracle::futurelock), 2) << to_string(report);
  const std::string text = text_of(report, Oracle::futurelock);
  EXPECT_SAYS(text, "calm: futurelock: t");
  EXPECT_SAYS(text, "owes: o");
  EXPECT_SAYS(text, "made at tests/unit/lab/oracle_test.cpp:");
  EXPECT_SAYS(text, "law:  OBL-7");
}

/// The same while somebody else is busy, and ends it all after a while.
Task<int> dine_with_a_guard(Cx cx, Lock& left, Lock& right, int rounds) {
  const auto body = [&left, &right, rounds](Scope& scope) -> Task<int> {
    auto a = co_await scope.spawn([&](Cx inner) -> Task<void> { co_await take_both(inner, left, right); });
    auto b = co_await scope.spawn([&](Cx inner) -> Task<void> { co_await take_both(inner, right, left); });
    for (int i = 0; i < rounds; ++i) co_await yield(scope.cx());
    scope.cancel("the guests are late");
    co_return 0;
  };
  const Outcome<int> end = co_await outcome(scope(cx, body));
  EXPECT_FALSE(end.is_ok());
  co_return 0;
}

TEST(Oracles, OBL_7_a_futurelock_is_found_although_a_cancel_ends_it) {
  for (const int rounds : {500, 5000}) {
    Lock left{.number = 1};
    Lock right{.number = 2};
    const LabReport report = run({.choices = std::vector<std::uint32_t>()}, [&](Cx cx) -> Task<int> {
      const int value = co_await dine_with_a_guard(cx, left, right, rounds);
      co_return value;
    });
    EXPECT_EQ(count_of(report, Oracle::futurelock), rounds > 1000 ? 2 : 0) << to_string(report);
    EXPECT_EQ(count_of(report, Oracle::task_leak), 0) << to_string(report);
  }
}

TEST(Oracles, LAB_6_some_seeds_miss_the_deadlock_and_are_clean) {
  int clean = 0;
  for (std::uint64_t seed = 1; seed < 100; ++seed) clean += dine(seed).is_clean() ? 1 : 0;
  EXPECT_GT(clean, 0);
  EXPECT_LT(clean, 99);
}

TEST(Oracles, LAB_6_a_wait_that_nobody_will_end_is_a_deadlock_without_a_cycle) {
  Gate gate{.number = 3};
  const LabReport report = run({}, [&gate](Cx cx) -> Task<int> {
    co_await wait_at_gate(cx, gate);
    co_return 0;
  });
  const std::string text = text_of(report, Oracle::deadlock);
  EXPECT_SAYS(text, "calm: deadlock: nothing can run and no alarm is armed");
  EXPECT_SAYS(text, "in lab::wait_at_gate waits for x3, which nobody will give");
}

TEST(Oracles, LAB_6_I1_I2_tasks_that_are_alive_at_the_end_are_named) {
  Gate gate;
  const LabReport report = run({}, [&gate](Cx cx) -> Task<int> {
    co_await wait_at_gate(cx, gate);
    co_return 0;
  });
  const std::string text = text_of(report, Oracle::task_leak);
  EXPECT_SAYS(text, "calm: the program is over and tasks are alive");
  EXPECT_SAYS(text, "in r1: Running at tests/unit/lab/oracle_test.cpp:");
  EXPECT_SAYS(text, "law:  I1");
  EXPECT_SAYS(text_of(report, Oracle::region_quiet), "regions_not_closed");
}

TEST(Oracles, LAB_6_what_is_alive_at_the_end_is_shut_down_after_the_report) {
  Gate gate;
  bool left = false;
  struct Bye {
    bool& left;
    ~Bye() { left = true; }
  };
  const LabReport report = run({}, [&](Cx cx) -> Task<int> {
    const Bye bye{left};
    co_await planted::pass(cx, gate);
    co_return 0;
  });
  EXPECT_FALSE(report.is_clean());
  EXPECT_TRUE(left);
}

TEST(Oracles, LAB_6_a_run_without_end_is_stopped_and_says_so) {
  const LabReport report = run({.max_steps = 500}, [](Cx cx) -> Task<int> {
    for (;;) co_await yield(cx);
  });
  EXPECT_EQ(report.steps, 500U);
  EXPECT_SAYS(text_of(report, Oracle::steps), "calm: stopped after 500 steps");
}

TEST(Oracles, OBL_4_a_dropped_token_fails_the_run_with_its_site) {
  const LabReport report = run({}, [](Cx cx) -> Task<int> {
    cx::TaskRoot& root = *cx::context_of(cx).root();
    const auto made = root.port().reserve(root.worker(), root.region(), {.holder = root.id()});
    (void)root.port().drop_token(root.worker(), made.id);
    co_return 0;
  });
  const std::string text = text_of(report, Oracle::obligations);
  EXPECT_SAYS(text, "dropped while Reserved");
  EXPECT_SAYS(text, "[OBL-4] fails the run");
  EXPECT_SAYS(text, "at:   tests/unit/lab/oracle_test.cpp:");
}

TEST(Oracles, OBL_5_OBL_6_a_forgotten_promise_fails_the_run_with_its_site) {
  const LabReport report = run({}, [](Cx cx) -> Task<int> {
    cx::TaskRoot& root = *cx::context_of(cx).root();
    (void)root.port().reserve(root.worker(), root.region(), {.holder = root.id()});
    co_return 0;
  });
  const std::string text = text_of(report, Oracle::obligations);
  EXPECT_SAYS(text, "was leaked by t");
  EXPECT_SAYS(text, "[OBL-5] fails the run");
  EXPECT_SAYS(text, "next: commit or abort the promise on every path");
}

TEST(Oracles, TMR_3_an_alarm_that_goes_off_early_is_found) {
  const LabReport report = run({}, [](Cx cx) -> Task<int> {
    co_await planted::sleep_badly(cx, Time() + Duration::milliseconds(5));
    co_return 0;
  });
  const std::string text = text_of(report, Oracle::timers);
  EXPECT_SAYS(text, "for 0.005s went off at 0.001s, early");
  EXPECT_SAYS(text, "law:  TMR-3");
}

TEST(Oracles, I6_a_program_that_counts_its_runs_is_not_deterministic) {
  static int runs = 0;
  const LabReport report = check_determinism({}, [](Cx cx) -> Task<int> {
    const int mine = ++runs;
    for (int i = 0; i < mine; ++i) co_await yield(cx);
    co_return 0;
  });
  ASSERT_EQ(count_of(report, Oracle::determinism), 1) << to_string(report);
  const std::string text = text_of(report, Oracle::determinism);
  EXPECT_SAYS(text, "calm: the run is another one after");
  EXPECT_SAYS(text, "expected: #");
  EXPECT_SAYS(text, "complete t1 Ok");
  EXPECT_SAYS(text, "actual:   #");
  EXPECT_SAYS(text, "poll");
  EXPECT_SAYS(text, "law:  I6");
}

TEST(Oracles, I6_a_program_that_uses_addresses_is_not_deterministic) {
  std::vector<std::unique_ptr<int>> kept;  // so that no address is used twice
  const LabReport report = check_determinism({}, [&kept](Cx cx) -> Task<int> {
    kept.push_back(std::make_unique<int>());
    const auto address = reinterpret_cast<std::uintptr_t>(kept.back().get());
    co_await sleep(cx, Duration::nanoseconds(static_cast<std::int64_t>(address % 1'000'000'007)));
    co_return 0;
  });
  EXPECT_SAYS(text_of(report, Oracle::determinism), "expected: #");
}

TEST(Oracles, LAB_2_the_trace_is_whole_although_its_ring_is_small) {
  LabConfig config;
  config.kernel.trace_capacity = 64;
  const LabReport report = run(config, [](Cx cx) -> Task<int> {
    for (int i = 0; i < 1000; ++i) co_await yield(cx);
    co_return 0;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_GT(report.trace.events.size(), 1000U);
  EXPECT_TRUE(trace::find_gaps(report.trace).empty());
}

TEST(Oracles, LAB_2_a_step_with_more_events_than_the_ring_takes_is_reported) {
  LabConfig config;
  config.kernel.trace_capacity = 16;
  const LabReport report = run(config, [](Cx cx) -> Task<int> {
    const auto body = [](Scope& scope) -> Task<int> {
      for (int i = 0; i < 40; ++i) {
        auto child = co_await scope.spawn([](Cx inner) -> Task<void> { co_await yield(inner); });
      }
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  });
  EXPECT_SAYS(text_of(report, Oracle::trace), "calm: the trace lost ");
}

}  // namespace
}  // namespace calm::lab
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
