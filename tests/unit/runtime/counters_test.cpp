// What an inspection of a runtime tells of its workers: what each has done, and how often.
#include "calm/runtime/counters.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "calm/combinator/never.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/runtime.hpp"
#include "tests/unit/runtime/inspected.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines)

class CountersOn : public testing::TestWithParam<std::uint16_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, CountersOn, testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

/// Some tasks with a deadline and some without all park; then all are cancelled at once, and nothing else is there to run.
struct CancelledAtOnce {
  static constexpr int tasks = 40;
  static constexpr int with_deadline = 15;

  struct Parks {
    std::atomic<int>* begun;
    Task<void> operator()(Cx cx) const {
      ++*begun;
      co_await never<>(cx);
    }
  };
  struct Body {
    std::atomic<int>* begun;
    Task<void> operator()(Scope& scope) const {
      const Parks parks{begun};
      std::vector<Handle<void>> parked;
      for (int i = 0; i < tasks; ++i) {
        TaskOptions options;
        if (i < with_deadline) options.budget.deadline = Deadline(scope.cx().now() + Duration::seconds(1000));
        Handle<void> one = co_await scope.spawn(options, parks);
        parked.push_back(std::move(one));
      }
      while (*begun < tasks) co_await yield(scope.cx());
      for (const Handle<void>& one : parked) one.cancel();
      co_await never<>(scope.cx());
    }
  };
  Task<void> operator()(Cx cx) const {
    std::atomic<int> begun = 0;
    const Body body{&begun};
    co_await scope(cx, body, {.policy = FoldPolicy::collect});
  }
};

TEST_P(CountersOn, SCH_5_counts_what_was_dispatched_from_which_lane) {
  // One that is polled elsewhere when it is cancelled may end with that poll.
  const std::uint64_t cancelled_least = CancelledAtOnce::tasks + 1U - GetParam();
  const auto cancelled = [](const std::string& text) {
    return counted_in_all(text, "cancel") + counted_in_all(text, "fallback");
  };
  const std::string text = inspect_until({.workers = GetParam()}, CancelledAtOnce(), [&](const std::string& seen) {
    return cancelled(seen) >= cancelled_least && seen.find(" 1 task, ") != std::string::npos;
  });
  EXPECT_GE(cancelled(text), cancelled_least) << text;
  EXPECT_LE(cancelled(text), CancelledAtOnce::tasks) << text;
  EXPECT_GT(counted_in_all(text, "cancel"), 0U) << text;
  EXPECT_EQ(counted_in_all(text, "timed"), CancelledAtOnce::with_deadline) << text;
  EXPECT_GE(counted_in_all(text, "ready"), CancelledAtOnce::tasks - CancelledAtOnce::with_deadline) << text;
  if (GetParam() == 1) {
    EXPECT_EQ(counted_in_all(text, "fallback"), 2U) << "one after 16, one after 15 more\n" << text;
  }
}

Task<void> naps_for_ever(Cx cx) {
  for (;;) co_await sleep(cx, Duration::milliseconds(1));
}

TEST_P(CountersOn, OBS_1_counts_wakes_parks_timers_and_errands) {
  const std::string text = inspect_until({.workers = GetParam()}, naps_for_ever, [](const std::string& seen) {
    return counted_in_all(seen, "timer") >= 20 && counted_in_all(seen, "park") > 0 &&
           counted_in_all(seen, "errand") > 0;
  });
  EXPECT_GE(counted_in_all(text, "timer"), 20U) << text;
  EXPECT_GE(counted_in_all(text, "wake"), counted_in_all(text, "timer")) << "each timer wakes the task\n" << text;
  EXPECT_GT(counted_in_all(text, "park"), 0U) << text;
  EXPECT_GT(counted_in_all(text, "errand"), 0U) << "an inspection is one\n" << text;
}

/// More tasks than one worker can run at a time, with polls that are worth to be shared.
struct Laborious {
  static Task<void> labours(Cx cx) {
    for (;;) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
      while (std::chrono::steady_clock::now() < end) {
      }
      co_await yield(cx);
    }
  }
  Task<void> operator()(Scope& scope) const {
    for (int i = 0; i < 4; ++i) (void)co_await scope.spawn(labours);
    co_await never<>(scope.cx());
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
};

/// The same with priorities.
struct Ranked {
  Task<void> operator()(Scope& scope) const {
    for (std::uint8_t i = 1; i <= 4; ++i) {
      TaskOptions options;
      options.budget.priority = i;
      (void)co_await scope.spawn(options, Laborious::labours);
    }
    co_await never<>(scope.cx());
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
};

TEST(Counters, SCH_6_counts_what_one_worker_takes_from_another) {
  const RunOptions options{.workers = 2, .worth_sharing = Duration()};
  const std::string text =
      inspect_until(options, Laborious(), [](const std::string& seen) { return counted_in_all(seen, "steal") > 0; });
  EXPECT_GT(counted_in_all(text, "steal"), 0U) << text;
}

TEST(Counters, OBS_1_a_worker_that_is_alone_takes_nothing_from_anybody) {
  const RunOptions options{.workers = 1, .worth_sharing = Duration()};
  const std::string text =
      inspect_until(options, Laborious(), [](const std::string& seen) { return counted_in_all(seen, "ready") > 20; });
  EXPECT_EQ(counted_in_all(text, "steal"), 0U) << text;
}

TEST(Counters, OBS_1_who_is_alone_wakes_nobody_and_shares_nothing) {
  const RunOptions options{.workers = 1, .worth_sharing = Duration()};
  const std::string text =
      inspect_until(options, Ranked(), [](const std::string& seen) { return counted_in_all(seen, "ready") > 20; });
  for (const char* const noun : {"call", "steal", "shared", "parting", "rescue"}) {
    EXPECT_EQ(counted_in_all(text, noun), 0U) << noun << '\n' << text;
  }
}

TEST(Counters, OBS_1_SCH_6_counts_tasks_that_come_from_what_workers_have_in_common) {
  const RunOptions options{.workers = 2, .worth_sharing = Duration()};
  const std::string text =
      inspect_until(options, Ranked(), [](const std::string& seen) { return counted_in_all(seen, "shared") > 0; });
  EXPECT_GT(counted_in_all(text, "shared"), 0U) << text;
}

TEST(Counters, OBS_1_and_none_where_no_task_has_a_rank) {
  const RunOptions options{.workers = 2, .worth_sharing = Duration()};
  const std::string text =
      inspect_until(options, Laborious(), [](const std::string& seen) { return counted_in_all(seen, "steal") > 0; });
  EXPECT_EQ(counted_in_all(text, "shared"), 0U) << text;
}

/// One task does not suspend until what it has spawned has begun, which somebody else must see to; and so again and again.
struct StuckAgainAndAgain {
  Task<void> operator()(Scope& scope) const {
    for (;;) {
      std::atomic<bool> has_begun = false;
      const auto body = [&has_begun](Scope& inner) -> Task<void> {
        const auto begins = [&has_begun](Cx /*cx*/) -> Task<void> {
          has_begun = true;
          co_return;
        };
        (void)co_await inner.spawn(begins);
        // It may be cancelled before it begins.
        while (!has_begun && !inner.cx().is_cancelled()) std::this_thread::yield();
      };
      co_await calm::scope(scope.cx(), body);
      co_await sleep(scope.cx(), Duration::milliseconds(1));
    }
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
};

TEST(Counters, OBS_1_SCH_6_counts_when_it_takes_over_what_waits_for_one_that_is_stuck) {
  const std::string text = inspect_until({.workers = 2}, StuckAgainAndAgain(),
                                         [](const std::string& seen) { return counted_in_all(seen, "rescue") > 0; });
  EXPECT_GT(counted_in_all(text, "rescue"), 0U) << text;
}

/// Now and then some work that is over soon: who comes to help finds one or two tasks, and sleeps again.
struct Bursts {
  static void be_busy() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(60);
    while (std::chrono::steady_clock::now() < end) {
    }
  }
  Task<void> operator()(Scope& scope) const {
    for (;;) {
      const auto body = [](Scope& inner) -> Task<void> {
        const auto works = [](Cx cx) -> Task<void> {
          be_busy();
          co_await yield(cx);
          be_busy();
        };
        for (int i = 0; i < 6; ++i) (void)co_await inner.spawn(works);
      };
      co_await calm::scope(scope.cx(), body);
      co_await sleep(scope.cx(), Duration::milliseconds(1));
    }
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
};

TEST(Counters, OBS_1_counts_the_workers_that_one_wakes_for_help) {
  const RunOptions options{.workers = 2, .worth_sharing = Duration()};
  const std::string text =
      inspect_until(options, Bursts(), [](const std::string& seen) { return counted_in_all(seen, "call") > 0; });
  EXPECT_GT(counted_in_all(text, "call"), 0U) << text;
}

TEST(Counters, OBS_1_counts_when_workers_find_that_help_is_not_worth_it_and_part) {
  RunOptions options{.workers = 2};
  options.worth_sharing = Duration::nanoseconds(1);
  const std::string text =
      inspect_until(options, Bursts(), [](const std::string& seen) { return counted_in_all(seen, "parting") > 0; });
  EXPECT_GT(counted_in_all(text, "parting"), 0U) << text;
}

TEST(Counters, OBS_1_where_everything_is_shared_always_nobody_parts) {
  const RunOptions options{.workers = 2, .worth_sharing = Duration()};
  const std::string text =
      inspect_until(options, Bursts(), [](const std::string& seen) { return counted_in_all(seen, "call") >= 20; });
  EXPECT_GE(counted_in_all(text, "call"), 20U) << text;
  EXPECT_EQ(counted_in_all(text, "parting"), 0U) << text;
}

/// Naps often, beside a worker that has nothing to do either, and says so.
struct ManyNaps {
  std::atomic<bool>* done;
  Task<void> operator()(Cx cx) const {
    for (int i = 0; i < 200; ++i) co_await sleep(cx, Duration::microseconds(50));
    *done = true;
    done->notify_one();
    co_await never<>(cx);
  }
};

/// Gives: what is told after them, of workers that never find work at each other.
std::string text_after_naps(BackOff back_off) {
  RunOptions options{.workers = 2, .worth_sharing = Duration::seconds(1), .rescue_after = Duration()};
  options.back_off = back_off;
  Runtime runtime(options);
  std::atomic<bool> done = false;
  std::string text;
  std::thread looker([&] {
    done.wait(false);
    text = runtime.inspect();
    runtime.shut_down();
  });
  (void)runtime.block_on(ManyNaps{&done});
  looker.join();
  return text;
}

TEST(Counters, SCH_6_a_worker_that_never_finds_work_looks_for_it_less_and_less) {
  const std::string text = text_after_naps({.spins = 100, .yields = 0});
  EXPECT_GT(counted_in_all(text, "look"), 0U) << text;
  // Once before each sleep, in the long run. It begins with 100 times, and so it does after an order has come: 200 more until
  // it is down to one.
  EXPECT_LE(counted_in_all(text, "look"), counted_in_all(text, "park") + 10 * std::uint64_t{200}) << text;
}

TEST(Counters, SCH_6_without_back_off_a_worker_does_not_look_again) {
  const std::string text = text_after_naps({.spins = 0, .yields = 0});
  EXPECT_NE(text.find(" 0 looks, "), std::string::npos) << text;
  EXPECT_EQ(counted_in_all(text, "look"), 0U) << text;
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
