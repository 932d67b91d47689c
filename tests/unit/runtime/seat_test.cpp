// What a worker tells its lanes of what it has dispatched: all of it, though late. When it looks at the time,
// and how often for work.
#include "calm/runtime/seat.hpp"

#include <gtest/gtest.h>

#include "calm/lockfree/local_atomics.hpp"
#include "calm/runtime/back_off.hpp"

namespace calm::runtime {
namespace {

/// A worker with its seat, that has nothing to do.
struct Place {
  kernel::Worker worker{0, trace::Ring::make({.capacity = 16}).value(), nullptr};
  Seat<lockfree::LocalAtomics> seat{worker, 1, 1, {}};

  void dispatch(int times) {
    for (int i = 0; i < times; ++i) (void)worker.begin_round();
  }
};

TEST(Seat, SCH_5_the_certificate_counts_dispatches_that_the_lanes_were_not_told_of) {
  Place place;
  place.dispatch(3);
  EXPECT_EQ(place.seat.certificate().ready, 3U);
  (void)place.seat.lanes();
  EXPECT_EQ(place.seat.certificate().ready, 3U) << "told, they count once";
  place.dispatch(2);
  EXPECT_EQ(place.seat.certificate().ready, 5U);
}

TEST(Seat, SCH_5_a_dispatch_that_the_lanes_were_told_of_ahead_counts_once) {
  Place place;
  place.dispatch(1);
  place.seat.lanes().ran_newer();
  place.seat.tell_next();
  EXPECT_EQ(place.seat.lanes().certificate().ready, 2U);
  place.dispatch(1);
  EXPECT_EQ(place.seat.certificate().ready, 2U);
  place.dispatch(1);
  EXPECT_EQ(place.seat.lanes().certificate().ready, 3U);
}

TEST(Seat, SCH_5_polls_in_place_are_dispatches_too) {
  Place place;
  place.dispatch(1);
  place.seat.inner_polls.set(place.seat.inner_polls.get() + 4);
  EXPECT_EQ(place.seat.certificate().ready, 5U);
  EXPECT_EQ(place.seat.lanes().certificate().ready, 5U);
  EXPECT_EQ(place.seat.certificate().ready, 5U) << "told, they count once";
  place.seat.inner_polls.set(place.seat.inner_polls.get() + 1);
  place.dispatch(1);
  EXPECT_EQ(place.seat.certificate().ready, 7U);
}

TEST(Pace, SHD_5_the_clock_is_read_after_more_and_more_dispatches_that_are_short) {
  Pace pace;
  std::uint64_t dispatches = 0;
  EXPECT_FALSE(pace.due(dispatches));
  for (const std::uint64_t every : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 64U}) {
    for (std::uint64_t i = 1; i < every; ++i) EXPECT_FALSE(pace.due(++dispatches)) << every;
    EXPECT_TRUE(pace.due(++dispatches)) << every;
    EXPECT_TRUE(pace.read_due(dispatches));
    pace.read(Time(), dispatches);
  }
  dispatches += 64;
  pace.read(Time() + Pace::fresh * 2, dispatches);
  EXPECT_FALSE(pace.due(dispatches + 31));
  EXPECT_TRUE(pace.due(dispatches + 32)) << "they took long";
}

TEST(Pace, SCH_6_who_is_to_look_soon_reads_the_clock_before_the_next_dispatch) {
  Pace pace;
  pace.start_anew(Time(), 100);
  EXPECT_FALSE(pace.due(100));
  pace.look_soon();
  EXPECT_TRUE(pace.due(100));
  EXPECT_TRUE(pace.read_due(100));
  pace.read(Time() + Duration::microseconds(1), 100);
  EXPECT_FALSE(pace.due(100)) << "once";
  EXPECT_FALSE(pace.read_due(100));
}

TEST(Pace, TMR_3_a_late_alarm_is_due_at_once_and_the_clock_no_sooner) {
  Pace pace;
  pace.read(Time(), 1);
  pace.read(Time(), 3);
  EXPECT_FALSE(pace.due(4));
  pace.hurry();
  EXPECT_TRUE(pace.due(4));
  EXPECT_FALSE(pace.read_due(4));
  pace.fired();
  EXPECT_FALSE(pace.due(4));
  EXPECT_FALSE(pace.due(6));
  EXPECT_TRUE(pace.due(7));
  pace.hurry();
  pace.read(Time(), 4);
  EXPECT_FALSE(pace.due(7)) << "who reads the clock fires alarms then";
  EXPECT_TRUE(pace.due(8)) << "it was read before it was due, so that says nothing";
}

TEST(Spins, SCH_6_are_halved_while_nothing_is_found_down_to_one) {
  Spins spins(8);
  for (const int next : {8, 4, 2, 1, 1, 1}) {
    EXPECT_EQ(spins.next(), next);
    spins.found_nothing();
  }
}

TEST(Spins, SCH_6_are_as_many_as_allowed_once_something_was_found) {
  Spins spins(8);
  for (int i = 0; i < 10; ++i) spins.found_nothing();
  spins.found();
  EXPECT_EQ(spins.next(), 8);
  spins.found();
  EXPECT_EQ(spins.next(), 8) << "never more";
  spins.found_nothing();
  EXPECT_EQ(spins.next(), 4) << "what was found before does not count";
}

TEST(Spins, SCH_6_are_never_more_than_allowed_and_none_where_none_are) {
  for (const int most : {0, 1, 3, 255}) {
    Spins spins(static_cast<std::uint8_t>(most));
    EXPECT_EQ(spins.next(), most);
    for (int i = 0; i < 10; ++i) spins.found_nothing();
    EXPECT_EQ(spins.next(), most == 0 ? 0 : 1);
    spins.found();
    EXPECT_EQ(spins.next(), most);
  }
  EXPECT_EQ(Spins().next(), 0);
}

}  // namespace
}  // namespace calm::runtime
