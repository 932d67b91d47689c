// When clean-up takes too long: its budget counts from the request, and what overruns it is forced at a suspension point.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "calm/kernel/forced_end.hpp"
#include "tests/law/law_bench.hpp"

namespace calm::kernel {
namespace {

constexpr Time at_seconds(std::int64_t count) { return Time() + seconds(count); }

/// A region with a parked task in it, which is told to stop at second 1.
struct Force : testing::Test {
  explicit Force(const RegionSpec& spec = {}) : region(bench.region(bench.root(), spec)) {}

  void cancel_at_1(CancelKind kind = CancelKind::user) {
    bench.at(at_seconds(1));
    EXPECT_TRUE(bench.request(task, {.kind = kind}));
  }
  /// The host finds the clean-up deadline passed.
  void reach(Time now) {
    bench.at(now);
    EXPECT_TRUE(bench.kernel->deadline_reached(bench.worker, task));
  }
  void expect_forced() {
    EXPECT_TRUE(bench.view(task).forced);
    EXPECT_EQ(bench.state(task), TaskState::cancelling);
    const auto events = bench.events(trace::EventKind::forced);
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events.back().task, task);
    EXPECT_EQ(events.back().region, region);
    ASSERT_FALSE(bench.host.findings.empty());
    EXPECT_EQ(bench.host.findings.back().kind, FindingKind::forced);
    EXPECT_EQ(bench.host.findings.back().task, task);
    EXPECT_EQ(bench.host.found(FindingKind::forced), events.size());
    EXPECT_TRUE(bench.end(task)) << "the frame is gone";
    EXPECT_TRUE(bench.view(task).forced) << "and who looks later still sees it";
  }

  LawBench bench{Config{.trace_capacity = 1 << 13}};
  RegionId region;
  TaskId task = bench.parked(region);
};

struct ForceSoft : Force {
  ForceSoft() : Force({.cleanup_mode = CleanupMode::soft}) {}
};
struct ForcePanic : Force {
  ForcePanic() : Force({.escalation = Escalation::panic}) {}
};
struct ForceQuickly : Force {
  ForceQuickly() : Force({.cleanup_time = Duration::milliseconds(10)}) {}
};

TEST_F(Force, CAN_8_every_kind_gets_its_polls_counted_from_the_request) {
  for (const CancelKindRow& row : cancel_kind_table) {
    LawBench each;
    const TaskId parked = each.parked(each.root());
    EXPECT_TRUE(each.request(parked, {.kind = row.kind}));
    EXPECT_EQ(each.kernel->cancellation_of(each.worker, parked)->cleanup.polls, Quota(row.cleanup_polls));
    PollStart last{};
    EXPECT_EQ(each.polls_until_stopped(parked, last), row.cleanup_polls) << row.name << ", and it never checkpoints";
    EXPECT_EQ(last, PollStart::drop);
    EXPECT_EQ(each.kernel->cancellation_of(each.worker, parked)->cleanup.polls, Quota(0));
  }
}

TEST_F(Force, CAN_8_a_task_without_polls_left_is_dropped_and_ends_cancelled) {
  cancel_at_1();
  EXPECT_EQ(bench.poll(task), PollStart::run);
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  EXPECT_TRUE(bench.park(task));
  PollStart last{};
  EXPECT_EQ(bench.polls_until_stopped(task, last), 999U) << "acknowledging renews nothing";
  EXPECT_EQ(last, PollStart::drop);
  expect_forced();
  EXPECT_EQ(bench.kernel->outcome_of(task), OutcomeKind::cancelled);
  EXPECT_EQ(bench.kernel->witness_of(bench.worker, task)->phase, CancelPhase::completed);
}

TEST_F(Force, CAN_8_the_deadline_is_the_request_and_five_seconds) {
  cancel_at_1();
  ASSERT_FALSE(bench.host.watches.empty());
  EXPECT_EQ(bench.host.watches.back(), std::make_pair(task, at_seconds(6)));
  EXPECT_EQ(bench.poll(task), PollStart::run);
  EXPECT_TRUE(bench.park(task));
  reach(Time::at_ns(at_seconds(6).ns() - 1));
  EXPECT_TRUE(bench.host.queue.empty()) << "not early";
  reach(at_seconds(6));
  EXPECT_TRUE(bench.is_queued(task)) << "parked, it is scheduled to be dropped";
  EXPECT_EQ(bench.poll(task), PollStart::drop);
  expect_forced();
}

TEST_F(Force, CAN_8_a_poll_after_the_deadline_is_a_drop_whether_the_host_told_or_not) {
  cancel_at_1();
  bench.at(at_seconds(6));
  EXPECT_EQ(bench.poll(task), PollStart::drop);
  expect_forced();
}

TEST_F(ForceQuickly, CAN_8_a_region_may_give_another_time) {
  cancel_at_1();
  EXPECT_EQ(bench.host.watches.back().second, at_seconds(1) + Duration::milliseconds(10));
  EXPECT_EQ(bench.poll(task), PollStart::run);
  EXPECT_TRUE(bench.park(task));
  reach(at_seconds(1) + Duration::milliseconds(10));
  EXPECT_EQ(bench.poll(task), PollStart::drop);
}

TEST_F(Force, CAN_8_a_task_parked_under_a_mask_is_bounded_as_well) {
  EXPECT_EQ(bench.poll_again(task), PollStart::run);
  EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  EXPECT_TRUE(bench.park(task));
  cancel_at_1();
  EXPECT_EQ(bench.poll(task), PollStart::run);
  EXPECT_TRUE(bench.park(task));
  reach(at_seconds(6));
  EXPECT_EQ(bench.poll(task), PollStart::drop);
  expect_forced();
}

TEST_F(Force, CAN_8_polls_under_a_mask_count) {
  EXPECT_EQ(bench.poll_again(task), PollStart::run);
  EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  EXPECT_TRUE(bench.park(task));
  cancel_at_1(CancelKind::shutdown);
  PollStart last{};
  EXPECT_EQ(bench.polls_until_stopped(task, last), 50U);
  EXPECT_EQ(last, PollStart::drop);
}

TEST_F(Force, CAN_8_CAN_4_a_stronger_request_takes_the_polls_that_were_used_into_account) {
  cancel_at_1();
  PollStart last{};
  EXPECT_EQ(bench.polls_until_stopped(task, last, 60), 60U);
  EXPECT_TRUE(bench.request(task, {.kind = CancelKind::shutdown}));
  EXPECT_EQ(bench.poll(task), PollStart::drop) << "shutdown allows 50 from the request on";
}

TEST_F(Force, CAN_8_CAN_4_a_later_request_does_not_move_the_deadline) {
  cancel_at_1();
  bench.at(at_seconds(4));
  EXPECT_TRUE(bench.request(task, {.kind = CancelKind::shutdown}));
  EXPECT_EQ(bench.reason(task).cleanup().deadline, Deadline(at_seconds(6)));
  reach(at_seconds(6));
  EXPECT_EQ(bench.poll(task), PollStart::drop);
}

TEST_F(ForceSoft, CAN_8_soft_waits_for_ever) {
  cancel_at_1(CancelKind::shutdown);
  reach(at_seconds(1000));
  EXPECT_TRUE(bench.host.findings.empty());
  PollStart last{};
  EXPECT_EQ(bench.polls_until_stopped(task, last, 1500), 1500U);
  EXPECT_EQ(last, PollStart::run);
  EXPECT_TRUE(bench.events(trace::EventKind::forced).empty());
}

TEST_F(ForcePanic, CAN_8_the_escalation_panic_ends_it_as_panicked) {
  cancel_at_1();
  reach(at_seconds(6));
  EXPECT_EQ(bench.poll(task), PollStart::drop);
  expect_forced();
  EXPECT_EQ(bench.kernel->outcome_of(task), OutcomeKind::panicked);
  EXPECT_TRUE(bench.close(region));
  const ChildEnd end = bench.end_of(region);
  ASSERT_TRUE(end.is_panicked());
  EXPECT_THROW(end.panic().rethrow(), ForcedEnd);
}

TEST_F(ForcePanic, CAN_8_the_escalation_is_for_what_was_forced_only) {
  cancel_at_1();
  EXPECT_EQ(bench.poll(task), PollStart::run);
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  EXPECT_TRUE(bench.end(task));
  EXPECT_EQ(bench.kernel->outcome_of(task), OutcomeKind::cancelled);
  EXPECT_FALSE(bench.view(task).forced);
}

TEST(ForceWorkers, CAN_8_a_deadline_that_one_worker_saw_is_kept_by_all) {
  BasicBench<lockfree::RealAtomics> bench(Config{.workers = 2});
  const TaskId task = bench.parked(bench.root());
  EXPECT_TRUE(bench.kernel->request_cancel(bench.worker, task, {}));
  EXPECT_EQ(bench.poll(task), PollStart::run);
  EXPECT_TRUE(bench.kernel->end_poll(bench.worker, task));
  bench.at(Time() + seconds(5));
  EXPECT_TRUE(bench.kernel->deadline_reached(bench.worker, task));
  Worker& behind = bench.kernel->worker(1);
  behind.set_time(Time() + seconds(4));
  EXPECT_EQ(bench.kernel->begin_poll(behind, task), PollStart::drop) << "nobody will tell a second time";
}

// --- what may not be forced yet ---

TEST_F(Force, CAN_8_never_while_a_child_region_that_borrows_from_the_frame_is_alive) {
  const RegionId borrowing = bench.region(region, {.owner = task});
  const TaskId child = bench.parked(borrowing);
  const RegionId other = bench.region(region);
  cancel_at_1();
  EXPECT_EQ(bench.state(borrowing), RegionState::open) << "a cancel of the task alone does not go down";
  bench.at(at_seconds(6));
  EXPECT_EQ(bench.poll(task), PollStart::later);
  EXPECT_EQ(bench.view(task).wake, lockfree::WakeState::idle) << "parked again";
  EXPECT_FALSE(bench.view(task).forced);
  EXPECT_TRUE(bench.events(trace::EventKind::forced).empty());
  EXPECT_EQ(bench.state(borrowing), RegionState::draining) << "it is cancelled, because its owner goes";
  EXPECT_EQ(bench.reason(borrowing).kind(), CancelKind::parent_cancelled);
  EXPECT_EQ(bench.reason(borrowing).task(), task);
  EXPECT_EQ(bench.state(other), RegionState::open) << "what does not borrow is left alone";

  EXPECT_EQ(bench.poll_again(task), PollStart::later) << "a wake in between changes nothing";
  ASSERT_TRUE(bench.is_queued(child));
  EXPECT_EQ(bench.poll(child), PollStart::drop) << "the deadline of its cause has passed";
  EXPECT_FALSE(bench.is_queued(task)) << "its frame is not gone yet";
  EXPECT_TRUE(bench.end(child));
  ASSERT_EQ(bench.state(borrowing), RegionState::closed);
  ASSERT_TRUE(bench.is_queued(task)) << "the close wakes it";
  EXPECT_EQ(bench.poll(task), PollStart::drop);
  expect_forced();
}

TEST_F(Force, CAN_8_never_while_a_region_inside_a_borrowing_one_is_alive) {
  const RegionId outer = bench.region(region, {.owner = task});
  const RegionId inner = bench.region(outer, {.owner = task});
  const TaskId child = bench.parked(inner);
  EXPECT_TRUE(bench.close(outer));
  EXPECT_TRUE(bench.close(inner));
  cancel_at_1();
  bench.at(at_seconds(6));
  EXPECT_EQ(bench.poll(task), PollStart::later);
  EXPECT_TRUE(bench.is_queued(child));
  EXPECT_TRUE(bench.poll_and_end(child));
  EXPECT_EQ(bench.poll(task), PollStart::drop);
}

TEST_F(Force, CAN_8_goes_bottom_up) {
  const RegionId middle = bench.region(region, {.owner = task});
  const TaskId owner_below = bench.parked(middle);
  const RegionId bottom = bench.region(middle, {.owner = owner_below});
  const TaskId leaf = bench.parked(bottom);
  bench.at(at_seconds(1));
  EXPECT_TRUE(bench.cancel(region));
  for (const TaskId each : {task, owner_below, leaf}) {
    EXPECT_EQ(bench.poll(each), PollStart::run);
    EXPECT_TRUE(bench.park(each));
  }
  bench.at(at_seconds(6));
  for (const TaskId each : {task, owner_below, leaf}) {
    EXPECT_TRUE(bench.kernel->deadline_reached(bench.worker, each));
  }
  EXPECT_EQ(bench.poll(task), PollStart::later);
  EXPECT_EQ(bench.poll(owner_below), PollStart::later);
  EXPECT_EQ(bench.poll(leaf), PollStart::drop);
  EXPECT_TRUE(bench.end(leaf));
  EXPECT_EQ(bench.poll(owner_below), PollStart::drop);
  EXPECT_TRUE(bench.end(owner_below));
  EXPECT_EQ(bench.poll(task), PollStart::drop);
  EXPECT_TRUE(bench.end(task));
  EXPECT_EQ(bench.state(region), RegionState::closed);
  std::vector<TaskId> order;
  for (const trace::Event& event : bench.events(trace::EventKind::forced)) order.push_back(event.task);
  EXPECT_EQ(order, (std::vector<TaskId>{leaf, owner_below, task}));
}

TEST_F(Force, CAN_8_one_watch_for_all_tasks_of_a_region) {
  bench.host.minds_regions = true;
  const TaskId second = bench.parked(region);
  const TaskId hurried = bench.parked(region);
  const TaskId quick = bench.parked(region);
  bench.at(at_seconds(1));
  EXPECT_TRUE(bench.request(hurried, {.kind = CancelKind::user}));
  const auto own = bench.host.watches;
  bench.at(at_seconds(2));
  EXPECT_TRUE(bench.cancel(region));
  EXPECT_EQ(bench.host.region_watches, (std::vector<std::pair<RegionId, Time>>{{region, at_seconds(7)}}));
  EXPECT_EQ(bench.host.watches, own) << "the one that has less time is watched already";
  EXPECT_EQ(bench.poll(quick), PollStart::run);
  EXPECT_TRUE(bench.end(quick));
  for (const TaskId each : {task, second, hurried}) {
    EXPECT_EQ(bench.poll(each), PollStart::run);
    EXPECT_TRUE(bench.park(each));
  }
  bench.at(at_seconds(7) - Duration::nanoseconds(1));
  EXPECT_TRUE(bench.kernel->deadline_reached(bench.worker, region));
  EXPECT_EQ(bench.poll_again(task), PollStart::run) << "it has time left";
  EXPECT_TRUE(bench.park(task));
  bench.at(at_seconds(7));
  EXPECT_TRUE(bench.kernel->deadline_reached(bench.worker, region));
  for (const TaskId each : {task, second, hurried}) {
    EXPECT_EQ(bench.poll(each), PollStart::drop);
    EXPECT_TRUE(bench.end(each));
  }
  EXPECT_EQ(bench.state(region), RegionState::closed);
}

TEST_F(Force, CAN_8_a_stronger_request_with_less_time_is_watched_again) {
  bench.host.minds_regions = true;
  bench.at(at_seconds(1));
  EXPECT_TRUE(bench.cancel(region));
  EXPECT_TRUE(bench.cancel(region, {.kind = CancelKind::shutdown}));
  bench.at(at_seconds(2));
  EXPECT_TRUE(bench.kernel->deadline_reached(bench.worker, region)) << "nobody is late";
  ASSERT_FALSE(bench.host.region_watches.empty());
  EXPECT_TRUE(bench.host.watches.empty());
  EXPECT_EQ(bench.host.region_watches.back().second, bench.kernel->budget_of(task)->deadline.time());
  const RegionId open = bench.region(bench.root());
  const TaskId other = bench.parked(open);
  bench.at(at_seconds(100));
  EXPECT_TRUE(bench.kernel->deadline_reached(bench.worker, open)) << "one that is not cancelled has no such deadline";
  EXPECT_EQ(bench.state(other), TaskState::running);
}

TEST_F(ForceSoft, CAN_8_nor_by_the_watch_of_its_region) {
  bench.at(at_seconds(1));
  EXPECT_TRUE(bench.cancel(region));
  EXPECT_EQ(bench.poll(task), PollStart::run);
  EXPECT_TRUE(bench.park(task));
  bench.at(at_seconds(100));
  EXPECT_TRUE(bench.kernel->deadline_reached(bench.worker, region));
  EXPECT_TRUE(bench.host.queue.empty());
}

TEST_F(Force, CAN_8_OBL_11_never_while_the_reactor_owns_one_of_its_buffers) {
  for (const bool in_owned_region : {false, true}) {
    LawBench each;
    const TaskId user = each.parked(each.root());
    const RegionId home = in_owned_region ? each.region(each.root(), {.owner = user}) : each.root();
    const ObligationId operation = each.reserve(home, {Service::reactor, user}, ObligationKind::io_operation);
    EXPECT_TRUE(each.request(user));
    each.at(at_seconds(5));
    EXPECT_EQ(each.poll(user), PollStart::later);
    EXPECT_TRUE(each.host.queue.empty());
    EXPECT_TRUE(each.kernel->abort(each.worker, operation));
    EXPECT_TRUE(each.is_queued(user)) << "the completion lets it go on";
    EXPECT_EQ(each.poll(user), PollStart::drop);
  }
}

TEST_F(Force, CAN_8_OBL_11_a_service_works_for_a_task_only_where_its_forcing_would_see_it) {
  const RegionId elsewhere = bench.region(bench.root());
  const Holder holder(Service::reactor, task);
  expect_unchanged(bench, Errc::invalid_argument,
                   [&] { return bench.kernel->reserve(bench.worker, elsewhere, {.holder = holder}); });
  const ObligationId promise = bench.reserve(elsewhere, Service::reactor);
  expect_unchanged(bench, Errc::invalid_argument,
                   [&] { return bench.kernel->hand_over(bench.worker, promise, holder); });
}

TEST_F(Force, CAN_8_OBL_11_a_buffer_that_was_handed_on_lets_the_forcing_go_on) {
  const ObligationId operation = bench.reserve(region, {Service::reactor, task}, ObligationKind::io_operation);
  cancel_at_1();
  bench.at(at_seconds(6));
  EXPECT_EQ(bench.poll(task), PollStart::later);
  EXPECT_TRUE(bench.kernel->hand_over(bench.worker, operation, Service::reactor));
  EXPECT_TRUE(bench.is_queued(task)) << "nothing uses its buffer any more";
  EXPECT_EQ(bench.poll_again(task), PollStart::drop);
}

TEST_F(Force, CAN_8_OBL_11_a_buffer_of_another_task_does_not_matter) {
  const TaskId other = bench.parked(region);
  bench.reserve(region, {Service::reactor, other}, ObligationKind::io_operation);
  bench.reserve(region, Service::lease_keeper, ObligationKind::lease);
  cancel_at_1();
  bench.at(at_seconds(6));
  EXPECT_EQ(bench.poll(task), PollStart::drop);
}

// --- who does not suspend ---

TEST_F(Force, CAN_8_a_task_that_does_not_suspend_is_reported_as_stalled_and_forced_when_it_does) {
  EXPECT_EQ(bench.poll_again(task), PollStart::run);
  cancel_at_1();
  bench.host.awaiting.site = Site::current();
  reach(at_seconds(6));
  ASSERT_EQ(bench.host.findings.size(), 1U);
  EXPECT_EQ(bench.host.findings[0].kind, FindingKind::stalled);
  EXPECT_EQ(bench.host.findings[0].task, task);
  EXPECT_EQ(bench.host.findings[0].site.line(), bench.host.awaiting.site.line());
  EXPECT_FALSE(bench.view(task).forced);
  EXPECT_EQ(bench.state(task), TaskState::cancel_requested);
  EXPECT_TRUE(bench.park(task));
  ASSERT_TRUE(bench.is_queued(task)) << "now it has suspended";
  EXPECT_EQ(bench.poll(task), PollStart::drop);
  expect_forced();
}

TEST_F(Force, CAN_8_a_stalled_task_may_still_end_by_itself) {
  EXPECT_EQ(bench.poll_again(task), PollStart::run);
  cancel_at_1();
  reach(at_seconds(6));
  EXPECT_TRUE(bench.end(task, ok()));
  EXPECT_EQ(bench.kernel->outcome_of(task), OutcomeKind::ok) << "it never acknowledged";
  EXPECT_TRUE(bench.events(trace::EventKind::forced).empty());
}

// --- who is in a call that something outside makes ---

TEST_F(Force, CAN_8_a_task_in_a_call_is_reported_once_and_forced_when_the_call_is_over) {
  cancel_at_1();
  bench.host.in_call = task;
  bench.host.awaiting.site = Site::current();
  bench.at(at_seconds(6));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bench.poll_again(task), PollStart::later);
    EXPECT_EQ(bench.view(task).wake, lockfree::WakeState::idle) << "it is parked already";
  }
  ASSERT_EQ(bench.host.findings.size(), 1U);
  EXPECT_EQ(bench.host.findings[0].kind, FindingKind::stalled);
  EXPECT_TRUE(bench.host.findings[0].in_call);
  EXPECT_EQ(bench.host.findings[0].task, task);
  EXPECT_EQ(bench.host.findings[0].region, region);
  EXPECT_EQ(bench.host.findings[0].site.line(), bench.host.awaiting.site.line());
  EXPECT_FALSE(bench.view(task).forced);
  EXPECT_TRUE(bench.events(trace::EventKind::forced).empty());
  EXPECT_TRUE(bench.kernel->close(bench.worker, region));
  EXPECT_EQ(bench.state(region), RegionState::draining) << "the region waits for the call (I2)";

  bench.host.in_call = {};
  bench.at(at_seconds(1));  // whatever the clock of the next worker says
  EXPECT_EQ(bench.poll_again(task), PollStart::drop);
  expect_forced();
  EXPECT_EQ(bench.state(region), RegionState::closed);
}

TEST_F(Force, CAN_8_a_task_in_a_call_inside_a_body_is_not_unwound_before_the_call_is_over) {
  const RegionId inner = bench.region(region, {.body = true, .owner = task});
  cancel_at_1();
  bench.host.in_call = task;
  bench.at(at_seconds(6));
  EXPECT_EQ(bench.poll_again(task), PollStart::later);
  EXPECT_TRUE(bench.kernel->is_cancelled(inner)) << "what it owns is told to stop all the same";
  EXPECT_NE(bench.state(inner), RegionState::closed);
  bench.host.in_call = {};
  EXPECT_EQ(bench.poll_again(task), PollStart::unwind);
}

TEST_F(Force, CAN_8_OBL_5_nobody_waits_for_what_a_task_in_a_call_holds) {
  const ObligationId promise = bench.reserve(region, task, ObligationKind::ack);
  cancel_at_1();
  bench.host.in_call = task;
  bench.at(at_seconds(6));
  EXPECT_EQ(bench.poll_again(task), PollStart::later);
  EXPECT_NE(bench.kernel->state(bench.worker, promise), ObligationState::reserved);
}

TEST_F(Force, CAN_8_a_call_keeps_nobody_who_has_time_left) {
  cancel_at_1();
  bench.host.in_call = task;
  EXPECT_EQ(bench.poll_again(task), PollStart::run);
  EXPECT_TRUE(bench.host.findings.empty());
}

TEST_F(Force, CAN_8_the_next_life_of_the_slot_is_not_forced) {
  cancel_at_1();
  reach(at_seconds(6));
  EXPECT_EQ(bench.poll(task), PollStart::drop);
  EXPECT_TRUE(bench.end(task));
  EXPECT_TRUE(bench.kernel->release(bench.worker, task));
  const TaskId next = bench.running(region);
  ASSERT_EQ(next.index(), task.index());
  EXPECT_TRUE(bench.park(next));
  EXPECT_TRUE(bench.host.queue.empty());
  EXPECT_EQ(bench.poll_again(next), PollStart::run);
  EXPECT_FALSE(bench.view(next).forced);
  EXPECT_EQ(bench.view(next).cleanup_polls, 0);
}

}  // namespace
}  // namespace calm::kernel
