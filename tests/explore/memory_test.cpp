// What an exploration keeps does not grow with the number of its executions, but for their fingerprints. Sanitizers keep memory
// of their own, so this is not built with them.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "apps/calm/zoo/resident.hpp"
#include "apps/calm/zoo/zoo.hpp"
#include "calm/explore/optimal.hpp"

namespace calm::zoo {
namespace {

/// Gives: the most memory that the process had.
std::size_t kib_of(std::uint32_t n) {
  explore::Threads threads(find("lastzero")->make(n, 0));
  Resident resident;
  const explore::Report report = explore_optimal(threads, {}, &resident);
  EXPECT_EQ(report.executions, find("lastzero")->count(n, 0));
  EXPECT_EQ(report.fingerprints, report.executions);
  return resident.most_kib();
}

TEST(ExplorerMemory, LAB_5_lastzero_15_takes_less_than_4_MiB_more_than_lastzero_5) {
  const std::size_t small = kib_of(5);
  ASSERT_GT(small, 0U);
  EXPECT_LT(kib_of(15), small + 4096);
}

}  // namespace
}  // namespace calm::zoo
