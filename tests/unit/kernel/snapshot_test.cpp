#include "calm/kernel/snapshot.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "calm/kernel/snapshot_index.hpp"
#include "tests/kernel_host.hpp"
#include "tests/unit/kernel/snapshots.hpp"

namespace calm::kernel::test {
namespace {

TEST(Snapshot, finds_a_record_by_its_id_and_no_other_life_of_its_slot) {
  const Snapshot snapshot = family();
  EXPECT_EQ(snapshot.find(region(2)), &snapshot.regions[1]);
  EXPECT_EQ(snapshot.find(task(3)), &snapshot.tasks[2]);
  EXPECT_EQ(snapshot.find(promise(1)), &snapshot.obligations[0]);
  EXPECT_EQ(snapshot.find(RegionId(2, Generation(2))), nullptr);
  EXPECT_EQ(snapshot.find(task(9)), nullptr);
  EXPECT_EQ(snapshot.find(ObligationId()), nullptr);
  EXPECT_EQ(Snapshot().find(region(1)), nullptr);
}

TEST(Snapshot, a_path_names_the_regions_from_the_root) {
  Snapshot snapshot = empty_root();
  add_region(snapshot, 4, 1);
  add_region(snapshot, 7, 4);
  EXPECT_EQ(snapshot.path_of(region(1)), "r1");
  EXPECT_EQ(snapshot.path_of(region(7)), "r1/r4/r7");
}

TEST(Snapshot, a_path_that_reaches_no_root_says_so_and_ends) {
  Snapshot snapshot = empty_root();
  add_region(snapshot, 4, 1);
  EXPECT_EQ(snapshot.path_of(region(9)), "?/r9");
  snapshot.regions[1].parent = region(8);
  EXPECT_EQ(snapshot.path_of(region(4)), "?/r8/r4");
  snapshot.regions[1].parent = region(4);
  EXPECT_EQ(snapshot.path_of(region(4)).substr(0, 2), "?/");
}

TEST(Snapshot, an_index_groups_what_lives_by_owner_holder_and_resource) {
  Snapshot snapshot = family();
  snapshot.obligations.push_back(
      {.id = promise(3), .region = region(2), .state = ObligationState::aborted, .holder = task(2)});
  snapshot.tasks.push_back({.id = task(4), .region = region(2), .state = TaskState::completed});
  const SnapshotIndex index(snapshot);
  ASSERT_EQ(index.tasks_of(region(2)).size(), 2U);
  EXPECT_EQ(index.tasks_of(region(2))[0]->id, task(2));
  EXPECT_EQ(index.tasks_of(region(2))[1]->id, task(3));
  ASSERT_EQ(index.regions_of(region(1)).size(), 1U);
  EXPECT_EQ(index.regions_of(region(1))[0]->id, region(2));
  EXPECT_EQ(index.promises_of(region(2)).size(), 2U);
  ASSERT_EQ(index.held_by(task(2)).size(), 1U);
  EXPECT_EQ(index.held_by(task(2))[0]->id, promise(1));
  ASSERT_EQ(index.kept_for(task(3)).size(), 1U);
  EXPECT_TRUE(index.held_by(task(3)).empty());
  ASSERT_EQ(index.about(channel(3)).size(), 1U);
  EXPECT_TRUE(index.about(channel(4)).empty());
}

TEST(Snapshot, an_index_takes_the_parts_of_an_object_for_the_object) {
  Snapshot snapshot = family();
  snapshot.obligations[0].resource = trace::ResourceId::registered(5, 2);
  const SnapshotIndex index(snapshot);
  EXPECT_EQ(index.about(trace::ResourceId::registered(5)).size(), 1U);
  EXPECT_EQ(index.about(trace::ResourceId::registered(5, 9)).size(), 1U);
  EXPECT_TRUE(index.about(trace::ResourceId::registered(6)).empty());
}

/// Leaves a bit of everything behind.
void work_in(Bench& bench) {
  bench.at(Time::at_ns(500));
  bench.worker.set_round(7);
  const RegionId inner = bench.region(bench.root());
  const TaskId forgetful = bench.running(inner);
  (void)bench.kernel->reserve(bench.worker, inner, {.holder = forgetful});
  (void)bench.kernel->make_in<std::string>(bench.worker, inner,
                                           "kept until the region ends, and longer than a short string");
  (void)bench.parked(bench.root());
  (void)bench.kernel->defer(bench.worker, inner, nullptr);
  (void)bench.kernel->cancel(bench.worker, inner, {.message = "enough"});
}

TEST(Kernel, LAB_2_one_that_starts_over_is_a_new_one) {
  Bench fresh;
  const std::uint64_t empty = fresh.digest();
  work_in(fresh);
  Bench used;
  for (int round = 0; round < 3; ++round) {
    work_in(used);
    EXPECT_EQ(used.digest(), fresh.digest()) << round;
    EXPECT_EQ(used.kernel->trace().value(), fresh.kernel->trace().value()) << round;
    ASSERT_TRUE(used.kernel->start_over());
    EXPECT_EQ(used.digest(), empty) << round;
    EXPECT_TRUE(used.kernel->trace().value().events.empty()) << round;
    EXPECT_EQ(used.worker.now(), Time()) << round;
  }
}

TEST(ViewText, names_a_place_only_when_there_is_one) {
  const Site here = Site::current();
  EXPECT_EQ(place_of(Site()), "");
  EXPECT_EQ(at_place(" at ", Site()), "");
  EXPECT_EQ(at_place(" at ", here), " at tests/unit/kernel/snapshot_test.cpp:" + std::to_string(here.line()));
}

TEST(ViewText, names_holders_and_wake_states) {
  EXPECT_EQ(to_string(Holder(task(4))), "t4");
  EXPECT_EQ(to_string(Holder()), "nobody");
  EXPECT_EQ(to_string(Holder(Service::reactor)), "the reactor");
  EXPECT_EQ(to_string(Holder(Service::lease_keeper, task(4))), "the lease keeper for t4");
  EXPECT_EQ(wake_text(WakeState::idle), "parked");
  EXPECT_EQ(wake_text(WakeState::queued), "queued");
  EXPECT_EQ(wake_text(WakeState::running), "being polled");
  EXPECT_EQ(wake_text(WakeState::running_woken), "being polled and woken again");
  EXPECT_EQ(wake_text(WakeState::done), "done");
}

}  // namespace
}  // namespace calm::kernel::test
