// Memory for frames: taken and given back in any order, on any thread, up to the stated bound.
#include "calm/mem/frame_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace calm::mem {
namespace {

// Under AddressSanitizer nothing is kept, so that a use of a frame after its end is found.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CALM_TEST_UNPOOLED 1
#endif
#endif
#if defined(CALM_TEST_UNPOOLED) || defined(__SANITIZE_ADDRESS__)
constexpr bool pooled = false;
#else
constexpr bool pooled = true;
#endif

/// What a thread of its own gives: its pool is empty at first.
template <class F>
auto on_a_thread(F function) {
  decltype(function()) result{};
  std::thread([&] { result = function(); }).join();
  return result;
}

TEST(FramePool, hands_out_what_was_given_back_last) {
  const bool again = on_a_thread([] {
    void* const first = FramePool::take(100);
    void* const second = FramePool::take(100);
    FramePool::give_back(first, 100);
    FramePool::give_back(second, 100);
    void* const third = FramePool::take(104);  // of the same step
    void* const fourth = FramePool::take(97);
    const bool same = third == second && fourth == first;
    FramePool::give_back(third, 104);
    FramePool::give_back(fourth, 97);
    return same;
  });
  EXPECT_EQ(again, pooled);
}

TEST(FramePool, every_block_is_as_large_as_asked_for) {
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (std::size_t bytes = 1; bytes <= FramePool::largest + FramePool::step; ++bytes) {
    auto* const block = static_cast<unsigned char*>(FramePool::take(bytes));
    std::memset(block, static_cast<int>(bytes % 251), bytes);
    blocks.emplace_back(block, bytes);
  }
  for (const auto& [block, bytes] : blocks) {
    EXPECT_EQ(block[0], bytes % 251);
    EXPECT_EQ(block[bytes - 1], bytes % 251);
    FramePool::give_back(block, bytes);
  }
  FramePool::clear();
}

TEST(FramePool, a_block_of_a_size_that_was_rounded_up_lies_where_operator_new_puts_one) {
  std::vector<std::pair<void*, std::size_t>> blocks;
  for (std::size_t bytes = 1; bytes <= FramePool::largest + FramePool::step; ++bytes) {
    const std::size_t aligned = FramePool::aligned(bytes);
    EXPECT_TRUE(aligned >= bytes && aligned < bytes + __STDCPP_DEFAULT_NEW_ALIGNMENT__) << bytes;
    blocks.emplace_back(FramePool::take(aligned), aligned);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back().first) % __STDCPP_DEFAULT_NEW_ALIGNMENT__, 0U) << bytes;
  }
  for (const auto& [block, bytes] : blocks) FramePool::give_back(block, bytes);
  FramePool::clear();
}

TEST(FramePool, HND_3_keeps_no_more_than_its_bound_of_a_size_and_puts_the_rest_into_the_depot) {
  FramePool::clear();
  const std::uint64_t kept = on_a_thread([] {
    std::vector<void*> blocks(FramePool::kept_per_size + 10);
    for (void*& block : blocks) block = FramePool::take(64);
    const std::uint64_t before = FramePool::kept();  // they come some at a time
    for (void* const block : blocks) FramePool::give_back(block, 64);
    return FramePool::kept() - before;
  });
  EXPECT_EQ(kept, pooled ? 10U : 0U);
  EXPECT_EQ(FramePool::in_depot(), pooled ? FramePool::kept_per_size * 64U : 0U);
  FramePool::clear();
  EXPECT_EQ(FramePool::in_depot(), 0U);
}

TEST(FramePool, what_one_thread_has_too_much_of_another_takes_from_the_depot) {
  if (!pooled) return;
  FramePool::clear();
  std::vector<void*> blocks(2 * FramePool::kept_per_size);
  for (void*& block : blocks) block = FramePool::take(128);
  const std::uint64_t kept = on_a_thread([&] {
    for (void* const block : blocks) FramePool::give_back(block, 128);
    return FramePool::kept();
  });
  EXPECT_EQ(kept, FramePool::kept_per_size);
  EXPECT_EQ(FramePool::in_depot(), FramePool::kept_per_size * 128U);
  void* const block = on_a_thread([] { return FramePool::take(128); });
  EXPECT_EQ(FramePool::in_depot(), 0U);
  EXPECT_NE(std::find(blocks.begin(), blocks.end(), block), blocks.end());
  FramePool::give_back(block, 128);
  FramePool::clear();
}

TEST(FramePool, HND_3_the_depot_has_a_bound) {
  if (!pooled) return;
  FramePool::clear();
  constexpr std::uint64_t batch = FramePool::kept_per_size * 64U;
  FramePool::bound_depot((2 * batch) + 1);
  on_a_thread([] {
    std::vector<void*> blocks(5 * FramePool::kept_per_size);
    for (void*& block : blocks) block = FramePool::take(64);
    for (void* const block : blocks) FramePool::give_back(block, 64);
    return 0;
  });
  EXPECT_EQ(FramePool::in_depot(), 2 * batch);
  FramePool::bound_depot(FramePool::depot_bytes);
  FramePool::clear();
}

TEST(FramePool, larger_blocks_are_not_kept) {
  const std::uint64_t kept = on_a_thread([] {
    FramePool::give_back(FramePool::take(FramePool::largest + 1), FramePool::largest + 1);
    return FramePool::kept();
  });
  EXPECT_EQ(kept, 0);
}

TEST(FramePool, a_thread_that_only_gives_back_keeps_blocks_until_it_is_cleared) {
  void* const block = FramePool::take(64);
  void* const other = FramePool::take(192);
  const auto kept = on_a_thread([&] {
    FramePool::give_back(block, 64);
    FramePool::give_back(other, 192);
    const std::uint64_t before = FramePool::kept();
    FramePool::clear();
    return std::pair(before, FramePool::kept());
  });
  EXPECT_EQ(kept, std::pair(std::uint64_t{pooled ? 2U : 0U}, std::uint64_t{0}));
}

/// Gives a frame back when its thread ends.
struct Late {
  void* block = nullptr;
  std::uint64_t* kept = nullptr;
  ~Late() {
    if (block == nullptr) return;
    FramePool::give_back(block, 64);
    *kept = FramePool::kept();
  }
};

TEST(FramePool, a_block_that_comes_back_after_the_pool_of_its_thread_has_ended_is_not_kept) {
  std::uint64_t kept = 1;
  std::thread([&] {
    static thread_local Late late;  // made before the pool, so it ends after it
    late.block = FramePool::take(64);
    late.kept = &kept;
    FramePool::give_back(FramePool::take(64), 64);
  }).join();
  EXPECT_EQ(kept, 0);
}

}  // namespace
}  // namespace calm::mem
