// Blocks without headers: cut from chunks, given back in any order, and the chunks with them.
#include "calm/mem/block_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "calm/mem/allocation_points.hpp"

namespace calm::mem {
namespace {

/// Takes so many of a size, however many come at once.
std::vector<FreeBlock*> take(BlockStore& store, std::size_t bytes, std::uint32_t count) {
  std::vector<FreeBlock*> blocks;
  while (blocks.size() < count) {
    const auto [first, taken] = store.take(bytes, count - static_cast<std::uint32_t>(blocks.size()));
    std::uint32_t linked = 0;
    for (FreeBlock* block = first; block != nullptr; block = block->next, ++linked) blocks.push_back(block);
    EXPECT_EQ(linked, taken);
    if (taken == 0) return blocks;
  }
  return blocks;
}

void give_back(BlockStore& store, const std::vector<FreeBlock*>& blocks) {
  FreeBlock* list = nullptr;
  for (FreeBlock* const block : blocks) list = ::new (static_cast<void*>(block)) FreeBlock{list};
  store.give_back(list);
}

TEST(BlockStore, blocks_are_aligned_apart_and_as_large_as_asked_for) {
  BlockStore store;
  std::vector<std::pair<FreeBlock*, std::size_t>> blocks;
  for (std::size_t bytes = BlockStore::step; bytes <= BlockStore::largest; bytes += BlockStore::step) {
    for (FreeBlock* const block : take(store, bytes, 3)) blocks.emplace_back(block, bytes);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks[i].first) % (blocks[i].second % 16 == 0 ? 16 : 8), 0U);
    std::memset(static_cast<void*>(blocks[i].first), static_cast<int>(i % 251), blocks[i].second);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(blocks[i].first);
    EXPECT_EQ(bytes[0], i % 251);
    EXPECT_EQ(bytes[blocks[i].second - 1], i % 251);
  }
  std::vector<FreeBlock*> all;
  for (const auto& [block, bytes] : blocks) all.push_back(block);
  give_back(store, all);  // of many sizes in one list
  EXPECT_EQ(store.chunks(), BlockStore::chunks_kept);
  store.clear();
  EXPECT_EQ(store.chunks(), 0U);
}

TEST(BlockStore, a_chunk_is_all_blocks_but_for_its_header) {
  BlockStore store;
  constexpr std::size_t bytes = 112;
  constexpr std::uint32_t in_chunk = (BlockStore::chunk_bytes - 64) / bytes;
  std::vector<FreeBlock*> blocks = take(store, bytes, in_chunk);
  EXPECT_EQ(store.chunks(), 1U);
  const auto more = take(store, bytes, 1);
  EXPECT_EQ(store.chunks(), 2U);
  give_back(store, more);
  give_back(store, blocks);
  store.clear();
}

TEST(BlockStore, HND_3_what_came_back_is_taken_before_new_memory_and_empty_chunks_go_back_to_the_system) {
  BlockStore store;
  constexpr std::size_t bytes = 128;
  constexpr std::uint32_t in_chunk = (BlockStore::chunk_bytes - 64) / bytes;
  constexpr std::uint32_t chunks = 3 * BlockStore::chunks_kept;
  std::vector<FreeBlock*> blocks = take(store, bytes, chunks * in_chunk);
  EXPECT_EQ(store.chunks(), chunks);

  // All but the first of each chunk: none is free, and none has to be added.
  std::vector<FreeBlock*> first;
  std::vector<FreeBlock*> others;
  for (std::size_t i = 0; i < blocks.size(); ++i) (i % in_chunk == 0 ? first : others).push_back(blocks[i]);
  for (int round = 0; round < 3; ++round) {
    std::shuffle(others.begin(), others.end(), std::mt19937(7));
    give_back(store, others);
    EXPECT_EQ(store.chunks(), chunks);
    others = take(store, bytes, static_cast<std::uint32_t>(others.size()));
    EXPECT_EQ(store.chunks(), chunks);
  }
  EXPECT_EQ(std::set(others.begin(), others.end()).size(), others.size());

  give_back(store, others);
  give_back(store, first);
  EXPECT_EQ(store.chunks(), BlockStore::chunks_kept);

  // Those that are kept serve any size.
  const auto large = take(store, BlockStore::largest, 1);
  EXPECT_EQ(store.chunks(), BlockStore::chunks_kept);
  give_back(store, large);
  store.clear();
  EXPECT_EQ(store.chunks(), 0U);
}

TEST(BlockStore, HND_3_without_memory_nothing_is_taken_and_nothing_changes) {
  BlockStore store;
  AllocationPoints::refuse_all(true);
  const auto [first, count] = store.take(64, 4);
  AllocationPoints::refuse_all(false);
  EXPECT_EQ(first, nullptr);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(store.chunks(), 0U);
}

TEST(BlockStore, threads_take_and_give_back_at_the_same_time) {
  BlockStore store;
  const auto work = [&store](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::vector<FreeBlock*>> held;
    for (int i = 0; i < 2000; ++i) {
      if (held.size() < 16 || random() % 2 == 0) {
        held.push_back(take(store, BlockStore::step * (1 + random() % 4), 1 + random() % 64));
      } else {
        std::swap(held[random() % held.size()], held.back());
        give_back(store, held.back());
        held.pop_back();
      }
    }
    for (const auto& blocks : held) give_back(store, blocks);
  };
  std::thread one(work, 1);
  std::thread two(work, 2);
  one.join();
  two.join();
  store.clear();
  EXPECT_EQ(store.chunks(), 0U);
}

}  // namespace
}  // namespace calm::mem
