#include "calm/observe/story.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "calm/observe/html.hpp"
#include "calm/observe/perfetto.hpp"
#include "calm/observe/tla.hpp"
#include "calm/observe/words.hpp"
#include "tests/unit/observe/traces.hpp"
#include "tests/unit/trace/events.hpp"

namespace calm::observe {
namespace {

using trace::EventKind;
using Type = Span::Type;

const trace::NamedTrace& server() {
  static const trace::NamedTrace named = shutdown_of_a_server();
  return named;
}

std::vector<Span> spans_of(const Story& story, std::size_t row, Type type) {
  std::vector<Span> found;
  std::copy_if(story.spans.begin(), story.spans.end(), std::back_inserter(found),
               [&](const Span& span) { return span.row == row && span.type == type; });
  return found;
}

std::size_t row_called(const Story& story, const std::string& title) {
  for (std::size_t i = 0; i < story.rows.size(); ++i) {
    if (title_of(story.rows[i], server().names) == title) return i;
  }
  ADD_FAILURE() << "no row " << title;
  return 0;
}

TEST(Story, LAB_9_tasks_stand_under_their_region_and_child_regions_after_them) {
  std::string tree;
  for (const Row& row : story_of(server().trace).rows) {
    tree.append(2 * std::size_t{row.depth}, ' ').append(title_of(row, server().names)).append("\n");
  }
  EXPECT_EQ(tree,
            "runtime\nr1 root\n  t1 main\n  r2 server\n    t2 listener\n    t3\n    r3 request\n"
            "      t4 handler </script><b>&\n      t5\n");
}

TEST(Story, LAB_9_every_poll_is_a_span_and_waits_fill_the_time_between) {
  const Story story = story_of(server().trace);
  std::map<std::size_t, std::size_t> polls;  // by row
  for (std::size_t i = 0; i < server().trace.events.size(); ++i) {
    if (server().trace.events[i].kind == EventKind::poll) ++polls[story.row_of[i]];
  }
  EXPECT_EQ(polls.size(), 5U);
  for (const auto& [row, count] : polls) {
    const std::vector<Span> runs = spans_of(story, row, Type::poll);
    const std::vector<Span> waits = spans_of(story, row, Type::wait);
    ASSERT_EQ(runs.size(), count);
    ASSERT_EQ(waits.size(), count);  // one before each poll, and none after the end
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(waits[i].to, runs[i].from);
      EXPECT_EQ(waits[i].from, i == 0 ? story.rows[row].first : runs[i - 1].to);
      EXPECT_EQ(waits[i].after, i != 0);
    }
    EXPECT_GE(runs.back().to, story.rows[row].last);
  }
}

TEST(Story, LAB_9_a_region_goes_through_its_states_without_a_gap) {
  const Story story = story_of(server().trace);
  for (const char* title : {"r1 root", "r2 server", "r3 request"}) {
    const std::size_t row = row_called(story, title);
    std::string states;
    std::size_t end = story.rows[row].first == Row::none ? 0 : story.rows[row].first;
    for (const Span& span : spans_of(story, row, Type::state)) {
      EXPECT_EQ(span.from, end) << title;
      EXPECT_FALSE(span.open);
      end = span.to;
      states.append(to_string(span.state)).append(" ");
    }
    EXPECT_EQ(states, "Open Closing Draining Finalizing Closed ");
    EXPECT_EQ(end, story.rows[row].last);
  }
}

TEST(Story, LAB_9_promises_and_cancellations_last_until_they_are_settled) {
  const Story story = story_of(server().trace);
  const auto& events = server().trace.events;
  const std::size_t handler = row_called(story, "t4 handler </script><b>&");
  const std::vector<Span> promises = spans_of(story, handler, Type::obligation);
  ASSERT_EQ(promises.size(), 2U);
  for (const Span& promise : promises) {
    EXPECT_EQ(events[promise.from].kind, EventKind::reserve);
    EXPECT_EQ(events[promise.to].kind, EventKind::resolve);
    EXPECT_EQ(events[promise.from].resource, events[promise.to].resource);
  }
  const std::vector<Span> cancels = spans_of(story, handler, Type::cancel);
  ASSERT_EQ(cancels.size(), 1U);
  EXPECT_EQ(events[cancels[0].from].kind, EventKind::cancel_request);
  EXPECT_EQ(events[cancels[0].to].kind, EventKind::complete);
}

TEST(Story, what_has_not_ended_is_open_to_the_end_of_the_trace) {
  trace::Trace begun = server().trace;
  begun.events.resize(22);
  const Story story = story_of(begun);
  const std::size_t main = row_called(story, "t1 main");
  ASSERT_EQ(spans_of(story, main, Type::cancel).size(), 1U);
  EXPECT_TRUE(spans_of(story, main, Type::cancel)[0].open);
  EXPECT_TRUE(spans_of(story, main, Type::wait).back().open);
  EXPECT_EQ(spans_of(story, main, Type::wait).back().to, 21U);
  EXPECT_TRUE(spans_of(story, row_called(story, "r2 server"), Type::state).back().open);
}

TEST(Story, takes_a_chain_of_a_hundred_thousand_regions) {
  trace::Trace chain;
  constexpr std::uint32_t length = 100'000;
  for (std::uint32_t i = 1; i < length; ++i) {
    chain.events.push_back(
        {.kind = EventKind::spawn, .sequence = i, .region = trace::region(i), .resource = trace::region(i - 1)});
  }
  const Story story = story_of(chain);
  ASSERT_EQ(story.rows.size(), length + 1);
  EXPECT_EQ(story.rows.back().depth, length - 1);
}

TEST(Story, a_circle_of_regions_is_cut) {
  trace::Trace circle;
  circle.events = {{.kind = EventKind::spawn, .sequence = 1, .region = trace::region(1), .resource = trace::region(2)},
                   {.kind = EventKind::spawn, .sequence = 2, .region = trace::region(2), .resource = trace::region(1)}};
  EXPECT_EQ(story_of(circle).rows.size(), 3U);
}

RC_GTEST_PROP(Story, LAB_9_any_trace_has_one_and_every_export_takes_it, ()) {
  const trace::Trace trace = *trace::any_trace();
  const Story story = story_of(trace);
  RC_ASSERT(story.row_of.size() == trace.events.size() && story.cause_of.size() == trace.events.size());
  for (std::size_t row = 0; row < story.rows.size(); ++row) {
    RC_ASSERT(story.rows[row].parent == Row::none || story.rows[row].parent < row);
  }
  for (const Span& span : story.spans) RC_ASSERT(span.from <= span.to && span.to < trace.events.size());
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    RC_ASSERT(story.row_of[i] < story.rows.size());
    if (story.cause_of[i] != Row::none) {  // RC_ASSERT would look at both sides of an `or`
      RC_ASSERT(trace.events[story.cause_of[i]].sequence == trace.events[i].cause);
    }
    RC_ASSERT(explain(trace, i, {}).starts_with("#" + std::to_string(trace.events[i].sequence)));
  }
  RC_ASSERT(to_html(trace).ends_with("</html>\n"));
  RC_ASSERT(to_perfetto(trace).ends_with("]}\n") && to_perfetto(trace, {}, Axis::time).ends_with("]}\n"));
  RC_ASSERT(tla_of(trace).ends_with("====\n"));
}

TEST(Words, LAB_9_an_event_says_what_it_is_and_who_it_is_about) {
  const auto& [trace, names] = server();
  const auto says = [&](std::uint64_t sequence) { return sentence_of(trace.events[sequence - 1], names); };
  EXPECT_EQ(says(1), "t1 main is spawned in r1 root.");
  EXPECT_EQ(says(3), "r2 server is opened below r1 root by t1 main.");
  EXPECT_EQ(says(5), "The scheduler chooses number 1 of those that are ready.");
  EXPECT_EQ(says(10), "t2 listener writes x1.");
  EXPECT_EQ(says(12), "t4 handler </script><b>& reserves o1, ack, in r3 request.");
  EXPECT_EQ(says(15), "A timer of t4 handler </script><b>& fires.");
  EXPECT_EQ(says(17), "o1 is resolved as Committed, held by t4 handler </script><b>&.");
  EXPECT_EQ(says(18), "The cancellation of r1 root is requested: Shutdown severity 5.");
  EXPECT_EQ(says(19), "r1 root goes from Open to Closing.");
  EXPECT_EQ(says(32), "t1 main acknowledges its cancellation: Shutdown severity 5.");
  EXPECT_EQ(says(33), "t1 main ends with Cancelled.");
  EXPECT_EQ(says(101), "Finalizer t3 of r2 server is started.");
}

}  // namespace
}  // namespace calm::observe
