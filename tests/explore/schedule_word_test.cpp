// A schedule as a word, run again, and drawn.
#include "calm/explore/schedule_word.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "apps/calm/gallery/gallery.hpp"
#include "calm/explore/columns.hpp"
#include "calm/explore/strategies.hpp"
#include "calm/explore/threads.hpp"
#include "calm/explore/timeline.hpp"
#include "calm/observe/html.hpp"
#include "calm/observe/story.hpp"

namespace calm::explore {
namespace {

Threads::Setup exhibit(std::string_view name, bool fixed = false) {
  const gallery::Exhibit& found = *gallery::find(name).exhibit;
  return found.make(fixed, found.n.standard);
}

std::string refusal(std::string_view word) {
  const auto read = from_word(word);
  return read ? std::string() : std::string(read.error().message());
}

TEST(ScheduleWord, LAB_3_every_failure_of_the_gallery_happens_again_by_its_word) {
  for (const gallery::Exhibit& one : gallery::exhibits()) {
    if (one.kind == gallery::Exhibit::Kind::unruly) continue;
    Threads program(one.make(false, one.n.standard));
    const Report report = explore_threads(one.make(false, one.n.standard), {.stop_at_first_problem = true});
    ASSERT_FALSE(report.ok()) << one.name;
    const auto first = run_again(program, {.schedule = report.failures[0].schedule, .checksum = std::nullopt});
    ASSERT_TRUE(first.is_ok()) << one.name;
    const auto word = from_word(to_word(first.value().run));
    ASSERT_TRUE(word.is_ok()) << one.name;
    EXPECT_EQ(word.value().schedule, report.failures[0].schedule);
    const auto again = run_again(program, word.value());
    ASSERT_TRUE(again.is_ok()) << one.name;
    EXPECT_EQ(again.value().problem, report.failures[0].problem);
    EXPECT_TRUE(again.value().ended);
  }
}

TEST(ScheduleWord, LAB_3_a_word_names_runs_of_steps) {
  const auto word = from_word("0x3.1.12x2");
  ASSERT_TRUE(word.is_ok());
  EXPECT_EQ(word.value().schedule, (std::vector<Process>{0, 0, 0, 1, 12, 12}));
  EXPECT_FALSE(word.value().checksum.has_value());
  EXPECT_EQ(from_word("0-z0000000f").value().checksum, 15U);
  EXPECT_TRUE(from_word("").value().schedule.empty());
}

TEST(ScheduleWord, LAB_3_what_is_no_word_is_refused_with_the_part_that_is_wrong) {
  EXPECT_EQ(refusal("0x3.y"), "a schedule: no number of a process in \"y\"");
  EXPECT_EQ(refusal("64"), "a schedule: no number of a process in \"64\"");
  EXPECT_EQ(refusal("0x0"), "a schedule: no number of steps in \"0x0\"");
  EXPECT_EQ(refusal("0x99999999999"), "a schedule: no number of steps in \"0x99999999999\"");
  EXPECT_EQ(refusal("0x65535.1"), "a schedule: too many steps in \"1\"");
  EXPECT_EQ(refusal("0."), "a schedule: nothing after the last dot in \"0.\"");
  EXPECT_EQ(refusal("0-zxyz"), "a schedule: no checksum in \"-zxyz\"");
}

TEST(ScheduleWord, LAB_3_a_schedule_of_another_program_is_noticed) {
  Threads program(exhibit("lost_update"));
  const auto too_long = run_again(program, {.schedule = {0, 0, 0}, .checksum = std::nullopt});
  ASSERT_FALSE(too_long.is_ok());
  EXPECT_EQ(too_long.error().message(), "the schedule is not one of this program: thread 0 cannot take step 3 [LAB-3]");
  EXPECT_FALSE(run_again(program, {.schedule = {7}, .checksum = std::nullopt}).is_ok());
  const auto other = run_again(program, {.schedule = {0, 0, 1, 1}, .checksum = 1});
  ASSERT_FALSE(other.is_ok());
  EXPECT_NE(other.error().message().find("led to other steps"), std::string_view::npos);
}

TEST(ScheduleWord, LAB_3_a_schedule_may_end_before_the_program_does) {
  Threads program(exhibit("lost_update"));
  const auto part = run_again(program, {.schedule = {0}, .checksum = std::nullopt});
  ASSERT_TRUE(part.is_ok());
  EXPECT_FALSE(part.value().ended);
  EXPECT_EQ(part.value().problem, "");
}

TEST(Timeline, LAB_9_an_execution_is_a_trace_of_tasks_that_touch_places) {
  Threads program(exhibit("lost_update"));
  const trace::NamedTrace timeline = timeline_of(program, {0, 1, 0, 1});
  std::vector<std::string> kinds;
  for (const trace::Event& event : timeline.trace.events) kinds.emplace_back(to_string(event.kind));
  EXPECT_EQ(kinds, (std::vector<std::string>{"spawn", "spawn", "poll", "access", "poll", "access", "poll", "access",
                                             "complete", "poll", "access", "complete"}));
  const std::vector<trace::Event>& events = timeline.trace.events;
  EXPECT_EQ(events[3].access, trace::Access::read);
  EXPECT_EQ(events[7].access, trace::Access::write);
  EXPECT_EQ(events[3].resource, events[7].resource);
  EXPECT_EQ(events[5].cause, 0U);                  // two reads do not follow from each other
  EXPECT_EQ(events[7].cause, events[5].sequence);  // a write comes after the reads before it
  EXPECT_EQ(events[10].cause, events[7].sequence);
  EXPECT_EQ(timeline.names.tasks.begin()->second.name, "thread 0");
}

TEST(Timeline, LAB_9_who_waits_for_ever_is_drawn_as_one_who_waits_to_the_end) {
  Threads program(exhibit("lost_wakeup"));
  const auto shortest = fewest_preemptions(program, {}, 2);
  ASSERT_TRUE(shortest.has_value());
  const trace::NamedTrace timeline = timeline_of(program, shortest->failure.schedule);
  const observe::Story story = observe::story_of(timeline.trace);
  std::size_t open_waits = 0;
  for (const observe::Span& span : story.spans) {
    if (span.type == observe::Span::Type::wait && span.open) ++open_waits;
  }
  EXPECT_EQ(open_waits, 1U);
  const std::string page = observe::to_html(timeline.trace, timeline.names, "lost_wakeup");
  EXPECT_NE(page.find("sleeper"), std::string::npos);
}

TEST(Columns, LAB_3_steps_have_the_words_that_the_program_has_for_them) {
  Threads program(exhibit("lock_across_await"));
  const auto shortest = fewest_preemptions(program, {}, 0);
  ASSERT_TRUE(shortest.has_value());
  const std::string text = columns(program, shortest->failure.schedule);
  EXPECT_NE(text.find("  2     lock x1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("other task waits for ever to write x1"), std::string::npos) << text;
}

}  // namespace
}  // namespace calm::explore
