#include <gtest/gtest.h>

#include "calm/kernel/quiescence.hpp"
#include "calm/kernel/snapshot.hpp"
#include "tests/no_memory.hpp"
#include "tests/unit/kernel/snapshots.hpp"

namespace calm::kernel::test {
namespace {

TEST(SnapshotWithoutMemory, can_be_hashed_searched_and_asked_whether_it_is_quiet) {
  Snapshot snapshot = family();
  request(snapshot.tasks[0], stop());
  const std::uint64_t digest = state_digest(snapshot);
  const NoMemory gone;
  EXPECT_EQ(state_digest(snapshot), digest);
  EXPECT_NE(snapshot.find(task(1)), nullptr);
  EXPECT_EQ(idle(snapshot), Status(Errc::tasks_still_active));
  EXPECT_EQ(quiescent(snapshot), Status(Errc::tasks_still_active));
}

}  // namespace
}  // namespace calm::kernel::test
