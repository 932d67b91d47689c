// Coroutines of a task: values, failures that leave frames, exceptions, depth.
#include "calm/cx/task.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "calm/lab/lab.hpp"
#include "tests/unit/cx/in_lab.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

/// Says in a list when it ends.
class Mark {
 public:
  Mark(std::vector<std::string>& log, std::string name) : log_(log), name_(std::move(name)) {}
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  ~Mark() { log_.push_back(name_); }

 private:
  std::vector<std::string>& log_;
  std::string name_;
};

using Log = std::vector<std::string>;

Task<int> twice(Cx cx, int value) {
  co_await checkpoint(cx);
  co_return value * 2;
}

Task<int> fails(Log& log) {
  const Mark mark(log, "inner");
  co_return err(Errc::full);
}
Task<int> passes_on(Log& log) {
  const Mark mark(log, "outer");
  const int value = co_await fails(log);
  log.push_back("not reached");
  co_return value;
}

Task<int> throws(Log& log) {
  const Mark mark(log, "inner");
  throw std::runtime_error("boom");
  co_return 0;
}
Task<int> catches(Log& log) {
  const Mark mark(log, "outer");
  int result = 1;
  try {
    result = co_await throws(log);
  } catch (const std::runtime_error& error) {
    log.push_back(error.what());
  }
  co_return result;
}

TEST(Task, a_value_goes_to_the_one_who_awaits_it) {
  int seen = 0;
  const auto report = run([&seen](Cx cx) -> Task<int> {
    const int four = co_await twice(cx, 2);
    seen = co_await twice(cx, four);
    co_return seen;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_TRUE(report.end.is_ok());
  EXPECT_EQ(seen, 8);
}

struct Unknown;
Task<std::string> name_of(const Unknown& unknown, std::string otherwise);

Task<bool> refers_to(const Unknown& unknown, const Unknown* same) { co_return &unknown == same; }

struct Unknown {
  std::string name;
};
Task<std::string> name_of(const Unknown& unknown, std::string otherwise) {
  co_return unknown.name.empty() ? std::move(otherwise) : unknown.name;
}

TEST(Task, TSK_5_a_parameter_may_refer_to_what_is_said_later) {
  const Unknown nobody{};
  bool same = false;
  std::string name;
  const auto report = run([&](Cx /*cx*/) -> Task<int> {
    same = co_await refers_to(nobody, &nobody);
    name = co_await name_of(nobody, "somebody with a name that is longer than what fits into a string");
    co_return 0;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_TRUE(same);
  EXPECT_EQ(name, "somebody with a name that is longer than what fits into a string");
}

TEST(Task, a_task_that_is_never_awaited_does_nothing) {
  Log log;
  {
    const Task<int> unused = passes_on(log);
  }
  EXPECT_TRUE(log.empty());
}

TEST(Task, OUT_5_an_error_leaves_the_frames_innermost_destructors_first) {
  Log log;
  OutcomeKind kind = OutcomeKind::ok;
  const auto report = run([&](Cx) -> Task<int> {
    const Outcome<int> end = co_await outcome(passes_on(log));
    kind = end.kind();
    co_return end.is_err() && end.error().code() == Errc::full ? 1 : 0;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(kind, OutcomeKind::err);
  EXPECT_EQ(log, (Log{"inner", "outer"}));
}

TEST(Task, OUT_5_an_error_that_nobody_asks_for_is_the_end_of_the_task) {
  Log log;
  const auto report = run([&log](Cx) -> Task<int> {
    const int value = co_await passes_on(log);
    co_return value;
  });
  ASSERT_TRUE(report.end.is_err()) << to_string(report);
  EXPECT_EQ(report.end.error().code(), Errc::full);
  EXPECT_EQ(log, (Log{"inner", "outer"}));
}

TEST(Task, OUT_5_an_exception_is_an_exception_where_it_is_awaited) {
  Log log;
  int result = 0;
  const auto report = run([&](Cx) -> Task<int> {
    result = co_await catches(log);
    co_return result;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(result, 1);
  EXPECT_EQ(log, (Log{"inner", "boom", "outer"}));
}

TEST(Task, OUT_5_an_exception_that_leaves_the_task_is_panicked_and_kept) {
  Log log;
  const auto report = run([&log](Cx) -> Task<int> {
    const int value = co_await throws(log);
    co_return value;
  });
  ASSERT_TRUE(report.end.is_panicked());
  EXPECT_THROW(std::rethrow_exception(report.end.panic().exception()), std::runtime_error);
}

TEST(Task, an_outcome_that_is_awaited_gives_its_value_or_ends_the_coroutine) {
  bool reached = false;
  const auto report = run([&reached](Cx) -> Task<int> {
    const int one = co_await Outcome<int>(ok(1));
    const int two = co_await Outcome<int>(err(Errc::empty));
    reached = true;
    co_return one + two;
  });
  ASSERT_TRUE(report.end.is_err());
  EXPECT_EQ(report.end.error().code(), Errc::empty);
  EXPECT_FALSE(reached);
}

TEST(Task, a_task_without_a_value_fails_by_awaiting_fail) {
  const auto report = run([](Cx) -> Task<void> { co_await fail(Errc::busy); });
  ASSERT_TRUE(report.end.is_err());
  EXPECT_EQ(report.end.error().code(), Errc::busy);
}

// --- TSK-7 ---

enum class Bottom { value, error, exception };

Task<long> down(Cx cx, long depth, Bottom bottom) {
  if (depth != 0) {
    const long below = co_await down(cx, depth - 1, bottom);
    co_return below + 1;
  }
  co_await checkpoint(cx);
  if (bottom == Bottom::error) co_return err(Errc::empty);
  if (bottom == Bottom::exception) throw std::runtime_error("bottom");
  co_return 0;
}

class Depth : public testing::TestWithParam<Bottom> {};

TEST_P(Depth, TSK_7_a_chain_of_coroutines_may_be_as_deep_as_memory_allows) {
  // A thrown exception is rethrown frame by frame: dear, and dearer still under a sanitizer.
  const long depth = GetParam() == Bottom::exception ? 1'000 : 100'000;
  OutcomeKind kind = OutcomeKind::cancelled;
  const auto report = run([&](Cx cx) -> Task<int> {
    const Outcome<long> end = co_await outcome(down(cx, depth, GetParam()));
    kind = end.kind();
    co_return end.is_ok() && end.value_or(0) == depth ? 1 : 0;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(kind, GetParam() == Bottom::value   ? OutcomeKind::ok
                  : GetParam() == Bottom::error ? OutcomeKind::err
                                                : OutcomeKind::panicked);
}

INSTANTIATE_TEST_SUITE_P(Task, Depth, testing::Values(Bottom::value, Bottom::error, Bottom::exception));

TEST(Task, TSK_7_a_loop_of_ready_awaits_uses_no_stack_and_gives_way) {
  std::uint64_t sum = 0;
  const auto report = run([&sum](Cx cx) -> Task<int> {
    for (int i = 0; i < 100'000; ++i) {
      co_await checkpoint(cx);
      const int value = co_await twice(cx, 1);
      sum += static_cast<std::uint64_t>(value);
    }
    co_return 0;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(sum, 200'000);
  // SCH-10: at most 128 waits in a row between two dispatches.
  if (in_lab()) {
    EXPECT_GE(report.steps, 200'000 / cx::TaskRoot::ready_in_a_row);
  }
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
