// Replays: from a seed, a list of choices, a word and a file; and what is said of a run that turns out to be another one.
#include "calm/lab/replay.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "calm/cx/scope.hpp"
#include "calm/lab/replay_file.hpp"
#include "tests/unit/lab/found.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::lab {
namespace {

using Log = std::vector<int>;

/// Three tasks that write their names in turns.
auto writers(Log& log) {
  return [&log](Cx cx) -> Task<int> {
    const auto body = [&log](Scope& scope) -> Task<int> {
      for (int name = 0; name < 3; ++name) {
        auto writer = co_await scope.spawn([&log, name](Cx inner) -> Task<void> {
          for (int i = 0; i < 3; ++i) {
            log.push_back(name);
            co_await yield(inner);
          }
        });
      }
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
}

TEST(Replay, LAB_1_I6_one_seed_is_one_run_and_another_seed_is_another) {
  Log first;
  Log again;
  Log other;
  const LabReport report = run({.seed = 5}, writers(first));
  EXPECT_EQ(run({.seed = 5}, writers(again)).trace, report.trace);
  EXPECT_EQ(first, again);
  (void)run({.seed = 6}, writers(other));
  EXPECT_NE(first, other);
}

TEST(Replay, LAB_3_SCH_9_a_schedule_gives_the_run_again_whatever_the_seed) {
  Log first;
  Log again;
  const LabReport recorded = run({.seed = 5}, writers(first));
  const Schedule read = parse_schedule(to_string(recorded.schedule)).value();
  Schedule another_seed = read;
  another_seed.seed = 99;
  const LabReport report = run({}, another_seed, writers(again));
  EXPECT_EQ(first, again);
  EXPECT_EQ(report.trace, recorded.trace);
  EXPECT_EQ(report.trace_digest, recorded.trace_digest);
  EXPECT_EQ(report.state_digest, recorded.state_digest);
}

TEST(Replay, LAB_3_beyond_the_list_the_one_that_waits_longest_is_next) {
  Log log;
  (void)run({.choices = std::vector<std::uint32_t>()}, writers(log));
  EXPECT_EQ(log, (Log{0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST(Replay, LAB_3_a_long_run_of_a_seed_has_a_short_word) {
  Log log;
  const auto forever = [](Cx cx) -> Task<int> {
    const auto body = [](Scope& scope) -> Task<int> {
      for (int name = 0; name < 3; ++name) {
        auto writer = co_await scope.spawn([](Cx inner) -> Task<void> {
          for (int i = 0; i < 500; ++i) co_await yield(inner);
        });
      }
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
  const LabReport recorded = run({.seed = 8}, forever);
  EXPECT_LT(recorded.replay_word().size(), 30U);
  EXPECT_GT(recorded.schedule.choices->size(), 500U);
  const LabReport report = run({}, parse_schedule(recorded.replay_word()).value(), forever);
  EXPECT_EQ(report.trace, recorded.trace);
}

TEST(Replay, LAB_3_a_replay_of_the_same_program_is_clean) {
  Log log;
  const LabReport recorded = run({.seed = 3}, writers(log));
  const LabReport report = replay({}, recorded, writers(log));
  EXPECT_TRUE(report.is_clean()) << to_string(report);
}

TEST(Replay, LAB_3_a_divergence_shows_both_events) {
  int yields = 1;
  const auto program = [&yields](Cx cx) -> Task<int> {
    for (int i = 0; i < yields; ++i) co_await yield(cx);
    co_return 0;
  };
  const LabReport recorded = run({}, program);
  yields = 2;
  const LabReport report = replay({}, recorded, program);
  const std::string text = text_of(report, Oracle::determinism);
  EXPECT_SAYS(text, "calm: the run is another one after 3 events");
  EXPECT_SAYS(text, "expected: #4 t");
  EXPECT_SAYS(text, "complete t");
  EXPECT_SAYS(text, "actual:   #4 t");
  EXPECT_SAYS(text, "poll");
}

TEST(Replay, LAB_3_choices_that_the_program_does_not_have_are_reported) {
  Log log;
  const LabReport report = run({.choices = std::vector<std::uint32_t>{0, 9}}, writers(log));
  EXPECT_SAYS(text_of(report, Oracle::determinism), "calm: the schedule is of another run: choice 2 is entry 9 of ");
  const auto alone = [](Cx cx) -> Task<int> {
    co_await yield(cx);
    co_return 0;
  };
  const LabReport shorter = run({.choices = std::vector<std::uint32_t>{0, 1}}, alone);
  EXPECT_SAYS(text_of(shorter, Oracle::determinism), "it has 2 choices and the run made 0");
}

TEST(Replay, LAB_3_a_run_that_ends_early_diverges_with_nothing_more) {
  LabReport whole;
  whole.trace.events.resize(2);
  LabReport half;
  half.trace.events.resize(1);
  ASSERT_TRUE(expect_same(whole, half).has_value());
  EXPECT_SAYS(text_of(half, Oracle::determinism), "actual:   nothing more");
}

std::string recorded_file(Log& log) {
  const LabConfig config{.seed = 5, .program = "writers"};
  return write_recording(config, run(config, writers(log)));
}

TEST(ReplayFile, LAB_3_a_file_gives_the_run_again_event_for_event) {
  Log first;
  Log again;
  const Recording recording = read_recording(recorded_file(first)).value();
  EXPECT_EQ(recording.config.program, "writers");
  const LabReport report = replay(recording.config, expected_report(recording), writers(again));
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(first, again);
}

TEST(ReplayFile, LAB_3_writing_what_was_read_gives_the_same_bytes) {
  Log log;
  const std::string file = recorded_file(log);
  const Recording recording = read_recording(file).value();
  EXPECT_EQ(write_recording(recording.config, expected_report(recording)), file);
}

TEST(ReplayFile, LAB_3_comments_and_empty_lines_are_skipped) {
  Log log;
  const std::string file = "# found on a Monday\n\n" + recorded_file(log) + "\n# the end\n";
  EXPECT_TRUE(read_recording(file).is_ok());
}

/// Gives: what is wrong with the file after this change.
std::string refusal(const std::string& from, const std::string& to) {
  Log log;
  std::string file = recorded_file(log);
  const std::size_t at = file.find(from);
  EXPECT_NE(at, std::string::npos);
  file.replace(at, from.size(), to);
  const auto read = read_recording(file);
  return read.is_ok() ? std::string() : to_string(read.error());
}

TEST(ReplayFile, LAB_3_what_is_wrong_is_told_with_its_line) {
  EXPECT_EQ(refusal("calm-replay 1", "calm-replay 2"), "unsupported: line 1: this version reads form 1 only");
  EXPECT_EQ(refusal("program writers\n", ""),
            "protocol: line 2: expected program and a value, found \"max-steps 1000000\"");
  EXPECT_EQ(refusal("tasks 16777216", "tasks many"), "protocol: line 5: \"many\" is no number that tasks can have");
  EXPECT_SAYS(refusal("schedule calm1", "schedule calm9"), "protocol: line 8: a schedule: no word that begins with");
  EXPECT_SAYS(refusal("trace-digest ", "trace-digest 1"), "protocol: line 10:");
  EXPECT_SAYS(refusal("events ", "events 1"), "the file ends too early");
  EXPECT_SAYS(refusal(" #2 ", " 1 #2 "), "protocol: line 13: an event has eight numbers, not more");
  EXPECT_SAYS(refusal("\n201 ", "\n2fe "), "no event has these numbers");
}

TEST(ReplayFile, LAB_3_a_file_that_is_cut_anywhere_is_refused) {
  Log log;
  const std::string file = recorded_file(log);
  for (std::size_t size = 0; size + 60 < file.size(); size += 37) {
    EXPECT_FALSE(read_recording(std::string_view(file).substr(0, size)).is_ok()) << size;
  }
}

}  // namespace
}  // namespace calm::lab
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
