// One looks at everything while the others stand still: under every interleaving nobody works then, and all go on after.
#include "calm/lockfree/orders.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "calm/explore/plain.hpp"
#include "tests/model/explored.hpp"
#include "tests/model/weakened.hpp"

namespace calm::explored {
namespace {

/// Workers, each with a desk of its own, and one who looks at all desks.
template <class Atomics, std::uint32_t workers>
struct Office {
  using Orders = lockfree::Orders<Atomics>;

  Orders orders;
  std::array<explore::Plain<int>, workers> desks;

  void work(std::uint32_t me) { desks[me] = desks[me].get() + 1; }
  int see_all() {
    int seen = 0;
    for (auto& desk : desks) seen += desk.get();
    return seen;
  }

  /// Works, stands still as soon as it is told to, and works on.
  template <std::uint32_t me>
  static void stand_once(Office& office) {
    office.work(me);
    while (!office.orders.has(Orders::halt)) Atomics::pause();
    office.orders.stand_still();
    office.work(me);
  }
  /// Works, and stands still in between if it is told to.
  template <std::uint32_t me>
  static void work_twice(Office& office) {
    office.work(me);
    if (office.orders.has(Orders::halt)) office.orders.stand_still();
    office.work(me);
  }
  /// Does not look before everyone stands still.
  static void look(Office& office) {
    office.orders.begin_halt();
    while (office.orders.standing() < workers) Atomics::pause();
    EXPECT_EQ(office.see_all(), static_cast<int>(workers)) << "each has worked once";
    office.orders.end_halt();
  }
  /// Looks when everyone happens to stand still, and gives up otherwise.
  static void glance(Office& office) {
    office.orders.begin_halt();
    if (office.orders.standing() == workers) (void)office.see_all();
    office.orders.end_halt();
  }
};

template <class State>
void expect_nobody_stands(State& office) {
  EXPECT_EQ(office.orders.standing(), 0U);
  EXPECT_FALSE(office.orders.any());
}

TEST(OrdersModel, OBS_1_one_looks_while_two_stand_still_and_all_go_on) {
  using State = Office<ModelAtomics, 2>;
  const auto all_went_on = [](State& office) {
    expect_nobody_stands(office);
    EXPECT_EQ(office.see_all(), 4);
  };
  expect_exhausted(
      explore<State>({State::look, State::template stand_once<0>, State::template stand_once<1>}, all_went_on));
}

TEST(OrdersModel, OBS_1_who_looks_again_at_once_does_not_count_one_that_goes_on) {
  using State = Office<ModelAtomics, 1>;
  const Body<State> look_again = [](State& office) {
    State::look(office);
    State::glance(office);
  };
  expect_exhausted(explore<State>({look_again, State::stand_once<0>}, expect_nobody_stands<State>));
}

TEST(OrdersModel, OBS_1_of_two_that_look_the_second_stands_still_first) {
  struct State : Office<ModelAtomics, 1> {
    int inside = 0;
    /// There are two to stand still: the other one that looks, and the worker.
    static void look(State& office) {
      office.orders.begin_halt();
      EXPECT_EQ(++office.inside, 1) << "two look at once";
      if (office.orders.standing() == 2) (void)office.see_all();
      --office.inside;
      office.orders.end_halt();
      if (office.orders.has(Orders::halt)) office.orders.stand_still();
    }
    static void work(State& office) { work_twice<0>(office); }
  };
  Options options;
  options.max_preemptions = 4;  // 39 938 executions; without a bound more than 200 000 reduced ones
  const std::vector<Body<State>> threads = {State::look, State::look, State::work};
  expect_exhausted(explore<State>(threads, expect_nobody_stands<State>, options));
}

TEST(OrdersModel, QUI_2_who_does_not_stand_still_keeps_nobody_from_going_on) {
  struct State : Office<ModelAtomics, 2> {};
  const Body<State> look_without_one = [](State& office) {
    office.orders.begin_halt();
    while (office.orders.standing() == 0) ModelAtomics::pause();
    EXPECT_EQ(office.orders.standing(), 1U);
    EXPECT_EQ(office.desks[0].get(), 1);
    office.orders.end_halt();
  };
  const Body<State> stand = [](State& office) { State::stand_once<0>(office); };
  const Body<State> sit_in_a_poll = [](State& office) { office.work(1); };
  expect_exhausted(explore<State>({look_without_one, stand, sit_in_a_poll}, expect_nobody_stands<State>));
}

TEST(OrdersModel, SCH_6_an_order_that_comes_in_a_halt_is_not_lost_and_ends_none) {
  using State = Office<ModelAtomics, 1>;
  constexpr State::Orders::Bits errand = 1;
  const Body<State> give = [](State& office) { office.orders.give(errand); };
  const auto given = [](State& office) {
    EXPECT_TRUE(office.orders.has_now(errand));
    EXPECT_FALSE(office.orders.has_now(State::Orders::halt));
    office.orders.take_back(errand);
    expect_nobody_stands(office);
  };
  expect_exhausted(explore<State>({State::look, State::stand_once<0>, give}, given));
}

/// Who stands still is not woken.
struct DeafAtomics : ModelAtomics {
  template <class Word>
  static void notify_all(Word& /*word*/) noexcept {}
};

template <class Atomics>
Report look_twice_with() {
  using State = Office<Atomics, 1>;
  const Body<State> look_again = [](State& office) {
    State::look(office);
    State::glance(office);
  };
  return explore<State>({look_again, State::template stand_once<0>}, expect_nobody_stands<State>);
}
void expect_race(const Report& report) { EXPECT_NE(report.failure.find("a data race"), std::string::npos) << report; }

/// Who goes on takes itself off the count, and no more than that.
struct LooseAtomics : ModelAtomics {
  template <class T>
  struct Atomic : ModelAtomics::Atomic<T> {
    using ModelAtomics::Atomic<T>::Atomic;
    T fetch_sub(T value, std::memory_order /*order*/) noexcept {
      return ModelAtomics::Atomic<T>::fetch_sub(value, std::memory_order_acq_rel);
    }
  };
};
static_assert(lockfree::AtomicsPolicy<LooseAtomics>);

TEST(OrdersModelItself, LAB_8_finds_a_missing_wake_and_steps_that_are_too_weak) {
  const Report deaf = look_twice_with<DeafAtomics>();
  EXPECT_NE(deaf.failure.find("deadlock"), std::string::npos) << deaf;
  EXPECT_TRUE(look_twice_with<Weakened<Weakening::none>>().ok());
  expect_race(look_twice_with<Weakened<Weakening::update_any>>());  // [H1] [H2]
  expect_race(look_twice_with<LooseAtomics>());                     // [H3]
}

}  // namespace
}  // namespace calm::explored
