// Footprints against plain lists of touches.
#include "calm/explore/footprint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "calm/model/split_mix.hpp"

namespace calm::explore {
namespace {

/// Touches as they come, nothing else.
struct PlainFootprint {
  std::vector<Touch> touches;

  void add(Touch touch) {
    const auto same = [touch](Touch other) { return other.location() == touch.location(); };
    const auto at = std::find_if(touches.begin(), touches.end(), same);
    if (at == touches.end()) {
      touches.push_back(touch);
    } else {
      *at = std::max(*at, touch);
    }
  }
  [[nodiscard]] bool conflicts(const PlainFootprint& other) const {
    return std::any_of(touches.begin(), touches.end(), [&other](Touch touch) {
      return std::any_of(other.touches.begin(), other.touches.end(), [touch](Touch it) { return touch.conflicts(it); });
    });
  }
  [[nodiscard]] bool equals(const PlainFootprint& other) const {
    return std::is_permutation(touches.begin(), touches.end(), other.touches.begin(), other.touches.end());
  }
};

struct FootprintPair {
  Footprint quick;
  PlainFootprint plain;
};

/// `locations` few: many footprints are equal or conflict; many: their bits fall together all the same.
FootprintPair some_footprint(SplitMix& numbers, std::uint64_t touches, std::uint64_t locations) {
  FootprintPair pair;
  for (std::uint64_t i = 0; i < touches; ++i) {
    const auto location = static_cast<Location>(numbers.below(locations));
    const Touch touch = numbers.below(3) == 0 ? Touch::write(location) : Touch::read(location);
    pair.quick.add(touch);
    pair.plain.add(touch);
  }
  return pair;
}

TEST(ExploreFootprint, LAB_4_two_conflict_or_are_equal_exactly_as_their_touches_say) {
  SplitMix numbers(7);
  FootprintPair kept;
  std::uint64_t conflicts = 0;
  std::uint64_t equal = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t locations = i % 2 == 0 ? 3 + numbers.below(10) : 1'000'000;
    const FootprintPair a = some_footprint(numbers, numbers.below(14), locations);
    FootprintPair b = some_footprint(numbers, numbers.below(14), locations);
    ASSERT_EQ(a.quick.size(), a.plain.touches.size());
    ASSERT_EQ(a.quick.conflicts(b.quick), a.plain.conflicts(b.plain)) << i;
    ASSERT_EQ(b.quick.conflicts(a.quick), a.plain.conflicts(b.plain)) << i;
    ASSERT_EQ(a.quick == b.quick, a.plain.equals(b.plain)) << i;
    if (a.plain.conflicts(b.plain)) ++conflicts;
    if (a.plain.equals(b.plain)) ++equal;
    // One that had another value before, and one that is emptied.
    kept.quick = a.quick;
    ASSERT_TRUE(kept.quick == a.quick) << i;
    ASSERT_EQ(kept.quick.conflicts(b.quick), a.plain.conflicts(b.plain)) << i;
    b.quick.clear();
    ASSERT_FALSE(b.quick.conflicts(a.quick)) << i;
    ASSERT_EQ(b.quick == a.quick, a.plain.touches.empty()) << i;
  }
  EXPECT_GT(conflicts, 1000U);
  EXPECT_GT(equal, 100U);
}

}  // namespace
}  // namespace calm::explore
