// Random programs on real workers, recorded and made again in the lab: every line of their journals is the same, times too.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "calm/runtime/run.hpp"
#include "interpreter.hpp"
#include "journal.hpp"
#include "program.hpp"
#include "tests/unit/runtime/kept_recording.hpp"

namespace calm::programs {
namespace {

constexpr std::uint64_t recorded_programs = 500;

/// Real time passes: nobody sleeps for longer than 5 ms.
void shorten_sleeps(Block& block) {
  for (Statement& statement : block) {
    if (statement.what == Do::sleep || statement.what == Do::with_deadline) statement.a %= 6;
    shorten_sleeps(statement.body);
  }
}

/// A scope belongs to the task that opened it and to its fibers, which are where it is. On several workers other tasks keep to
/// scopes of their own: what they would do to the one around them becomes a yield.
void keep_to_own_scopes(Block& block, bool has_scope) {
  for (Statement& statement : block) {
    const Do what = statement.what;
    const bool starts = what == Do::spawn || what == Do::fiber || what == Do::defer || what == Do::defer_async;
    if (starts || what == Do::cancel_scope) {
      if (!has_scope) {
        statement = {.what = Do::yield, .a = 1};
        continue;
      }
      statement.a = what == Do::cancel_scope ? 0 : statement.a & ~1U;
    }
    keep_to_own_scopes(statement.body, !starts && (has_scope || what == Do::scope));
  }
}

struct InterpretedRun {
  const Program* program;
  Journal* journal;

  CALM_CORO_WRAPPER Task<std::uint32_t> operator()(Cx cx) const { return interpret(cx, *program, *journal); }
};

/// Gives: the number of steps.
std::size_t expect_program_again(std::uint64_t seed, const RunOptions& options) {
  Program program = make_program(seed);
  shorten_sleeps(program.body);
  if (options.workers > 1) keep_to_own_scopes(program.body, false);
  Journal recorded;
  Journal again;
  KeptRecording kept;
  RunOptions recording = options;
  recording.record.sink = &kept;
  testing::internal::CaptureStderr();  // what programs forget on purpose is reported
  (void)block_on(InterpretedRun{&program, &recorded}, recording);
  const std::string told = testing::internal::GetCapturedStderr();
  const sched::RecordedRun run = sched::read_run(kept.text()).value();
  const lab::LabReport report = lab::follow(run, InterpretedRun{&program, &again});
  for (const lab::Problem& problem : report.problems) {
    EXPECT_NE(problem.oracle, lab::Oracle::determinism) << problem.text << '\n' << told << '\n' << to_string(program);
  }
  EXPECT_EQ(again.log(), recorded.log()) << to_string(program);
  EXPECT_EQ(report.end.kind(), run.end);
  return run.steps.size();
}

class RecordedPrograms : public testing::TestWithParam<std::uint16_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, RecordedPrograms, testing::Values(std::uint16_t{1}, std::uint16_t{2}),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(RecordedPrograms, SCH_9_I6_random_programs_do_again_what_they_did) {
  std::size_t steps = 0;
  for (std::uint64_t seed = 1; seed <= recorded_programs && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    steps += expect_program_again(seed, {.workers = GetParam(), .worth_sharing = Duration()});
  }
  EXPECT_GT(steps, 20 * recorded_programs);
}

}  // namespace
}  // namespace calm::programs
