// Finalizers: newest first, one after the other, masked, bounded; and none is skipped.
#include <gtest/gtest.h>

#include <vector>

#include "tests/law/law_bench.hpp"

namespace calm::kernel {
namespace {

TEST(Finalizers, REG_5_run_newest_first_one_after_the_other_and_exactly_once) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  std::vector<TaskId> deferred;
  for (int i = 0; i < 4; ++i) deferred.push_back(bench.defer(region));
  EXPECT_TRUE(bench.host.queue.empty()) << "not before the region finalizes";
  EXPECT_TRUE(bench.close(region));
  for (auto expected = deferred.rbegin(); expected != deferred.rend(); ++expected) {
    EXPECT_EQ(bench.state(region), RegionState::finalizing);
    ASSERT_EQ(bench.host.queue.size(), 1U) << "the next one starts when this one has ended";
    EXPECT_EQ(bench.host.queue.front(), *expected);
    EXPECT_EQ(bench.poll(*expected), PollStart::run);
    EXPECT_TRUE(bench.park(*expected));
    EXPECT_TRUE(bench.host.queue.empty());
    EXPECT_TRUE(bench.poll_and_end(*expected));
  }
  EXPECT_EQ(bench.state(region), RegionState::closed);
  EXPECT_TRUE(bench.end_of(region).is_ok());
  std::vector<TaskId> started;
  for (const trace::Event& event : bench.events(trace::EventKind::finalize)) started.push_back(event.task);
  EXPECT_EQ(started, std::vector<TaskId>(deferred.rbegin(), deferred.rend()));
}

TEST(Finalizers, REG_5_start_when_the_last_child_has_left) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId task = bench.parked(region);
  const TaskId finalizer = bench.defer(region);
  EXPECT_TRUE(bench.close(region));
  EXPECT_FALSE(bench.is_queued(finalizer));
  (void)bench.wake(finalizer);
  EXPECT_FALSE(bench.is_queued(finalizer)) << "a wake does not start it";
  EXPECT_EQ(bench.kernel->begin_poll(bench.worker, finalizer), PollStart::stale);
  EXPECT_TRUE(bench.poll_and_end(task));
  EXPECT_TRUE(bench.is_queued(finalizer));
}

TEST(Finalizers, CAN_13_one_that_is_parked_is_woken_by_a_cancel_of_its_region_and_stays_masked) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId waiting = bench.defer(region);
  const TaskId finalizer = bench.defer(region);
  EXPECT_TRUE(bench.close(region));
  EXPECT_EQ(bench.poll(finalizer), PollStart::run);
  EXPECT_TRUE(bench.park(finalizer));
  EXPECT_FALSE(bench.is_queued(finalizer));
  EXPECT_TRUE(bench.cancel(bench.root(), {.kind = CancelKind::shutdown}));
  EXPECT_TRUE(bench.is_queued(finalizer));
  EXPECT_FALSE(bench.is_queued(waiting)) << "a cancel does not start it";
  EXPECT_EQ(bench.poll(finalizer), PollStart::run);
  EXPECT_TRUE(bench.checkpoint(finalizer));
  EXPECT_TRUE(bench.park(finalizer));
  EXPECT_TRUE(bench.cancel(bench.root(), {.kind = CancelKind::shutdown}));
  EXPECT_FALSE(bench.is_queued(finalizer)) << "there is nothing new to see";
}

TEST(Finalizers, REG_5_CAN_7_are_masked) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId finalizer = bench.defer(region);
  EXPECT_TRUE(bench.cancel(region, {.kind = CancelKind::shutdown}));
  EXPECT_EQ(bench.poll(finalizer), PollStart::run);
  EXPECT_TRUE(bench.checkpoint(finalizer)) << "the region's own cancel";
  EXPECT_TRUE(bench.cancel(bench.root(), {.kind = CancelKind::shutdown}));
  EXPECT_TRUE(bench.checkpoint(finalizer)) << "an ancestor's";
  EXPECT_TRUE(bench.request(finalizer, {.kind = CancelKind::shutdown}));
  EXPECT_TRUE(bench.checkpoint(finalizer)) << "a request of its own";
  EXPECT_TRUE(bench.end(finalizer));
  EXPECT_EQ(bench.state(region), RegionState::closed);
}

TEST(Finalizers, REG_5_TSK_8_are_run_even_when_cancelled_before_they_start) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId finalizer = bench.defer(region);
  EXPECT_TRUE(bench.request(finalizer));
  EXPECT_TRUE(bench.close(region));
  EXPECT_EQ(bench.poll(finalizer), PollStart::run);
  EXPECT_TRUE(bench.end(finalizer));
  EXPECT_EQ(bench.state(region), RegionState::closed);
}

TEST(Finalizers, REG_5_CAN_8_get_1000_polls_each_and_are_forced_then) {
  LawBench bench({.trace_capacity = 1 << 14});
  const RegionId region = bench.region(bench.root());
  const TaskId older = bench.defer(region);
  const TaskId newer = bench.defer(region);
  EXPECT_TRUE(bench.close(region));
  for (const TaskId finalizer : {newer, older}) {
    PollStart last{};
    EXPECT_EQ(bench.polls_until_stopped(finalizer, last), 1000U);
    EXPECT_EQ(last, PollStart::drop);
    EXPECT_TRUE(bench.view(finalizer).forced);
    EXPECT_TRUE(bench.end(finalizer));
  }
  EXPECT_EQ(bench.state(region), RegionState::closed);
  EXPECT_EQ(bench.host.found(FindingKind::forced), 2U);
  const auto forced = bench.events(trace::EventKind::forced);
  ASSERT_EQ(forced.size(), 2U);
  EXPECT_EQ(forced[0].task, newer);
  EXPECT_EQ(forced[1].task, older);
  EXPECT_TRUE(bench.end_of(region).is_cancelled());
}

TEST(Finalizers, REG_5_CAN_8_of_a_soft_region_are_never_forced) {
  LawBench bench;
  const RegionId region = bench.region(bench.root(), {.cleanup_mode = CleanupMode::soft});
  const TaskId finalizer = bench.defer(region);
  EXPECT_TRUE(bench.close(region));
  PollStart last{};
  EXPECT_EQ(bench.polls_until_stopped(finalizer, last), 2000U);
  EXPECT_EQ(last, PollStart::run);
}

TEST(Finalizers, REG_5_BUD_3_the_tasks_of_a_finalizer_get_no_more_polls_than_it_has_left) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId finalizer = bench.defer(region);
  EXPECT_TRUE(bench.close(region));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(bench.poll_again(finalizer), PollStart::run);
    EXPECT_TRUE(bench.park(finalizer));
  }
  EXPECT_EQ(bench.poll_again(finalizer), PollStart::run);
  const TaskId started = bench.task(region, {.spawner = finalizer, .cleanup = true});
  EXPECT_EQ(bench.kernel->budget_of(started)->polls, Quota(989));
  const TaskId tighter = bench.task(region, {.budget = {.polls = Quota(3)}, .spawner = finalizer, .cleanup = true});
  EXPECT_EQ(bench.kernel->budget_of(tighter)->polls, Quota(3));
}

TEST(Finalizers, REG_5_OUT_4_one_that_throws_folds_in_as_panicked_and_the_others_run) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId oldest = bench.defer(region);
  const TaskId middle = bench.defer(region);
  const TaskId newest = bench.defer(region);
  EXPECT_TRUE(bench.close(region));
  (void)bench.poll(newest);
  EXPECT_TRUE(bench.end(newest));
  (void)bench.poll(middle);
  EXPECT_TRUE(bench.end(middle, thrown("in a finalizer")));
  ASSERT_TRUE(bench.is_queued(oldest));
  EXPECT_EQ(bench.poll(oldest), PollStart::run);
  EXPECT_TRUE(bench.checkpoint(oldest)) << "a panic of a finalizer cancels no other";
  EXPECT_TRUE(bench.end(oldest));
  ASSERT_EQ(bench.state(region), RegionState::closed);
  const ChildEnd end = bench.end_of(region);
  ASSERT_TRUE(end.is_panicked());
  EXPECT_EQ(end.panic().what(), "in a finalizer");
}

TEST(Finalizers, REG_5_OBL_6_the_audit_comes_after_them_and_closed_after_the_audit) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const ObligationId kept = bench.reserve(region);
  const ObligationId lost = bench.reserve(region);
  const TaskId finalizer = bench.defer(region);
  EXPECT_TRUE(bench.close(region));
  (void)bench.poll(finalizer);
  EXPECT_EQ(bench.state(lost), ObligationState::reserved) << "finalizers may still resolve it";
  EXPECT_TRUE(bench.kernel->commit(bench.worker, kept));
  EXPECT_TRUE(bench.end(finalizer));
  EXPECT_EQ(bench.state(lost), ObligationState::leaked);
  const auto events = bench.events();
  ASSERT_GE(events.size(), 3U);
  EXPECT_EQ(events[events.size() - 3].kind, trace::EventKind::complete);
  EXPECT_EQ(events[events.size() - 2].kind, trace::EventKind::resolve);
  EXPECT_EQ(events[events.size() - 1].kind, trace::EventKind::region_move);
}

TEST(Finalizers, I2_a_region_whose_finalizer_does_not_end_is_not_closed) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId finalizer = bench.defer(region);
  EXPECT_TRUE(bench.close(region));
  (void)bench.poll(finalizer);
  EXPECT_TRUE(bench.park(finalizer));
  bench.at(Time::at_ns(1'000'000'000'000));
  EXPECT_TRUE(bench.kernel->deadline_reached(bench.worker, finalizer));
  bench.run_all();
  EXPECT_EQ(bench.state(region), RegionState::finalizing);
  EXPECT_EQ(bench.view(region).live_cleanup, 1U);
}

}  // namespace
}  // namespace calm::kernel
