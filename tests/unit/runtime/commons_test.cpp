// Tasks with a priority, a deadline or a cancellation, on several workers: where their polls are long others help.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "calm/combinator/never.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/run.hpp"
#include "calm/sched/governor.hpp"
#include "tests/unit/runtime/shared_by.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters): what they refer to outlives the run

using SteadyTime = std::chrono::steady_clock;

/// The threads that something ran on.
class Threads {
 public:
  void note() {
    const std::lock_guard guard(mutex_);
    seen_.insert(std::this_thread::get_id());
  }
  [[nodiscard]] std::size_t count() {
    const std::lock_guard guard(mutex_);
    return seen_.size();
  }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> seen_;
};

void be_busy(std::chrono::microseconds time) {
  const auto end = SteadyTime::now() + time;
  while (SteadyTime::now() < end) {
  }
}

struct LongWork {
  Threads* threads;

  Task<void> operator()(Cx cx) const {
    for (int i = 0; i < 4; ++i) {
      threads->note();
      be_busy(std::chrono::microseconds(200));
      co_await yield(cx);
    }
  }
};

using ManyOptions = std::function<TaskOptions(Cx, int)>;

/// Spawns crowds of long tasks with these options until several workers have polled some.
struct UntilOthersHelp {
  Threads* threads;
  ManyOptions options;

  Task<void> operator()(Cx cx) const {
    const auto late = SteadyTime::now() + std::chrono::minutes(1);
    while (threads->count() < 2 && SteadyTime::now() < late) {
      const auto body = [this](Scope& scope) -> Task<void> {
        const LongWork work{threads};
        for (int i = 0; i < 64; ++i) {
          const TaskOptions of_task = options(scope.cx(), i);
          (void)co_await scope.spawn(of_task, work);
        }
      };
      co_await scope(cx, body);
    }
  }
};

class CommonsOn : public testing::TestWithParam<std::uint16_t> {
 protected:
  void expect_help(const ManyOptions& options, const sched::Governor* governor = nullptr) {
    Threads threads;
    const RunOptions run{.workers = GetParam(), .governor = governor};
    ASSERT_TRUE(block_on(UntilOthersHelp{&threads, options}, run).is_ok());
    EXPECT_GE(threads.count(), 2U);
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, CommonsOn, testing::Values(std::uint16_t{2}, std::uint16_t{8}), name_of_workers);

TEST_P(CommonsOn, SCH_6_tasks_with_deadlines_are_done_by_several_workers) {
  expect_help([](Cx cx, int number) {
    TaskOptions timed;
    timed.budget.deadline = Deadline(cx.now() + Duration::seconds(1000 + number));
    return timed;
  });
}

TEST_P(CommonsOn, SCH_6_and_so_are_tasks_with_priorities) {
  expect_help([](Cx /*cx*/, int number) {
    TaskOptions urgent;
    urgent.budget.priority = static_cast<std::uint8_t>(1 + number);
    return urgent;
  });
}

TEST_P(CommonsOn, SCH_3_a_governor_does_not_keep_others_from_helping) {
  const auto mixed = [](Cx cx, int number) {
    TaskOptions options;
    options.budget.priority = static_cast<std::uint8_t>(1 + number);
    if (number % 2 == 0) options.budget.deadline = Deadline(cx.now() + Duration::seconds(1000));
    return options;
  };
  for (const sched::Governor* const governor : sched::governors()) expect_help(mixed, governor);
}

struct LongCleanUp {
  Threads* threads;
  std::atomic<int>* parked;

  Task<void> operator()(Cx cx) const {
    ++*parked;
    (void)co_await outcome(never(cx));
    threads->note();
    be_busy(std::chrono::microseconds(500));
  }
};

TEST_P(CommonsOn, SCH_6_CAN_8_and_so_is_the_clean_up_of_cancelled_ones) {
  Threads threads;
  const auto program = [&threads](Cx cx) -> Task<void> {
    const auto late = SteadyTime::now() + std::chrono::minutes(1);
    while (threads.count() < 2 && SteadyTime::now() < late) {
      std::atomic<int> parked = 0;
      const auto body = [&threads, &parked](Scope& scope) -> Task<void> {
        const LongCleanUp work{&threads, &parked};
        for (int i = 0; i < 100; ++i) (void)co_await scope.spawn(work);
        while (parked < 100) co_await yield(scope.cx());
        scope.cancel();
      };
      (void)co_await outcome(scope(cx, body));
    }
  };
  ASSERT_TRUE(block_on(program, {.workers = GetParam()}).is_ok());
  EXPECT_GE(threads.count(), 2U);
}

TEST_P(CommonsOn, TSK_4_fibers_stay_where_they_are) {
  Threads of_fibers;
  Threads of_tasks;
  const auto program = [&](Cx cx) -> Task<void> {
    const auto late = SteadyTime::now() + std::chrono::minutes(1);
    while (of_tasks.count() < 2 && SteadyTime::now() < late) {
      const auto body = [&](Scope& scope) -> Task<void> {
        const LongWork fiber{&of_fibers};
        const LongWork task{&of_tasks};
        TaskOptions urgent;
        for (int i = 0; i < 64; ++i) {
          urgent.budget.priority = static_cast<std::uint8_t>(1 + i % 7);
          if (i % 4 == 0) {
            (void)co_await scope.fiber(urgent, fiber);
          } else {
            (void)co_await scope.spawn(urgent, task);
          }
        }
      };
      co_await scope(cx, body);
    }
  };
  ASSERT_TRUE(block_on(program, {.workers = GetParam()}).is_ok());
  EXPECT_GE(of_tasks.count(), 2U);
  EXPECT_EQ(of_fibers.count(), 1U);
}

/// Everything is shared, whatever it costs.
class CommonsSharedBy : public SharedBy {};
INSTANTIATE_TEST_SUITE_P(Workers, CommonsSharedBy, some_workers(), name_of_workers);

TEST_P(CommonsSharedBy, TSK_6_tasks_of_all_kinds_run_once_each) {
  constexpr int tasks = 3000;
  std::atomic<int> ran = 0;
  const auto work = [&ran](Cx cx, int number) -> Task<void> {
    for (int i = 0; i < number % 4; ++i) co_await yield(cx);
    ++ran;
  };
  const auto program = [&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      for (int number = 0; number < tasks; ++number) {
        TaskOptions options;
        if (number % 3 == 1) options.budget.priority = static_cast<std::uint8_t>(number % 256);
        if (number % 3 == 2) {
          options.budget.deadline = Deadline(scope.cx().now() + Duration::seconds(1000 + number % 100));
        }
        (void)co_await scope.spawn(options, work, number);
        if (number % 50 == 0) co_await yield(scope.cx());
      }
    };
    co_await scope(cx, body);
  };
  EXPECT_TRUE(run_program(program).is_ok());
  EXPECT_EQ(ran, tasks);
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace calm
