// Masks: they defer the observation of a cancel, to a depth and for a time.
#include <gtest/gtest.h>

#include "tests/law/law_bench.hpp"

namespace calm::kernel {
namespace {

TEST(Mask, CAN_12_CAN_7_defers_the_observation_of_a_cancel) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  EXPECT_TRUE(bench.request(task));
  expect_unchanged(bench, {}, [&] { return bench.checkpoint(task); });
  EXPECT_EQ(bench.state(task), TaskState::cancel_requested);
  EXPECT_TRUE(bench.kernel->is_cancel_requested(task)) << "looking is not deferred";
  EXPECT_TRUE(bench.park(task));
  EXPECT_EQ(bench.poll(task), PollStart::run) << "and over polls";
  expect_unchanged(bench, {}, [&] { return bench.checkpoint(task); });
  EXPECT_TRUE(bench.kernel->leave_mask(bench.worker, task));
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  EXPECT_TRUE(bench.host.findings.empty());
}

TEST(Mask, CAN_12_CAN_7_who_asks_why_is_told_where_a_checkpoint_is_cancelled) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  EXPECT_FALSE(bench.kernel->acknowledged(bench.worker, task));
  EXPECT_TRUE(bench.request(task, {.kind = CancelKind::timeout}));
  EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  EXPECT_FALSE(bench.kernel->acknowledged(bench.worker, task));
  EXPECT_EQ(bench.state(task), TaskState::cancel_requested);
  EXPECT_TRUE(bench.kernel->leave_mask(bench.worker, task));
  for (int i = 0; i < 2; ++i) {
    const Reason why = bench.kernel->acknowledged(bench.worker, task);
    ASSERT_TRUE(why);
    EXPECT_EQ(why.kind(), CancelKind::timeout);
    EXPECT_EQ(bench.state(task), TaskState::cancelling);
    EXPECT_EQ(bench.events(trace::EventKind::cancel_ack).size(), 1U) << "once";
  }
  EXPECT_EQ(bench.checkpoint(task), Errc::cancelled);
  EXPECT_TRUE(bench.end(task));
  const TaskId over = bench.running(bench.root(), {.handle = false});
  EXPECT_TRUE(bench.end(over));
  EXPECT_FALSE(bench.kernel->acknowledged(bench.worker, over));
}

TEST(Mask, CAN_12_CAN_7_a_cancel_seen_before_is_not_seen_under_a_mask_and_again_after_it) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  EXPECT_TRUE(bench.request(task));
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  expect_unchanged(bench, {}, [&] { return bench.checkpoint(task); });
  EXPECT_TRUE(bench.kernel->leave_mask(bench.worker, task));
  expect_unchanged(bench, Errc::cancelled, [&] { return bench.checkpoint(task); });
}

TEST(Mask, CAN_12_nests_to_64_and_the_outermost_decides) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  EXPECT_TRUE(bench.request(task));
  for (int depth = 1; depth <= 64; ++depth) {
    EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
    EXPECT_EQ(bench.view(task).mask_depth, depth);
    EXPECT_TRUE(bench.checkpoint(task));
  }
  EXPECT_TRUE(bench.host.findings.empty()) << "64 are allowed";
  for (int depth = 63; depth >= 1; --depth) {
    EXPECT_TRUE(bench.kernel->leave_mask(bench.worker, task));
    EXPECT_TRUE(bench.checkpoint(task)) << "still inside " << depth;
  }
  EXPECT_TRUE(bench.kernel->leave_mask(bench.worker, task));
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  expect_unchanged(bench, Errc::invalid_transition, [&] { return bench.kernel->leave_mask(bench.worker, task); });
}

TEST(Mask, CAN_12_the_65th_takes_all_of_them_off_and_is_reported) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  EXPECT_TRUE(bench.request(task));
  for (int i = 0; i < 64; ++i) EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  EXPECT_TRUE(bench.checkpoint(task));
  EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  ASSERT_EQ(bench.host.findings.size(), 1U);
  EXPECT_EQ(bench.host.findings[0].kind, FindingKind::mask_too_deep);
  EXPECT_EQ(bench.host.findings[0].task, task);
  EXPECT_EQ(bench.host.findings[0].region, bench.root());
  EXPECT_EQ(bench.view(task).mask_depth, 0);
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled)) << "unmasked";
  for (int i = 0; i < 65; ++i) EXPECT_TRUE(bench.kernel->leave_mask(bench.worker, task)) << "the scopes end as usual";
  EXPECT_EQ(bench.host.findings.size(), 1U);
}

/// Parks and polls again.
PollStart once_more(LawBench& bench, TaskId task) {
  EXPECT_TRUE(bench.park(task));
  return bench.poll_again(task);
}

TEST(Mask, CAN_12_lasts_1000_polls_and_is_taken_off_and_reported_then) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  for (int polls = 1; polls <= 1000; ++polls) {
    ASSERT_EQ(once_more(bench, task), PollStart::run);
    ASSERT_EQ(bench.view(task).mask_depth, 2) << polls;
  }
  EXPECT_TRUE(bench.host.findings.empty()) << "1000 are allowed";
  EXPECT_EQ(once_more(bench, task), PollStart::run);
  ASSERT_EQ(bench.host.findings.size(), 1U);
  EXPECT_EQ(bench.host.findings[0].kind, FindingKind::mask_too_long);
  EXPECT_EQ(bench.host.findings[0].task, task);
  EXPECT_EQ(bench.view(task).mask_depth, 0);
  EXPECT_TRUE(bench.request(task));
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  EXPECT_TRUE(bench.kernel->leave_mask(bench.worker, task));
  EXPECT_TRUE(bench.kernel->leave_mask(bench.worker, task));
  EXPECT_EQ(bench.host.findings.size(), 1U) << "told once";
}

TEST(Mask, CAN_12_every_outermost_mask_has_its_own_1000_polls) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  for (int mask = 0; mask < 3; ++mask) {
    EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
    for (int polls = 0; polls < 600; ++polls) ASSERT_EQ(once_more(bench, task), PollStart::run);
    EXPECT_TRUE(bench.kernel->leave_mask(bench.worker, task));
  }
  EXPECT_TRUE(bench.host.findings.empty());
}

TEST(Mask, CAN_12_a_mask_inside_another_does_not_renew_its_polls) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  for (int polls = 0; polls < 600; ++polls) ASSERT_EQ(once_more(bench, task), PollStart::run);
  EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  for (int polls = 0; polls < 600; ++polls) ASSERT_EQ(once_more(bench, task), PollStart::run);
  EXPECT_EQ(bench.host.found(FindingKind::mask_too_long), 1U);
}

TEST(Mask, CAN_12_of_one_life_is_not_that_of_the_next) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  for (int i = 0; i < 65; ++i) EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  EXPECT_TRUE(bench.end(task));
  EXPECT_TRUE(bench.kernel->release(bench.worker, task));
  const TaskId next = bench.running(bench.root());
  ASSERT_EQ(next.index(), task.index());
  EXPECT_EQ(bench.view(next).mask_depth, 0);
  expect_unchanged(bench, Errc::invalid_transition, [&] { return bench.kernel->leave_mask(bench.worker, next); });
}

}  // namespace
}  // namespace calm::kernel
