#include "calm/trace/reader.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "calm/trace/argument.hpp"
#include "tests/unit/trace/events.hpp"

namespace calm::trace {
namespace {

Trace with_sequences(const std::vector<std::uint64_t>& sequences) {
  Trace trace;
  for (const std::uint64_t sequence : sequences) {
    trace.events.push_back({.kind = EventKind::choice, .sequence = sequence});
  }
  return trace;
}

/// A small story with something of everything; its digest must never change.
Trace story() {
  const ObligationId permit(3, Generation());
  Trace trace;
  trace.events = {
      {.kind = EventKind::spawn, .sequence = 1, .time = Time::at_ns(5), .task = task(4), .region = region(1)},
      {.kind = EventKind::poll, .sequence = 2, .task = task(4), .region = region(1), .cause = 1},
      {.kind = EventKind::reserve,
       .access = Access::write,
       .sequence = 3,
       .task = task(4),
       .region = region(1),
       .resource = permit,
       .cause = 2,
       .argument = argument_of(ObligationKind::ack)},
      {.kind = EventKind::access,
       .access = Access::read,
       .sequence = 4,
       .task = task(4),
       .resource = ResourceId::registered(2, 1)},
      {.kind = EventKind::cancel_request,
       .sequence = 5,
       .region = region(1),
       .argument = argument_of(CancelArgument{CancelKind::shutdown, 5})},
      {.kind = EventKind::region_move,
       .sequence = 6,
       .region = region(1),
       .cause = 5,
       .argument = argument_of(Move<RegionState>{RegionState::open, RegionState::closing})},
      {.kind = EventKind::complete, .sequence = 7, .task = task(4), .argument = argument_of(OutcomeKind::cancelled)},
  };
  return trace;
}

RC_GTEST_PROP(Merge, deals_the_events_back_in_their_order, ()) {
  const Trace whole = *any_trace();
  std::vector<Snapshot> rings(3);
  std::uint64_t overwritten = 0;
  for (const Event& event : whole.events) rings[event.worker % 3].events.push_back(event);
  for (Snapshot& ring : rings) {
    ring.overwritten = *rc::gen::inRange<std::uint64_t>(0, 100);
    overwritten += ring.overwritten;
  }
  const auto merged = merge(rings);
  RC_ASSERT(merged.is_ok());
  RC_ASSERT(merged.value().events == whole.events);
  RC_ASSERT(merged.value().overwritten == overwritten);
}

TEST(Merge, of_nothing_is_an_empty_trace) {
  EXPECT_EQ(merge({}).value(), Trace());
  EXPECT_EQ(merge(std::vector<Snapshot>(2)).value(), Trace());
  EXPECT_EQ(read_rings({}).value(), Trace());
}

TEST(Merge, refuses_two_events_with_one_sequence) {
  std::vector<Snapshot> rings(2);
  rings[0].events = {{.kind = EventKind::poll, .worker = 0, .sequence = 7, .task = task(1)}};
  rings[1].events = {{.kind = EventKind::poll, .worker = 1, .sequence = 7, .task = task(2)}};
  const auto merged = merge(rings);
  ASSERT_TRUE(merged.is_err());
  EXPECT_EQ(merged.error().code(), Errc::conflict);
  EXPECT_NE(merged.error().message().find("#7 t1 poll of worker 0"), std::string_view::npos);
  EXPECT_NE(merged.error().message().find("#7 t2 poll of worker 1"), std::string_view::npos);
}

TEST(Merge, refuses_an_event_that_was_never_recorded) {
  std::vector<Snapshot> rings(1);
  rings[0].events = {{.kind = EventKind::poll, .sequence = 1}, {.kind = EventKind::poll}};
  const auto merged = merge(rings);
  ASSERT_TRUE(merged.is_err());
  EXPECT_EQ(merged.error().code(), Errc::invalid_argument);
}

TEST(Gaps, are_what_is_missing_between_the_events) {
  EXPECT_TRUE(find_gaps(Trace()).empty());
  EXPECT_TRUE(find_gaps(with_sequences({1, 2, 3})).empty());
  const auto gaps = find_gaps(with_sequences({4, 5, 8, 9, 11}));
  EXPECT_EQ(gaps, (std::vector<Gap>{{1, 3}, {6, 7}, {10, 10}}));
  EXPECT_EQ(missing_in(gaps), 6U);
  EXPECT_EQ(find_gaps(with_sequences({4, 5, 8}), 5), (std::vector<Gap>{{6, 7}}));
  EXPECT_TRUE(find_gaps(with_sequences({4, 5}), 4).empty());
  EXPECT_EQ(find_gaps(with_sequences({1, UINT64_MAX})), (std::vector<Gap>{{2, UINT64_MAX - 1}}));
}

// LAB-12
TEST(Digest, of_a_known_trace_never_changes) {
  EXPECT_EQ(trace_digest(story()), 0x2C8A2B48A8227103U);
  EXPECT_EQ(trace_digest(Trace()), 0xEF46DB3751D8E999U) << "XXH64 of nothing";
}

// LAB-12
TEST(Digest, leaves_out_time_worker_position_and_where_the_counter_started) {
  Trace other = story();
  other.overwritten = 12;
  for (Event& event : other.events) {
    event.time = Time::at_ns(12345);
    event.worker = 9;
    event.position = 77;
    event.sequence += 1000;
    if (event.cause != 0) event.cause += 1000;
  }
  EXPECT_EQ(trace_digest(other), trace_digest(story()));
}

TEST(Digest, sees_every_other_field_and_the_order) {
  const std::uint64_t digest = trace_digest(story());
  const auto changed = [digest](auto change) {
    Trace trace = story();
    change(trace.events);
    return trace_digest(trace) != digest;
  };
  using Events = std::vector<Event>;
  EXPECT_TRUE(changed([](Events& e) { e[1].kind = EventKind::choice; }));
  EXPECT_TRUE(changed([](Events& e) { e[2].access = Access::read; }));
  EXPECT_TRUE(changed([](Events& e) { e[1].task = task(5); }));
  EXPECT_TRUE(changed([](Events& e) { e[1].region = RegionId(); }));
  EXPECT_TRUE(changed([](Events& e) { e[2].resource = ObligationId(4, Generation()); }));
  EXPECT_TRUE(changed([](Events& e) { e[2].cause = 1; }));
  EXPECT_TRUE(changed([](Events& e) { e[2].cause = 0; }));
  EXPECT_TRUE(changed([](Events& e) { e[6].argument = 0; }));
  EXPECT_TRUE(changed([](Events& e) { std::swap(e[3], e[4]); }));
  EXPECT_TRUE(changed([](Events& e) { e.pop_back(); }));
  EXPECT_TRUE(changed([](Events& e) { e.erase(e.begin() + 3); }))
      << "an access is no semantic event, but it is an event";
}

// LAB-12
TEST(SemanticDigest, of_a_known_trace_never_changes) {
  EXPECT_EQ(semantic_digest(story()), 0x1A7E8A5C41D23BFBU);
  EXPECT_EQ(semantic_digest(Trace()), 0xEF46DB3751D8E999U) << "XXH64 of nothing";
}

// LAB-12
TEST(SemanticDigest, leaves_out_when_where_why_and_what_is_no_semantic_event) {
  Trace other = story();
  other.overwritten = 12;
  for (Event& event : other.events) {
    event.access = Access::none;
    event.time = Time::at_ns(12345);
    event.worker = 9;
    event.position = 77;
    event.sequence += 1000;
    event.cause = 0;
  }
  other.events.erase(other.events.begin() + 3);
  EXPECT_EQ(semantic_digest(other), semantic_digest(story()));
}

TEST(SemanticDigest, sees_every_other_field_and_the_order) {
  const std::uint64_t digest = semantic_digest(story());
  const auto changed = [digest](auto change) {
    Trace trace = story();
    change(trace.events);
    return semantic_digest(trace) != digest;
  };
  using Events = std::vector<Event>;
  EXPECT_TRUE(changed([](Events& e) { e[1].kind = EventKind::choice; }));
  EXPECT_TRUE(changed([](Events& e) { e[1].task = task(5); }));
  EXPECT_TRUE(changed([](Events& e) { e[1].region = RegionId(); }));
  EXPECT_TRUE(changed([](Events& e) { e[2].resource = ObligationId(4, Generation()); }));
  EXPECT_TRUE(changed([](Events& e) { e[6].argument = 0; }));
  EXPECT_TRUE(changed([](Events& e) { std::swap(e[4], e[5]); }));
  EXPECT_TRUE(changed([](Events& e) { e.pop_back(); }));
}

}  // namespace
}  // namespace calm::trace
