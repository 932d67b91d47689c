// Lanes beside a sorted list, under random operations; the same ones in every run.
#include <gtest/gtest.h>

#include "tests/unit/sched/lanes_beside_list.hpp"

namespace calm::sched {
namespace {

TEST(LanesBesideAList, SCH_2_every_choice_is_that_of_a_list_sorted_by_the_key) {
  LanesBesideList::Seen all;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    LanesBesideList pair(seed);
    ASSERT_NO_FATAL_FAILURE(pair.run(6'000)) << "seed " << seed;
    ASSERT_NO_FATAL_FAILURE(pair.drain()) << "seed " << seed;
    EXPECT_EQ(pair.lanes().certificate().dispatches(), pair.seen().dispatches);
    EXPECT_EQ(pair.lanes().certificate().effective_exceedances, 0U);
    all.aged += pair.seen().aged;
    all.fallbacks += pair.seen().fallbacks;
    all.yields += pair.seen().yields;
    all.stolen += pair.seen().stolen;
    all.parks += pair.seen().parks;
  }
  EXPECT_GT(all.aged, 50U);
  EXPECT_GT(all.fallbacks, 5U);
  EXPECT_GT(all.yields, 100U);
  EXPECT_GT(all.stolen, 5U);
  EXPECT_GT(all.parks, 50U);
}

TEST(LanesBesideAList, SCH_2_SCH_6_the_same_where_some_of_it_is_in_common_with_others) {
  LanesBesideList::Seen all;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    LanesBesideList pair(seed, true);
    ASSERT_NO_FATAL_FAILURE(pair.run(6'000)) << "seed " << seed;
    ASSERT_NO_FATAL_FAILURE(pair.drain()) << "seed " << seed;
    EXPECT_EQ(pair.lanes().certificate().dispatches(), pair.seen().dispatches);
    EXPECT_EQ(pair.lanes().certificate().effective_exceedances, 0U);
    all.common += pair.seen().common;
    all.common_aged += pair.seen().common_aged;
    all.fallbacks += pair.seen().fallbacks;
  }
  EXPECT_GT(all.common, 1000U);
  EXPECT_GT(all.common_aged, 20U);
  EXPECT_GT(all.fallbacks, 0U);
}

TEST(LanesBesideAList, SCH_5_equal_runs_give_equal_certificates) {
  LanesBesideList first(21);
  LanesBesideList again(21);
  LanesBesideList other(22);
  first.run(3'000);
  again.run(3'000);
  other.run(3'000);
  EXPECT_EQ(first.lanes().certificate().hash(), again.lanes().certificate().hash());
  EXPECT_NE(first.lanes().certificate().hash(), other.lanes().certificate().hash());
}

}  // namespace
}  // namespace calm::sched
