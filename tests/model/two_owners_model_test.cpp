// Two that have one thing: under every interleaving one of them ends it, and sees all that the other did.
#include "calm/lockfree/two_owners.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "calm/explore/plain.hpp"
#include "tests/model/explored.hpp"
#include "tests/model/orders.hpp"

namespace calm::explored {
namespace {

template <class Atomics>
struct Estate {
  lockfree::TwoOwners<Atomics> owners;
  std::array<explore::Plain<int>, 2> rooms;
  ModelAtomics::Atomic<int> ends{0};

  Estate() { owners.retain(); }

  void end() {
    for (auto& room : rooms) room = room.get() + 1;  // what is ended is written to
    ends.fetch_add(1, relaxed);
  }
  template <std::size_t which>
  static void use_and_release(Estate& estate) {
    estate.rooms[which] = 1;
    if (estate.owners.release()) estate.end();
  }
  template <std::size_t which>
  static void use_and_release_alone(Estate& estate) {
    estate.rooms[which] = 1;
    if (estate.owners.release_alone()) estate.end();
  }
  /// The second asks whether the first has let go.
  static void ask(Estate& estate) {
    if (!estate.owners.several()) {
      EXPECT_EQ(estate.rooms[0].get(), 1) << "what it did before is seen";
      EXPECT_FALSE(estate.owners.several()) << "who is alone stays so";
    }
  }
  static void ask_and_release(Estate& estate) {
    ask(estate);
    use_and_release<1>(estate);
  }
};

template <class State>
void expect_one_end(State& estate) {
  EXPECT_EQ(estate.ends.load(relaxed), 1);
  EXPECT_EQ(estate.rooms[0].get(), 2);
  EXPECT_EQ(estate.rooms[1].get(), 2);
}

using House = Estate<ModelAtomics>;

TEST(TwoOwnersModel, TSK_3_one_of_two_that_let_go_at_once_is_the_last_and_sees_what_the_other_did) {
  expect_exhausted(explore<House>({House::use_and_release<0>, House::use_and_release<1>}, expect_one_end<House>));
}

TEST(TwoOwnersModel, TSK_3_who_is_told_that_the_other_has_let_go_sees_what_it_did_and_is_the_last) {
  expect_exhausted(explore<House>({House::use_and_release<0>, House::ask_and_release}, expect_one_end<House>));
}

TEST(TwoOwnersModel, TSK_3_one_thread_with_both_ends_it_with_the_second) {
  const Body<House> both = [](House& estate) {
    EXPECT_TRUE(estate.owners.several());
    House::use_and_release_alone<0>(estate);
    EXPECT_FALSE(estate.owners.several());
    House::use_and_release_alone<1>(estate);
  };
  expect_exhausted(explore<House>({both}, expect_one_end<House>));
}

TEST(TwoOwnersModelItself, finds_plain_steps_of_two_threads) {
  const Report report =
      explore<House>({House::use_and_release_alone<0>, House::use_and_release_alone<1>}, expect_one_end<House>);
  EXPECT_FALSE(report.failure.empty()) << report;
}

}  // namespace
}  // namespace calm::explored
