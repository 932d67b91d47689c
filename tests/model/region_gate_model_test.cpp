// The gate of a region: why admission and departure need one hold of its bit and no shard.
#include "calm/kernel/region_gate.hpp"

#include <gtest/gtest.h>

#include "tests/model/explored.hpp"
#include "tests/model/orders.hpp"

namespace calm::explored {
namespace {

using kernel::GateView;

/// A region with `inside` tasks, of whom the gate's bit guards a list; and what happened to it.
template <std::uint64_t inside>
struct Region {
  kernel::RegionGate<ModelAtomics> gate;
  ModelAtomics::Atomic<bool> held{false};
  std::uint64_t listed = inside;  // under the bit
  int admitted = 0;
  int refused = 0;
  int closed_by = 0;
  int advanced = 0;  // how often someone was the last one out

  Region() {
    GateView open;
    for (std::uint64_t i = 0; i < inside; ++i) open = open.with_task();
    gate.unlock(open);
  }

  GateView lock() {
    const GateView view = gate.lock();
    EXPECT_FALSE(held.exchange(true, relaxed)) << "two hold the bit";
    EXPECT_EQ(view.tasks(), listed) << "who holds the bit sees the list that goes with the word";
    return view;
  }
  void unlock(GateView next) {
    held.store(false, relaxed);
    gate.unlock(next);
  }

  bool admit(std::uint64_t limit = GateView::count_max) {
    const GateView view = lock();
    const bool enters = !view.closed() && view.tasks() < limit;
    if (enters) ++listed;
    ++(enters ? admitted : refused);
    unlock(enters ? view.with_task() : view);
    return enters;
  }
  void leave() {
    const GateView left = lock().without_task();
    --listed;
    unlock(left);
    if (left.last_one_left()) ++advanced;
  }
  /// Gives: how many were inside when it closed; those are the ones that a cancel's walk finds.
  void close() {
    const GateView view = lock();
    if (!view.closed()) {
      ++closed_by;
      found_by_closer = listed;
      if (view.empty()) ++advanced;
    }
    unlock(view.with_closed());
  }
  std::uint64_t found_by_closer = 0;
};

using Empty = Region<0>;
using One = Region<1>;
using Two = Region<2>;

template <class Region>
void admit(Region& region) {
  region.admit();
}
template <class Region>
void leave(Region& region) {
  region.leave();
}
template <class Region>
void close(Region& region) {
  region.close();
}
template <class Region>
void admit_and_leave(Region& region) {
  if (region.admit()) region.leave();
}

template <class Region>
void ended_once(Region& region) {
  EXPECT_EQ(region.closed_by, 1);
  EXPECT_EQ(region.advanced, 1) << "REG-9: one is the last one out, in every order";
  EXPECT_TRUE(region.gate.look().last_one_left());
}

TEST(RegionGateModel, REG_4_the_bit_keeps_two_threads_apart) {
  expect_exhausted(explore<Empty>({admit_and_leave<Empty>, admit<Empty>}, [](Empty& region) {
    EXPECT_EQ(region.admitted, 2);
    EXPECT_EQ(region.gate.look().tasks(), 1U);
  }));
}

TEST(RegionGateModel, REG_4_the_bit_keeps_three_threads_apart) {
  expect_exhausted(explore<Empty>({admit<Empty>, admit<Empty>, admit<Empty>},
                                  [](Empty& region) { EXPECT_EQ(region.gate.look().tasks(), 3U); }));
}

TEST(RegionGateModel, CAN_6_an_admission_is_found_by_the_closer_or_refused) {
  expect_exhausted(explore<Empty>({admit<Empty>, close<Empty>}, [](Empty& region) {
    EXPECT_EQ(region.admitted + region.refused, 1);
    EXPECT_EQ(region.found_by_closer, static_cast<std::uint64_t>(region.admitted));
    EXPECT_EQ(region.advanced, region.refused);
  }));
}

TEST(RegionGateModel, REG_8_a_limit_is_never_exceeded) {
  const Body<One> admit_second = [](One& region) { region.admit(2); };
  expect_exhausted(explore<One>({admit_second, admit_second}, [](One& region) {
    EXPECT_EQ(region.admitted, 1);
    EXPECT_EQ(region.gate.look().tasks(), 2U);
  }));
}

TEST(RegionGateModel, REG_9_of_a_departure_and_a_close_one_is_the_last_one_out) {
  expect_exhausted(explore<One>({leave<One>, close<One>}, ended_once<One>));
}

TEST(RegionGateModel, REG_9_of_two_departures_and_a_close_one_is_the_last_one_out) {
  expect_exhausted(explore<Two>({leave<Two>, leave<Two>, close<Two>}, ended_once<Two>));
}

TEST(RegionGateModel, REG_9_admissions_and_departures_against_a_close_have_one_last_one_out) {
  expect_exhausted(explore<One>({admit_and_leave<One>, leave<One>, close<One>}, ended_once<One>));
}

TEST(RegionGateModel, REG_2_of_two_closers_one_closes) {
  expect_exhausted(explore<One>({close<One>, close<One>}, [](One& region) {
    EXPECT_EQ(region.closed_by, 1);
    EXPECT_EQ(region.advanced, 0);
  }));
  expect_exhausted(explore<Empty>({close<Empty>, close<Empty>}, ended_once<Empty>));
}

}  // namespace
}  // namespace calm::explored
