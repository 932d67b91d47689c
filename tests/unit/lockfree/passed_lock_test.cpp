// A lock that is passed on, on real cores: one has it at a time, and all that want it get through.
#include "calm/lockfree/passed_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace calm::lockfree {
namespace {

template <class Lock>
void all_get_through() {
  constexpr int threads_count = 3;
  constexpr int times = 3'000;
  Lock lock;
  int served = 0;  // plain: ThreadSanitizer sees whether the lock hands it over
  std::atomic<int> here = 0;
  std::vector<std::thread> threads;
  for (int me = 1; me <= threads_count; ++me) {
    threads.emplace_back([&, me] {
      here.fetch_add(1);
      while (here.load() != threads_count) std::this_thread::yield();
      for (int i = 0; i < times; ++i) {
        lock.lock(me);
        ++served;
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(served, threads_count * times);
}

TEST(PassedLock, SCH_9_threads_that_want_it_all_the_time_all_get_through) {
  all_get_through<PassedLock<int, 4>>();
  all_get_through<PassedLock<int, 1, RealAtomics, std::mutex>>();
}

TEST(PassedLock, SCH_9_who_is_alone_waits_for_nobody) {
  PassedLock<int, 1> lock;
  int served = 0;
  for (int i = 0; i < 100; ++i) {
    lock.lock(1);
    ++served;
    lock.unlock();
  }
  EXPECT_EQ(served, 100);
}

}  // namespace
}  // namespace calm::lockfree
