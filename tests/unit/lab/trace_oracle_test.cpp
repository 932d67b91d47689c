// Oracles on traces that no lawful kernel records: each event that must not be is found.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "calm/lab/oracles.hpp"
#include "calm/trace/argument.hpp"
#include "tests/unit/lab/found.hpp"

namespace calm::lab {
namespace {

using trace::Event;
using trace::EventKind;

const RegionId root(1, Generation(1));
const RegionId scope(2, Generation(1));
const TaskId one(1, Generation(1));
const TaskId two(2, Generation(1));
const TaskId three(3, Generation(1));

constexpr std::uint64_t cancel(CancelKind kind) noexcept {
  return trace::argument_of(trace::CancelArgument{kind, describe(kind).severity});
}

Event spawn(TaskId task, RegionId region, std::uint64_t creation) {
  return {.kind = EventKind::spawn, .task = task, .region = region, .resource = region, .argument = creation};
}
Event open_scope() { return {.kind = EventKind::spawn, .task = one, .region = scope, .resource = root, .argument = 1}; }
Event poll(TaskId task) { return {.kind = EventKind::poll, .task = task}; }
Event complete(TaskId task, RegionId region) {
  return {.kind = EventKind::complete, .task = task, .region = region, .resource = task};
}
Event finalize(TaskId task, RegionId region, std::uint64_t creation) {
  return {.kind = EventKind::finalize, .task = task, .region = region, .resource = region, .argument = creation};
}
Event move(RegionId region, RegionState from, RegionState to) {
  return {.kind = EventKind::region_move,
          .region = region,
          .resource = region,
          .argument = trace::argument_of(Move<RegionState>{from, to})};
}
Event close(RegionId region) { return move(region, RegionState::finalizing, RegionState::closed); }
Event cancelled(EventKind kind, TaskId task, CancelKind why) {
  return {.kind = kind, .task = task, .region = root, .resource = task, .argument = cancel(why)};
}

/// Gives: what the oracles say of a run with these events, a problem each line.
std::string ask(std::vector<Event> events) {
  Evidence evidence;
  for (Event& event : events) {
    event.position = static_cast<std::uint32_t>(evidence.trace.events.size());
    event.sequence = evidence.trace.events.size() + 1;
    evidence.trace.events.push_back(event);
  }
  Problems problems;
  ask_trace(evidence, problems);
  std::string text;
  for (const Problem& problem : problems) {
    text.append(describe(problem.oracle).name).append(": ").append(problem.text).append("\n");
  }
  return text;
}

using enum RegionState;

TEST(TraceOracles, LAB_6_a_lawful_trace_has_no_problems) {
  EXPECT_EQ(ask({spawn(one, root, 0), poll(one), open_scope(), spawn(two, scope, 1), poll(two), complete(two, scope),
                 move(scope, open, closing), move(scope, closing, finalizing), finalize(three, scope, 2), poll(three),
                 complete(three, scope), close(scope), complete(one, root), move(root, open, closing),
                 move(root, closing, finalizing), close(root)}),
            "");
}

TEST(TraceOracles, I2_a_region_that_closes_over_a_live_task_is_found) {
  EXPECT_SAYS(ask({spawn(one, root, 0), poll(one), close(root)}),
              "region quiet: calm: r1 is Closed and 1 of its tasks and 0 of its regions have not ended");
}

TEST(TraceOracles, I1_a_task_that_ends_twice_is_found) {
  const std::string text = ask({spawn(one, root, 0), complete(one, root), complete(one, root)});
  EXPECT_SAYS(text, "task leak: calm: t1 ended twice");
  EXPECT_SAYS(text, "seen: #3 t1 in r1 complete t1 Ok");
}

TEST(TraceOracles, TSK_1_a_task_that_is_polled_after_its_end_is_found) {
  EXPECT_SAYS(ask({spawn(one, root, 0), complete(one, root), poll(one)}),
              "task leak: calm: t1 was polled after its end");
}

TEST(TraceOracles, REG_5_a_finalizer_that_begins_twice_is_found) {
  EXPECT_SAYS(ask({open_scope(), finalize(two, scope, 1), complete(two, scope), finalize(two, scope, 1)}),
              "finalizers: calm: t2 began twice");
}

TEST(TraceOracles, REG_5_finalizers_that_overlap_or_run_oldest_first_are_found) {
  const std::string text = ask({open_scope(), finalize(one, scope, 1), finalize(two, scope, 2)});
  EXPECT_SAYS(text, "finalizers: calm: finalizer 2 of r2 began before the one before it had ended");
  EXPECT_SAYS(text, "finalizers: calm: finalizer 2 of r2 began after number 1");
}

TEST(TraceOracles, REG_5_a_finalizer_that_never_began_is_found) {
  EXPECT_SAYS(ask({open_scope(), spawn(two, scope, 2), complete(two, scope), close(scope)}),
              "finalizers: calm: r2 is Closed and 1 of its finalizers never began");
}

TEST(TraceOracles, I5_a_loser_of_a_race_that_outlives_its_region_is_found) {
  const std::vector<Event> lost = {spawn(one, root, 0), poll(one),
                                   cancelled(EventKind::cancel_request, one, CancelKind::race_lost)};
  std::vector<Event> left = lost;
  left.push_back(close(root));
  EXPECT_SAYS(ask(left), "losers drained: calm: r1 is Closed and 1 losers of a race in it have not ended");
  std::vector<Event> drained = lost;
  for (const Event& event :
       {complete(one, root), move(root, open, closing), move(root, closing, finalizing), close(root)})
    drained.push_back(event);
  EXPECT_EQ(ask(drained), "");
}

TEST(TraceOracles, CAN_10_witnesses_that_go_backwards_are_found) {
  EXPECT_SAYS(ask({spawn(one, root, 0), cancelled(EventKind::cancel_request, one, CancelKind::shutdown),
                   cancelled(EventKind::cancel_ack, one, CancelKind::user)}),
              "witness: calm: severity 0 of User after 5");
  EXPECT_SAYS(ask({spawn(one, root, 0), cancelled(EventKind::cancel_request, one, CancelKind::user),
                   complete(one, root), cancelled(EventKind::cancel_ack, one, CancelKind::user)}),
              "witness_phase_regression");
  EXPECT_SAYS(ask({spawn(one, scope, 1), cancelled(EventKind::cancel_request, one, CancelKind::user)}),
              "witness_region_mismatch");
  EXPECT_SAYS(ask({spawn(one, root, 0), cancelled(EventKind::cancel_ack, one, CancelKind::user)}),
              "answered a cancellation that nobody requested");
  EXPECT_SAYS(ask({spawn(one, root, 0), cancelled(EventKind::cancel_request, one, CancelKind::user),
                   cancelled(EventKind::cancel_ack, one, CancelKind::user),
                   cancelled(EventKind::cancel_ack, one, CancelKind::user)}),
              "acknowledged its cancellation twice");
}

TEST(TraceOracles, BUD_5_a_poll_after_the_deadline_without_a_request_is_found) {
  Evidence evidence;
  evidence.trace.events = {spawn(one, root, 0), poll(one)};
  evidence.trace.events[0].sequence = 1;
  evidence.trace.events[1].sequence = 2;
  evidence.trace.events[1].time = Time() + Duration::seconds(3);
  evidence.overdue = {{.task = one, .deadline = Time() + Duration::seconds(2), .before = 1}};
  Problems problems;
  ask_deadlines(evidence, problems);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_SAYS(problems[0].text, "calm: t1 was polled at 3s although its deadline was 2s");
  EXPECT_SAYS(problems[0].text, "law:  BUD-5");

  Event request = cancelled(EventKind::cancel_request, one, CancelKind::deadline);
  request.sequence = 2;
  evidence.trace.events[1].sequence = 3;
  evidence.trace.events.insert(evidence.trace.events.begin() + 1, request);
  problems.clear();
  ask_deadlines(evidence, problems);
  EXPECT_TRUE(problems.empty());
}

TEST(TraceOracles, TMR_3_alarms_out_of_order_are_found) {
  const Time second = Time() + Duration::seconds(1);
  const Time later = Time() + Duration::seconds(2);
  Evidence evidence;
  const auto ask_order = [&](FiredAlarm first, FiredAlarm other) {
    evidence.alarms = {first, other};
    Problems problems;
    ask_alarms(evidence, problems);
    return problems.size();
  };
  EXPECT_EQ(ask_order({one, second, later, 0, 1}, {two, later, later, 1, 1}), 0U);
  EXPECT_EQ(ask_order({one, later, later, 0, 1}, {two, second, later, 1, 1}), 1U);   // by time
  EXPECT_EQ(ask_order({one, second, later, 1, 1}, {two, second, later, 0, 1}), 1U);  // then by arming
  EXPECT_EQ(ask_order({one, second, later, 1, 1}, {two, second, later, 0, 2}), 0U);  // not together
  EXPECT_EQ(ask_order({one, later, second, 0, 1}, {two, later, later, 1, 2}), 1U);   // early
}

TEST(TraceOracles, OBL_10_a_promise_that_is_resolved_twice_is_found) {
  const ObligationId promise(1, Generation(1));
  EXPECT_SAYS(ask({{.kind = EventKind::resolve, .task = one, .region = root, .resource = promise}}),
              "obligations: calm: o1 is resolved and not open");
}

}  // namespace
}  // namespace calm::lab
