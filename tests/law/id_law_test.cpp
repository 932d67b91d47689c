#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "calm/model/id.hpp"
#include "tests/show.hpp"

namespace calm {
namespace {

TEST(Id, HND_1_an_id_is_eight_bits_of_type_24_of_generation_and_32_of_index) {
  constexpr RegionId region(0xDEADBEEF, Generation(0xABCDEF));
  static_assert(sizeof(region) == 8);
  static_assert(region.bits() == 0x01ABCDEF'DEADBEEF);
  static_assert(region.index() == 0xDEADBEEF && region.generation().value() == 0xABCDEF);
  EXPECT_EQ(TaskId(1, Generation()).bits() >> 56, 2U);
  EXPECT_EQ(ObligationId(1, Generation()).bits() >> 56, 3U);
  EXPECT_EQ(WitnessId(1, Generation()).bits() >> 56, 4U);
  EXPECT_EQ(TimerId(1, Generation()).bits() >> 56, 5U);
  EXPECT_EQ(ChannelId(1, Generation()).bits() >> 56, 6U);
}

TEST(Id, HND_1_ids_at_the_edges_keep_index_and_generation) {
  for (const std::uint32_t index : {0U, 1U, UINT32_MAX}) {
    for (const std::uint32_t generation : {Generation::first, 2U, Generation::last}) {
      const TaskId id(index, Generation(generation));
      EXPECT_EQ(id.index(), index);
      EXPECT_EQ(id.generation().value(), generation);
      EXPECT_EQ(TaskId::from_bits(id.bits()), id);
      EXPECT_TRUE(id);
    }
  }
}

TEST(Id, HND_1_bits_of_another_type_or_without_generation_are_no_id) {
  const TaskId task(7, Generation(3));
  EXPECT_EQ(RegionId::from_bits(task.bits()), RegionId());
  EXPECT_EQ(TaskId::from_bits(0), TaskId());
  EXPECT_EQ(TaskId::from_bits(std::uint64_t{2} << 56 | 7), TaskId());
  EXPECT_FALSE(TaskId());
}

TEST(Id, HND_1_a_recycled_handle_is_stale) {
  Generation slot;
  const TaskId before(5, slot);
  EXPECT_TRUE(before.matches(slot));
  EXPECT_TRUE(slot.recycle());
  EXPECT_EQ(before.matches(slot), Status(Errc::stale_handle));
  EXPECT_TRUE(TaskId(5, slot).matches(slot));
  EXPECT_EQ(TaskId().matches(slot), Status(Errc::stale_handle));
}

TEST(Id, HND_1_a_slot_is_retired_before_its_generation_wraps) {
  Generation slot;
  const TaskId first(0, slot);
  std::uint32_t uses = 1;
  while (slot.recycle()) {
    ++uses;
    ASSERT_FALSE(first.matches(slot)) << "generation " << slot.value() << " was used before";
    ASSERT_EQ(slot.value(), uses);
  }
  EXPECT_EQ(uses, Generation::last);
  EXPECT_TRUE(slot.retired());
  EXPECT_EQ(first.matches(slot), Status(Errc::stale_handle));
  EXPECT_EQ(TaskId(0, Generation(Generation::last)).matches(slot), Status(Errc::stale_handle));
}

TEST(Id, HND_1_the_last_recycle_says_resource_exhausted) {
  Generation slot(Generation::last);
  EXPECT_EQ(slot.recycle(), Status(Errc::resource_exhausted));
  EXPECT_TRUE(slot.retired());
}

TEST(Id, HND_1_ids_have_short_names) {
  EXPECT_EQ(to_string(RegionId(12, Generation())), "r12");
  EXPECT_EQ(to_string(TaskId(40, Generation(3))), "t40.3");
  EXPECT_EQ(to_string(ObligationId(0, Generation())), "o0");
  EXPECT_EQ(to_string(WitnessId(1, Generation())), "w1");
  EXPECT_EQ(to_string(TimerId(2, Generation())), "m2");
  EXPECT_EQ(to_string(ChannelId(3, Generation())), "c3");
  EXPECT_EQ(to_string(RegionId()), "none");
}

}  // namespace
}  // namespace calm
