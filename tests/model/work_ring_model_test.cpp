// The run queue of a worker against thieves, under every interleaving: each entry goes to one of them, once.
#include "calm/lockfree/work_ring.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "calm/explore/plain.hpp"
#include "tests/model/explored.hpp"
#include "tests/model/weakened.hpp"

namespace calm::explored {
namespace {

struct Job {
  int taken = 0;
};

/// A worker with a ring, and thieves with rings of their own.
template <std::uint32_t capacity>
struct Workshop {
  using Ring = lockfree::WorkRing<Job, capacity, ModelAtomics>;

  Ring owner;
  std::array<Ring, 2> thieves;
  std::array<Job, 6> jobs;
  int refused = 0;

  static void run(Job* job) {
    if (job != nullptr) {
      ASSERT_EQ(++job->taken, 1);
    }
  }
  void push(std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      if (owner.push(jobs[i])) continue;
      ++refused;
      run(&jobs[i]);
    }
  }
  void pop_all() {
    while (Job* const job = owner.pop()) run(job);
  }
  void steal(std::size_t thief) {
    run(thieves[thief].steal_from(owner));
    while (Job* const job = thieves[thief].pop()) run(job);
  }
};

template <std::uint32_t capacity>
Body<Workshop<capacity>> owner_of(std::size_t jobs) {
  return [=](Workshop<capacity>& shop) {
    shop.push(0, jobs);
    shop.pop_all();
  };
}
template <std::uint32_t capacity, std::size_t thief>
void steal_once(Workshop<capacity>& shop) {
  shop.steal(thief);
}
template <std::uint32_t capacity>
Body<Workshop<capacity>> each_once(std::size_t jobs) {
  return [=](Workshop<capacity>& shop) {
    shop.pop_all();
    for (std::size_t i = 0; i < shop.jobs.size(); ++i) EXPECT_EQ(shop.jobs[i].taken, i < jobs ? 1 : 0) << "job " << i;
    EXPECT_EQ(shop.owner.size(), 0U);
  };
}

TEST(WorkRingModel, an_owner_and_a_thief_share_what_there_is) {
  expect_exhausted(explore<Workshop<4>>({owner_of<4>(3), steal_once<4, 0>}, each_once<4>(3)));
}

TEST(WorkRingModel, a_ring_that_is_full_while_a_thief_copies_refuses_and_loses_nothing) {
  expect_exhausted(explore<Workshop<2>>({owner_of<2>(4), steal_once<2, 0>}, each_once<2>(4)));
}

TEST(WorkRingModel, two_thieves_never_get_the_same_entry) {
  expect_exhausted(explore<Workshop<2>>({owner_of<2>(2), steal_once<2, 0>, steal_once<2, 1>}, each_once<2>(2)));
}

TEST(WorkRingModel, the_owner_does_not_write_where_a_thief_still_copies) {
  const Body<Workshop<2>> owner = [](Workshop<2>& shop) {
    shop.push(0, 2);
    Workshop<2>::run(shop.owner.pop());
    shop.push(2, 2);
  };
  expect_exhausted(explore<Workshop<2>>({owner, steal_once<2, 0>}, each_once<2>(4)));
}

TEST(WorkRingModel, the_slots_of_one_thief_are_not_freed_by_another) {
  struct Full : Workshop<4> {
    Full() { push(0, 4); }
  };
  const Body<Full> push_more = [](Full& shop) { shop.push(4, 2); };
  const Body<Full> first = [](Full& shop) { shop.steal(0); };
  const Body<Full> second = [](Full& shop) { shop.steal(1); };
  expect_exhausted(explore<Full>({push_more, first, second}, [](Full& shop) { each_once<4>(6)(shop); }));
}

TEST(WorkRingModel, a_thief_may_be_robbed_while_it_steals) {
  const Body<Workshop<4>> fill = [](Workshop<4>& shop) { shop.push(0, 4); };
  const Body<Workshop<4>> rob = [](Workshop<4>& shop) {
    Workshop<4>::run(shop.thieves[1].steal_from(shop.thieves[0]));
    while (Job* const job = shop.thieves[1].pop()) Workshop<4>::run(job);
  };
  expect_exhausted(explore<Workshop<4>>({fill, steal_once<4, 0>, rob}, [](Workshop<4>& shop) {
    shop.pop_all();
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(shop.jobs[i].taken, 1) << "job " << i;
  }));
}

TEST(WorkRingModel, an_owner_that_makes_room_and_a_thief_lose_nothing) {
  const Body<Workshop<4>> owner = [](Workshop<4>& shop) {
    shop.push(0, 4);
    std::array<Job*, 2> half{};
    const std::uint32_t count = shop.owner.pop_half(half);
    for (std::uint32_t i = 0; i < count; ++i) Workshop<4>::run(half[i]);
    shop.push(4, 2);
  };
  expect_exhausted(explore<Workshop<4>>({owner, steal_once<4, 0>}, each_once<4>(6)));
}

// --- the orders ---

template <Weakening what>
struct Handed {
  struct Parcel {
    explore::Plain<int> content{0};
  };
  using Ring = lockfree::WorkRing<Parcel, 2, Weakened<what>>;
  Ring owner;
  Ring thief;
  std::array<Parcel, 3> parcels;

  static void give(Handed& handed) {
    for (Parcel& parcel : handed.parcels) {
      parcel.content = 1;
      if (!handed.owner.push(parcel)) return;
    }
  }
  static void take(Handed& handed) {
    for (Parcel* parcel = handed.thief.steal_from(handed.owner); parcel != nullptr; parcel = handed.thief.pop()) {
      EXPECT_EQ(parcel->content.get(), 1);
    }
  }
};

TEST(WorkRingModel, LAB_8_W1_an_entry_is_seen_whole_by_its_thief) {
  const auto explore_with = []<Weakening what> {
    using State = Handed<what>;
    return explore<State>({State::give, State::take}, [](State&) {});
  };
  expect_exhausted(explore_with.operator()<Weakening::none>());
  EXPECT_FALSE(explore_with.operator()<Weakening::store_release>().ok());
}

}  // namespace
}  // namespace calm::explored
