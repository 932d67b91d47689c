// A runtime as other threads see it: stopped, looked at, idle.
#include "calm/runtime/runtime.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "calm/cx/mask.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/stall_watch.hpp"
#include "calm/sync/mutex.hpp"
#include "tests/stderr_watch.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

using Clock = std::chrono::steady_clock;

Task<void> park_for_ever(Cx cx) {
  for (;;) co_await sleep(cx, Duration::seconds(1000));
}

Task<void> three_parked(Scope& scope) {
  for (int i = 0; i < 3; ++i) (void)co_await scope.spawn(TaskOptions{.name = "sleeper"}, park_for_ever);
  co_await park_for_ever(scope.cx());
}
CALM_CORO_WRAPPER Task<void> parked_program(Cx cx) { return scope(cx, three_parked); }

/// Gives: how often `part` stands in the text.
std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// Gives: what `runtime` says once its program has come to rest.
std::string inspect_parked(Runtime& runtime) {
  std::string text;
  while (count_of(text, "parked for") != 4) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    text = runtime.inspect();
  }
  return text;
}

/// Waits until `watch` has heard `text`: a busy machine may take its time.
void wait_until_said(const StderrWatch& watch, std::string_view text) {
  const auto limit = Clock::now() + std::chrono::seconds(60);
  while (watch.said().find(text) == std::string::npos && Clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

class RuntimeOn : public testing::TestWithParam<std::uint16_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, RuntimeOn, testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(RuntimeOn, QUI_2_a_shutdown_from_another_thread_ends_in_quiet) {
  Runtime runtime({.workers = GetParam()});
  Clock::time_point asked;
  std::thread stopper([&] {
    (void)inspect_parked(runtime);
    asked = Clock::now();
    EXPECT_TRUE(runtime.shut_down(Duration::seconds(60)));
  });
  const Outcome<void> end = runtime.block_on(parked_program);
  const auto took = Clock::now() - asked;
  stopper.join();
  ASSERT_TRUE(end.is_cancelled()) << to_string(end);
  EXPECT_NE(to_string(end).find("Shutdown"), std::string::npos) << to_string(end);
  EXPECT_LT(took, std::chrono::seconds(2));
  EXPECT_FALSE(runtime.shut_down());
  EXPECT_EQ(runtime.inspect(), "");
}

TEST_P(RuntimeOn, OBS_1_an_inspection_shows_regions_tasks_and_workers) {
  Runtime runtime({.workers = GetParam()});
  std::string text;
  std::thread looker([&] {
    text = inspect_parked(runtime);
    runtime.shut_down();
  });
  (void)runtime.block_on(parked_program);
  looker.join();
  EXPECT_NE(text.find("2 regions, 4 tasks"), std::string::npos) << text;
  EXPECT_NE(text.find("\"sleeper\" in r1/r2: Running, parked for "), std::string::npos) << text;
  EXPECT_NE(text.find("runtime_test.cpp"), std::string::npos) << text;
  EXPECT_NE(text.find("worker " + std::to_string(GetParam() - 1)), std::string::npos) << text;
  EXPECT_NE(text.find("polls"), std::string::npos) << text;
}

TEST_P(RuntimeOn, SCH_8_an_idle_runtime_uses_no_cpu) {
  Runtime runtime({.workers = GetParam(), .stall_limit = Duration::milliseconds(5)});
  double used_ms = 0;
  std::thread looker([&] {
    (void)inspect_parked(runtime);
    const auto cpu_ms = [] {
      rusage usage{};
      (void)getrusage(RUSAGE_SELF, &usage);
      const auto ms = [](const timeval& time) {
        return 1e3 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_usec);
      };
      return ms(usage.ru_utime) + ms(usage.ru_stime);
    };
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const double before = cpu_ms();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    used_ms = cpu_ms() - before;
    runtime.shut_down();
  });
  (void)runtime.block_on(parked_program);
  looker.join();
  EXPECT_LT(used_ms, 5.0);
}

TEST_P(RuntimeOn, QUI_2_a_signal_becomes_a_shutdown) {
  Runtime runtime({.workers = GetParam(), .signals = true});
  const StderrWatch watch;
  std::thread killer([&] {
    (void)inspect_parked(runtime);
    (void)std::raise(SIGUSR1);
    wait_until_said(watch, "2 regions, 4 tasks");
    (void)std::raise(SIGTERM);
  });
  const Outcome<void> end = runtime.block_on(parked_program);
  killer.join();
  const std::string said = watch.said();
  EXPECT_TRUE(end.is_cancelled()) << to_string(end);
  EXPECT_NE(said.find("2 regions, 4 tasks"), std::string::npos) << said;
}

TEST_P(RuntimeOn, QUI_2_CAN_1_one_sigint_cancels_the_program_with_shutdown_and_says_nothing) {
  const StderrWatch watch;
  const auto signals_itself = [](Cx cx) -> Task<void> {
    (void)std::raise(SIGINT);
    co_await park_for_ever(cx);
  };
  const Outcome<void> end = block_on(signals_itself, {.workers = GetParam(), .signals = true});
  ASSERT_TRUE(end.is_cancelled()) << to_string(end);
  EXPECT_EQ(end.reason().kind(), CancelKind::shutdown);
  EXPECT_EQ(watch.said(), "");
}

/// Keeps a promise and a lock and sees no cancel, until it was seen itself.
struct Keeper {
  Mutex<int>* lock;
  const std::atomic<bool>* seen;

  static constexpr int reserve_line = __LINE__ + 3;
  static constexpr int sleep_line = reserve_line + 2;
  static Task<void> keep(Cx cx, Mutex<int>& lock, const std::atomic<bool>& seen) {
    Outcome<Obligation> promise = reserve(cx, ObligationKind::lease);
    const Mutex<int>::Guard guard = co_await lock.lock(cx);
    while (!seen) co_await sleep(cx, Duration::milliseconds(200));
    (void)promise.value().abort();
  }
  Task<void> operator()(Cx cx) const {
    const auto keeps = [this](Cx masked) -> Task<void> { co_await keep(masked, *lock, *seen); };
    co_await with_cancel_mask(cx, keeps);
    co_await park_for_ever(cx);
  }
};

std::string in_this_file(int line) { return "tests/unit/runtime/runtime_test.cpp:" + std::to_string(line); }

/// Two of them, each with a lock of its own.
struct Keepers {
  const std::atomic<bool>& seen;

  struct Body {
    Keeper first;
    Keeper second;
    Task<void> operator()(Scope& scope) const {
      (void)co_await scope.spawn(TaskOptions{.name = "first keeper"}, first);
      (void)co_await scope.spawn(TaskOptions{.name = "second keeper"}, second);
    }
  };
  Task<void> operator()(Cx cx) const {
    Mutex<int> one(cx, 0);
    Mutex<int> other(cx, 0);
    const Body body{{&one, &seen}, {&other, &seen}};
    co_await scope(cx, body);
  }
};

TEST_P(RuntimeOn, QUI_2_QUI_3_a_shutdown_that_takes_too_long_names_its_stragglers_with_what_they_hold_and_goes_on) {
  Runtime runtime({.workers = GetParam()});
  const StderrWatch watch;
  std::atomic<bool> told = false;
  std::thread stopper([&] {
    while (count_of(runtime.inspect(), in_this_file(Keeper::sleep_line)) != 2) std::this_thread::yield();
    (void)runtime.shut_down(Duration::milliseconds(30));
    wait_until_said(watch, "second keeper");
    told = true;
  });
  const Outcome<void> end = runtime.block_on(Keepers{told});
  stopper.join();
  const std::string said = watch.said();
  EXPECT_TRUE(end.is_cancelled()) << to_string(end);
  EXPECT_NE(said.find("the shutdown takes longer than it may"), std::string::npos) << said;
  for (const std::string_view name : {"\"first keeper\"", "\"second keeper\""}) {
    const std::size_t at = said.find(name);
    ASSERT_NE(at, std::string::npos) << name << " is not named in " << said;
    const std::string line = said.substr(at, said.find('\n', at) - at);
    EXPECT_NE(line.find(" at " + in_this_file(Keeper::sleep_line)), std::string::npos) << "where it waits: " << line;
    EXPECT_NE(line.find(" lease ("), std::string::npos) << "what it holds: " << line;
    EXPECT_NE(line.find("made at " + in_this_file(Keeper::reserve_line)), std::string::npos) << "since where: " << line;
    EXPECT_NE(line.find("1 lock guard"), std::string::npos) << "and what has no record: " << line;
  }
}

constexpr int spin_line = __LINE__ + 2;
Task<void> spin_until(Cx cx, const auto& is_over) {
  co_await yield(cx);  // the site that is told
  while (!is_over()) {
  }
  co_await yield(cx);
}
const std::string spin_site = "runtime_test.cpp:" + std::to_string(spin_line) + " [GHO-3]";

TEST_P(RuntimeOn, GHO_3_a_poll_that_does_not_end_is_told_once_with_its_site) {
  RunOptions options{.workers = GetParam()};
  options.stall_limit = Duration::milliseconds(20);
  const StderrWatch watch;
  const auto told_and_more = [&watch] {
    wait_until_said(watch, spin_site);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // and not told again meanwhile
    return true;
  };
  const auto spins = [&told_and_more](Cx cx) -> Task<void> { co_await spin_until(cx, told_and_more); };
  EXPECT_TRUE(block_on(spins, options).is_ok());
  // Where the machine is busy other polls may seem long as well, when their thread does not get its turn.
  const std::string said = watch.said();
  const std::size_t first = said.find(spin_site);
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find(spin_site, first + 1), std::string::npos) << said;
}

void stall_and_abort() {
  RunOptions options{.workers = 2};
  options.stall_limit = Duration::milliseconds(20);
  options.on_stall = OnStall::abort;
  // A loop that does nothing may be left out by a compiler; one that looks at an atomic may not.
  const std::atomic<bool> over{false};
  const auto never = [&over] { return over.load(); };
  const auto spins = [&never](Cx cx) -> Task<void> { co_await spin_until(cx, never); };
  (void)block_on(spins, options);
}

TEST(RuntimeDeathTest, QUI_3_on_stall_abort_ends_the_process_with_the_diagnostic) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(stall_and_abort(), "has not suspended for .* \\[GHO-3\\]");
}

/// A worker as who watches its polls sees it.
struct Watched {
  static inline const TaskId task{3, Generation(Generation::first)};

  void begin_poll() {
    (void)worker.begin_round();
    worker.set_running(task);
  }

  kernel::Worker worker{0, trace::Ring::make({.capacity = 16}).value(), nullptr};
  runtime::PollWatch watch{worker};
};

TEST(StallWatch, GHO_3_sees_the_same_poll_for_too_long_and_nothing_else) {
  const auto at = [](int ms) { return Time() + Duration::milliseconds(ms); };
  Watched watched;
  runtime::StallWatch watch({&watched.watch}, {.tell = Duration::milliseconds(10)});
  EXPECT_EQ(watch.look(at(0)), "");
  EXPECT_FALSE(watch.saw_work());
  watched.watch.wake();
  for (int i = 1; i <= 5; ++i) {  // many short polls of one task
    watched.begin_poll();
    EXPECT_EQ(watch.look(at(20 * i)), "");
  }
  EXPECT_TRUE(watch.saw_work());
  EXPECT_EQ(watch.look(at(109)), "");
  EXPECT_NE(
      watch.look(at(110)).find(to_string(Watched::task) + " on worker 0 has not suspended for 10ms since it began"),
      std::string::npos);
  EXPECT_EQ(watch.look(at(500)), "");
  watched.worker.set_running({});
  watched.watch.rest();
  EXPECT_EQ(watch.look(at(600)), "");
  EXPECT_FALSE(watch.saw_work());
}

TEST(StallWatch, GHO_3_between_two_polls_a_worker_is_in_none) {
  const auto at = [](int ms) { return Time() + Duration::milliseconds(ms); };
  Watched watched;
  runtime::StallWatch watch({&watched.watch}, {.tell = Duration::milliseconds(10)});
  watched.watch.wake();
  watched.begin_poll();
  EXPECT_EQ(watch.look(at(0)), "");
  watched.worker.set_running({});
  EXPECT_EQ(watch.look(at(50)), "") << "it is at work, but not on that task";
  watched.begin_poll();
  EXPECT_EQ(watch.look(at(60)), "");
  EXPECT_NE(watch.look(at(70)), "");
}

TEST(StallWatch, GHO_3_of_a_poll_with_polls_in_place_it_tells_the_one_that_does_not_end) {
  const auto at = [](int ms) { return Time() + Duration::milliseconds(ms); };
  const TaskId inner(4, Generation(Generation::first));
  Watched watched;
  runtime::StallWatch watch({&watched.watch}, {.tell = Duration::milliseconds(10)});
  watched.begin_poll();
  EXPECT_EQ(watch.look(at(0)), "");
  const kernel::Worker::Poll outer = watched.worker.leave_for_inner_poll();
  watched.worker.set_running(inner);
  EXPECT_NE(watch.look(at(10)).find(to_string(inner)), std::string::npos);
  watched.worker.return_from_inner_poll(outer);
  EXPECT_EQ(watched.watch.look().task, Watched::task);
}

TEST(StallWatch, SCH_6_who_is_in_one_poll_for_too_long_is_stuck_as_long_as_that_lasts) {
  const auto at = [](int ms) { return Time() + Duration::milliseconds(ms); };
  Watched idle;
  Watched busy;
  runtime::StallWatch watch({&idle.watch, &busy.watch}, {.rescue = Duration::milliseconds(10)});
  EXPECT_EQ(watch.pause(), Duration::milliseconds(10));
  busy.watch.wake();
  busy.begin_poll();
  busy.begin_poll();
  for (const int ms : {0, 9}) {
    EXPECT_EQ(watch.look(at(ms)), "");
    EXPECT_TRUE(watch.stuck().empty()) << ms;
  }
  for (const int ms : {10, 5000}) {
    EXPECT_EQ(watch.look(at(ms)), "") << "it is rescued and not told";
    ASSERT_EQ(watch.stuck().size(), 1U) << ms;
    EXPECT_EQ(watch.stuck()[0].worker, 1U);
    EXPECT_EQ(watch.stuck()[0].round, 2U);
  }
  busy.begin_poll();
  EXPECT_EQ(watch.look(at(6000)), "");
  EXPECT_TRUE(watch.stuck().empty());
}

TEST(StallWatch, QUI_3_knows_when_no_worker_is_free_and_who_keeps_them) {
  const auto at = [](int ms) { return Time() + Duration::milliseconds(ms); };
  constexpr Duration patience = Duration::milliseconds(10);
  Watched first;
  Watched second;
  runtime::StallWatch watch({&first.watch, &second.watch}, {});
  first.begin_poll();
  watch.see(at(0));
  watch.see(at(20));
  EXPECT_FALSE(watch.all_last(patience)) << "one is in no poll";
  EXPECT_EQ(watch.who_lasts(patience, "; "),
            "; " + to_string(Watched::task) + " on worker 0 has not suspended for 20ms since it began");
  second.begin_poll();
  watch.see(at(30));
  watch.see(at(39));
  EXPECT_FALSE(watch.all_last(patience)) << "not yet";
  watch.see(at(40));
  EXPECT_TRUE(watch.all_last(patience));
  EXPECT_NE(watch.who_lasts(patience, "; ").find("worker 1 has not suspended for 10ms"), std::string::npos);
  first.begin_poll();
  watch.see(at(50));
  EXPECT_FALSE(watch.all_last(patience)) << "this is another poll";
  EXPECT_FALSE(runtime::StallWatch({}, {}).all_last(patience)) << "where nothing runs nobody is stuck";
}

Task<int> one(Cx /*cx*/) { co_return 1; }

TEST(Runtime, refuses_what_cannot_be) {
  EXPECT_EQ(Runtime({.workers = 2, .flavour = Flavour::current_thread}).block_on(one).error().code(),
            Errc::invalid_argument);
  EXPECT_EQ(Runtime({.workers = 2, .stack_bytes = 1}).block_on(one).error().code(), Errc::invalid_argument);
  Runtime runtime;
  EXPECT_EQ(runtime.block_on(one).value(), 1);
  EXPECT_EQ(runtime.block_on(one).value(), 1);
}

Task<void> ask_the_same(Cx cx, Runtime* runtime, Errc* said) {
  std::thread other([&] {
    const Outcome<int> end = runtime->block_on(one);
    *said = end.error().code();
  });
  other.join();
  co_await yield(cx);
}
struct AskTheSame {
  Runtime* runtime;
  Errc* said;
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return ask_the_same(cx, runtime, said); }
};

TEST(Runtime, one_program_at_a_time) {
  Runtime runtime;
  Errc said{};
  EXPECT_TRUE(runtime.block_on(AskTheSame{&runtime, &said}).is_ok());
  EXPECT_EQ(said, Errc::busy);
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace calm
