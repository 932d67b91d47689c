// What a worker tells its lanes of what it has dispatched: all of it, though late.
#include "calm/runtime/seat.hpp"

#include <gtest/gtest.h>

#include "calm/lockfree/local_atomics.hpp"

namespace calm::runtime {
namespace {

/// A worker with its seat, that has nothing to do.
struct Place {
  kernel::Worker worker{0, trace::Ring::make({.capacity = 16}).value(), nullptr};
  Seat<lockfree::LocalAtomics> seat{worker, 1, 1};

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
  place.seat.inner_polls += 4;
  EXPECT_EQ(place.seat.certificate().ready, 5U);
  EXPECT_EQ(place.seat.lanes().certificate().ready, 5U);
  EXPECT_EQ(place.seat.certificate().ready, 5U) << "told, they count once";
  place.seat.inner_polls += 1;
  place.dispatch(1);
  EXPECT_EQ(place.seat.certificate().ready, 7U);
}

}  // namespace
}  // namespace calm::runtime
