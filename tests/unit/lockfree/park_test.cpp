// Parkers, the event count and the idle set: whom they wake, and how long a crowd of real threads sleeps.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <thread>
#include <vector>

#include "calm/lockfree/event_count.hpp"
#include "calm/lockfree/idle_set.hpp"
#include "calm/lockfree/parker.hpp"

namespace calm::lockfree {
namespace {

std::uint64_t monotonic_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

// --- the parker ---

TEST(Parker, keeps_one_wake_for_the_next_park) {
  Parker<> parker;
  parker.unpark();
  parker.unpark();
  EXPECT_EQ(parker.park(), ParkEnd::unparked);
  EXPECT_EQ(parker.park(monotonic_ns()), ParkEnd::timed_out) << "two wakes are one";
}

TEST(Parker, sleeps_until_its_time_and_not_less) {
  Parker<> parker;
  const std::uint64_t until = monotonic_ns() + 3'000'000;
  EXPECT_EQ(parker.park(until), ParkEnd::timed_out);
  EXPECT_GE(monotonic_ns(), until);
}

TEST(Parker, uses_no_cpu_while_it_sleeps) {
  Parker<> parker;
  const auto cpu_ns = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
  };
  const std::uint64_t before = cpu_ns();
  EXPECT_EQ(parker.park(monotonic_ns() + 100'000'000), ParkEnd::timed_out);
  EXPECT_LT(cpu_ns() - before, 20'000'000U) << "a hundred milliseconds of spinning would be seen";
}

TEST(Parker, two_threads_that_wake_each_other_in_turn_both_get_through) {
  std::array<Parker<>, 2> parkers;
  constexpr int rounds = 2'000;
  int ball = 0;  // plain: ThreadSanitizer sees whether a wake hands it over
  const auto play = [&](std::size_t me) {
    for (int i = 0; i < rounds; ++i) {
      (void)parkers[me].park();
      ++ball;
      parkers[1 - me].unpark();
    }
  };
  std::thread other(play, 1);
  parkers[0].unpark();
  play(0);
  other.join();
  EXPECT_EQ(ball, 2 * rounds);
}

// --- the event count ---

TEST(EventCount, a_notify_after_prepare_ends_the_wait_and_one_before_does_not) {
  EventCount<> events;
  events.notify_all();
  auto key = events.prepare();
  EXPECT_EQ(events.wait(key, monotonic_ns()), ParkEnd::timed_out);
  key = events.prepare();
  events.notify_one();
  EXPECT_EQ(events.wait(key), ParkEnd::unparked);
  (void)events.prepare();
  events.cancel();
}

TEST(EventCount, in_a_crowd_every_item_is_taken_and_everyone_goes_home) {
  constexpr int items = 20'000;
  constexpr int takers = 3;
  EventCount<> events;
  std::atomic<int> waiting = 0;  // items that nobody has taken; below 0 is the end
  std::atomic<int> taken = 0;
  const auto take = [&] {
    int there = waiting.load(std::memory_order_seq_cst);
    while (there > 0 && !waiting.compare_exchange_weak(there, there - 1, std::memory_order_seq_cst)) {
    }
    return there;
  };
  std::vector<std::thread> crowd;
  for (int i = 0; i < takers; ++i) {
    crowd.emplace_back([&] {
      for (;;) {
        int got = take();
        if (got == 0) {
          const auto key = events.prepare();
          got = take();
          if (got == 0) {
            (void)events.wait(key);
            continue;
          }
          events.cancel();
        }
        if (got < 0) return;
        taken.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  for (int i = 0; i < items; ++i) {
    waiting.fetch_add(1, std::memory_order_seq_cst);
    events.notify_one();
  }
  while (taken.load(std::memory_order_relaxed) != items) std::this_thread::yield();
  waiting.store(-1, std::memory_order_seq_cst);
  events.notify_all();
  for (std::thread& thread : crowd) thread.join();
  EXPECT_EQ(taken.load(), items);
}

// --- the idle set ---

TEST(IdleSet, wakes_the_newest_sleeper_and_nobody_else_while_that_one_searches) {
  IdleSet<> idle;
  EXPECT_EQ(idle.wake_one(), std::nullopt) << "all are awake";
  EXPECT_TRUE(idle.begin_park(0, false, 10));
  EXPECT_TRUE(idle.begin_park(1, false, 30));
  EXPECT_TRUE(idle.begin_park(2, false, 20));
  EXPECT_EQ(idle.sleepers(), 3U);
  EXPECT_EQ(idle.wake_one(), 1U);
  EXPECT_EQ(idle.wake_one(), std::nullopt) << "1 looks for work";
  EXPECT_EQ(idle.wake_one_to_help(), std::nullopt);
  EXPECT_FALSE(idle.leave(1)) << "its waker was first: it searches";
  EXPECT_TRUE(idle.end_search()) << "it was the last to search";
  EXPECT_EQ(idle.wake_one_to_help(), 2U);
  EXPECT_EQ(idle.searchers(), 1U);
}

TEST(IdleSet, half_of_the_workers_search_and_the_last_of_them_looks_once_more) {
  IdleSet<> idle;
  EXPECT_TRUE(idle.begin_search(4));
  EXPECT_TRUE(idle.begin_search(4));
  EXPECT_FALSE(idle.begin_search(4));
  EXPECT_FALSE(idle.begin_park(2, false, 0)) << "two still search";
  EXPECT_FALSE(idle.begin_park(0, true, 0)) << "one still searches";
  EXPECT_TRUE(idle.begin_park(1, true, 0));
  EXPECT_TRUE(idle.leave(1)) << "it found something: busy";
  EXPECT_EQ(idle.sleepers(), 2U);
  EXPECT_EQ(idle.searchers(), 0U);
  EXPECT_TRUE(IdleSet<>().begin_search(1)) << "a single worker too";
}

TEST(IdleSet, wakes_all_at_once_for_the_end) {
  IdleSet<> idle;
  EXPECT_EQ(idle.wake_all(), 0U);
  (void)idle.begin_park(3, false, 0);
  (void)idle.begin_park(55, false, 0);
  EXPECT_EQ(idle.wake_all(), std::uint64_t{1} << 3 | std::uint64_t{1} << 55);
  EXPECT_EQ(idle.searchers(), 2U);
  EXPECT_FALSE(idle.leave(3));
  EXPECT_FALSE(idle.leave(55));
}

/// Workers around one counter of jobs, as a runtime has them.
struct Depot {
  static constexpr std::uint32_t workers = 3;
  IdleSet<> idle;
  std::array<Parker<>, workers> parkers;
  std::atomic<int> jobs = 0;
  std::atomic<int> done = 0;
  std::atomic<bool> over = false;

  [[nodiscard]] bool something_is_there() const {
    return jobs.load(std::memory_order_relaxed) > 0 || over.load(std::memory_order_relaxed);
  }
  bool take() {
    int there = jobs.load(std::memory_order_relaxed);
    while (there > 0 && !jobs.compare_exchange_weak(there, there - 1, std::memory_order_relaxed)) {
    }
    return there > 0;
  }
  void wake_one() {
    if (const auto who = idle.wake_one()) parkers[*who].unpark();
  }
  void end() {
    over.store(true, std::memory_order_relaxed);
    wake_everyone();
  }
  void wake_everyone() {
    const std::uint64_t all = idle.wake_all();
    for (std::uint32_t i = 0; i < workers; ++i) {
      if ((all >> i & 1U) != 0) parkers[i].unpark();
    }
  }
  void work(std::uint32_t me) {
    bool searching = false;
    for (std::uint64_t round = 0; !over.load(std::memory_order_relaxed); ++round) {
      if (!searching) searching = idle.begin_search(workers);
      if (searching && take()) {
        searching = false;
        if (idle.end_search() && jobs.load(std::memory_order_relaxed) > 0) wake_one();
        do done.fetch_add(1, std::memory_order_relaxed);
        while (take());
        continue;
      }
      if (!idle.begin_park(me, searching, round) || !something_is_there()) {
        // Now and then a timer ends the sleep.
        (void)parkers[me].park(round % 8 == 0 ? monotonic_ns() + 50'000 : never_ns);
      }
      searching = !idle.leave(me);
    }
    if (searching && idle.end_search()) wake_everyone();
  }
};

TEST(IdleSet, in_a_crowd_no_work_is_left_behind_while_all_sleep) {
  Depot depot;
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < Depot::workers; ++i) threads.emplace_back(&Depot::work, &depot, i);
  constexpr int rounds = 400;
  std::vector<std::thread> makers;
  for (int maker = 0; maker < 2; ++maker) {
    makers.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        depot.jobs.fetch_add(1, std::memory_order_relaxed);
        depot.wake_one();
        if (i % 16 == 0) std::this_thread::yield();
      }
    });
  }
  for (std::thread& maker : makers) maker.join();
  while (depot.done.load(std::memory_order_relaxed) != 2 * rounds) std::this_thread::yield();
  // All that is there came one by one: each job must be done although everyone may sleep when it comes.
  for (int i = 1; i <= 200; ++i) {
    depot.jobs.fetch_add(1, std::memory_order_relaxed);
    depot.wake_one();
    while (depot.done.load(std::memory_order_relaxed) != 2 * rounds + i) std::this_thread::yield();
  }
  depot.end();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(depot.done.load(), 2 * rounds + 200);
}

}  // namespace
}  // namespace calm::lockfree
