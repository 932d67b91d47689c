// Who looks after others and sleeps while they rest: under every interleaving it looks again when one of them is awake.
#include "calm/lockfree/vigil.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "calm/lockfree/parker.hpp"
#include "tests/model/explored.hpp"
#include "tests/model/futex_model.hpp"
#include "tests/model/orders.hpp"
#include "tests/model/weakened.hpp"

namespace calm::explored {
namespace {

/// Guards, each of whom is awake in the end, and one who looks after them until it has seen that.
template <class Atomics, std::uint32_t guards>
struct Watchtower {
  lockfree::Vigil<Atomics> vigil;
  std::array<lockfree::AwakeMark<Atomics>, guards> marks;
  lockfree::Parker<Atomics, ModelFutex> bed;
  ModelAtomics::Atomic<int> calls{0};
  int sleeps = 0;
  int slept_beside_one_awake = 0;

  void get_up(std::uint32_t me) {
    marks[me].wake();
    if (!vigil.begins()) return;
    calls.fetch_add(1, relaxed);
    bed.unpark();
  }
  [[nodiscard]] std::uint32_t awake() const {
    std::uint32_t count = 0;
    for (const auto& mark : marks) count += mark.is_awake() ? 1U : 0U;
    return count;
  }

  template <std::uint32_t me>
  static void stay_up(Watchtower& tower) {
    tower.get_up(me);
  }
  template <std::uint32_t me>
  static void nod_and_stay_up(Watchtower& tower) {
    tower.get_up(me);
    tower.marks[me].rest();
    tower.get_up(me);
  }
  static void look(Watchtower& tower) {
    for (;;) {
      const std::uint32_t awake = tower.awake();
      if (awake == guards) return;  // it will look on for as long as they are
      if (awake != 0) {
        Atomics::pause();  // looks again after a while
        continue;
      }
      const auto look_again = [&tower] { return tower.awake() != 0; };
      if (tower.vigil.rests(look_again)) continue;
      (void)tower.bed.park();
      ++tower.sleeps;
    }
  }
};

template <class State>
void expect_called_once_a_sleep(State& tower) {
  EXPECT_EQ(tower.calls.load(relaxed), tower.sleeps) << "who sleeps is called once, and nobody calls one that looks";
}

TEST(VigilModel, GHO_3_who_wakes_up_while_the_watchman_falls_asleep_is_seen) {
  using One = Watchtower<ModelAtomics, 1>;
  expect_exhausted(explore<One>({One::look, One::stay_up<0>}, expect_called_once_a_sleep<One>));
  expect_exhausted(explore<One>({One::look, One::nod_and_stay_up<0>}, expect_called_once_a_sleep<One>));
}

TEST(VigilModel, GHO_3_of_two_who_wake_up_at_once_both_are_seen) {
  using Two = Watchtower<ModelAtomics, 2>;
  expect_exhausted(explore<Two>({Two::look, Two::stay_up<0>, Two::stay_up<1>}, expect_called_once_a_sleep<Two>));
}

TEST(VigilModel, SCH_8_the_watchman_sleeps_while_nobody_is_awake) {
  using One = Watchtower<ModelAtomics, 1>;
  bool slept = false;
  const auto look = [&slept](One& tower) { slept = slept || tower.sleeps != 0; };
  expect_exhausted(explore<One>({One::look, One::stay_up<0>}, look));
  EXPECT_TRUE(slept);
}

template <Weakening what>
Report explore_weakened() {
  using One = Watchtower<Weakened<what>, 1>;
  return explore<One>({One::look, One::template stay_up<0>}, [](One&) {});
}
template <Weakening what>
void expect_overlooked() {
  const Report report = explore_weakened<what>();
  EXPECT_NE(report.failure.find("deadlock"), std::string::npos) << report;
}

/// Who sleeps without another look, and who wakes up and looks at nothing.
template <bool looks_again, bool calls>
Report explore_without_a_step() {
  using One = Watchtower<ModelAtomics, 1>;
  const Body<One> look = [](One& tower) {
    while (!tower.marks[0].is_awake()) {
      if (!tower.vigil.rests([&tower] { return looks_again && tower.awake() != 0; })) (void)tower.bed.park();
    }
  };
  const Body<One> wake = [](One& tower) {
    if (calls) return One::stay_up<0>(tower);
    tower.marks[0].wake();
  };
  return explore<One>({look, wake}, [](One&) {});
}

TEST(VigilModelItself, LAB_8_finds_one_that_is_overlooked_when_a_step_is_missing_or_not_seq_cst) {
  EXPECT_TRUE(explore_weakened<Weakening::none>().ok());
  expect_overlooked<Weakening::load_seq_cst>();
  expect_overlooked<Weakening::store_seq_cst>();
  EXPECT_TRUE((explore_without_a_step<true, true>().ok()));
  EXPECT_NE((explore_without_a_step<false, true>().failure.find("deadlock")), std::string::npos);
  EXPECT_NE((explore_without_a_step<true, false>().failure.find("deadlock")), std::string::npos);
}

}  // namespace
}  // namespace calm::explored
