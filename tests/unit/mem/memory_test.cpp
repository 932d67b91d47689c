// What slabs and arenas do when there is no memory.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "calm/mem/arena.hpp"
#include "calm/mem/slab.hpp"
#include "tests/no_memory.hpp"

namespace calm::mem {
namespace {

struct alignas(64) Record {
  Record* free_link = nullptr;
};
using Records = Slab<Record, &Record::free_link>;

TEST(SlabWithoutMemory, it_cannot_be_reserved_and_is_once_there_is_memory) {
  Records slab(4, 1000);
  bool reserved = true;
  {
    const NoMemory gone;
    reserved = slab.reserve();
  }
  EXPECT_FALSE(reserved);
  EXPECT_EQ(slab.find(1), nullptr);
  EXPECT_TRUE(slab.reserve());
  EXPECT_NE(slab.take(3), nullptr);
}

// HND-3
TEST(SlabWithoutMemory, a_take_that_needs_a_chunk_is_refused_and_changes_nothing) {
  Records slab(2, 1000);
  ASSERT_TRUE(slab.reserve());
  std::array<Record*, 3> refused{};
  std::uint32_t made = 1;
  {
    const NoMemory gone;
    for (Record*& record : refused) record = slab.take(0);
    made = slab.made();
  }
  for (const Record* record : refused) EXPECT_EQ(record, nullptr);
  EXPECT_EQ(made, 0U);
  EXPECT_EQ(slab.find(1), nullptr);

  Record* const record = slab.take(0);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(Records::index_of(*record), 1U) << "no chunk number was lost";
  EXPECT_EQ(slab.made(), 1U);
}

TEST(SlabWithoutMemory, what_is_made_goes_round_without_it) {
  Records slab(2, 1000);
  ASSERT_TRUE(slab.reserve());
  Record* const record = slab.take(0);
  Record* again = nullptr;
  Record* fresh = nullptr;
  Record* refused = record;
  {
    const NoMemory gone;
    slab.give_back(1, *record);
    again = slab.take(0);
    fresh = slab.take(0);    // from the chunk that is there
    refused = slab.take(1);  // has none
  }
  EXPECT_EQ(again, record);
  ASSERT_NE(fresh, nullptr);
  EXPECT_EQ(Records::index_of(*fresh), 2U);
  EXPECT_EQ(refused, nullptr);
}

// HND-3
TEST(ArenaWithoutMemory, an_allocation_is_refused_and_changes_nothing) {
  Arena arena(100'000);
  void* small = &arena;
  void* big = &arena;
  std::string* object = nullptr;
  {
    const NoMemory gone;
    small = arena.allocate(8, 8);
    big = arena.allocate(50'000, 8);
    object = arena.make<std::string>();
  }
  EXPECT_EQ(small, nullptr);
  EXPECT_EQ(big, nullptr);
  EXPECT_EQ(object, nullptr);
  EXPECT_EQ(arena.used(), 0U);
  EXPECT_GE(arena.left(), Arena::cost(50'000, 8)) << "says that it was not the limit";
  EXPECT_NE(arena.allocate(50'000, 8), nullptr);
  EXPECT_NE(arena.make<std::string>("there"), nullptr);
}

TEST(ArenaWithoutMemory, the_rest_of_a_block_is_still_there) {
  Arena arena(100'000);
  void* const first = arena.allocate(8, 8);
  void* second = nullptr;
  void* refused = &arena;
  void* third = nullptr;
  {
    const NoMemory gone;
    second = arena.allocate(8, 8);
    refused = arena.allocate(2'000, 8);
    third = arena.allocate(8, 8);
  }
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(second, static_cast<std::byte*>(first) + 8);
  EXPECT_EQ(refused, nullptr);
  EXPECT_EQ(third, static_cast<std::byte*>(first) + 16);
  EXPECT_EQ(arena.used(), 24U);
}

}  // namespace
}  // namespace calm::mem
