// A forced task that has scopes open: their bodies end one by one from the inside, each after its part of the frame and
// before its finalizers, and the next one outwards waits until the region inside is Closed.
#include <gtest/gtest.h>

#include <vector>

#include "tests/law/law_bench.hpp"

namespace calm::kernel {
namespace {

constexpr Time late = Time() + seconds(6);

/// A parked task with a body in `outer` and in that one in `inner`, told to stop at second 1; it is second 6.
struct Unwind : testing::Test {
  Unwind() { bench.at(Time() + seconds(1)); }

  void overrun() {
    EXPECT_TRUE(bench.request(task));
    bench.at(late);
  }
  Status unwound(RegionId left) { return bench.kernel->unwound(bench.worker, task, left); }
  void expect_unwound(RegionId left) {
    EXPECT_EQ(bench.poll_again(task), PollStart::unwind);
    EXPECT_TRUE(unwound(left));
  }
  void run_finalizer(TaskId finalizer) {
    ASSERT_TRUE(bench.is_queued(finalizer));
    EXPECT_EQ(bench.poll(finalizer), PollStart::run);
    EXPECT_TRUE(bench.end(finalizer));
  }

  LawBench bench;
  RegionId region = bench.region(bench.root());
  TaskId task = bench.parked(region);
  RegionId outer = bench.region(region, {.reports_to = ReportsTo::owner, .body = true, .owner = task});
  RegionId inner = bench.region(outer, {.reports_to = ReportsTo::owner, .body = true, .owner = task});
};

TEST_F(Unwind, CAN_8_bodies_end_one_by_one_from_the_inside) {
  overrun();
  EXPECT_EQ(bench.poll(task), PollStart::unwind);
  EXPECT_EQ(bench.state(inner), RegionState::draining)
      << "cancelled, and its body is not over before the frame is gone";
  EXPECT_EQ(bench.state(outer), RegionState::draining);
  EXPECT_EQ(bench.view(task).wake, lockfree::WakeState::running_woken);
  EXPECT_TRUE(unwound(inner));
  EXPECT_EQ(bench.state(inner), RegionState::closed);
  EXPECT_TRUE(bench.end_of(inner).is_cancelled());
  EXPECT_EQ(bench.state(outer), RegionState::draining);
  ASSERT_TRUE(bench.is_queued(task)) << "the close lets it go on";
  EXPECT_EQ(bench.poll(task), PollStart::unwind);
  EXPECT_TRUE(unwound(outer));
  EXPECT_EQ(bench.state(outer), RegionState::closed);
  EXPECT_FALSE(bench.view(task).forced) << "its own frame is still there";
  EXPECT_EQ(bench.poll(task), PollStart::drop);
  EXPECT_TRUE(bench.view(task).forced);
  EXPECT_TRUE(bench.end(task));
}

TEST_F(Unwind, CAN_8_CTX_4_finalizers_run_after_their_body_and_before_the_next_one_outwards_ends) {
  const TaskId inner_finalizer = bench.defer(inner);
  const TaskId outer_finalizer = bench.defer(outer);
  overrun();
  EXPECT_EQ(bench.poll(task), PollStart::unwind);
  EXPECT_FALSE(bench.is_queued(inner_finalizer)) << "the frames of the body are alive";
  EXPECT_TRUE(unwound(inner));
  EXPECT_EQ(bench.state(inner), RegionState::finalizing);
  EXPECT_EQ(bench.poll_again(task), PollStart::later) << "a finalizer may use what is further out";
  run_finalizer(inner_finalizer);
  EXPECT_EQ(bench.state(inner), RegionState::closed);
  EXPECT_FALSE(bench.is_queued(outer_finalizer));
  expect_unwound(outer);
  run_finalizer(outer_finalizer);
  EXPECT_EQ(bench.poll(task), PollStart::drop);
}

TEST_F(Unwind, CAN_8_the_children_of_the_inner_region_end_before_the_next_body_outwards) {
  const TaskId child = bench.parked(inner);
  overrun();
  expect_unwound(inner);
  EXPECT_EQ(bench.poll_again(task), PollStart::later);
  EXPECT_EQ(bench.poll(child), PollStart::drop) << "the deadline of its cause has passed";
  EXPECT_TRUE(bench.end(child));
  EXPECT_EQ(bench.state(inner), RegionState::closed) << "nobody will run that body any more";
  ASSERT_TRUE(bench.is_queued(task)) << "or it would never be bounded";
  expect_unwound(outer);
  EXPECT_EQ(bench.poll(task), PollStart::drop);
}

TEST_F(Unwind, CAN_8_a_region_inside_without_a_body_is_waited_for_first) {
  const RegionId borrowing = bench.region(inner, {.owner = task});
  const TaskId child = bench.parked(borrowing);
  overrun();
  EXPECT_EQ(bench.poll(task), PollStart::later) << "it may borrow from the innermost part of the frame";
  EXPECT_EQ(bench.poll(child), PollStart::drop);
  EXPECT_TRUE(bench.end(child));
  expect_unwound(inner);
}

TEST_F(Unwind, CAN_8_a_region_around_without_a_live_body_does_not_keep_the_inner_body) {
  EXPECT_TRUE(bench.kernel->end_body(bench.worker, outer, ok()));
  overrun();
  expect_unwound(inner);
  EXPECT_EQ(bench.state(outer), RegionState::closed) << "nothing else was in it";
  EXPECT_EQ(bench.poll(task), PollStart::drop);
}

TEST_F(Unwind, CAN_8_of_bodies_beside_each_other_the_host_says_which_is_inside) {
  const RegionId beside = bench.region(region, {.body = true, .owner = task});
  overrun();
  EXPECT_EQ(bench.poll(task), PollStart::unwind);
  EXPECT_TRUE(unwound(beside));
  expect_unwound(inner);
  expect_unwound(outer);
  EXPECT_EQ(bench.poll(task), PollStart::drop);
}

TEST_F(Unwind, CAN_8_OBL_11_never_while_the_reactor_owns_a_buffer_in_the_frame) {
  const Holder reactor(Service::reactor, task);
  std::vector<ObligationId> operations;
  for (const RegionId home : {region, outer, inner}) {
    operations.push_back(bench.reserve(home, reactor, ObligationKind::io_operation));
  }
  overrun();
  for (const ObligationId operation : operations) {
    EXPECT_EQ(bench.poll_again(task), PollStart::later);
    EXPECT_EQ(bench.poll_again(task), PollStart::later) << "a wake in between changes nothing";
    EXPECT_TRUE(bench.kernel->abort(bench.worker, operation));
    ASSERT_TRUE(bench.is_queued(task)) << "the completion lets it look again";
  }
  expect_unwound(inner);
}

// --- what it holds ---

TEST_F(Unwind, CAN_8_OBL_5_what_the_task_holds_is_its_own_until_the_inner_frames_are_gone) {
  EXPECT_EQ(bench.poll_again(task), PollStart::run);
  const ObligationId promise = bench.reserve(inner, task);
  EXPECT_TRUE(bench.park(task));
  overrun();
  EXPECT_EQ(bench.poll(task), PollStart::unwind);
  EXPECT_EQ(bench.state(promise), ObligationState::reserved);
  EXPECT_TRUE(bench.kernel->abort(bench.worker, promise)) << "by the destructor of a local";
}

TEST_F(Unwind, CAN_8_OBL_5_what_it_holds_further_out_is_settled_when_it_has_to_wait) {
  EXPECT_EQ(bench.poll_again(task), PollStart::run);
  const ObligationId promise = bench.reserve(region, task);
  EXPECT_TRUE(bench.park(task));
  const TaskId finalizer = bench.defer(inner);
  overrun();
  expect_unwound(inner);
  EXPECT_EQ(bench.state(promise), ObligationState::aborted) << "the finalizer may wait for it";
  EXPECT_TRUE(bench.host.findings.empty());
  run_finalizer(finalizer);
}

TEST_F(Unwind, CAN_8_OBL_5_it_keeps_what_it_holds_when_it_goes_on_at_once) {
  EXPECT_EQ(bench.poll_again(task), PollStart::run);
  const ObligationId promise = bench.reserve(region, task);
  EXPECT_TRUE(bench.park(task));
  overrun();
  expect_unwound(inner);
  expect_unwound(outer);
  EXPECT_EQ(bench.state(promise), ObligationState::reserved) << "nobody had to wait";
  EXPECT_EQ(bench.poll(task), PollStart::drop);
  EXPECT_TRUE(bench.end(task));
  EXPECT_EQ(bench.state(promise), ObligationState::aborted);
}

TEST_F(Unwind, CAN_8_REG_9_a_promise_of_the_inner_region_that_the_task_holds_does_not_keep_it_open) {
  EXPECT_EQ(bench.poll_again(task), PollStart::run);
  const ObligationId promise = bench.reserve(inner, task);
  EXPECT_TRUE(bench.park(task));
  overrun();
  expect_unwound(inner);
  EXPECT_EQ(bench.state(promise), ObligationState::aborted);
  EXPECT_EQ(bench.state(inner), RegionState::closed);
}

// --- what is refused, and what stays ---

TEST_F(Unwind, CAN_8_only_the_innermost_body_of_a_task_that_is_cancelled_and_polled_is_unwound) {
  const RegionId borrowing = bench.region(region, {.owner = task});
  const RegionId foreign = bench.region(region, {.body = true});
  EXPECT_EQ(bench.poll_again(task), PollStart::run);
  expect_unchanged(bench, Errc::invalid_transition, [&] { return unwound(inner); });  // not cancelled
  EXPECT_TRUE(bench.park(task));
  overrun();
  expect_unchanged(bench, Errc::invalid_transition, [&] { return unwound(inner); });  // not polled
  EXPECT_EQ(bench.poll(task), PollStart::later);
  EXPECT_EQ(bench.poll_again(task), PollStart::unwind) << "what borrowed is Closed";
  ASSERT_EQ(bench.state(borrowing), RegionState::closed);
  for (const RegionId wrong : {outer, borrowing, foreign, region}) {
    expect_unchanged(bench, Errc::invalid_transition, [&] { return unwound(wrong); });
  }
  EXPECT_TRUE(unwound(inner));
  expect_unchanged(bench, Errc::invalid_transition, [&] { return unwound(inner); });
}

TEST(UnwindWorkers, CAN_8_what_was_unwound_does_not_run_again_by_a_worker_whose_clock_is_behind) {
  BasicBench<lockfree::RealAtomics> bench(Config{.workers = 2});
  const TaskId task = bench.parked(bench.root());
  const RegionId scope = bench.region(bench.root(), {.body = true, .owner = task});
  EXPECT_TRUE(bench.kernel->request_cancel(bench.worker, task, {}));
  bench.at(Time() + seconds(5));
  EXPECT_EQ(bench.poll(task), PollStart::unwind);
  EXPECT_TRUE(bench.kernel->unwound(bench.worker, task, scope));
  Worker& behind = bench.kernel->worker(1);
  behind.set_time(Time() + seconds(4));
  EXPECT_EQ(bench.kernel->begin_poll(behind, task), PollStart::drop);
}

}  // namespace
}  // namespace calm::kernel
