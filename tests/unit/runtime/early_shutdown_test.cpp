// A program that is asked to stop before it has begun: it is cancelled all the same, and the run ends.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <thread>

#include "calm/cx/wait.hpp"
#include "calm/runtime/control.hpp"
#include "calm/runtime/run.hpp"
#include "calm/runtime/runtime.hpp"

namespace calm {
namespace {

struct SleepsLong {
  Task<> operator()(Cx cx) const { co_await sleep(cx, Duration::seconds(3600)); }
};
using Program = runtime::Program<SleepsLong>;

void expect_shut_down(const Outcome<void>& ran, Program& program) {
  ASSERT_TRUE(ran.is_ok()) << to_string(ran);
  const Outcome<void> end = program.shell->take();
  ASSERT_TRUE(end.is_cancelled()) << to_string(end);
  EXPECT_EQ(end.reason().kind(), CancelKind::shutdown);
}

class EarlyShutdown : public testing::TestWithParam<std::uint16_t> {};
/// With one worker there is no other.
class EarlyShutdownByAnother : public EarlyShutdown {};

/// Has another worker shut the program down before the first one works.
struct StopsAtOnce final : runtime::RunWatch {
  void began(runtime::Control& control, runtime::Minder& /*minder*/) override {
    stopped = control.shut_down() && !control.inspect().empty();  // the answer comes after that
  }
  void ends() override {}
  bool stopped = false;
};

TEST_P(EarlyShutdownByAnother, QUI_2_QUI_3_the_main_task_is_there_before_anybody_can_ask_for_the_end) {
  Program program{{}};
  StopsAtOnce watch;
  const Outcome<void> ran = runtime::run_here({.workers = GetParam()}, &Program::make, &program, &watch);
  EXPECT_TRUE(watch.stopped);
  expect_shut_down(ran, program);
}

TEST_P(EarlyShutdown, QUI_2_a_signal_that_comes_before_the_program_begins_is_kept) {
  Program program{{}};
  const auto signalled = [](cx::Port& port, void* context) -> cx::TaskRoot& {
    (void)std::raise(SIGTERM);  // the run has the signals, and nothing that could be cancelled
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // time to lose it
    return Program::make(port, context);
  };
  const Outcome<void> ran = runtime::run_here({.workers = GetParam(), .signals = true}, signalled, &program);
  expect_shut_down(ran, program);
}

TEST_P(EarlyShutdown, QUI_3_REG_8_a_main_task_that_is_not_admitted_ends_the_run) {
  RunOptions options{.workers = GetParam()};
  options.kernel.root_limits.tasks = 0;
  const Outcome<void> end = block_on(SleepsLong{}, options);
  ASSERT_TRUE(end.is_err()) << to_string(end);
  EXPECT_EQ(end.error().code(), Errc::admission_limit);
}

INSTANTIATE_TEST_SUITE_P(Workers, EarlyShutdown, testing::Values(1, 2, 8));
INSTANTIATE_TEST_SUITE_P(Workers, EarlyShutdownByAnother, testing::Values(2, 8));

}  // namespace
}  // namespace calm
