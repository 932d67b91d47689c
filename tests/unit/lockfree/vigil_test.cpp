// One who looks after others, on real cores: it sleeps while all rest, and nobody who wakes up is overlooked.
#include "calm/lockfree/vigil.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "calm/lockfree/parker.hpp"

namespace calm::lockfree {
namespace {

TEST(Vigil, GHO_3_who_looks_is_not_called_and_who_sleeps_is_called_once) {
  Vigil<> vigil;
  AwakeMark<> first;
  AwakeMark<> second;
  const auto look = [&] { return first.is_awake() || second.is_awake(); };
  first.wake();
  EXPECT_FALSE(vigil.begins()) << "it looks from the beginning";
  EXPECT_TRUE(vigil.rests(look)) << "somebody is awake after all";
  first.rest();
  EXPECT_FALSE(vigil.rests(look));
  first.wake();
  second.wake();
  EXPECT_TRUE(vigil.begins());
  EXPECT_FALSE(vigil.begins()) << "the other has called";
}

/// Each guard wakes up, and rests when it has been seen: a wake that is overlooked ends this never.
TEST(Vigil, GHO_3_SCH_8_in_a_crowd_whoever_wakes_up_is_seen) {
  constexpr std::size_t guards = 3;
  constexpr int rounds = 2'000;
  Vigil<> vigil;
  std::array<AwakeMark<>, guards> marks;
  std::array<std::atomic<int>, guards> seen{};
  std::atomic<std::size_t> gone{0};
  Parker<> bed;

  std::vector<std::thread> crowd;
  for (std::size_t me = 0; me < guards; ++me) {
    crowd.emplace_back([&, me] {
      for (int round = 0; round < rounds; ++round) {
        const int before = seen[me].load(std::memory_order_relaxed);
        marks[me].wake();
        if (vigil.begins()) bed.unpark();
        while (seen[me].load(std::memory_order_relaxed) == before) std::this_thread::yield();
        marks[me].rest();
      }
      gone.fetch_add(1, std::memory_order_relaxed);
      marks[me].wake();
      if (vigil.begins()) bed.unpark();
    });
  }
  const auto look = [&] {
    bool any = false;
    for (std::size_t i = 0; i < guards; ++i) {
      if (!marks[i].is_awake()) continue;
      seen[i].fetch_add(1, std::memory_order_relaxed);
      any = true;
    }
    return any;
  };
  while (gone.load(std::memory_order_relaxed) != guards) {
    if (look()) {
      std::this_thread::yield();
    } else if (!vigil.rests(look)) {
      (void)bed.park();
    }
  }
  for (std::thread& thread : crowd) thread.join();
  for (const auto& count : seen) EXPECT_GE(count.load(), rounds);
}

}  // namespace
}  // namespace calm::lockfree
