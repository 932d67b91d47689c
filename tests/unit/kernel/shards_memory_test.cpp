#include <gtest/gtest.h>

#include "calm/kernel/shards.hpp"
#include "tests/no_memory.hpp"

namespace calm::kernel {
namespace {

TEST(ShardsWithoutMemory, are_refused_and_can_be_tried_again) {
  Shards<lockfree::RealAtomics> shards;
  {
    const NoMemory gone;
    EXPECT_EQ(shards.init(4), Status(Errc::resource_exhausted));
  }
  EXPECT_EQ(shards.workers(), 0U);
  EXPECT_TRUE(shards.init(4));
}

}  // namespace
}  // namespace calm::kernel
