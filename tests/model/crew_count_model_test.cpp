// Who waits for the last of a crew, and those who leave it: under every interleaving neither misses the other.
#include "calm/lockfree/crew_count.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "calm/explore/plain.hpp"
#include "calm/lockfree/parker.hpp"
#include "tests/model/explored.hpp"
#include "tests/model/fence_model.hpp"
#include "tests/model/futex_model.hpp"
#include "tests/model/orders.hpp"
#include "tests/model/weakened.hpp"

namespace calm::explored {
namespace {

/// An owner, and as many others as `crowd`, each with a piece of work that the owner looks at when all have left.
template <class Atomics, std::uint32_t crowd>
struct Party {
  using Members = lockfree::Company<Atomics, ModelFence>;

  Members company;  // not prepared, nobody is alone in it
  lockfree::CrewCount<Atomics, Members> crew;
  lockfree::Parker<Atomics, ModelFutex> bed;
  std::array<explore::Plain<int>, crowd> work;
  ModelAtomics::Atomic<int> told{0};  // those who were to wake the owner
  bool found_empty = false;

  Party() {
    for (std::uint32_t i = 0; i < crowd; ++i) crew.add(&company);
  }

  void look() {
    for (auto& one : work) EXPECT_EQ(one.get(), 1) << "nobody is left, so all is done and seen";
  }
  void leave_now() {
    if (!crew.leave(&company)) return;
    told.fetch_add(1, relaxed);
    bed.unpark();
  }

  template <std::uint32_t which>
  static void leave(Party& party) {
    party.work[which] = 1;
    party.leave_now();
  }
  static void linger_once(Party& party) {
    party.found_empty = party.crew.linger();
    if (party.found_empty) party.look();
  }
  static void linger(Party& party) {
    while (!party.crew.linger()) (void)party.bed.park();
    party.look();
  }

  // The same at work, each alone when it finds itself so.

  template <std::uint32_t which>
  static void leave_at_work(Party& party) {
    party.company.enter();
    party.company.try_alone();
    leave<which>(party);
    party.company.leave();
  }
  static void linger_at_work(Party& party) {
    for (;;) {
      party.company.enter();
      party.company.try_alone();
      const bool empty = party.crew.linger();
      party.company.leave();
      if (empty) break;
      (void)party.bed.park();
    }
    party.look();
  }
};

template <class State>
void expect_one_told_at_most(State& party) {
  EXPECT_LE(party.told.load(relaxed), 1) << "one is the last";
}
template <class State>
void expect_not_missed(State& party) {
  EXPECT_TRUE(party.found_empty || party.told.load(relaxed) == 1) << "who waits is left asleep";
  expect_one_told_at_most(party);
}

TEST(CrewCountModel, REG_2_who_waits_finds_it_empty_or_the_last_to_leave_is_told) {
  using One = Party<ModelAtomics, 1>;
  expect_exhausted(explore<One>({One::leave<0>, One::linger_once}, expect_not_missed<One>));
  using Two = Party<ModelAtomics, 2>;
  expect_exhausted(explore<Two>({Two::leave<0>, Two::leave<1>, Two::linger_once}, expect_not_missed<Two>));
}

TEST(CrewCountModel, REG_2_who_sleeps_until_told_gets_up_and_sees_all_that_was_done) {
  using Two = Party<ModelAtomics, 2>;
  expect_exhausted(explore<Two>({Two::leave<0>, Two::leave<1>, Two::linger}, expect_one_told_at_most<Two>));
}

TEST(CrewCountModel, REG_2_who_finds_it_empty_may_be_woken_all_the_same) {
  using One = Party<ModelAtomics, 1>;
  bool both = false;
  const auto look = [&both](One& party) { both = both || (party.found_empty && party.told.load(relaxed) == 1); };
  expect_exhausted(explore<One>({One::leave<0>, One::linger_once}, look));
  EXPECT_TRUE(both) << "what is said of it in crew_count.hpp is not so any more";
}

TEST(CrewCountModel, REG_6_one_that_lets_another_in_leaves_it_neither_empty_nor_with_two_that_are_the_last) {
  struct Late : Party<ModelAtomics, 2> {
    Late() { crew.leave_alone(); }  // the second comes later
    ModelAtomics::Atomic<bool> in{false};
  };
  const Body<Late> let_in_and_leave = [](Late& party) {
    party.crew.add(&party.company);
    party.in.store(true, relaxed);
    party.work[0] = 1;
    party.leave_now();
  };
  const Body<Late> come_and_leave = [](Late& party) {
    while (!party.in.load(relaxed)) ModelAtomics::pause();
    party.work[1] = 1;
    party.leave_now();
  };
  const Body<Late> linger = [](Late& party) { Late::linger(party); };
  expect_exhausted(explore<Late>({let_in_and_leave, come_and_leave, linger}, expect_one_told_at_most<Late>));
}

/// They may be alone.
template <std::uint32_t crowd>
struct WorkingParty : Party<ModelAtomics, crowd> {
  WorkingParty() { this->company.prepare(); }
  template <std::uint32_t which>
  static void leave(WorkingParty& party) {
    Party<ModelAtomics, crowd>::template leave_at_work<which>(party);
  }
  static void linger(WorkingParty& party) { Party<ModelAtomics, crowd>::linger_at_work(party); }
};

TEST(CrewCountModel, REG_2_who_leaves_alone_and_who_leaves_among_others_are_counted_as_one_crew) {
  using One = WorkingParty<1>;
  expect_exhausted(explore<One>({One::leave<0>, One::linger}, expect_one_told_at_most<One>));
  using Two = WorkingParty<2>;
  Options options;
  options.max_preemptions = 2;  // 81 874 executions; with 3 and without a bound more than 200 000
  const std::vector<Body<Two>> threads = {Two::leave<0>, Two::leave<1>, Two::linger};
  expect_exhausted(explore<Two>(threads, expect_one_told_at_most<Two>, options));
}

TEST(CrewCountModel, REG_6_an_owner_lets_one_in_while_the_last_of_the_others_leaves) {
  struct Late : Party<ModelAtomics, 2> {
    Late() {
      company.prepare();
      crew.leave_alone();  // the second comes later
    }
  };
  const Body<Late> leave = [](Late& party) { Late::leave_at_work<0>(party); };
  const Body<Late> let_in_and_linger = [](Late& party) {
    party.company.enter();
    party.company.try_alone();
    party.crew.add(&party.company);
    party.work[1] = 1;
    EXPECT_FALSE(party.crew.leave(&party.company)) << "nobody waits yet";
    party.company.leave();
    Late::linger_at_work(party);
  };
  Options options;
  options.max_preemptions = 3;  // 111 194 executions; without a bound more than 200 000 reduced ones
  expect_exhausted(explore<Late>({leave, let_in_and_linger}, expect_one_told_at_most<Late>, options));
}

/// They believe to be alone.
struct TornParty : Party<ModelAtomics, 2> {
  template <std::uint32_t which>
  static void leave(TornParty& party) {
    party.work[which] = 1;
    const bool last = !party.crew.may_leave_alone();
    party.crew.leave_alone();
    if (last) party.bed.unpark();
  }
  static void sleep(TornParty& party) {
    if (!party.crew.linger()) (void)party.bed.park();
  }
};

TEST(CrewCountModelItself, finds_plain_steps_of_who_is_not_alone) {
  using Torn = TornParty;
  const Report report = explore<Torn>({Torn::leave<0>, Torn::leave<1>, Torn::sleep}, [](Torn&) {});
  EXPECT_NE(report.failure.find("deadlock"), std::string::npos) << report;
}

template <Weakening what>
Report explore_weakened() {
  using One = Party<Weakened<what>, 1>;
  return explore<One>({One::template leave<0>, One::linger}, expect_one_told_at_most<One>);
}
template <Weakening what>
void expect_left_asleep() {
  const Report report = explore_weakened<what>();
  EXPECT_NE(report.failure.find("deadlock"), std::string::npos) << report;
}

TEST(CrewCountModelItself, LAB_8_finds_one_that_is_left_asleep_when_any_of_the_steps_is_not_seq_cst) {
  EXPECT_TRUE(explore_weakened<Weakening::none>().ok());
  expect_left_asleep<Weakening::load_seq_cst>();
  expect_left_asleep<Weakening::store_seq_cst>();
  expect_left_asleep<Weakening::update_seq_cst>();
}

}  // namespace
}  // namespace calm::explored
