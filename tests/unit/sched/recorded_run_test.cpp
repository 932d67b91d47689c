// The text of a recorded run: what is written is read, and what was not written so is refused with the reason.
#include "calm/sched/recorded_run.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace calm::sched {
namespace {

RecordedRun small_run() {
  RecordedRun run{.program = "small", .workers = 2, .several = true, .seed = 0xABCDEF};
  run.kernel.leaks = {.policy = kernel::LeakPolicy::recover, .threshold = 9, .then = kernel::LeakPolicy::log};
  run.kernel.root_budget.polls = Quota(77);
  run.kernel.root_limits.tasks = 1234;
  run.tasks = {"0", "1.0"};
  const auto at = [](std::uint64_t ns) { return Time::at_ns(ns); };
  run.steps = {
      {.kind = StepKind::poll, .worker = 1, .at = at(1000), .inputs = {{InputKind::clock, 1500}}},
      {.kind = StepKind::poll,
       .ended = true,
       .task = 1,
       .at = at(2000),
       .inputs = {{InputKind::refused, 0}, {InputKind::withdrawn, 1}, {InputKind::clock, 2000}}},
      {.kind = StepKind::alarm, .worker = 1, .task = 1, .at = at(3000)},
      {.kind = StepKind::deadline, .at = at(3000)},
      {.kind = StepKind::blocking, .at = at(3001), .result = std::string("\xFF\0 ok", 5)},
      {.kind = StepKind::outside, .worker = 1, .at = at(4000)},
      {.kind = StepKind::shutdown, .at = at(5000)},
  };
  run.end = OutcomeKind::cancelled;
  return run;
}

/// Gives: the text with `from` in place of `to`, once.
std::string changed(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " is not in\n" << text;
  return text.replace(at, from.size(), to);
}

void expect_refused(std::string_view text, Errc code, std::string_view why) {
  const Outcome<RecordedRun> read = read_run(text);
  ASSERT_TRUE(read.is_err()) << text;
  EXPECT_EQ(read.error().code(), code);
  EXPECT_EQ(read.error().message(), why) << text;
}

TEST(RecordedRun, SCH_9_what_is_written_is_read) {
  const RecordedRun run = small_run();
  const RecordedRun read = read_run(write_run(run)).value();
  EXPECT_EQ(read.program, run.program);
  EXPECT_EQ(read.workers, run.workers);
  EXPECT_EQ(read.several, run.several);
  EXPECT_EQ(read.seed, run.seed);
  EXPECT_EQ(read.tasks, run.tasks);
  EXPECT_EQ(read.steps, run.steps);
  EXPECT_EQ(read.end, run.end);
  EXPECT_EQ(read.kernel.ceilings, run.kernel.ceilings);
  EXPECT_EQ(read.kernel.root_limits, run.kernel.root_limits);
  EXPECT_EQ(read.kernel.root_budget, run.kernel.root_budget);
  EXPECT_EQ(read.kernel.leaks.policy, run.kernel.leaks.policy);
  EXPECT_EQ(read.kernel.leaks.threshold, run.kernel.leaks.threshold);
  EXPECT_EQ(read.kernel.leaks.then, run.kernel.leaks.then);
  EXPECT_EQ(write_run(read), write_run(run));
}

TEST(RecordedRun, SCH_9_a_text_that_is_no_recording_is_refused) {
  expect_refused("", Errc::protocol, "line 1: the file ends before it says calm-recording");
  expect_refused("calm-replay 1\nprogram x\n", Errc::protocol,
                 "line 1: this is no recording of a run: expected calm-recording 1, found \"calm-replay 1\"");
  expect_refused(
      "\x7f"
      "ELF and so on",
      Errc::protocol, "line 1: this is no recording of a run: expected calm-recording 1, found \"\\x7fELF and so on\"");
}

TEST(RecordedRun, SCH_9_another_form_is_refused) {
  expect_refused(changed(write_run(small_run()), "calm-recording 1", "calm-recording 2"), Errc::unsupported,
                 "line 1: this version reads form 1 only");
}

TEST(RecordedRun, SCH_9_a_recording_that_was_cut_off_is_refused_wherever_that_was) {
  const std::string whole = write_run(small_run());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Outcome<RecordedRun> read = read_run(std::string_view(whole).substr(0, size));
    ASSERT_TRUE(read.is_err()) << size;
    EXPECT_EQ(read.error().code(), Errc::protocol) << size;
  }
  const std::string without_end = whole.substr(0, whole.find("end 2"));
  expect_refused(without_end, Errc::protocol,
                 "line 25: the file ends after 7 steps without the line `end`: it was cut off, or its run did not come "
                 "to an end");
}

TEST(RecordedRun, SCH_9_of_a_cut_recording_the_whole_steps_can_be_had) {
  const std::string whole = write_run(small_run());
  const std::string part = whole.substr(0, whole.find("deadline") + 4);
  const RecordedRun read = read_run(part, Cut::accept).value();
  ASSERT_EQ(read.steps.size(), 3U);
  EXPECT_EQ(read.steps[2], small_run().steps[2]);
  EXPECT_TRUE(read.cut);
  EXPECT_FALSE(read_run(whole, Cut::accept).value().cut);
}

TEST(RecordedRun, SCH_9_a_recording_that_was_changed_is_refused_whatever_changed) {
  const std::string whole = write_run(small_run());
  for (std::size_t at = 0; at + 1 < whole.size(); ++at) {
    std::string other = whole;
    other[at] = other[at] == '1' ? '2' : '1';
    EXPECT_TRUE(read_run(other).is_err()) << "byte " << at << ": " << other;
  }
  expect_refused(changed(whole, "program small", "program large"), Errc::protocol,
                 "line 25: the checksum is wrong: something was changed since it was written");
  expect_refused(whole + "poll 0 0 0\n", Errc::protocol, "line 26: nothing may follow the end");
}

TEST(RecordedRun, SCH_9_lines_that_mean_nothing_are_refused_with_their_number) {
  const std::string whole = write_run(small_run());
  expect_refused(changed(whole, "alarm 1", "alarm 2"), Errc::protocol,
                 "line 19: expected a number that may stand here, found \"2\"");
  expect_refused(changed(whole, "workers 2", "workers 0"), Errc::protocol, "line 3: no run has so many workers");
  expect_refused(changed(whole, "workers 2", "worker 2"), Errc::protocol,
                 "line 3: expected workers and a value, found \"worker 2\"");
  expect_refused(changed(whole, "shutdown 0", "shutdawn 0"), Errc::protocol,
                 "line 24: no recording has such a line, found \"shutdawn 0 1000\"");
  expect_refused(changed(whole, "shutdown 0 1000", "ended"), Errc::protocol, "line 24: ended stands in no poll");
  expect_refused(changed(whole, "shutdown 0 1000", "shutdown 0 1000 5"), Errc::protocol,
                 "line 24: the line says too much");
  expect_refused(changed(whole, "end 2 7", "end 2 8"), Errc::protocol,
                 "line 25: it does not have as many steps as it says");
  expect_refused(changed(whole, "result ff", "result f"), Errc::protocol,
                 "line 22: a result is two hexadecimal digits for each byte");
  expect_refused(changed(whole, "shutdown 0 1000", "result 00"), Errc::protocol,
                 "line 24: result belongs to no call that blocks");
  expect_refused(changed(whole, "leaks 0", "leaks 9"), Errc::protocol, "line 9: a number is too large");
}

}  // namespace
}  // namespace calm::sched
