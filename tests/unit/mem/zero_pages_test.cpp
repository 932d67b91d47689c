#include "calm/mem/zero_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "calm/mem/allocation_points.hpp"

namespace calm::mem {
namespace {

TEST(ZeroPages, are_zeros_that_can_be_written) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{1'000'000}}) {
    void* const pages = take_zero_pages(bytes);
    ASSERT_NE(pages, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages) % 4096, 0U);
    const std::span all(static_cast<unsigned char*>(pages), bytes);
    EXPECT_TRUE(std::all_of(all.begin(), all.end(), [](unsigned char byte) { return byte == 0; }));
    std::fill(all.begin(), all.end(), std::uint8_t{0xff});
    give_back_zero_pages(pages, bytes);
  }
}

TEST(ZeroPages, HND_3_are_refused_where_there_is_no_memory) {
  EXPECT_EQ(take_zero_pages(std::size_t{1} << 60), nullptr);
  AllocationPoints::refuse_all(true);
  EXPECT_EQ(take_zero_pages(4096), nullptr);
  AllocationPoints::refuse_all(false);
}

}  // namespace
}  // namespace calm::mem
