// Programs on the calling thread, with the real clock.
#include "calm/runtime/run.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>

#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"

namespace calm {
namespace {

constexpr Duration ms(int count) { return Duration::milliseconds(count); }

Task<int> child(Cx cx, int value) {
  co_await sleep(cx, ms(2));
  co_return value;
}
Task<int> sum_of(Scope& scope) {  // NOLINT(cppcoreguidelines-avoid-reference-coroutine-parameters): scope() keeps it
  auto a = co_await scope.spawn(child, 3);
  auto b = co_await scope.spawn(child, 4);
  const int first = co_await std::move(a).join(scope.cx());
  const int second = co_await std::move(b).join(scope.cx());
  co_return first + second;
}
Task<int> sum(Cx cx) {
  const int value = co_await scope(cx, sum_of);
  co_return value;
}
Task<std::string> greet(Cx cx, std::string name) {
  co_await yield(cx);
  co_return "hello " + name;
}
Task<int> status(Cx /*cx*/, int value) { co_return value; }
Task<void> fails(Cx /*cx*/) { co_await fail(Error(Errc::io, "the disk is gone")); }
Task<void> throws(Cx /*cx*/) {
  throw std::runtime_error("boom");
  co_return;
}
Task<void> too_late(Cx cx) { co_await sleep(cx.with_deadline(cx.now() + ms(1)), ms(10'000)); }

TEST(BlockOn, QUI_3_gives_the_value_when_all_children_have_ended) {
  const auto start = std::chrono::steady_clock::now();
  const Outcome<int> end = block_on(sum);
  EXPECT_TRUE(end.is_ok());
  EXPECT_EQ(end.value(), 7);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(2));
}

TEST(BlockOn, shows_how_the_program_ended) {
  EXPECT_TRUE(block_on(fails).is_err());
  EXPECT_TRUE(block_on(throws).is_panicked());
  const Outcome<void> late = block_on(too_late);
  EXPECT_TRUE(late.is_cancelled());
  EXPECT_EQ(late.reason().kind(), CancelKind::deadline);
}

TEST(BlockOn, refuses_a_configuration_that_cannot_be) {
  const Outcome<int> end = block_on(sum, {.kernel = {.ceilings = {.tasks = 0}}});
  EXPECT_TRUE(end.is_err());
  EXPECT_EQ(end.error().code(), Errc::invalid_argument);
}

TEST(Run, is_the_main_function_of_a_program) {
  EXPECT_EQ(run(status, 42), 42);
  EXPECT_EQ(run(greet, std::string("world")), 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(fails), 1);
  EXPECT_EQ(run(too_late), 2);
  EXPECT_EQ(run(throws), 3);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("the disk is gone"), std::string::npos) << said;
  EXPECT_NE(said.find("Deadline"), std::string::npos) << said;
  EXPECT_NE(said.find("boom"), std::string::npos) << said;
}

}  // namespace
}  // namespace calm
