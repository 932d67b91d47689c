// What an inspection of a runtime tells: names, times, promises, who waits for whom, fairness; and that it may look beside
// workers that go on.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "calm/combinator/never.hpp"
#include "calm/cx/blocking.hpp"
#include "calm/cx/mask.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/kernel/tree_text.hpp"
#include "calm/runtime/machine_host.hpp"
#include "calm/runtime/runtime.hpp"
#include "calm/sync/mutex.hpp"
#include "tests/unit/runtime/inspected.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

Task<void> rest_for_ever(Cx cx) { co_await never<>(cx); }

Task<void> rest_with_a_promise(Cx cx) {
  Outcome<Obligation> promise = reserve(cx, ObligationKind::custom);
  (void)co_await outcome(never<>(cx));
  (void)promise.value().abort();
}

struct Resting {
  Task<void> operator()(Scope& scope) const {
    (void)co_await scope.spawn(TaskOptions{.name = "keeper"}, rest_with_a_promise);
    (void)co_await scope.spawn(rest_for_ever);
    co_await never<>(scope.cx());
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
};

/// Gives: the seconds that stand behind the first `lead`: `for 2s`, `for 250ms`; -1 when there are none.
double seconds_after(const std::string& text, std::string_view lead, std::size_t from = 0) {
  const std::size_t at = text.find(lead, from);
  if (at == std::string::npos) return -1;
  const std::string number =
      text.substr(at + lead.size(), text.find_first_of(" ,\n", at + lead.size()) - at - lead.size());
  return std::stod(number) / (number.ends_with("ms") ? 1000 : 1);
}

class InspectionOn : public testing::TestWithParam<std::uint16_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, InspectionOn, testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(InspectionOn, OBS_1_shows_names_time_in_state_and_the_age_of_promises) {
  Runtime runtime({.workers = GetParam()});
  std::string text;
  std::thread looker([&] {
    while (text.find("3 tasks, 1 promise") == std::string::npos) text = runtime.inspect();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    text = runtime.inspect();
    runtime.shut_down();
  });
  (void)runtime.block_on(Resting());
  looker.join();
  const std::size_t keeper = text.find(" \"keeper\" in r1/");
  ASSERT_NE(keeper, std::string::npos) << text;
  EXPECT_GE(seconds_after(text, "parked for ", keeper), 0.25) << text;
  EXPECT_LT(seconds_after(text, "parked for ", keeper), 60) << text;
  EXPECT_GE(seconds_after(text, "open for ", keeper), 0.25) << text;
}

void inspect_on_a_worker() {
  Runtime runtime;
  const auto looks = [&runtime](Cx /*cx*/) -> Task<void> {
    (void)runtime.inspect();
    co_return;
  };
  (void)runtime.block_on(looks);
}

TEST(InspectionDeathTest, OBS_1_QUI_3_on_a_worker_it_stops_the_program_which_would_wait_for_itself) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(inspect_on_a_worker(), "worker_of_this_thread\\(\\) == nullptr(.|\n)*QUI-3");
}

TEST_P(InspectionOn, OBS_1_IO_4_a_task_may_look_through_a_call_that_blocks) {
  Runtime runtime({.workers = GetParam()});
  std::string text;
  const auto looks = [&runtime, &text](Cx cx) -> Task<void> {
    const auto look = [&runtime] { return runtime.inspect(); };
    text = co_await blocking(cx, look);
  };
  EXPECT_TRUE(runtime.block_on(looks).is_ok());
  EXPECT_NE(text.find("1 task, "), std::string::npos) << text;
}

/// Takes its time to end after it was cancelled.
struct Stubborn {
  const std::atomic<bool>& seen;

  Task<void> operator()(Scope& scope) const {
    (void)co_await outcome(never<>(scope.cx()));
    const auto lingers = [this](Cx cx) -> Task<void> {
      while (!seen) co_await sleep(cx, Duration::milliseconds(50));
    };
    co_await with_cancel_mask(scope.cx(), lingers);
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
};

TEST_P(InspectionOn, OBS_1_a_region_that_is_cancelled_says_since_when) {
  Runtime runtime({.workers = GetParam()});
  std::atomic<bool> seen = false;
  std::string text;
  std::thread looker([&] {
    while (text.find("2 regions") == std::string::npos) text = runtime.inspect();
    runtime.shut_down();
    while (text.find("cancelled: Shutdown") == std::string::npos) text = runtime.inspect();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    text = runtime.inspect();
    seen = true;
  });
  (void)runtime.block_on(Stubborn{seen});
  looker.join();
  EXPECT_GE(seconds_after(text, "cancelled: Shutdown "), 0.05) << text;
}

/// Tasks with priorities and deadlines, some of them cancelled; then it rests.
struct Varied {
  int tasks;

  Task<void> operator()(Scope& scope) const {
    std::vector<Handle<void>> resting;
    for (int i = 0; i < tasks; ++i) {
      TaskOptions options;
      options.budget.priority = static_cast<std::uint8_t>(i % 5);
      if (i % 3 == 0) options.budget.deadline = Deadline(scope.cx().now() + Duration::seconds(1000));
      Handle<void> one = co_await scope.spawn(options, rest_for_ever);
      resting.push_back(std::move(one));
    }
    for (int i = 0; i < 300; ++i) co_await yield(scope.cx());
    for (const Handle<void>& one : resting) one.cancel();
    for (int i = 0; i < 300; ++i) co_await yield(scope.cx());
    co_await never<>(scope.cx());
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this, {.policy = FoldPolicy::collect}); }
};

/// Gives: the certificate of the only worker once the program rests.
std::string certificate_of(Varied program) {
  Runtime runtime({.workers = 1, .seed = 7});
  std::string text;
  std::thread looker([&] {
    while (text.find("1 task,") == std::string::npos || text.find("Running, parked") == std::string::npos) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      text = runtime.inspect();
    }
    runtime.shut_down();
  });
  (void)runtime.block_on(program);
  looker.join();
  const std::size_t at = text.find("fairness ");
  return at == std::string::npos ? text : text.substr(at, 25);
}

TEST(Inspection, SCH_5_equal_runs_show_equal_certificates) {
  const std::string once = certificate_of({50});
  EXPECT_EQ(once.substr(0, 9), "fairness ");
  EXPECT_EQ(certificate_of({50}), once);
  EXPECT_NE(certificate_of({51}), once);
}

/// Changes the options it was started with, as a program could.
struct Changes {
  RunOptions* options;
  Task<void> operator()(Cx cx) const {
    options->workers = 5;
    options->name = "other";
    options->governor = nullptr;
    co_await never<>(cx);
  }
};

TEST(Inspection, SHD_1_a_run_keeps_the_options_it_was_started_with) {
  RunOptions options{.workers = 2, .governor = sched::find_governor("none")};
  Runtime runtime(options);
  std::string text;
  std::thread looker([&] {
    while (text.find("parked at") == std::string::npos && text.find("parked for") == std::string::npos) {
      text = runtime.inspect();
    }
    runtime.shut_down();
  });
  (void)runtime.block_on(Changes{&options});
  looker.join();
  EXPECT_NE(text.find("worker 1"), std::string::npos) << text;
  EXPECT_EQ(text.find("worker 2"), std::string::npos) << text;
  EXPECT_NE(text.find("governor none"), std::string::npos) << text;
}

// --- who waits for whom ---

/// One task has the lock, another one waits for it, and that one is joined by a third.
struct Chained {
  struct Takes {
    Mutex<int>* lock;
    std::atomic<bool>* taken;
    Task<void> operator()(Cx cx) const {
      const Mutex<int>::Guard guard = co_await lock->lock(cx);
      *taken = true;
      co_await never<>(cx);
    }
  };
  static Task<void> joins(Cx cx, Handle<void> other) { co_await std::move(other).join(cx); }

  struct Body {
    Mutex<int>* lock;
    std::atomic<bool>* taken;
    Task<void> operator()(Scope& scope) const {
      const Takes takes{lock, taken};
      (void)co_await scope.spawn(TaskOptions{.name = "holder"}, takes);
      while (!*taken) co_await yield(scope.cx());
      Handle<void> waiter = co_await scope.spawn(TaskOptions{.name = "waiter"}, takes);
      (void)co_await scope.spawn(TaskOptions{.name = "joiner"}, joins, std::move(waiter));
      co_await never<>(scope.cx());
    }
  };
  Task<void> operator()(Cx cx) const {
    Mutex<int> lock(cx, 0);
    std::atomic<bool> taken = false;
    const Body body{&lock, &taken};
    co_await scope(cx, body);
  }
};

/// Gives: the id of the task with this name, as the tree shows it; `?` before it is there.
std::string id_of_named(const std::string& text, const std::string& name) {
  const std::size_t end = text.find(" \"" + name + "\" in ");
  if (end == std::string::npos) return "?";
  const std::size_t begin = text.find_last_of(" \n", end - 1) + 1;
  return text.substr(begin, end - begin);
}
bool shows_wait(const std::string& text, const std::string& who, const std::string& whom) {
  return text.find('\n' + id_of_named(text, who) + " waits for " + id_of_named(text, whom) + '\n') != std::string::npos;
}

TEST_P(InspectionOn, OBS_1_shows_who_waits_for_a_lock_of_whom_and_who_joins_whom) {
  const std::string text = inspect_until({.workers = GetParam()}, Chained(), [](const std::string& seen) {
    return shows_wait(seen, "waiter", "holder") && shows_wait(seen, "joiner", "waiter");
  });
  EXPECT_TRUE(shows_wait(text, "waiter", "holder")) << text;
  EXPECT_TRUE(shows_wait(text, "joiner", "waiter")) << text;
  EXPECT_FALSE(shows_wait(text, "holder", "waiter")) << text;
}

/// Gives: the lines of the text that stand below the task with this name: what it holds.
std::string below_named(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(" \"" + name + "\" in ");
  if (at == std::string::npos) return {};
  const std::size_t line = text.rfind('\n', at) + 1;
  const std::string deeper = '\n' + std::string(text.find_first_not_of(' ', line) - line + 2, ' ');
  const std::size_t begin = text.find('\n', at);
  std::size_t end = begin;
  while (end != std::string::npos && text.compare(end, deeper.size(), deeper) == 0) end = text.find('\n', end + 1);
  return end == std::string::npos ? text.substr(begin) : text.substr(begin, end - begin);
}

TEST_P(InspectionOn, OBS_1_OBL_2_shows_promises_without_a_record_at_their_holder) {
  const std::string text = inspect_until({.workers = GetParam()}, Chained(), [](const std::string& seen) {
    return shows_wait(seen, "waiter", "holder") && shows_wait(seen, "joiner", "waiter");
  });
  EXPECT_NE(text.find(", 1 promise, "), std::string::npos) << text;
  EXPECT_NE(below_named(text, "holder").find("holds 1 lock guard"), std::string::npos) << text;
  EXPECT_EQ(below_named(text, "waiter"), "") << text;
}

// --- a snapshot beside workers that go on ---

using SharedMachine = runtime::Machine<lockfree::RealAtomics>;

Task<void> short_life(Cx cx) { co_await yield(cx); }

/// Spawns and ends tasks without a pause, while one task takes snapshots in its own poll: nobody stands still for those.
struct Bustle {
  SharedMachine* machine;
  std::atomic<bool>* done;

  struct Spawner {
    std::atomic<bool>* done;
    Task<void> operator()(Scope& scope) const {
      while (!done->load(std::memory_order_relaxed)) {
        Handle<void> one = co_await scope.spawn(TaskOptions{.name = "short"}, short_life);
        (void)co_await scope.spawn(short_life);
        co_await std::move(one).join(scope.cx());
      }
    }
    CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
  };
  Task<void> operator()(Scope& scope) const {
    const Cx cx = scope.cx();
    for (int i = 0; i < 3; ++i) (void)co_await scope.spawn(Spawner{done});
    std::size_t named = 0;
    for (int i = 0; i < 2000 || (named == 0 && i < 200'000); ++i) {
      const std::string text = kernel::tree_text(machine->kernel().snapshot(cx::context_of(cx).root()->worker()));
      if (text.find("\"short\"") != std::string::npos) ++named;
      if (i % 8 == 0) co_await yield(cx);
    }
    done->store(true, std::memory_order_relaxed);
    EXPECT_NE(named, 0U);
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
};

TEST(Inspection, OBS_1_a_snapshot_beside_workers_that_go_on_reads_no_shell_that_has_ended) {
  SharedMachine machine({.workers = 4, .seed = 1}, 4);
  ASSERT_TRUE(machine.prepare());
  std::atomic<bool> done{false};
  runtime::Program<Bustle> program{{&machine, &done}};
  ASSERT_TRUE(machine.start());
  ASSERT_TRUE(machine.begin(runtime::Program<Bustle>::make(machine.port(), &program)));
  machine.run();
  EXPECT_TRUE(program.shell->take().is_ok());
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
