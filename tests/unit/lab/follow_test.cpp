// What is said when a run turns out not to be the recorded one: at which step, what was expected, what is.
#include "calm/lab/follow.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calm/cx/obligation.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "tests/unit/lab/found.hpp"
#include "tests/unit/runtime/kept_recording.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::lab {
namespace {

/// What a program does that calm does not see.
struct Hidden {
  int yields = 2;
  int clocks = 1;
  int children = 2;
  int sleeps = 0;
};

auto program_with(const Hidden& hidden) {
  return [&hidden](Cx cx) -> Task<int> {
    const auto body = [&hidden](Scope& scope) -> Task<int> {
      for (int child = 0; child < hidden.children; ++child) {
        (void)co_await scope.spawn([&hidden](Cx inner) -> Task<void> {
          for (int i = 0; i < hidden.yields; ++i) co_await yield(inner);
          for (int i = 0; i < hidden.clocks; ++i) (void)inner.now();
          for (int i = 0; i < hidden.sleeps; ++i) co_await sleep(inner, Duration::microseconds(50));
        });
      }
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
}

sched::RecordedRun recorded(const Hidden& hidden) {
  Log log;
  return record_run({.workers = 1}, [&hidden](Log&) { return program_with(hidden); }, log);
}

/// Gives: what is said of a run that does `now` with the recording of one that did `then`.
std::string said(const Hidden& then, const Hidden& now) {
  const LabReport report = follow(recorded(then), program_with(now));
  EXPECT_EQ(report.problems.size(), 1U) << to_string(report);
  EXPECT_TRUE(report.followed);
  return text_of(report, Oracle::determinism);
}

TEST(Follow, SCH_9_the_same_program_is_followed_to_its_end) {
  const Hidden hidden{.sleeps = 2};
  const LabReport report = follow(recorded(hidden), program_with(hidden));
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_TRUE(report.followed);
  EXPECT_GT(report.trace.events.size(), 10U);
}

TEST(Follow, SCH_9_a_task_that_ends_too_early_is_told) {
  const std::string text = said({.yields = 2, .clocks = 0}, {.yields = 1, .clocks = 0});
  EXPECT_SAYS(text, "calm: the run is not the recorded one: step ");
  EXPECT_SAYS(text, "\n  expected: task 1.1 goes on with its poll\n  actual:   it has ended\n");
  EXPECT_SAYS(text, "\n  runnable: 1.2");
  EXPECT_SAYS(text, "\n  law:  SCH-9 ");
  EXPECT_SAYS(text, "\n  next: use the program and the version that it was recorded from");
}

TEST(Follow, SCH_9_a_task_that_goes_on_for_longer_is_told) {
  const std::string text = said({.yields = 1, .clocks = 0}, {.yields = 2, .clocks = 0});
  EXPECT_SAYS(text, "expected: task 1.1 ends with its poll\n  actual:   it waits at ");
  EXPECT_SAYS(text, "follow_test.cpp:");
}

TEST(Follow, SCH_9_a_task_that_is_not_there_is_told) {
  const std::string text = said({.children = 3}, {.children = 2});
  EXPECT_SAYS(text,
              "expected: worker 0 polls task 1.3\n  actual:   there is no such task\n  runnable: 1.1 (a lambda in ");
}

TEST(Follow, SCH_9_a_task_too_many_is_told) {
  const std::string text = said({.children = 1}, {.children = 2});
  EXPECT_SAYS(text, "expected: worker 0 polls task 0\n  actual:   that task waits at ");
  EXPECT_SAYS(text, "runnable: 1.2");
}

TEST(Follow, SCH_9_a_look_at_the_clock_too_many_or_too_few_is_told) {
  const std::string many = said({.clocks = 1}, {.clocks = 2});
  EXPECT_SAYS(many,
              "expected: the poll of task 1.1 looks at nothing more outside\n  actual:   it looks at the clock\n");
  const std::string few = said({.clocks = 2}, {.clocks = 1});
  EXPECT_SAYS(few,
              "expected: in its poll task 1.1 looks at the clock\n  actual:   it has done so 1 times, and not again");
}

TEST(Follow, SCH_9_another_end_is_told) {
  const auto program_that = [](bool fails) {
    return [fails](Cx cx) -> Task<int> {
      co_await yield(cx);
      if (fails) co_await fail(Errc::broken_pipe);
      co_return 0;
    };
  };
  Log log;
  const sched::RecordedRun run = record_run({.workers = 1}, [&](Log&) { return program_that(false); }, log);
  const LabReport report = follow(run, program_that(true));
  EXPECT_SAYS(text_of(report, Oracle::determinism), "expected: the program ends as Ok\n  actual:   it ends as Err");
}

TEST(Follow, SCH_9_a_poll_of_a_task_that_waits_is_told_with_its_place) {
  sched::RecordedRun run = recorded({.yields = 0, .children = 1, .sleeps = 1});
  // Without the alarm the task is not runnable when it is to be polled.
  std::erase_if(run.steps, [](const sched::RecordedStep& step) { return step.kind == sched::StepKind::alarm; });
  const Hidden hidden{.yields = 0, .children = 1, .sleeps = 1};
  const LabReport report = follow(run, program_with(hidden));
  const std::string text = text_of(report, Oracle::determinism);
  EXPECT_SAYS(text, "expected: worker 0 polls task 1.1\n  actual:   that task waits at ");
  EXPECT_SAYS(text, "runnable: nobody");
}

TEST(Follow, SCH_9_an_alarm_that_is_not_armed_is_told) {
  const Hidden hidden{.children = 1};
  sched::RecordedRun run = recorded(hidden);
  sched::RecordedStep alarm{.kind = sched::StepKind::alarm, .task = run.steps[1].task, .at = run.steps[1].at};
  run.steps.insert(run.steps.begin() + 1, alarm);
  const LabReport report = follow(run, program_with(hidden));
  EXPECT_SAYS(text_of(report, Oracle::determinism), "goes off on worker 0\n  actual:   it has none that is due");
}

TEST(Follow, SCH_9_a_recording_that_is_over_too_early_is_told) {
  const Hidden hidden{};
  sched::RecordedRun run = recorded(hidden);
  run.steps.resize(3);
  const LabReport report = follow(run, program_with(hidden));
  EXPECT_SAYS(text_of(report, Oracle::determinism),
              "expected: nothing more happens\n  actual:   there are tasks to be polled");
}

TEST(Follow, SCH_9_what_a_program_that_crashed_has_written_is_followed_to_the_crash) {
  class Crashing final : public RecordSink {
   public:
    bool write(std::string_view piece) noexcept override {
      at_crash += piece;
      return true;
    }
    std::string at_crash;
  };
  Crashing sink;
  std::string left_behind;  // as it is in the middle of the last poll
  const auto program = [&sink, &left_behind](Cx cx) -> Task<int> {
    for (int i = 0; i < 3; ++i) co_await yield(cx);
    left_behind = sink.at_crash;
    co_return 0;
  };
  (void)block_on(program, {.workers = 1, .record = {.sink = &sink, .at_once = true}});
  EXPECT_TRUE(sched::read_run(left_behind).is_err());
  const sched::RecordedRun run = sched::read_run(left_behind, sched::Cut::accept).value();
  ASSERT_EQ(run.steps.size(), 4U);
  left_behind.clear();
  const LabReport report = follow(run, program);
  EXPECT_FALSE(left_behind.empty());  // it came to the place of the crash
  EXPECT_SAYS(text_of(report, Oracle::steps), "calm: the recording ends after 4 steps, before its run did");
}

TEST(Follow, SCH_9_what_tasks_share_beside_calm_is_found_as_a_divergence) {
  int runs = 0;  // the second run is another one
  const auto program = [&runs](Cx cx) -> Task<int> {
    const int extra = runs++;
    for (int i = 0; i < 2 + extra; ++i) co_await yield(cx);
    co_return 0;
  };
  Log log;
  const sched::RecordedRun run = record_run({.workers = 1}, [&program](Log&) { return program; }, log);
  const LabReport report = follow(run, program);
  EXPECT_SAYS(text_of(report, Oracle::determinism), "expected: task 0 ends with its poll\n  actual:   it waits at ");
}

TEST(Follow, SCH_9_OBL_4_oracles_are_asked_of_a_run_that_was_followed) {
  const auto forgetful = [](Cx cx) -> Task<int> {
    auto token = co_await reserve(cx, ObligationKind::custom);
    co_await yield(cx);
    co_return 0;
  };
  Log log;
  testing::internal::CaptureStderr();  // the runtime reports it too
  const sched::RecordedRun run = record_run({.workers = 1}, [&forgetful](Log&) { return forgetful; }, log);
  (void)testing::internal::GetCapturedStderr();
  const LabReport report = follow(run, forgetful);
  EXPECT_TRUE(text_of(report, Oracle::determinism).empty()) << to_string(report);
  EXPECT_SAYS(text_of(report, Oracle::obligations), "dropped while Reserved");
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace calm::lab
