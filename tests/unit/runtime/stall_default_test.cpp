// Who is told of a poll that does not end when nobody has said how long one may take.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "calm/cx/scope.hpp"
#include "calm/cx/spawn.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/runtime.hpp"
#include "tests/stderr_watch.hpp"
#include "tests/unit/runtime/on_flavours.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines):
// what they refer to outlives the run

using Clock = std::chrono::steady_clock;

/// Waits until `text` was said, for a minute at most: a busy machine may take its time. Gives: true, for who goes on then.
bool has_waited_for(const StderrWatch& watch, std::string_view text) {
  const auto limit = Clock::now() + std::chrono::seconds(60);
  while (watch.said().find(text) == std::string::npos && Clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

constexpr int stall_line = __LINE__ + 2;
Task<void> hold_worker_until(Cx cx, const auto& is_over) {
  co_await yield(cx);  // the site that is told
  while (!is_over()) {
  }
}
const std::string stall_site = "stall_default_test.cpp:" + std::to_string(stall_line) + " [GHO-3]";

class StallDefaultOn : public testing::TestWithParam<std::uint16_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, StallDefaultOn, testing::Values(std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(StallDefaultOn, GHO_3_IO_4_several_workers_tell_of_a_long_poll_though_nobody_asked) {
  const StderrWatch watch;
  const auto told = [&watch] { return has_waited_for(watch, stall_site); };
  const auto spins = [&told](Cx cx) -> Task<void> { co_await hold_worker_until(cx, told); };
  EXPECT_TRUE(block_on(spins, {.workers = GetParam()}).is_ok());
  EXPECT_NE(watch.said().find(stall_site), std::string::npos) << watch.said();
}

TEST_P(StallDefaultOn, GHO_3_and_so_they_do_where_nobody_is_rescued) {
  const StderrWatch watch;
  const auto told = [&watch] { return has_waited_for(watch, stall_site); };
  const auto spins = [&told](Cx cx) -> Task<void> { co_await hold_worker_until(cx, told); };
  EXPECT_TRUE(block_on(spins, {.workers = GetParam(), .rescue_after = Duration()}).is_ok());
  EXPECT_NE(watch.said().find(stall_site), std::string::npos) << watch.said();
}

TEST_P(StallDefaultOn, GHO_3_a_limit_of_zero_says_that_nobody_is_told) {
  const StderrWatch watch;
  const auto longer = [end = Clock::now() + std::chrono::milliseconds(1500)] { return Clock::now() > end; };
  const auto spins = [&](Cx cx) -> Task<void> { co_await hold_worker_until(cx, longer); };
  EXPECT_TRUE(block_on(spins, {.workers = GetParam(), .stall_limit = Duration()}).is_ok());
  EXPECT_EQ(watch.said().find("[GHO-3]"), std::string::npos) << watch.said();
}

TEST(StallDefault, QUI_3_a_limit_that_nobody_has_set_ends_no_process) {
  const StderrWatch watch;
  const auto told = [&watch] { return has_waited_for(watch, stall_site); };
  const auto spins = [&told](Cx cx) -> Task<void> { co_await hold_worker_until(cx, told); };
  EXPECT_TRUE(block_on(spins, {.workers = 2, .on_stall = OnStall::abort}).is_ok());
  EXPECT_NE(watch.said().find(stall_site), std::string::npos) << watch.said();
}

/// One worker: a thread beside it would cost it more than it gives.
class StallDefaultOnOne : public testing::TestWithParam<Flavour> {
 protected:
  [[nodiscard]] static RunOptions options() { return {.workers = 1, .flavour = GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(Flavours, StallDefaultOnOne, both_flavours(), name_of_flavour);

TEST_P(StallDefaultOnOne, QUI_3_GHO_3_what_does_not_suspend_after_the_main_task_has_ended_is_told_with_its_site) {
  const StderrWatch watch;
  const auto told = [&watch] { return has_waited_for(watch, stall_site); };
  const auto leaves_a_child = [&told](Cx cx) -> Task<int> {
    const auto spins = [&told](Cx inner) -> Task<void> { co_await hold_worker_until(inner, told); };
    (void)co_await spawn(cx, spins);
    co_return 7;
  };
  const Outcome<int> end = block_on(leaves_a_child, options());
  ASSERT_TRUE(end.is_ok()) << to_string(end);
  EXPECT_NE(watch.said().find(stall_site), std::string::npos) << watch.said();
}

TEST_P(StallDefaultOnOne, QUI_3_the_same_for_one_that_has_slept_for_a_while) {
  const StderrWatch watch;
  const auto told = [&watch] { return has_waited_for(watch, stall_site); };
  const auto leaves_a_child = [&told](Cx cx) -> Task<void> {
    const auto spins = [&told](Cx inner) -> Task<void> {
      co_await sleep(inner, Duration::milliseconds(700));  // who looks has nothing to look at, and sleeps, too
      co_await hold_worker_until(inner, told);
    };
    (void)co_await spawn(cx, spins);
  };
  EXPECT_TRUE(block_on(leaves_a_child, options()).is_ok());
  EXPECT_NE(watch.said().find(stall_site), std::string::npos) << watch.said();
}

TEST_P(StallDefaultOnOne, QUI_3_what_does_not_suspend_when_the_program_is_to_stop_is_told_with_its_site) {
  const StderrWatch watch;
  Runtime runtime(options());
  std::atomic<bool> spinning = false;
  const auto told = [&] {
    spinning = true;
    return has_waited_for(watch, stall_site);
  };
  const auto spins = [&told](Cx cx) -> Task<void> { co_await hold_worker_until(cx, told); };
  std::thread stopper([&] {
    while (!spinning) std::this_thread::yield();
    EXPECT_TRUE(runtime.shut_down(Duration::seconds(300)));
  });
  (void)runtime.block_on(spins);
  stopper.join();
  EXPECT_NE(watch.said().find(stall_site), std::string::npos) << watch.said();
}

TEST_P(StallDefaultOnOne, QUI_3_a_limit_of_zero_says_that_nobody_is_told_at_the_end_either) {
  const StderrWatch watch;
  const auto longer = [end = Clock::now() + std::chrono::milliseconds(1500)] { return Clock::now() > end; };
  const auto leaves_a_child = [&longer](Cx cx) -> Task<void> {
    const auto spins = [&](Cx inner) -> Task<void> { co_await hold_worker_until(inner, longer); };
    (void)co_await spawn(cx, spins);
  };
  RunOptions silent = options();
  silent.stall_limit = Duration();
  EXPECT_TRUE(block_on(leaves_a_child, silent).is_ok());
  EXPECT_EQ(watch.said().find("[GHO-3]"), std::string::npos) << watch.said();
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
