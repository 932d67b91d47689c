// A poll that does not end keeps nobody from stopping the program, or from learning who it is; and what two signals do where
// polls end.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include "calm/combinator/never.hpp"
#include "calm/cx/mask.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/runtime.hpp"
#include "tests/stderr_watch.hpp"
#include "tests/unit/runtime/on_flavours.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

/// A process that would hang ends by another signal than the one it is to end by.
void do_not_hang() { (void)alarm(60); }

/// A loop that does nothing anybody could see need not be there for a compiler: each turn of this one writes.
void spin_until(const std::atomic<bool>& over) {
  volatile std::uint32_t turns = 0;
  while (!over) turns = turns + 1;
}

constexpr int stuck_line = __LINE__ + 2;
Task<void> spin(Cx cx, const auto& begins, const std::atomic<bool>& over) {
  co_await yield(cx);  // the site that is told
  begins();
  spin_until(over);
}
/// A program of one task that does so.
template <class Begins>
struct Spin {
  const Begins& begins;
  const std::atomic<bool>& over;
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return spin(cx, begins, over); }
};
/// The same, and then it waits for its end.
template <class Begins>
struct SpinAndRest {
  const Begins& begins;
  const std::atomic<bool>& over;
  Task<void> operator()(Cx cx) const {
    co_await spin(cx, begins, over);
    co_await never<>(cx);
  }
};
std::string stuck_site() { return "stuck_poll_test.cpp:" + std::to_string(stuck_line); }
/// As a pattern: who does not end, since where, and what to do.
std::string stuck_told() {
  return "no worker answers\n  who:  t[0-9]+ on worker 0 has not suspended for [^\n]* since its await at [^\n]*" +
         stuck_site() + "[^\n]*\n  law:  QUI-3, GHO-3\n  next: await or ";
}

/// A program that does this in a poll which does not end.
void spin_after(const auto& begins, const RunOptions& options) {
  do_not_hang();
  const std::atomic<bool> over = false;
  (void)block_on(Spin{begins, over}, options);
}

void raise_all(const auto&... signals) { ((void)std::raise(signals), ...); }

class StuckPollOn : public testing::TestWithParam<Flavour> {
 protected:
  /// Its own process begins anew: threads of this one are none of its.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  [[nodiscard]] static RunOptions one_worker() { return {.workers = 1, .flavour = GetParam(), .signals = true}; }
};
INSTANTIATE_TEST_SUITE_P(Flavours, StuckPollOn, both_flavours(), name_of_flavour);

TEST_P(StuckPollOn, QUI_3_a_second_signal_ends_the_process_and_names_the_poll_that_does_not_end) {
  EXPECT_EXIT(spin_after([] { raise_all(SIGINT, SIGINT); }, one_worker()), testing::KilledBySignal(SIGINT),
              "a second signal ends the process \\[QUI-3\\]\ncalm: " + stuck_told());
}

TEST_P(StuckPollOn, QUI_3_OBS_1_who_asked_in_vain_for_the_tasks_still_hears_of_signals) {
  EXPECT_EXIT(spin_after([] { raise_all(SIGUSR1, SIGTERM, SIGTERM); }, one_worker()), testing::KilledBySignal(SIGTERM),
              stuck_told() + "(.|\n)*a second signal ends the process \\[QUI-3\\]\ncalm: " + stuck_told());
}

TEST_P(StuckPollOn, IO_4_GHO_3_who_asked_in_vain_for_the_tasks_still_tells_of_long_polls) {
  RunOptions options = one_worker();
  options.stall_limit = Duration::milliseconds(1100);  // longer than an answer is waited for
  options.on_stall = OnStall::abort;
  EXPECT_EXIT(spin_after([] { raise_all(SIGUSR1); }, options), testing::KilledBySignal(SIGABRT),
              stuck_told() + "(.|\n)*has not suspended for [^\n]*" + stuck_site() + " \\[GHO-3\\]");
}

std::atomic<int> spinning = 0;

/// The last of two asks for the end.
Task<void> spin_with_another(Cx cx) {
  co_await yield(cx);
  if (++spinning == 2) raise_all(SIGINT, SIGINT);
  spin_until(std::atomic<bool>(false));
}
Task<void> spin_twice(Scope& scope) {
  (void)co_await scope.spawn(spin_with_another);
  (void)co_await scope.spawn(spin_with_another);
}
CALM_CORO_WRAPPER Task<void> two_spin(Cx cx) { return scope(cx, spin_twice); }

TEST(StuckPolls, QUI_3_a_second_signal_names_them_all_where_no_worker_is_free) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run_two = [] {
    do_not_hang();
    (void)block_on(two_spin, {.workers = 2, .signals = true});
  };
  EXPECT_EXIT(run_two(), testing::KilledBySignal(SIGINT),
              "a second signal ends the process \\[QUI-3\\]\ncalm: no worker answers\n"
              "  who:  t[0-9]+ on worker 0 has not [^\n]*\n  who:  t[0-9]+ on worker 1 has not [^\n]*\n  law:");
}

/// The main thread spins; another one asks for the end.
void shut_down_while_it_spins(RunOptions options) {
  do_not_hang();
  Runtime runtime(options);
  std::atomic<bool> spins = false;
  const std::atomic<bool> over = false;
  std::thread stopper([&] {
    spins.wait(false);
    (void)runtime.shut_down(Duration::milliseconds(20));
  });
  const auto begins = [&] {
    spins = true;
    spins.notify_one();
  };
  (void)runtime.block_on(Spin{begins, over});
  stopper.join();
}

TEST_P(StuckPollOn, QUI_2_QUI_3_on_stall_abort_ends_a_shutdown_that_a_poll_keeps_from_its_end) {
  RunOptions options = one_worker();
  options.signals = false;
  options.on_stall = OnStall::abort;
  EXPECT_EXIT(shut_down_while_it_spins(options), testing::KilledBySignal(SIGABRT),
              "the shutdown takes longer than it may \\[QUI-3\\]\ncalm: " + stuck_told());
}

TEST_P(StuckPollOn, QUI_3_OBS_1_a_question_that_nobody_waits_for_any_more_is_let_go_when_the_poll_ends) {
  RunOptions options = one_worker();
  options.signals = false;
  Runtime runtime(options);
  std::atomic<bool> spins = false;
  std::atomic<bool> over = false;
  std::string in_vain[3];
  std::string later;
  std::thread asker([&] {
    spins.wait(false);
    for (std::string& text : in_vain) text = runtime.inspect();
    over = true;
    later = runtime.inspect();  // comes after the others
    runtime.shut_down();
  });
  const auto begins = [&] {
    spins = true;
    spins.notify_one();
  };
  const Outcome<void> end = runtime.block_on(SpinAndRest{begins, over});
  asker.join();
  EXPECT_TRUE(end.is_cancelled()) << to_string(end);
  for (const std::string& text : in_vain) {
    EXPECT_TRUE(text.starts_with("calm: no worker answers\n  who:  t")) << text;
    EXPECT_NE(text.find(stuck_site()), std::string::npos) << text;
  }
  EXPECT_NE(later.find("1 task"), std::string::npos) << later;
  EXPECT_EQ(later.find("no worker answers"), std::string::npos) << later;
}

TEST_P(StuckPollOn, QUI_2_QUI_3_a_question_that_nobody_waits_for_any_more_is_let_go_when_the_run_ends) {
  const StderrWatch watch;
  std::atomic<bool> over = false;
  std::thread ends_it;
  const auto begins = [&] {
    raise_all(SIGUSR1);
    ends_it = std::thread([&] {
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (watch.said().find("no worker answers") == std::string::npos && std::chrono::steady_clock::now() < limit) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      (void)std::raise(SIGTERM);  // the first: an order, which the worker finds when its poll ends
      over = true;
    });
  };
  const Outcome<void> end = block_on(Spin{begins, over}, one_worker());
  ends_it.join();
  EXPECT_TRUE(end.is_ok()) << to_string(end);  // it has not looked since
  EXPECT_NE(watch.said().find(stuck_site()), std::string::npos) << watch.said();
}

// --- where polls end ---

std::atomic<bool> sibling_is_cancelled = false;

Task<void> tell_when_cancelled(Cx cx) {
  (void)co_await outcome(never<>(cx));
  sibling_is_cancelled = true;
}

constexpr int hold_line = __LINE__ + 9;
/// Holds a promise, and hears of no cancellation.
Task<void> hold_on(Cx cx) {
  Outcome<Obligation> promise = reserve(cx, ObligationKind::custom);
  const CancelMask mask(cx);
  (void)std::raise(SIGINT);
  while (!sibling_is_cancelled) co_await sleep(cx, Duration::milliseconds(10));
  (void)std::fputs("the first signal has cancelled, and the process goes on\n", stderr);
  (void)std::raise(SIGINT);
  co_await sleep(cx, Duration::seconds(3600));
  (void)promise.value().abort();
}

struct HoldOn {
  Task<void> operator()(Scope& scope) const {
    (void)co_await scope.spawn(tell_when_cancelled);
    co_await yield(scope.cx());  // that one waits before it is cancelled
    (void)co_await scope.spawn(TaskOptions{.name = "holder"}, hold_on);
    co_await never<>(scope.cx());
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
};

void hold_on_for_ever(const RunOptions& options) {
  do_not_hang();
  (void)block_on(HoldOn(), options);
}

TEST_P(StuckPollOn, QUI_2_QUI_3_the_first_sigint_cancels_and_the_second_names_who_holds_out_and_ends_the_process) {
  EXPECT_EXIT(hold_on_for_ever(one_worker()), testing::KilledBySignal(SIGINT),
              "^the first signal has cancelled, and the process goes on\n"
              "calm: a second signal ends the process \\[QUI-3\\]\n"
              "calm: not quiet (.|\n)*live: t[0-9]+ \"holder\" [^\n]*parked [^\n]*stuck_poll_test.cpp:" +
                  std::to_string(hold_line) + "[^\n]*, holds [^\n]*custom");
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace calm
