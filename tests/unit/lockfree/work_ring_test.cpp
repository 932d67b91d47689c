// The run queue of a worker: its order, its bounds, and a crowd of thieves on real threads.
#include "calm/lockfree/work_ring.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace calm::lockfree {
namespace {

struct Errand {
  std::atomic<int> done{0};
};
using Errands = WorkRing<Errand, 4>;

TEST(WorkRing, gives_back_the_oldest_entry_first) {
  Errands ring;
  std::array<Errand, 3> errands;
  EXPECT_EQ(ring.pop(), nullptr);
  for (Errand& errand : errands) EXPECT_TRUE(ring.push(errand));
  EXPECT_EQ(ring.size(), 3U);
  for (Errand& errand : errands) EXPECT_EQ(ring.pop(), &errand);
  EXPECT_EQ(ring.pop(), nullptr);
}

TEST(WorkRing, gives_it_back_in_plain_steps_to_who_is_alone) {
  Errands ring;
  std::array<Errand, 6> errands;
  EXPECT_EQ(ring.pop_alone(), nullptr);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(ring.push(errands[i]));
  EXPECT_EQ(ring.pop_alone(), &errands[0]);
  EXPECT_EQ(ring.pop(), &errands[1]);
  EXPECT_TRUE(ring.push(errands[4]) && ring.push(errands[5])) << "their places are free";
  for (std::size_t i = 2; i < 6; ++i) EXPECT_EQ(ring.pop_alone(), &errands[i]);
  EXPECT_EQ(ring.pop_alone(), nullptr);
  EXPECT_EQ(ring.size(), 0U);
}

TEST(WorkRing, gives_the_oldest_for_one_that_goes_behind_all) {
  Errands ring;
  std::array<Errand, 5> errands;
  EXPECT_EQ(&ring.rotate_alone(errands[0]), &errands[0]) << "it is the oldest itself";
  EXPECT_EQ(ring.size(), 0U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(ring.push(errands[i]));
  EXPECT_EQ(&ring.rotate_alone(errands[4]), &errands[0]) << "a full ring has room for one that comes for another";
  EXPECT_EQ(ring.size(), 4U);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(ring.pop(), &errands[i]);
}

TEST(WorkRing, HND_3_refuses_what_it_has_no_room_for_and_has_room_again_after_a_pop) {
  Errands ring;
  std::array<Errand, 5> errands;
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(ring.push(errands[i]));
  EXPECT_FALSE(ring.push(errands[4]));
  EXPECT_EQ(ring.size(), 4U);
  EXPECT_EQ(ring.pop(), &errands[0]);
  EXPECT_TRUE(ring.push(errands[4]));
  for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(ring.pop(), &errands[i]);
}

TEST(WorkRing, makes_room_by_giving_away_the_older_half) {
  Errands ring;
  std::array<Errand, 4> errands;
  std::array<Errand*, 2> half{};
  EXPECT_EQ(ring.pop_half(half), 0U);
  for (Errand& errand : errands) EXPECT_TRUE(ring.push(errand));
  EXPECT_EQ(ring.pop_half(half), 2U);
  EXPECT_EQ(half, (std::array<Errand*, 2>{&errands[0], &errands[1]}));
  EXPECT_EQ(ring.pop(), &errands[2]);
  EXPECT_EQ(ring.pop_half(half), 0U) << "one is no half";
  EXPECT_EQ(ring.pop(), &errands[3]);
}

TEST(WorkRing, a_thief_gets_the_older_half_and_one_to_run_at_once) {
  Errands victim;
  Errands thief;
  std::array<Errand, 4> errands;
  EXPECT_EQ(thief.steal_from(victim), nullptr);
  for (Errand& errand : errands) EXPECT_TRUE(victim.push(errand));
  EXPECT_EQ(thief.steal_from(victim), &errands[1]);
  EXPECT_EQ(thief.pop(), &errands[0]);
  EXPECT_EQ(thief.pop(), nullptr);
  EXPECT_EQ(victim.size(), 2U);
  EXPECT_EQ(thief.steal_from(victim), &errands[2]) << "one of two";
  EXPECT_EQ(thief.steal_from(victim), &errands[3]) << "the last one too";
  EXPECT_EQ(victim.pop(), nullptr);
}

TEST(WorkRing, in_a_crowd_of_thieves_every_entry_is_taken_once) {
  constexpr std::size_t count = 20'000;
  using Ring = WorkRing<Errand, 64>;
  std::vector<Errand> errands(count);
  std::array<Ring, 3> rings;
  std::atomic<std::size_t> done = 0;
  const auto run = [&](Errand* errand) {
    if (errand == nullptr) return;
    errand->done.fetch_add(1, std::memory_order_relaxed);
    done.fetch_add(1, std::memory_order_relaxed);
  };
  std::vector<std::thread> thieves;
  for (std::size_t me = 1; me < rings.size(); ++me) {
    thieves.emplace_back([&, me] {
      while (done.load(std::memory_order_relaxed) < count) {
        run(rings[me].steal_from(rings[0]));
        while (Errand* const errand = rings[me].pop()) run(errand);
        std::this_thread::yield();
      }
    });
  }
  for (Errand& errand : errands) {
    while (!rings[0].push(errand)) run(rings[0].pop());
  }
  while (done.load(std::memory_order_relaxed) < count) run(rings[0].pop());
  for (std::thread& thief : thieves) thief.join();
  for (const Errand& errand : errands) ASSERT_EQ(errand.done.load(), 1);
}

}  // namespace
}  // namespace calm::lockfree
