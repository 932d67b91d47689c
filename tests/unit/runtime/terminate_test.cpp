// A destructor that throws ends the process; who asked for it learns in which task.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/run.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

void turn_the_lid() { throw std::runtime_error("the lid is stuck"); }

struct Jar {
  Jar() = default;
  Jar(const Jar&) = delete;
  Jar& operator=(const Jar&) = delete;
  ~Jar() { turn_the_lid(); }  // NOLINT(bugprone-exception-escape): that is what is tested
};

Task<void> close_jar(Cx cx) {
  const Jar jar;
  co_await yield(cx);
}
Task<void> jars_in(Scope& scope) { (void)co_await scope.spawn(TaskOptions{.name = "jam"}, close_jar); }
CALM_CORO_WRAPPER Task<void> jars(Cx cx) { return scope(cx, jars_in); }

[[noreturn]] void end_by_hand() {
  (void)std::fputs("the program's own handler\n", stderr);
  _exit(3);
}

class TerminateOn : public testing::TestWithParam<std::uint16_t> {
 protected:
  /// Its own process begins anew: threads of this one are none of its.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
INSTANTIATE_TEST_SUITE_P(Terminating, TerminateOn, testing::Values(std::uint16_t{1}, std::uint16_t{2}),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(TerminateOn, OUT_5_a_destructor_that_throws_names_its_task_and_ends_the_process) {
  EXPECT_DEATH((void)block_on(jars, {.workers = GetParam(), .tells_terminate = true}),
               "std::terminate\\(\\) in a task\n  who:  t[0-9]+ \"jam\" of r[0-9]+\n(.|\n)*terminate_test.cpp"
               "(.|\n)*worker [01]\n  why:  .*the lid is stuck\n  law:  OUT-5");
}

TEST_P(TerminateOn, OUT_5_the_handler_of_the_program_comes_after_it) {
  const auto run_with_handler = [] {
    (void)std::set_terminate(&end_by_hand);
    (void)block_on(jars, {.workers = GetParam(), .tells_terminate = true});
  };
  EXPECT_EXIT(run_with_handler(), testing::ExitedWithCode(3), "\"jam\"(.|\n)*the program's own handler");
}

Task<void> nothing(Cx /*cx*/) { co_return; }

TEST(Terminate, OUT_5_is_as_it_was_after_the_run) {
  const std::terminate_handler before = std::get_terminate();
  ASSERT_TRUE(block_on(nothing, {.workers = 1, .tells_terminate = true}).is_ok());
  EXPECT_EQ(std::get_terminate(), before);
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace calm
