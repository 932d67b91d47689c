#include "calm/lockfree/gate.hpp"

#include <gtest/gtest.h>

#include "tests/model/interleave.hpp"

namespace calm::interleave {
namespace {

using lockfree::Closing;
using lockfree::Entry;

template <int inside_at_start>
struct Hall {
  lockfree::Gate<ModelAtomics> gate;
  int admitted = inside_at_start;
  int left = 0;
  int refused_closed = 0;
  int refused_limit = 0;
  int first_closers = 0;
  int last_out = 0;
  bool close_returned = false;

  Hall() {
    for (int i = 0; i < inside_at_start; ++i) EXPECT_EQ(gate.enter(), Entry::admitted);
  }

  bool enter(std::uint64_t limit) {
    const bool closed_before = close_returned;
    switch (gate.enter(limit)) {
      case Entry::admitted:
        EXPECT_FALSE(closed_before) << "admitted after close";
        ++admitted;
        return true;
      case Entry::refused_closed:
        EXPECT_TRUE(gate.is_closed());
        ++refused_closed;
        return false;
      case Entry::refused_limit:
        EXPECT_FALSE(closed_before) << "closed goes before full";
        ++refused_limit;
        return false;
    }
    return false;
  }

  void leave() {
    const bool last = gate.leave();
    ++left;
    if (!last) return;
    ++last_out;
    expect_nobody_inside();
  }

  void close() {
    const Closing closing = gate.close();
    close_returned = true;
    if (closing == Closing::again) return;
    ++first_closers;
    if (closing != Closing::first_and_empty) return;
    ++last_out;
    expect_nobody_inside();
  }

  // The gate looked at again a step later: whoever is told to be the last must stay the last.
  void expect_nobody_inside() const {
    EXPECT_EQ(gate.count(), 0U);
    EXPECT_EQ(admitted, left);
  }
};

template <class Hall, std::uint64_t limit = lockfree::Gate<>::max_count>
void visit(Hall& hall) {
  if (hall.enter(limit)) hall.leave();
}
template <class Hall>
void leave(Hall& hall) {
  hall.leave();
}
template <class Hall>
void close(Hall& hall) {
  hall.close();
}

template <class Hall>
void closed_and_left_by_one_last(Hall& hall) {
  EXPECT_EQ(hall.gate.look(), (lockfree::GateView{.count = 0, .flags = 0, .closed = true}));
  EXPECT_EQ(hall.first_closers, 1);
  EXPECT_EQ(hall.last_out, 1);
  EXPECT_EQ(hall.admitted, hall.left);
}

using EmptyHall = Hall<0>;
using HallWithOne = Hall<1>;
using HallWithTwo = Hall<2>;

void expect_exhausted(const Report& report) {
  EXPECT_TRUE(report.ok()) << report;
  testing::Test::RecordProperty("executions", std::to_string(report.executions));
}

TEST(GateModel, two_entering_while_it_closes_are_admitted_before_or_refused) {
  expect_exhausted(explore<EmptyHall>({visit<EmptyHall>, visit<EmptyHall>, close<EmptyHall>},
                                      closed_and_left_by_one_last<EmptyHall>, {.max_spurious = 1}));
}

TEST(GateModel, one_entering_twice_is_not_admitted_after_close) {
  const Body<EmptyHall> twice = [](EmptyHall& hall) {
    visit(hall);
    visit(hall);
  };
  expect_exhausted(
      explore<EmptyHall>({twice, visit<EmptyHall>, close<EmptyHall>}, closed_and_left_by_one_last<EmptyHall>));
}

TEST(GateModel, two_leaving_while_it_closes_have_one_last_among_the_three) {
  expect_exhausted(explore<HallWithTwo>({leave<HallWithTwo>, leave<HallWithTwo>, close<HallWithTwo>},
                                        closed_and_left_by_one_last<HallWithTwo>));
}

TEST(GateModel, of_two_closers_one_is_first_and_one_step_is_the_last_out) {
  expect_exhausted(explore<HallWithOne>({leave<HallWithOne>, close<HallWithOne>, close<HallWithOne>},
                                        closed_and_left_by_one_last<HallWithOne>));
}

TEST(GateModel, one_entering_against_two_closers_leaves_one_last) {
  expect_exhausted(explore<EmptyHall>({visit<EmptyHall>, close<EmptyHall>, close<EmptyHall>},
                                      closed_and_left_by_one_last<EmptyHall>));
}

TEST(GateModel, one_leaving_while_another_enters_and_a_third_closes_have_one_last) {
  expect_exhausted(
      explore<HallWithOne>({leave<HallWithOne>, visit<HallWithOne>, close<HallWithOne>, close<HallWithOne>},
                           closed_and_left_by_one_last<HallWithOne>));
}

TEST(GateModel, the_count_never_shows_more_than_the_limit) {
  const Body<EmptyHall> watch = [](EmptyHall& hall) {
    for (int i = 0; i < 2; ++i) EXPECT_LE(hall.gate.count(), 1U);
  };
  expect_exhausted(explore<EmptyHall>({visit<EmptyHall, 1>, visit<EmptyHall, 1>, watch},
                                      [](EmptyHall& hall) {
                                        EXPECT_GE(hall.admitted, 1) << "a refusal needs someone inside";
                                        EXPECT_EQ(hall.admitted + hall.refused_limit, 2);
                                        EXPECT_EQ(hall.gate.count(), 0U);
                                        EXPECT_EQ(hall.last_out, 0) << "it was never closed";
                                      },
                                      {.max_spurious = 1}));
}

TEST(GateModel, the_limit_holds_while_it_closes) {
  expect_exhausted(explore<EmptyHall>({visit<EmptyHall, 1>, visit<EmptyHall, 1>, close<EmptyHall>},
                                      closed_and_left_by_one_last<EmptyHall>, {.max_spurious = 1}));
}

TEST(GateModel, a_place_freed_under_the_limit_is_taken_or_closed) {
  expect_exhausted(
      explore<HallWithOne>({visit<HallWithOne, 2>, visit<HallWithOne, 2>, leave<HallWithOne>, close<HallWithOne>},
                           closed_and_left_by_one_last<HallWithOne>));
}

TEST(GateModel, flags_raised_and_lowered_meanwhile_change_nothing_else) {
  const Body<HallWithOne> flagger = [](HallWithOne& hall) {
    EXPECT_EQ(hall.gate.raise_flags(0b101), 0U);
    EXPECT_EQ(hall.gate.lower_flags(0b101), 0b101U);
  };
  expect_exhausted(explore<HallWithOne>({leave<HallWithOne>, visit<HallWithOne>, close<HallWithOne>, flagger},
                                        closed_and_left_by_one_last<HallWithOne>));
}

TEST(GateModel, a_flag_serves_as_a_lock) {
  struct Locked {
    lockfree::Gate<ModelAtomics> gate;
    ModelAtomics::Atomic<int> inside{0};
  };
  const Body<Locked> lock = [](Locked& locked) {
    while ((locked.gate.raise_flags(1) & 1U) != 0) ModelAtomics::pause();
    EXPECT_EQ(locked.inside.exchange(1, std::memory_order_relaxed), 0);
    locked.inside.store(0, std::memory_order_relaxed);
    locked.gate.lower_flags(1);
  };
  expect_exhausted(explore<Locked>({lock, lock}, [](Locked& locked) { EXPECT_EQ(locked.gate.look().flags, 0U); }));
}

}  // namespace
}  // namespace calm::interleave
