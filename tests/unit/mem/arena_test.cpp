#include "calm/mem/arena.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace calm::mem {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

bool is_aligned(const void* memory, std::size_t align) { return reinterpret_cast<std::uintptr_t>(memory) % align == 0; }

TEST(Arena, a_new_arena_has_its_whole_limit_left) {
  const Arena arena(100);
  EXPECT_EQ(arena.limit(), 100U);
  EXPECT_EQ(arena.used(), 0U);
  EXPECT_EQ(arena.left(), 100U);
}

TEST(Arena, the_count_is_the_size_rounded_up_to_the_alignment) {
  Arena arena(unlimited);
  EXPECT_NE(arena.allocate(5, 8), nullptr);
  EXPECT_EQ(arena.used(), 8U);
  EXPECT_NE(arena.allocate(1, 1), nullptr);
  EXPECT_EQ(arena.used(), 9U);
  EXPECT_NE(arena.allocate(16, 16), nullptr);
  EXPECT_EQ(arena.used(), 25U) << "what is skipped to get there is not counted";
  EXPECT_NE(arena.allocate(100'000, 4096), nullptr);
  EXPECT_EQ(arena.used(), 25U + 102'400U);
}

TEST(Arena, nothing_is_one_byte_with_an_address_of_its_own) {
  Arena arena(2);
  void* const first = arena.allocate(0, 1);
  void* const second = arena.allocate(0, 1);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(second, nullptr);
  EXPECT_NE(first, second);
  EXPECT_EQ(arena.left(), 0U);
  EXPECT_EQ(arena.allocate(0, 1), nullptr);
}

TEST(Arena, the_limit_is_exact_and_a_refusal_changes_nothing) {
  Arena arena(64);
  EXPECT_NE(arena.allocate(40, 8), nullptr);
  EXPECT_EQ(arena.allocate(25, 1), nullptr);
  EXPECT_LT(arena.left(), Arena::cost(25, 1)) << "says that it was the limit";
  EXPECT_EQ(arena.used(), 40U);
  EXPECT_NE(arena.allocate(24, 8), nullptr);
  EXPECT_EQ(arena.left(), 0U);
  EXPECT_EQ(arena.allocate(1, 1), nullptr);
}

TEST(Arena, rounding_counts_against_the_limit) {
  Arena arena(15);
  EXPECT_EQ(arena.allocate(9, 8), nullptr);
  EXPECT_NE(arena.allocate(8, 8), nullptr);
}

TEST(Arena, sizes_beyond_all_memory_are_refused) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  Arena arena(unlimited);
  EXPECT_EQ(arena.allocate(most, 1), nullptr);
  EXPECT_EQ(arena.allocate(most, 64), nullptr);
  EXPECT_EQ(arena.allocate(most - 100, 16), nullptr);
  EXPECT_EQ(arena.allocate(most / 2, 1), nullptr);
  EXPECT_EQ(arena.allocate(1, most / 2 + 1), nullptr);
  EXPECT_EQ(arena.used(), 0U);
  EXPECT_NE(arena.allocate(1, 1), nullptr);
}

// Every piece is filled with its own byte and looked at again when all are there.
RC_GTEST_PROP(Arena, pieces_are_aligned_and_lie_apart, (std::vector<std::pair<std::uint16_t, std::uint8_t>> requests)) {
  Arena arena(unlimited);
  std::vector<std::pair<unsigned char*, std::size_t>> pieces;
  std::uint64_t cost = 0;
  for (const auto& [number, shift] : requests) {
    const std::size_t size = number % 20'000U;
    const std::size_t align = std::size_t{1} << (shift % 13U);
    auto* const piece = static_cast<unsigned char*>(arena.allocate(size, align));
    RC_ASSERT(piece != nullptr);
    RC_ASSERT(is_aligned(piece, align));
    cost += Arena::cost(size, align);
    RC_ASSERT(arena.used() == cost);
    std::memset(piece, static_cast<int>(pieces.size() % 251), size);
    pieces.emplace_back(piece, size);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto [piece, size] = pieces[i];
    RC_ASSERT(std::all_of(piece, piece + size, [&](unsigned char byte) { return byte == i % 251; }));
  }
}

TEST(Arena, small_pieces_lie_together_even_around_a_big_one) {
  Arena arena(unlimited);
  auto* const first = static_cast<std::byte*>(arena.allocate(16, 16));
  ASSERT_NE(arena.allocate(100'000, 16), nullptr);
  EXPECT_EQ(arena.allocate(16, 16), first + 16);
}

TEST(Arena, over_aligned_objects_are_aligned) {
  struct alignas(512) Wide {
    std::string text = "wide";
  };
  Arena arena(unlimited);
  for (int i = 0; i < 50; ++i) {
    ASSERT_NE(arena.make<char>('x'), nullptr);
    Wide* const wide = arena.make<Wide>();
    ASSERT_TRUE(is_aligned(wide, 512));
    EXPECT_EQ(wide->text, "wide");
  }
}

struct Noted {
  Noted(std::vector<int>& end_log, int own_number) : log(&end_log), number(own_number) {}
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;
  ~Noted() { log->push_back(number); }
  std::vector<int>* log;
  int number;
};

TEST(Arena, objects_end_newest_first) {
  std::vector<int> log;
  {
    Arena arena(unlimited);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(arena.make<Noted>(log, i)->number, i);
    EXPECT_TRUE(log.empty());
  }
  EXPECT_EQ(log, (std::vector<int>{2, 1, 0}));
}

TEST(Arena, after_release_it_is_as_new) {
  std::vector<int> log;
  Arena arena(1000);
  ASSERT_NE(arena.make<Noted>(log, 1), nullptr);
  ASSERT_NE(arena.allocate(900, 1), nullptr);
  arena.release();
  EXPECT_EQ(log, std::vector<int>{1});
  EXPECT_EQ(arena.left(), 1000U);
  EXPECT_NE(arena.allocate(1000, 1), nullptr);
  arena.release();
  arena.release();
  EXPECT_EQ(log, std::vector<int>{1}) << "an object ends once";
}

TEST(Arena, a_destructor_may_still_allocate) {
  struct Late {
    ~Late() {
      if (Noted* const made = arena->make<Noted>(*log, 9); made != nullptr) log->push_back(made->number + 1);
    }
    Arena* arena;
    std::vector<int>* log;
  };
  std::vector<int> log;
  Arena arena(unlimited);
  ASSERT_NE(arena.make<Noted>(log, 1), nullptr);
  Late* const late = arena.make<Late>();
  ASSERT_NE(late, nullptr);
  late->arena = &arena;
  late->log = &log;
  arena.release();
  EXPECT_EQ(log, (std::vector<int>{10, 9, 1}));
  EXPECT_EQ(arena.used(), 0U);
}

TEST(Arena, an_object_costs_its_size_and_two_words_when_it_has_a_destructor) {
  static_assert(Arena::cost_of<int>() == sizeof(int));
  static_assert(Arena::cost_of<std::string>() == sizeof(std::string) + 2 * sizeof(void*));
  Arena arena(unlimited);
  ASSERT_NE(arena.make<int>(5), nullptr);
  EXPECT_EQ(arena.used(), Arena::cost_of<int>());
  ASSERT_NE(arena.make<std::string>("text"), nullptr);
  EXPECT_EQ(arena.used(), Arena::cost_of<int>() + Arena::cost_of<std::string>());
}

TEST(Arena, an_object_beyond_the_limit_is_not_made) {
  std::vector<int> log;
  Arena arena(Arena::cost_of<Noted>() - 1);
  EXPECT_EQ(arena.make<Noted>(log, 1), nullptr);
  EXPECT_EQ(arena.used(), 0U);
  arena.release();
  EXPECT_TRUE(log.empty());
}

template <std::size_t bytes>
struct Throws {
  Throws() { throw std::runtime_error("no"); }
  ~Throws() { std::abort(); }
  Throws(const Throws&) = delete;
  Throws& operator=(const Throws&) = delete;
  std::array<std::byte, bytes> rest{};
};

template <class T>
void expect_no_trace_of() {
  std::vector<int> log;
  Arena arena(1'000'000);
  ASSERT_NE(arena.make<Noted>(log, 1), nullptr);
  auto* const before = static_cast<std::byte*>(arena.allocate(8, 8));
  const std::uint64_t used = arena.used();
  EXPECT_THROW(static_cast<void>(arena.make<T>()), std::runtime_error);
  EXPECT_EQ(arena.used(), used);
  EXPECT_EQ(arena.allocate(8, 8), before + 8) << "the bytes were given back";
  arena.release();
  EXPECT_EQ(log, std::vector<int>{1});
}

TEST(Arena, a_constructor_that_throws_leaves_no_trace) {
  expect_no_trace_of<Throws<16>>();
  expect_no_trace_of<Throws<2'000>>();    // in a new block
  expect_no_trace_of<Throws<100'000>>();  // in a block of its own
}

TEST(Arena, a_first_object_that_throws_leaves_the_arena_as_new) {
  Arena arena(1'000'000);
  EXPECT_THROW(static_cast<void>(arena.make<Throws<16>>()), std::runtime_error);
  EXPECT_EQ(arena.used(), 0U);
  EXPECT_NE(arena.allocate(8, 8), nullptr);
}

TEST(Arena, what_a_throwing_constructor_made_here_stays_until_the_end) {
  struct Parent {
    Parent(Arena& arena, std::vector<int>& log, Noted*& child) {
      child = arena.make<Noted>(log, 5);
      throw std::runtime_error("no");
    }
  };
  std::vector<int> log;
  Arena arena(unlimited);
  Noted* child = nullptr;
  EXPECT_THROW(static_cast<void>(arena.make<Parent>(arena, log, child)), std::runtime_error);
  ASSERT_NE(child, nullptr);
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(child->number, 5);
  EXPECT_EQ(arena.used(), Arena::cost_of<Parent>() + Arena::cost_of<Noted>()) << "and the bytes below it too";
  arena.release();
  EXPECT_EQ(log, std::vector<int>{5});
}

TEST(ArenaDeathTest, an_alignment_is_a_power_of_two) {
  Arena arena(unlimited);
  EXPECT_DEATH(static_cast<void>(arena.allocate(8, 3)), "align = 3(.|\n)*law: +HND-3");
  EXPECT_DEATH(static_cast<void>(arena.allocate(8, 0)), "law: +HND-3");
}

}  // namespace
}  // namespace calm::mem
