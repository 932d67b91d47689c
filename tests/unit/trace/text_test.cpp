#include "calm/trace/text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "calm/trace/argument.hpp"
#include "tests/unit/trace/events.hpp"

namespace calm::trace {
namespace {

TEST(EventText, says_who_did_what_where_and_why) {
  EXPECT_EQ(to_string(Event{.kind = EventKind::reserve,
                            .sequence = 12,
                            .task = task(4),
                            .region = region(1),
                            .resource = ObligationId(3, Generation()),
                            .cause = 9}),
            "#12 t4 in r1 reserve o3 send permit (cause #9)");
  EXPECT_EQ(to_string(Event{.kind = EventKind::spawn, .sequence = 1, .task = TaskId(4, Generation(2))}),
            "#1 t4.2 spawn");
  EXPECT_EQ(to_string(Event{.kind = EventKind::choice, .sequence = 2, .argument = 3}), "#2 choice 3");
}

TEST(EventText, reads_the_argument_as_its_kind_says) {
  const auto line = [](EventKind kind, std::uint64_t argument) {
    return to_string(Event{.kind = kind, .sequence = 1, .argument = argument});
  };
  EXPECT_EQ(line(EventKind::complete, argument_of(OutcomeKind::ok)), "#1 complete Ok");
  EXPECT_EQ(line(EventKind::complete, 9), "#1 complete 9");
  EXPECT_EQ(line(EventKind::cancel_request, argument_of(CancelArgument{CancelKind::parent_cancelled, 5})),
            "#1 cancel request ParentCancelled severity 5");
  EXPECT_EQ(line(EventKind::cancel_ack, 99), "#1 cancel ack 99");
  EXPECT_EQ(line(EventKind::forced, argument_of(CancelArgument{CancelKind::shutdown, 5})),
            "#1 forced Shutdown severity 5");
  EXPECT_EQ(line(EventKind::reserve, 99), "#1 reserve 99");
  EXPECT_EQ(line(EventKind::resolve, argument_of(ObligationState::aborted)), "#1 resolve Aborted");
  EXPECT_EQ(line(EventKind::resolve, 0), "#1 resolve");
  EXPECT_EQ(line(EventKind::region_move, argument_of(Move<RegionState>{RegionState::open, RegionState::closing})),
            "#1 region move Open to Closing");
  EXPECT_EQ(line(EventKind::region_move, 3), "#1 region move 3");
}

TEST(EventText, shows_an_access_by_what_it_did) {
  const ChannelId channel(3, Generation());
  EXPECT_EQ(to_string(Event{.kind = EventKind::access, .access = Access::write, .sequence = 1, .resource = channel}),
            "#1 write c3");
  EXPECT_EQ(to_string(Event{
                .kind = EventKind::channel, .access = Access::read, .sequence = 2, .resource = channel, .cause = 1}),
            "#2 channel c3 (read, cause #1)");
}

TEST(EventText, names_every_resource) {
  EXPECT_EQ(to_string(ResourceId()), "none");
  EXPECT_EQ(to_string(ResourceId(region(1))), "r1");
  EXPECT_EQ(to_string(ResourceId(task(2))), "t2");
  EXPECT_EQ(to_string(ResourceId(ObligationId(3, Generation()))), "o3");
  EXPECT_EQ(to_string(ResourceId(WitnessId(4, Generation()))), "w4");
  EXPECT_EQ(to_string(ResourceId(TimerId(5, Generation()))), "m5");
  EXPECT_EQ(to_string(ResourceId(ChannelId(6, Generation(7)))), "c6.7");
  EXPECT_EQ(to_string(ResourceId::registered(0)), "x0");
  EXPECT_EQ(to_string(ResourceId::registered(8, 9)), "x8/9");
}

TEST(EventText, has_a_line_for_an_event_that_says_nothing) {
  EXPECT_EQ(to_string(Event{}), "#0 kind 0");
  EXPECT_EQ(to_string(Event{.kind = static_cast<EventKind>(200), .access = static_cast<Access>(7), .argument = 5}),
            "#0 kind 200 5 (access 7)");
}

RC_GTEST_PROP(EventText, has_a_line_for_any_words, (const EventWords& words)) {
  RC_ASSERT(!to_string(from_words(words)).empty());
}

}  // namespace
}  // namespace calm::trace
