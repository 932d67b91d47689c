// A program in which nothing will ever happen again: a run that nobody outside can reach says so, once, and with the sites.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "calm/channel/mpsc.hpp"
#include "calm/cx/blocking.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/injector.hpp"
#include "calm/runtime/runtime.hpp"
#include "tests/stderr_watch.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines):
// what they refer to outlives the run

constexpr std::string_view verdict = "calm: nothing will ever wake it\n";

std::size_t times_said(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

constexpr int recv_line = __LINE__ + 2;
Task<void> hears_nothing(Cx cx, channel::Receiver<int> from) {
  (void)co_await from.recv(cx);  // the site that is told
}

/// Two tasks, each of which waits for a message that nobody sends, and one that waits for them.
Task<void> wait_for_nothing(Scope& scope) {
  channel::Mpsc<int> one = co_await channel::mpsc<int>(scope.cx(), 1);
  channel::Mpsc<int> other = co_await channel::mpsc<int>(scope.cx(), 1);
  const TaskOptions named{.name = "listener"};
  Handle<void> first = co_await scope.spawn(named, hears_nothing, std::move(one.receiver));
  (void)co_await scope.spawn(named, hears_nothing, std::move(other.receiver));
  co_await sleep(scope.cx(), Duration::milliseconds(5));  // until then something is to come
  co_await std::move(first).join(scope.cx());
}
CALM_CORO_WRAPPER Task<void> deadlocked(Cx cx) { return scope(cx, wait_for_nothing); }

/// Runs that program until it has said what is wrong, and for a while more. Ends the process: well when it was told once and as
/// it is.
void expect_verdict(std::uint16_t workers) {
  (void)alarm(60);  // a process that would hang ends by a signal
  static const StderrWatch watch;
  const std::string site = "deadlock_test.cpp:" + std::to_string(recv_line);
  std::thread([site] {
    while (watch.said().find(verdict) == std::string::npos) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // and not once more
    const std::string said = watch.said();
    const bool is_right =
        times_said(said, verdict) == 1 && times_said(said, "\"listener\"") == 2 && times_said(said, site) == 2;
    if (!is_right) std::abort();  // shows what was said
    std::_Exit(0);
  }).detach();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the other thread does not look at the environment
  (void)setenv("CALM_WORKERS", std::to_string(workers).c_str(), 1);
  (void)run(deadlocked);
}

class DeadlockDeathTest : public testing::TestWithParam<std::uint16_t> {
 protected:
  /// Its own process begins anew: threads of this one are none of its.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
INSTANTIATE_TEST_SUITE_P(Workers, DeadlockDeathTest,
                         testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(DeadlockDeathTest, QUI_2_a_program_that_nothing_will_wake_says_so_once_with_its_sites) {
  EXPECT_EXIT(expect_verdict(GetParam()), testing::ExitedWithCode(0), "");
}

/// What rests for a while, and goes on then: each of them in its own way.
class NoDeadlockOn : public testing::TestWithParam<std::uint16_t> {
 protected:
  static constexpr std::chrono::milliseconds rest{50};
  [[nodiscard]] static RunOptions options() { return {.workers = GetParam(), .worth_sharing = Duration()}; }
  void TearDown() override { EXPECT_EQ(watch.said().find(verdict), std::string::npos) << watch.said(); }

  const StderrWatch watch;
};
INSTANTIATE_TEST_SUITE_P(Workers, NoDeadlockOn, testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(NoDeadlockOn, QUI_2_who_sleeps_is_not_stuck) {
  const auto sleeps = [](Cx cx) -> Task<void> { co_await sleep(cx, Duration::milliseconds(50)); };
  EXPECT_TRUE(block_on(sleeps, options()).is_ok());
}

TEST_P(NoDeadlockOn, QUI_2_IO_4_who_waits_for_a_call_that_blocks_is_not_stuck) {
  const auto calls = [](Cx cx) -> Task<void> {
    const auto slow = [] { std::this_thread::sleep_for(rest); };
    co_await blocking(cx, slow);
  };
  EXPECT_TRUE(block_on(calls, options()).is_ok());
}

TEST_P(NoDeadlockOn, QUI_2_a_program_with_a_door_to_the_outside_is_not_stuck) {
  std::thread sender;
  const auto body = [&sender](Scope& scope) -> Task<void> {
    channel::Mpsc<int> ends = co_await channel::mpsc<int>(scope.cx(), 1);
    const auto sends = [](Cx cx, channel::Sender<int> to) -> Task<void> { (void)co_await to.send(cx, 1); };
    sender = std::thread([door = Injector(scope), to = std::move(ends.sender), sends]() mutable {
      std::this_thread::sleep_for(rest);
      (void)door.spawn(sends, std::move(to)).wait();
    });
    (void)co_await ends.receiver.recv(scope.cx());
  };
  const auto waits = [&body](Cx cx) -> Task<void> { co_await scope(cx, body); };
  EXPECT_TRUE(block_on(waits, options()).is_ok());
  sender.join();
}

TEST_P(NoDeadlockOn, QUI_2_a_runtime_that_may_be_asked_to_stop_is_not_stuck) {
  Runtime runtime(options());
  std::thread stopper([&runtime] {
    std::this_thread::sleep_for(rest);
    while (!runtime.shut_down()) std::this_thread::yield();
  });
  EXPECT_TRUE(runtime.block_on(deadlocked).is_cancelled());
  stopper.join();
}

TEST_P(NoDeadlockOn, QUI_2_and_neither_is_a_run_that_has_the_signals) {
  RunOptions with_signals = options();
  with_signals.signals = true;
  std::thread stopper([] {
    std::this_thread::sleep_for(rest);
    (void)std::raise(SIGTERM);
  });
  EXPECT_TRUE(block_on(deadlocked, with_signals).is_cancelled());
  stopper.join();
}

/// Fibers of one worker and timers of others wake each other all the time; between them all of them lie down now and then.
TEST_P(NoDeadlockOn, QUI_2_TSK_4_workers_that_wake_each_other_are_not_stuck) {
  const auto body = [](Scope& scope) -> Task<void> {
    channel::Mpsc<int> there = co_await channel::mpsc<int>(scope.cx(), 1);
    channel::Mpsc<int> back = co_await channel::mpsc<int>(scope.cx(), 1);
    const auto echo = [&there, &back](Cx cx) -> Task<void> {
      for (int i = 0; i < 300; ++i) {
        const int value = co_await there.receiver.recv(cx);
        if (i % 16 == 0) co_await sleep(cx, Duration::microseconds(100));
        (void)co_await back.sender.send(cx, value);
      }
    };
    Handle<void> other = co_await scope.spawn(echo);
    const auto asks = [&there, &back](Cx cx) -> Task<void> {
      for (int i = 0; i < 300; ++i) {
        (void)co_await there.sender.send(cx, i);
        (void)co_await back.receiver.recv(cx);
      }
    };
    Handle<void> fiber = co_await scope.fiber(asks);
    co_await std::move(other).join(scope.cx());
    co_await std::move(fiber).join(scope.cx());
  };
  const auto waits = [&body](Cx cx) -> Task<void> { co_await scope(cx, body); };
  EXPECT_TRUE(block_on(waits, options()).is_ok());
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
