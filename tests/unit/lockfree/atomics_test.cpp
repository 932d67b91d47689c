#include "calm/lockfree/atomics.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

namespace calm::lockfree {
namespace {

struct WithoutPause {
  template <class T>
  using Atomic = std::atomic<T>;
};
struct PlainWords {
  template <class T>
  using Atomic = T;
  static void pause() noexcept {}
};
struct PauseThatThrows {
  template <class T>
  using Atomic = std::atomic<T>;
  static void pause() {}
};

TEST(Atomics, a_policy_offers_words_and_a_pause) {
  EXPECT_TRUE(AtomicsPolicy<RealAtomics>);
  EXPECT_FALSE(AtomicsPolicy<WithoutPause>);
  EXPECT_FALSE(AtomicsPolicy<PlainWords>);
  EXPECT_FALSE(AtomicsPolicy<PauseThatThrows>);
}

TEST(Atomics, real_words_cost_no_more_than_their_value) {
  EXPECT_EQ(sizeof(RealAtomics::Atomic<std::uint8_t>), 1U);
  EXPECT_EQ(sizeof(RealAtomics::Atomic<std::uint64_t>), 8U);
}

TEST(Atomics, a_paused_thread_goes_on) {
  RealAtomics::Atomic<bool> ready{false};
  std::thread setter([&ready] { ready.store(true, std::memory_order_release); });
  while (!ready.load(std::memory_order_acquire)) RealAtomics::pause();
  setter.join();
}

}  // namespace
}  // namespace calm::lockfree
