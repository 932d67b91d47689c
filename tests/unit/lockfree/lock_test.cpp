#include "calm/lockfree/lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace calm::lockfree {
namespace {

/// Runs the body on several threads at a time.
template <class Body>
void together(int threads, Body body) {
  std::vector<std::thread> running;
  running.reserve(static_cast<std::size_t>(threads));
  std::atomic<int> missing{threads};
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      missing.fetch_sub(1);
      while (missing.load() != 0) std::this_thread::yield();
      body();
    });
  }
  for (std::thread& thread : running) thread.join();
}

TEST(Lock, is_one_word_and_free_at_first) {
  Lock<> lock;
  EXPECT_EQ(sizeof(lock), 4U);
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  lock.lock();
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
}

// The sum is a plain number: ThreadSanitizer would see two threads in the section, and a lost addition shows anywhere.
template <class Lock>
void expect_no_addition_lost(int threads, int rounds) {
  Lock lock;
  std::uint64_t sum = 0;
  together(threads, [&] {
    for (int i = 0; i < rounds; ++i) {
      lock.lock();
      ++sum;
      lock.unlock();
    }
  });
  EXPECT_EQ(sum, static_cast<std::uint64_t>(threads) * static_cast<std::uint64_t>(rounds));
}

TEST(Lock, lets_one_at_a_time_into_a_section) { expect_no_addition_lost<Lock<>>(4, 100'000); }

TEST(Lock, wakes_everyone_who_sleeps_at_once) { expect_no_addition_lost<Lock<RealAtomics, 0>>(4, 100'000); }

TEST(Lock, a_try_takes_it_as_a_lock_does) {
  Lock<> lock;
  std::uint64_t sum = 0;
  together(2, [&] {
    for (int done = 0; done < 50'000;) {
      if (!lock.try_lock()) continue;
      ++sum;
      ++done;
      lock.unlock();
    }
  });
  EXPECT_EQ(sum, 100'000U);
}

TEST(Lock, sleepers_go_on_when_a_long_section_ends) {
  Lock<> lock;
  std::uint64_t sum = 0;
  std::atomic<int> started{0};
  lock.lock();
  together(3, [&] {
    if (started.fetch_add(1) == 2) {  // the last to start has the others asleep soon; it ends the section for the owner
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ++sum;
      lock.unlock();
      return;
    }
    lock.lock();
    ++sum;
    lock.unlock();
  });
  EXPECT_EQ(sum, 3U);
}

}  // namespace
}  // namespace calm::lockfree
