// In which order a worker of the runtime takes what is runnable.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/split_mix.hpp"
#include "calm/runtime/run.hpp"
#include "calm/sched/victim_order.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

using Log = std::vector<std::string>;

Task<void> write_name(Cx /*cx*/, Log* log, std::string name) {
  log->push_back(std::move(name));
  co_return;
}

struct InLanes {
  Log* log;

  TaskOptions due(Cx cx, int seconds) const {
    TaskOptions options;
    options.budget.deadline = Deadline(cx.now() + Duration::seconds(seconds));
    return options;
  }
  static TaskOptions urgent(std::uint8_t priority) {
    TaskOptions options;
    options.budget.priority = priority;
    return options;
  }
  Task<void> operator()(Scope& scope) const {
    const Cx cx = scope.cx();
    (void)co_await scope.fiber(write_name, log, std::string("plain 1"));
    (void)co_await scope.fiber(urgent(3), write_name, log, std::string("priority 3"));
    (void)co_await scope.fiber(due(cx, 200), write_name, log, std::string("due in 200 s"));
    (void)co_await scope.fiber(urgent(9), write_name, log, std::string("priority 9"));
    (void)co_await scope.fiber(due(cx, 100), write_name, log, std::string("due in 100 s"));
    (void)co_await scope.fiber(write_name, log, std::string("plain 2"));
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
};

TEST(Dispatch, SCH_1_SCH_2_deadlines_go_before_priorities_and_those_before_the_rest) {
  for (const Flavour flavour : {Flavour::current_thread, Flavour::multi_worker}) {
    Log log;
    ASSERT_TRUE(block_on(InLanes{&log}, {.workers = 1, .flavour = flavour}).is_ok());
    EXPECT_EQ(log, (Log{"due in 100 s", "due in 200 s", "priority 9", "priority 3", "plain 1", "plain 2"}));
  }
}

Task<void> wait_and_write(Cx cx, Log* log) {
  const Outcome<void> end = co_await outcome(sleep(cx, Duration::seconds(1000)));
  log->push_back(end.is_cancelled() ? "cancelled" : "slept");
}

struct Cancelled {
  Log* log;
  Task<void> operator()(Scope& scope) const {
    std::vector<Handle<void>> sleepers;
    for (int i = 0; i < 40; ++i) {
      Handle<void> sleeper = co_await scope.fiber(wait_and_write, log);
      sleepers.push_back(std::move(sleeper));
    }
    for (int i = 0; i < 100; ++i) co_await yield(scope.cx());  // until all sleep
    for (int i = 0; i < 3; ++i) (void)co_await scope.fiber(write_name, log, std::string("plain"));
    for (const Handle<void>& sleeper : sleepers) sleeper.cancel();
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this, {.policy = FoldPolicy::collect}); }
};

TEST(Dispatch, SCH_4_a_streak_of_cancelled_tasks_ends_for_others) {
  for (const Flavour flavour : {Flavour::current_thread, Flavour::multi_worker}) {
    Log log;
    EXPECT_TRUE(block_on(Cancelled{&log}, {.workers = 1, .flavour = flavour}).is_cancelled());
    std::string order;
    for (const std::string& entry : log) order += entry[0];
    EXPECT_EQ(order, std::string(16, 'c') + 'p' + std::string(16, 'c') + 'p' + std::string(8, 'c') + 'p');
  }
}

Task<void> never_waits(Cx cx, int awaits, int* others, std::vector<int>* seen) {
  for (int i = 0; i < awaits; ++i) {
    co_await checkpoint(cx);
    seen->push_back(*others);
  }
}
Task<void> counts(Cx cx, int* count) {
  for (int i = 0; i < 3; ++i) {
    ++*count;
    co_await yield(cx);
  }
}

struct Busy {
  std::vector<int>* seen;
  Task<void> operator()(Scope& scope) const {
    int count = 0;
    Handle<void> busy = co_await scope.fiber(never_waits, 400, &count, seen);
    (void)co_await scope.fiber(counts, &count);
    co_await std::move(busy).join(scope.cx());
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
};

TEST(Dispatch, SCH_10_a_task_whose_awaits_are_ready_gives_way_after_128) {
  for (const Flavour flavour : {Flavour::current_thread, Flavour::multi_worker}) {
    std::vector<int> seen;
    ASSERT_TRUE(block_on(Busy{&seen}, {.workers = 1, .flavour = flavour}).is_ok());
    ASSERT_EQ(seen.size(), 400U);
    EXPECT_EQ(seen[126], 0);
    EXPECT_EQ(seen[129], 1);
    EXPECT_EQ(seen[399], 3);
  }
}

Task<void> fires(Cx cx, Log* log, int ms) {
  co_await sleep(cx, Duration::milliseconds(ms));
  log->push_back("timer");
}
Task<void> holds_the_worker(Cx cx, Log* log, int ms) {
  const Time until = cx.now() + Duration::milliseconds(ms);
  while (cx.now() < until) {
  }
  log->push_back("spun");
  for (int i = 0; i < 2; ++i) {
    co_await yield(cx);
    log->push_back("dispatched");
  }
}

struct TimersFirst {
  Log* log;
  Task<void> operator()(Scope& scope) const {
    (void)co_await scope.fiber(fires, log, 2);
    (void)co_await scope.fiber(holds_the_worker, log, 10);
    co_return;
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
};

TEST(Dispatch, SCH_6_timers_that_have_come_are_looked_at_before_the_next_dispatch) {
  Log log;
  ASSERT_TRUE(block_on(TimersFirst{&log}, {.workers = 1}).is_ok());
  // It became runnable behind the one that yielded, and before that one became so again.
  EXPECT_EQ(log, (Log{"spun", "dispatched", "timer", "dispatched"}));
}

Task<std::vector<std::uint64_t>> draws(Cx cx) {
  std::vector<std::uint64_t> drawn;
  for (int i = 0; i < 5; ++i) drawn.push_back(cx.entropy());
  co_return drawn;
}

TEST(Dispatch, SCH_7_what_a_worker_draws_comes_from_its_seed) {
  for (const Flavour flavour : {Flavour::current_thread, Flavour::multi_worker}) {
    const Outcome<std::vector<std::uint64_t>> drawn = block_on(draws, {.workers = 1, .flavour = flavour, .seed = 77});
    SplitMix numbers(sched::worker_seed(77, 0));
    for (const std::uint64_t number : drawn.value()) EXPECT_EQ(number, numbers.next());
    EXPECT_NE(drawn.value(), block_on(draws, {.workers = 1, .flavour = flavour, .seed = 78}).value());
  }
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace calm
