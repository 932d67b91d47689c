// The time that a worker keeps: its driver writes it, anybody may look.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "calm/kernel/kernel.hpp"
#include "tests/unit/kernel/threaded_host.hpp"

namespace calm::kernel {
namespace {

TEST(CachedTime, SHD_5_is_written_by_the_driver_of_a_worker_and_read_by_others_meanwhile) {
  ThreadedHost host{2};
  const std::unique_ptr<Kernel> kernel = Kernel::make({.workers = 2}, host).value();
  constexpr std::uint64_t last = 200'000;
  std::atomic<bool> looks{false};
  bool went_back = false;
  std::thread looker([&] {
    Time before = kernel->worker(0).now();
    looks.store(true, std::memory_order_relaxed);
    while (before != Time::at_ns(last)) {
      const Time now = kernel->worker(0).now();
      went_back = went_back || now < before;
      before = now;
    }
  });
  while (!looks.load(std::memory_order_relaxed)) std::this_thread::yield();
  for (std::uint64_t ns = 1; ns <= last; ++ns) kernel->worker(0).set_time(Time::at_ns(ns));
  looker.join();
  EXPECT_FALSE(went_back);
  EXPECT_EQ(kernel->worker(1).now(), Time());  // each worker has its own: nobody waits for another's
}

}  // namespace
}  // namespace calm::kernel
