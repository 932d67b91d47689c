#include <gtest/gtest.h>

#include "calm/kernel/shards.hpp"
#include "tests/no_memory.hpp"

namespace calm::kernel {
namespace {

/// A function of its own: where the compiler sees the whole life of the shards, it may leave their memory out.
[[gnu::noinline]] Status init_without_memory(Shards<lockfree::RealAtomics>& shards) {
  const NoMemory gone;
  return shards.init(4);
}

TEST(ShardsWithoutMemory, are_refused_and_can_be_tried_again) {
  Shards<lockfree::RealAtomics> shards;
  EXPECT_EQ(init_without_memory(shards), Status(Errc::resource_exhausted));
  EXPECT_EQ(shards.workers(), 0U);
  EXPECT_TRUE(shards.init(4));
}

}  // namespace
}  // namespace calm::kernel
