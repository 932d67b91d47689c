// Calls that block: on threads of their own in a runtime, as a step of their own in the lab.
#include "calm/cx/blocking.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/lab/everywhere.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/gtest.hpp"
#include "calm/lab/lab.hpp"
#include "calm/runtime/run.hpp"
#include "tests/run_way.hpp"
#include "tests/stderr_watch.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

int add_slowly(int a, int b) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return a + b;
}
std::unique_ptr<int> move_only(std::unique_ptr<int> value) {
  ++*value;
  return value;
}
int fails_to_add() { throw std::runtime_error("no sum"); }

class Blocking : public testing::TestWithParam<std::uint16_t> {
 protected:
  [[nodiscard]] static RunOptions options() { return options_here(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Workers, Blocking, testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(Blocking, IO_4_gives_what_the_call_returned_whatever_it_is) {
  const auto program = [](Cx cx) -> Task<int> {
    // [call]
    const int sum = co_await blocking(cx, add_slowly, 3, 4);
    // [/call]
    auto given = std::make_unique<int>(sum);
    const std::unique_ptr<int> back = co_await blocking(cx, move_only, std::move(given));
    int seen = 0;
    const auto look = [&seen, &back] { seen = *back; };
    co_await blocking(cx, look);
    co_return seen;
  };
  const Outcome<int> end = block_on(program, options());
  ASSERT_TRUE(end.is_ok());
  EXPECT_EQ(end.value(), 8);
}

TEST_P(Blocking, IO_4_what_the_call_throws_is_thrown_where_it_is_awaited) {
  const auto program = [](Cx cx) -> Task<int> {
    const int sum = co_await blocking(cx, fails_to_add);
    co_return sum;
  };
  const Outcome<int> end = block_on(program, options());
  ASSERT_TRUE(end.is_panicked());
  EXPECT_NE(end.panic().what().find("no sum"), std::string::npos);
}

TEST_P(Blocking, IO_4_other_tasks_run_while_a_call_blocks) {
  std::atomic<bool> open = false;
  const auto program = [&open](Cx cx) -> Task<void> {
    const auto body = [&open](Scope& scope) -> Task<void> {
      const auto opens = [&open](Cx inner) -> Task<void> {
        co_await sleep(inner, Duration::milliseconds(2));
        open = true;
      };
      auto opener = co_await scope.fiber(opens);
      const auto waits = [&open] {
        while (!open) std::this_thread::yield();
      };
      co_await blocking(scope.cx(), waits);
      co_await std::move(opener).join(scope.cx());
    };
    co_await scope(cx, body);
  };
  EXPECT_TRUE(block_on(program, options()).is_ok()) << "with one worker it would wait for itself";
}

/// How many calls were under way at once.
struct BlockingCrowd {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<int> calls = 0;
  void visit() {
    const int now = ++inside;
    int most_seen = most;
    while (now > most_seen && !most.compare_exchange_weak(most_seen, now)) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    ++calls;
    --inside;
  }
};

TEST_P(Blocking, IO_4_there_are_never_more_threads_than_allowed_and_every_call_is_made) {
  RunOptions limited = options();
  limited.blocking.threads_max = 2;
  BlockingCrowd crowd;
  const auto program = [&crowd](Cx cx) -> Task<void> {
    const auto body = [&crowd](Scope& scope) -> Task<void> {
      const auto visits = [&crowd](Cx inner) -> Task<void> {
        const auto visit = [&crowd] { crowd.visit(); };
        for (int i = 0; i < 10; ++i) co_await blocking(inner, visit);
      };
      for (int i = 0; i < 8; ++i) (void)co_await scope.spawn(visits);
    };
    co_await scope(cx, body);
  };
  EXPECT_TRUE(block_on(program, limited).is_ok());
  EXPECT_EQ(crowd.calls.load(), 80);
  EXPECT_LE(crowd.most.load(), 2);
}

/// A call that has begun, and is held until it is let go.
struct Gate {
  std::atomic<int> begun = 0;
  std::atomic<bool> open = false;
  std::atomic<int> others = 0;

  int hold() {
    ++begun;
    while (!open) std::this_thread::sleep_for(std::chrono::microseconds(50));
    return 5;
  }
  int hold_until_stopped(StopToken stop) {
    ++begun;
    while (!stop.is_requested()) std::this_thread::sleep_for(std::chrono::microseconds(50));
    return 6;
  }
};

Task<void> await_begun(Cx cx, const Gate& gate) {
  while (gate.begun == 0) co_await sleep(cx, Duration::microseconds(100));
}

TEST_P(Blocking, HND_3_a_call_that_no_place_is_left_for_is_refused) {
  RunOptions limited = options();
  limited.blocking = {.threads_max = 1, .queue_max = 1};
  Gate gate;
  const auto program = [&gate](Cx cx) -> Task<void> {
    const auto body = [&gate](Scope& scope) -> Task<void> {
      const auto holds = [&gate](Cx inner) -> Task<void> {
        const auto hold = [&gate] { return gate.hold(); };
        (void)co_await blocking(inner, hold);
      };
      const auto more = [&gate](Cx inner) -> Task<void> {
        const auto count = [&gate] { ++gate.others; };
        co_await blocking(inner, count);
      };
      (void)co_await scope.fiber(holds);
      co_await await_begun(scope.cx(), gate);
      auto second = co_await scope.fiber(more);
      co_await sleep(scope.cx(), Duration::milliseconds(1));
      const Outcome<void> third = co_await outcome(more(scope.cx()));
      EXPECT_TRUE(third.is_err());
      if (third.is_err()) {
        EXPECT_EQ(third.error().code(), Errc::resource_exhausted);
        EXPECT_NE(third.error().message().find("as many wait as RunOptions::blocking allows"), std::string_view::npos);
      }
      gate.open = true;
      co_await std::move(second).join(scope.cx());
    };
    co_await scope(cx, body);
  };
  EXPECT_TRUE(block_on(program, limited).is_ok());
  EXPECT_EQ(gate.others.load(), 1) << "the second was made, the third was not";
}

TEST_P(Blocking, CAN_13_a_call_that_has_not_begun_is_withdrawn) {
  RunOptions limited = options();
  limited.blocking.threads_max = 1;
  Gate gate;
  const auto program = [&gate](Cx cx) -> Task<void> {
    const auto body = [&gate](Scope& scope) -> Task<void> {
      const auto holds = [&gate](Cx inner) -> Task<void> {
        const auto hold = [&gate] { return gate.hold(); };
        (void)co_await blocking(inner, hold);
      };
      const auto more = [&gate](Cx inner) -> Task<void> {
        const auto count = [&gate] { ++gate.others; };
        co_await blocking(inner, count);
      };
      (void)co_await scope.fiber(holds);
      co_await await_begun(scope.cx(), gate);
      auto second = co_await scope.fiber(more);
      co_await sleep(scope.cx(), Duration::milliseconds(1));
      second.cancel();
      const Outcome<void> end = co_await outcome(std::move(second).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
      gate.open = true;
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  };
  EXPECT_TRUE(block_on(program, limited).is_ok());
  EXPECT_EQ(gate.others.load(), 0);
}

TEST_P(Blocking, CAN_13_a_call_that_has_begun_is_waited_for_and_its_result_is_given) {
  for (const bool takes_stop : {false, true}) {
    Gate gate;
    int given = 0;
    bool went_on = false;
    const auto program = [&](Cx cx) -> Task<void> {
      const auto body = [&](Scope& scope) -> Task<void> {
        const auto holds = [&](Cx inner) -> Task<void> {
          const auto hold = [&gate] { return gate.hold(); };
          // [told]
          const auto hold_until_stopped = [&gate](StopToken stop) { return gate.hold_until_stopped(stop); };
          // [/told]
          if (takes_stop) {
            given = co_await blocking(inner, hold_until_stopped);
          } else {
            given = co_await blocking(inner, hold);
          }
          co_await checkpoint(inner);
          went_on = true;
        };
        auto child = co_await scope.fiber(holds);
        co_await await_begun(scope.cx(), gate);
        child.cancel();
        co_await sleep(scope.cx(), Duration::milliseconds(1));
        gate.open = true;
        const Outcome<void> end = co_await outcome(std::move(child).join(scope.cx()));
        EXPECT_TRUE(end.is_cancelled());
      };
      (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    };
    EXPECT_TRUE(block_on(program, options()).is_ok());
    EXPECT_EQ(given, takes_stop ? 6 : 5);
    EXPECT_FALSE(went_on) << "the next checkpoint sees the cancel";
  }
}

// --- who overruns its clean-up in a call ---

/// A call that nobody lets go ends by itself, so that a test which waits for it fails instead of standing still.
struct LongCall {
  std::atomic<bool> begun = false;
  std::atomic<bool> open = false;
  std::atomic<bool> over = false;
  std::atomic<bool> let_go = false;

  void hold() {
    begun = true;
    for (int tries = 0; tries < 5'000 && !open; ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    let_go = open.load();
    over = true;
  }
};

/// Sleeps until it holds, or half as long as a call lasts at most. Gives: whether it holds.
template <class Holds>
Task<bool> await_that(Cx cx, Holds holds) {
  for (int tries = 0; tries < 2'500 && !holds(); ++tries) co_await sleep(cx, Duration::milliseconds(1));
  co_return holds();
}

constexpr std::string_view stalled_in_call = "used up its clean-up budget in a call that is not over";

bool says_where(const std::string& said, int line) {
  return said.find("blocking_test.cpp:" + std::to_string(line)) != std::string::npos;
}

TEST_P(Blocking, CAN_8_a_task_in_a_call_is_reported_and_not_forced_before_the_call_is_over) {
  LongCall call;
  int site = 0;
  bool stays_shut = false;
  bool went_on = false;
  bool frame_gone_early = false;
  const StderrWatch watch;
  const auto program = [&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto holds = [&](Cx inner) -> Task<void> {
        const auto gone = [&](int*) { frame_gone_early = !call.over; };
        const std::unique_ptr<int, decltype(gone)> local(&site, gone);
        const auto hold = [&call] { call.hold(); };
        site = __LINE__ + 1;
        co_await blocking(inner, hold);
        co_await checkpoint(inner);
        went_on = true;
      };
      auto child = co_await scope.fiber(holds);
      (void)co_await await_that(scope.cx(), [&call] { return call.begun.load(); });
      child.cancel();
      const bool told =
          co_await await_that(scope.cx(), [&watch] { return watch.said().find(stalled_in_call) != std::string::npos; });
      EXPECT_TRUE(told) << "nobody said that the call keeps the task";
      EXPECT_FALSE(call.over) << "others stood still while the call lasted";
      stays_shut = true;
      call.open = true;
      const Outcome<void> end = co_await outcome(std::move(child).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
      EXPECT_TRUE(call.over);
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect, .cleanup_time = Duration::milliseconds(2)}));
    EXPECT_TRUE(call.over) << "the scope was left while the call went on";
  };
  EXPECT_TRUE(block_on(program, options()).is_ok());
  EXPECT_TRUE(stays_shut);
  EXPECT_TRUE(call.let_go);
  EXPECT_FALSE(frame_gone_early) << "the call may refer to what lies in the frame";
  EXPECT_FALSE(went_on);
  const std::string said = watch.said();
  const std::size_t first = said.find(stalled_in_call);
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find(stalled_in_call, first + 1), std::string::npos) << "once is enough: " << said;
  const std::size_t forced = said.find("its frame is dropped");
  EXPECT_NE(forced, std::string::npos) << "it is forced when the call is over: " << said;
  EXPECT_LT(first, forced) << said;
  EXPECT_TRUE(says_where(said, site)) << said;
}

TEST_P(Blocking, CAN_8_a_region_waits_for_the_call_of_a_task_that_is_to_be_forced_inside_a_scope_of_its_own) {
  LongCall call;
  std::vector<std::string> log;
  const StderrWatch watch;
  const auto program = [&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto holds = [&](Cx inner) -> Task<void> {
        const auto own = [&](Scope& owned) -> Task<void> {
          co_await owned.defer(
              [&] { log.emplace_back(call.over ? "finalizer after the call" : "finalizer too early"); });
          const auto hold = [&call] { call.hold(); };
          co_await blocking(owned.cx(), hold);
          co_await checkpoint(owned.cx());
        };
        co_await calm::scope(inner, own);
      };
      auto child = co_await scope.fiber(holds);
      (void)co_await await_that(scope.cx(), [&call] { return call.begun.load(); });
      child.cancel();
      (void)co_await await_that(scope.cx(),
                                [&watch] { return watch.said().find(stalled_in_call) != std::string::npos; });
      EXPECT_FALSE(call.over) << "others stood still while the call lasted";
      EXPECT_TRUE(log.empty());
      call.open = true;
      EXPECT_TRUE((co_await outcome(std::move(child).join(scope.cx()))).is_cancelled());
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect, .cleanup_time = Duration::milliseconds(2)}));
  };
  EXPECT_TRUE(block_on(program, options()).is_ok());
  EXPECT_TRUE(call.let_go);
  EXPECT_EQ(log, std::vector<std::string>{"finalizer after the call"});
  EXPECT_NE(watch.said().find(stalled_in_call), std::string::npos) << watch.said();
}

// --- where the system gives no thread ---

/// While it lives, the process gets no room for another stack of this size; what it has stays.
class NoRoomFor {
 public:
  explicit NoRoomFor(std::size_t stack_bytes) {
    (void)getrlimit(RLIMIT_AS, &before_);
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit tight = before_;
    tight.rlim_cur = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + stack_bytes / 2;
    (void)setrlimit(RLIMIT_AS, &tight);
  }
  NoRoomFor(const NoRoomFor&) = delete;
  NoRoomFor& operator=(const NoRoomFor&) = delete;
  ~NoRoomFor() { (void)setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TEST_P(Blocking, IO_4_where_the_system_gives_no_thread_a_call_is_refused_says_so_and_the_next_one_is_made) {
  RunOptions roomy = options();
  roomy.stack_bytes = std::size_t{256} << 20;  // more than the system keeps of threads that have ended
  const auto program = [&roomy](Cx cx) -> Task<int> {
    const auto call = [](Cx inner) -> Task<int> {
      const int sum = co_await blocking(inner, add_slowly, 3, 4);
      co_return sum;
    };
    {
      const NoRoomFor none(roomy.stack_bytes);
      const Outcome<int> refused = co_await outcome(call(cx));
      EXPECT_TRUE(refused.is_err()) << to_string(refused);
      if (refused.is_err()) {
        EXPECT_EQ(refused.error().code(), Errc::resource_exhausted);
        EXPECT_NE(refused.error().message().find("the system gives none [IO-4]; next: "), std::string_view::npos)
            << refused.error().message();
      }
    }
    const int sum = co_await call(cx);
    co_return sum;
  };
  const Outcome<int> end = block_on(program, roomy);
  ASSERT_TRUE(end.is_ok()) << to_string(end);
  EXPECT_EQ(end.value(), 7);
}

int blocking_threads() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(entry.path() / "comm") >> name;
    if (name.starts_with("calm-block")) ++count;
  }
  return count;
}

TEST_P(Blocking, IO_4_an_idle_thread_ends_after_a_time_and_another_comes_for_the_next_call) {
  RunOptions short_lived = options();
  short_lived.blocking.idle_time = Duration::milliseconds(1);
  const auto program = [](Cx cx) -> Task<void> {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(blocking_threads(), 0);
      const int sum = co_await blocking(cx, add_slowly, i, 1);
      EXPECT_EQ(sum, i + 1);
      for (int tries = 0; tries < 2'000 && blocking_threads() != 0; ++tries)
        co_await sleep(cx, Duration::milliseconds(1));
    }
  };
  EXPECT_TRUE(block_on(program, short_lived).is_ok());
  EXPECT_EQ(blocking_threads(), 0);
}

// --- in the lab ---

/// One calls, one cancels: the call was made and its result is there, or neither.
Task<void> call_and_cancel(Cx cx) {
  int made = 0;
  int given = 0;
  const auto body = [&](Scope& scope) -> Task<void> {
    const auto calls = [&](Cx inner) -> Task<void> {
      const auto count = [&made] { return ++made; };
      given = co_await blocking(inner, count);
    };
    auto caller = co_await scope.fiber(calls);
    co_await yield(scope.cx());
    caller.cancel();
    (void)co_await outcome(std::move(caller).join(scope.cx()));
  };
  (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  if (given != made) throw std::logic_error("a result is lost");
}

TEST(BlockingInLab, IO_4_the_call_is_a_step_of_the_task_and_a_cancel_comes_before_or_after_it) {
  const lab::ExploreReport report = lab::explore(call_and_cancel);
  EXPECT_TRUE(report.exhausted()) << report;
  EXPECT_TRUE(report.ok()) << report;
  EXPECT_GE(report.counts.executions, 2U) << "before, and after";
  EXPECT_LAB_CLEAN(lab::cancel_everywhere({}, call_and_cancel));
}

TEST(BlockingInLab, IO_4_the_same_seed_gives_the_same_run) {
  const auto first = lab::run({.seed = 3}, call_and_cancel);
  const auto second = lab::run({.seed = 3}, call_and_cancel);
  EXPECT_TRUE(first.is_clean()) << to_string(first);
  EXPECT_EQ(first.trace_digest, second.trace_digest);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
