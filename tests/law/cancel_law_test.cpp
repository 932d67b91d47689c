// How a cancel reaches everyone it concerns: requests that strengthen, the walk down the tree, wakes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/law/law_bench.hpp"

namespace calm::kernel {
namespace {

const CancelSpec by_user{.kind = CancelKind::user};
const CancelSpec by_timeout{.kind = CancelKind::timeout};
const CancelSpec by_shutdown{.kind = CancelKind::shutdown};

// --- CAN-3 ---

TEST(Cancel, CAN_3_a_request_is_legal_in_every_state_and_sticky) {
  LawBench bench;
  const TaskId created = bench.task(bench.root());
  const TaskId running = bench.running(bench.root());
  const TaskId parked = bench.parked(bench.root());
  const TaskId masked = bench.running(bench.root());
  EXPECT_TRUE(bench.kernel->enter_mask(bench.worker, masked));
  for (const TaskId task : {created, running, parked, masked}) {
    EXPECT_TRUE(bench.request(task));
    EXPECT_TRUE(bench.kernel->is_cancel_requested(task));
    EXPECT_EQ(bench.reason(task).kind(), CancelKind::user);
  }
  EXPECT_EQ(bench.checkpoint(running), Status(Errc::cancelled));
  EXPECT_TRUE(bench.park(running));
  EXPECT_TRUE(bench.kernel->is_cancel_requested(running)) << "nothing takes it back";
}

TEST(Cancel, CAN_3_a_request_is_idempotent) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId task = bench.parked(region);
  const CancelSpec spec{.kind = CancelKind::timeout, .message = "slow"};
  EXPECT_TRUE(bench.request(task, spec));
  expect_unchanged(bench, {}, [&] { return bench.request(task, spec); });
  EXPECT_TRUE(bench.cancel(region, spec));
  expect_unchanged(bench, {}, [&] { return bench.cancel(region, spec); });
  bench.at(Time() + seconds(1));
  expect_unchanged(bench, {}, [&] { return bench.request(task, spec); });
  expect_unchanged(bench, {}, [&] { return bench.cancel(region, spec); });
}

TEST(Cancel, CAN_3_on_a_task_that_has_ended_it_does_nothing) {
  const ChildEnd ends[] = {ok(), err(Errc::io), thrown()};
  for (const ChildEnd& end : ends) {
    LawBench bench;
    const RegionId region = bench.region(bench.root(), {.policy = FoldPolicy::collect});
    const TaskId task = bench.running(region);
    EXPECT_TRUE(bench.end(task, end));
    expect_unchanged(bench, {}, [&] { return bench.request(task, by_shutdown); });
    EXPECT_EQ(bench.kernel->outcome_of(task), end.kind());
    EXPECT_FALSE(bench.reason(task));
  }
}

// --- CAN-4 ---

TEST(Cancel, CAN_4_a_stronger_request_replaces_the_reason_and_clean_up_is_the_meet) {
  LawBench bench;
  const RegionId region = bench.region(bench.root(), {.cleanup_time = seconds(2)});
  const TaskId task = bench.parked(region);
  EXPECT_TRUE(bench.cancel(region, by_user));
  bench.at(Time() + seconds(1));
  EXPECT_TRUE(bench.cancel(region, by_shutdown));
  const Budget both{.deadline = Time() + seconds(2), .polls = Quota(50), .priority = 255};
  for (const Reason& reason : {bench.reason(region), bench.reason(task)}) {
    EXPECT_EQ(reason.kind(), CancelKind::shutdown);
    EXPECT_EQ(reason.at(), Time() + seconds(1));
    EXPECT_EQ(reason.cleanup(), both) << "the earlier deadline stays";
  }
  EXPECT_EQ(bench.kernel->cancellation_of(bench.worker, task)->cleanup, both);
}

TEST(Cancel, CAN_4_a_weaker_later_request_changes_nothing) {
  for (const CancelKindRow& row : cancel_kind_table) {
    if (row.kind == CancelKind::shutdown) continue;
    LawBench bench;
    const RegionId region = bench.region(bench.root());
    const RegionId child = bench.region(region);
    const TaskId task = bench.parked(child);
    EXPECT_TRUE(bench.cancel(region, by_shutdown));
    bench.at(Time() + seconds(1));
    expect_unchanged(bench, {}, [&] { return bench.cancel(region, {.kind = row.kind}); });
    expect_unchanged(bench, {}, [&] { return bench.request(task, {.kind = row.kind}); });
  }
}

TEST(Cancel, CAN_4_a_weaker_request_with_a_tighter_clean_up_only_tightens) {
  LawBench bench;
  const TaskId task = bench.parked(bench.root());
  EXPECT_TRUE(bench.request(task, by_shutdown));
  const Reason tight({.kind = CancelKind::user, .cleanup_time = Duration::milliseconds(1)});
  EXPECT_TRUE(bench.request(task, {.kind = CancelKind::user, .cause = &tight}));
  EXPECT_EQ(bench.reason(task).kind(), CancelKind::shutdown);
  EXPECT_EQ(bench.reason(task).cleanup(),
            (Budget{.deadline = Time() + Duration::milliseconds(1), .polls = Quota(50), .priority = 255}));
  EXPECT_EQ(bench.host.watches.back().second, Time() + Duration::milliseconds(1)) << "the host hears the new deadline";
}

TEST(Cancel, CAN_4_the_order_of_two_requests_does_not_matter) {
  std::vector<Reason> seen;
  const CancelSpec specs[] = {{.kind = CancelKind::race_lost, .message = "b"},
                              {.kind = CancelKind::linked_exit, .message = "a"}};
  for (const bool swapped : {false, true}) {
    LawBench bench;
    const TaskId task = bench.parked(bench.root());
    EXPECT_TRUE(bench.request(task, specs[swapped ? 1 : 0]));
    EXPECT_TRUE(bench.request(task, specs[swapped ? 0 : 1]));
    seen.push_back(bench.reason(task));
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0].message(), "a");
}

TEST(Cancel, CAN_4_a_task_keeps_a_reason_stronger_than_that_of_its_region) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId task = bench.parked(region);
  const TaskId other = bench.parked(region);
  EXPECT_TRUE(bench.request(task, by_shutdown));
  EXPECT_TRUE(bench.cancel(region, by_user));
  EXPECT_EQ(bench.reason(task).kind(), CancelKind::shutdown);
  EXPECT_EQ(bench.reason(other).kind(), CancelKind::user);
}

// --- CAN-5 ---

/// A tree with several tasks and levels, made so that ids do not ascend in creation order:
///   top: t1 t2, left (l1 l2, below_left (b1)), right (r1);  beside top: other (o1)
struct Tree {
  explicit Tree(LawBench& bench) {
    std::vector<RegionId> regions;
    std::vector<TaskId> tasks;
    for (int i = 0; i < 5; ++i) regions.push_back(bench.region(bench.root()));
    for (int i = 0; i < 7; ++i) tasks.push_back(bench.running(bench.root(), {.handle = false}));
    for (const TaskId task : tasks) (void)bench.end(task);
    for (const RegionId region : regions) {
      (void)bench.close(region);
      (void)bench.kernel->release(bench.worker, region);
    }
    top = bench.region(bench.root());
    t1 = bench.parked(top);
    left = bench.region(top);
    other = bench.region(bench.root());
    right = bench.region(top, {.body = true});
    r1 = bench.parked(right);
    l1 = bench.parked(left);
    below_left = bench.region(left);
    b1 = bench.parked(below_left);
    l2 = bench.parked(left);
    t2 = bench.parked(top);
    o1 = bench.parked(other);
  }
  RegionId top, left, below_left, right, other;
  TaskId t1, t2, l1, l2, b1, r1, o1;
};

/// Gives: who was told, in order: a task, or a region.
std::vector<std::string> told(LawBench& bench) {
  std::vector<std::string> names;
  for (const trace::Event& event : bench.events(trace::EventKind::cancel_request)) {
    names.push_back(event.task ? to_string(event.task) : to_string(event.region));
  }
  return names;
}

TEST(Cancel, CAN_5_goes_in_pre_order_a_region_before_its_tasks_before_its_child_regions) {
  LawBench bench;
  const Tree tree(bench);
  ASSERT_FALSE(tree.t1 < tree.t2 && tree.left < tree.right) << "ids must not ascend for this test to tell";
  EXPECT_TRUE(bench.cancel(tree.top, by_timeout));
  const std::vector<std::string> expected = {
      to_string(tree.top), to_string(tree.t1),         to_string(tree.t2), to_string(tree.left),  to_string(tree.l1),
      to_string(tree.l2),  to_string(tree.below_left), to_string(tree.b1), to_string(tree.right), to_string(tree.r1)};
  EXPECT_EQ(told(bench), expected);
}

TEST(Cancel, CAN_5_tasks_of_several_home_workers_are_told_in_the_order_of_their_spawn) {
  BasicBench<lockfree::RealAtomics> bench({.workers = 3});
  const RegionId region = bench.region(bench.root());
  const std::vector<std::uint16_t> workers = {2, 0, 1, 1, 2, 0, 2, 1, 0};
  std::vector<TaskId> spawned;
  std::vector<std::uint16_t> homes;
  for (const std::uint16_t worker : workers) {
    spawned.push_back(bench.kernel->spawn(bench.kernel->worker(worker), region, {}).id);
    homes.push_back(bench.kernel->find(spawned.back())->home());
  }
  ASSERT_EQ(homes, workers);
  EXPECT_TRUE(bench.kernel->cancel(bench.kernel->worker(1), region, by_timeout));
  const Outcome<trace::Trace> seen = bench.kernel->trace();
  std::vector<TaskId> told;
  for (const trace::Event& event : seen.value().events) {
    if (event.kind == trace::EventKind::cancel_request && event.task) told.push_back(event.task);
  }
  EXPECT_EQ(told, spawned) << "so those of each home worker ascend too";
}

TEST(Cancel, CAN_5_never_goes_to_siblings_or_upward) {
  LawBench bench;
  const Tree tree(bench);
  EXPECT_TRUE(bench.cancel(tree.left, by_shutdown));
  EXPECT_EQ(told(bench), (std::vector<std::string>{to_string(tree.left), to_string(tree.l1), to_string(tree.l2),
                                                   to_string(tree.below_left), to_string(tree.b1)}));
  for (const RegionId region : {bench.root(), tree.top, tree.right, tree.other}) {
    EXPECT_EQ(bench.state(region), RegionState::open);
    EXPECT_FALSE(bench.reason(region));
  }
  for (const TaskId task : {tree.t1, tree.t2, tree.r1, tree.o1}) EXPECT_FALSE(bench.kernel->is_cancel_requested(task));
}

TEST(Cancel, CAN_5_own_tasks_get_the_reason_itself_and_those_below_parent_cancelled_with_the_cause) {
  LawBench bench;
  const Tree tree(bench);
  bench.at(Time() + seconds(3));
  EXPECT_TRUE(bench.cancel(tree.top, {.kind = CancelKind::timeout, .message = "slow"}));
  const Reason top = bench.reason(tree.top);
  EXPECT_EQ(top.kind(), CancelKind::timeout);
  EXPECT_EQ(top.region(), tree.top);
  EXPECT_EQ(top.message(), "slow");
  EXPECT_TRUE(bench.reason(tree.t1).same_story(top)) << "one reason for a region and a request";
  EXPECT_TRUE(bench.reason(tree.t2).same_story(top));

  const Reason left = bench.reason(tree.left);
  EXPECT_EQ(left, Reason(parent_cancelled(top, tree.top, Time() + seconds(3))));
  EXPECT_EQ(left.severity(), 4);
  EXPECT_EQ(left.cleanup().polls, Quota(200));
  EXPECT_TRUE(bench.reason(tree.right).same_story(left));
  EXPECT_TRUE(bench.reason(tree.l1).same_story(left));
  EXPECT_TRUE(bench.reason(tree.r1).same_story(left));

  const Reason below = bench.reason(tree.below_left);
  EXPECT_EQ(below, Reason(parent_cancelled(left, tree.left, Time() + seconds(3))));
  ASSERT_EQ(below.levels().depth, 3U);
  EXPECT_EQ(below.levels().levels[2].message, "slow");
  EXPECT_TRUE(bench.reason(tree.b1).same_story(below));
}

TEST(Cancel, CAN_5_severity_is_the_maximum_and_clean_up_the_meet_along_the_chain) {
  LawBench bench;
  const RegionId top = bench.region(bench.root(), {.cleanup_time = Duration::milliseconds(700)});
  const RegionId middle = bench.region(top, {.cleanup_time = seconds(60)});
  const TaskId task = bench.parked(bench.region(middle, {.cleanup_time = seconds(60)}));
  EXPECT_TRUE(bench.cancel(top, by_shutdown));
  EXPECT_EQ(bench.reason(task).kind(), CancelKind::parent_cancelled);
  EXPECT_EQ(bench.reason(task).severity(), 5);
  EXPECT_EQ(bench.reason(task).cleanup(),
            (Budget{.deadline = Time() + Duration::milliseconds(700), .polls = Quota(50), .priority = 255}));
}

TEST(Cancel, CAN_5_everything_below_closes_too) {
  LawBench bench;
  const Tree tree(bench);
  EXPECT_TRUE(bench.cancel(tree.top));
  for (const RegionId region : {tree.top, tree.left, tree.below_left, tree.right}) {
    EXPECT_EQ(bench.state(region), RegionState::draining);
  }
  bench.run_all();
  EXPECT_EQ(bench.state(tree.left), RegionState::closed);
  EXPECT_EQ(bench.state(tree.right), RegionState::draining) << "its body has not ended";
  EXPECT_TRUE(bench.kernel->end_body(bench.worker, tree.right, ok()));
  EXPECT_EQ(bench.state(tree.top), RegionState::closed);
}

TEST(Cancel, CAN_5_CAN_4_a_second_cancel_strengthens_all_the_way_down) {
  LawBench bench;
  const Tree tree(bench);
  EXPECT_TRUE(bench.cancel(tree.top, by_user));
  EXPECT_TRUE(bench.cancel(tree.top, by_shutdown));
  for (const TaskId task : {tree.t1, tree.l1, tree.b1, tree.r1}) {
    EXPECT_EQ(bench.reason(task).severity(), 5);
    EXPECT_EQ(bench.reason(task).cleanup().polls, Quota(50));
  }
  EXPECT_EQ(bench.reason(tree.b1).levels().levels[2].kind, CancelKind::shutdown);
}

TEST(Cancel, CAN_5_CAN_4_a_part_that_was_cancelled_more_strongly_keeps_its_reason) {
  LawBench bench;
  const Tree tree(bench);
  EXPECT_TRUE(bench.cancel(tree.left, by_shutdown));
  EXPECT_TRUE(bench.cancel(tree.top, by_user));
  EXPECT_EQ(bench.reason(tree.left).kind(), CancelKind::shutdown);
  EXPECT_EQ(bench.reason(tree.b1).severity(), 5);
  EXPECT_EQ(bench.reason(tree.right).kind(), CancelKind::parent_cancelled);
  EXPECT_EQ(bench.reason(tree.right).severity(), 4);
  EXPECT_EQ(bench.reason(tree.t1).kind(), CancelKind::user);
}

// --- CAN-2 over a long way ---

TEST(Cancel, CAN_5_the_story_of_40_nested_regions_is_cut_at_its_root_and_loses_no_severity) {
  LawBench bench;
  std::vector<RegionId> chain{bench.region(bench.root())};
  while (chain.size() < 40) chain.push_back(bench.region(chain.back()));
  const TaskId task = bench.parked(chain.back());
  EXPECT_TRUE(bench.cancel(chain.front(), {.kind = CancelKind::shutdown, .message = "the root of all"}));
  const Reason reason = bench.reason(task);
  EXPECT_EQ(reason.levels().depth, chain_level_max);
  EXPECT_TRUE(reason.truncated());
  EXPECT_EQ(reason.severity(), 5);
  EXPECT_EQ(reason.cleanup().polls, Quota(50));
  for (const ReasonLevel& level : reason.levels()) EXPECT_EQ(level.kind, CancelKind::parent_cancelled);
}

// --- CAN-6 ---

TEST(Cancel, CAN_6_an_admission_precedes_the_cancel_or_is_refused) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const RegionId child = bench.region(region);
  const TaskId before = bench.task(region);
  const TaskId before_below = bench.task(child);
  EXPECT_TRUE(bench.cancel(region));
  EXPECT_TRUE(bench.kernel->is_cancel_requested(before));
  EXPECT_TRUE(bench.kernel->is_cancel_requested(before_below));
  for (const RegionId each : {region, child}) {
    EXPECT_NE(bench.view(each).epoch.value, 0U) << "Closing and the epoch are one step";
    expect_unchanged(bench, Errc::region_not_open, [&] { return bench.kernel->spawn(bench.worker, each, {}); });
    expect_unchanged(bench, Errc::region_not_open, [&] { return bench.kernel->create_region(bench.worker, each, {}); });
    expect_unchanged(bench, Errc::region_not_open, [&] { return bench.kernel->reserve(bench.worker, each, {}); });
  }
}

TEST(Cancel, CAN_6_the_next_checkpoint_of_every_task_below_sees_it) {
  LawBench bench;
  RegionId region = bench.region(bench.root());
  const RegionId top = region;
  std::vector<TaskId> running;
  for (int depth = 0; depth < 5; ++depth) {
    running.push_back(bench.running(region));
    region = bench.region(region);
  }
  for (const TaskId task : running) EXPECT_TRUE(bench.checkpoint(task));
  EXPECT_TRUE(bench.cancel(top));
  for (const TaskId task : running) EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
}

// --- CAN-13 ---

TEST(Cancel, CAN_13_a_parked_task_is_never_left_asleep) {
  for (const int how : {0, 1, 2}) {
    LawBench bench;
    const RegionId top = bench.region(bench.root());
    const RegionId region = bench.region(top);
    const TaskId task = bench.parked(region);
    if (how == 0) {
      EXPECT_TRUE(bench.request(task));
    }
    if (how == 1) {
      EXPECT_TRUE(bench.cancel(region));
    }
    if (how == 2) {
      EXPECT_TRUE(bench.cancel(top));
    }
    EXPECT_EQ(bench.host.queue, std::deque<TaskId>{task});
  }
}

TEST(Cancel, CAN_13_a_task_being_polled_gets_one_further_poll) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  EXPECT_TRUE(bench.request(task));
  EXPECT_TRUE(bench.host.queue.empty());
  EXPECT_TRUE(bench.park(task));
  EXPECT_EQ(bench.host.queue, std::deque<TaskId>{task}) << "it may have looked before the request came";
}

TEST(Cancel, CAN_13_a_stronger_request_wakes_again_and_an_equal_one_does_not) {
  LawBench bench;
  const TaskId task = bench.parked(bench.root());
  EXPECT_TRUE(bench.request(task, by_user));
  EXPECT_EQ(bench.poll(task), PollStart::run);
  EXPECT_TRUE(bench.park(task));
  EXPECT_TRUE(bench.request(task, by_user));
  EXPECT_TRUE(bench.host.queue.empty());
  EXPECT_TRUE(bench.request(task, by_shutdown));
  EXPECT_EQ(bench.host.queue, std::deque<TaskId>{task});
}

TEST(Cancel, CAN_13_who_waits_for_an_end_or_a_close_is_woken_by_its_own_cancel) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId task = bench.parked(region);
  const TaskId joiner = bench.parked(bench.root());
  const TaskId waiter = bench.parked(bench.root());
  EXPECT_EQ(bench.kernel->await_end(bench.worker, task, joiner), Status(Errc::would_block));
  EXPECT_EQ(bench.kernel->await_close(bench.worker, region, waiter), Status(Errc::would_block));
  EXPECT_TRUE(bench.request(joiner));
  EXPECT_TRUE(bench.request(waiter));
  EXPECT_EQ(bench.host.queue, (std::deque<TaskId>{joiner, waiter}));
}

TEST(Cancel, CAN_13_joiners_and_those_who_wait_for_the_close_are_woken_when_the_cancelled_ones_are_gone) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId task = bench.parked(region);
  const TaskId joiner = bench.parked(bench.root());
  const TaskId waiter = bench.parked(bench.root());
  EXPECT_EQ(bench.kernel->await_end(bench.worker, task, joiner), Status(Errc::would_block));
  EXPECT_EQ(bench.kernel->await_close(bench.worker, region, waiter), Status(Errc::would_block));
  EXPECT_TRUE(bench.cancel(region));
  EXPECT_EQ(bench.host.queue, std::deque<TaskId>{task});
  EXPECT_TRUE(bench.poll_and_end(task));
  EXPECT_EQ(bench.host.queue, (std::deque<TaskId>{joiner, waiter}));
}

TEST(Cancel, CAN_13_the_owner_whose_frame_runs_the_body_is_woken) {
  LawBench bench;
  const TaskId owner = bench.parked(bench.root());
  const RegionId region = bench.region(bench.root(), {.body = true, .owner = owner});
  EXPECT_TRUE(bench.cancel(region));
  EXPECT_EQ(bench.host.queue, std::deque<TaskId>{owner});
  EXPECT_FALSE(bench.kernel->is_cancel_requested(owner)) << "its own task goes on";
}

// --- CAN-9: the short end of a task that was cancelled and says nothing else ---

/// Two tasks of a cancelled region in their polls, which have acknowledged; somebody waits for the first.
struct TwoCancelled : LawBench {
  RegionId scope = region(root());
  TaskId first = parked(scope);
  TaskId second = parked(scope);
  TaskId joiner = parked(root());
  ObligationId promise = reserve(root(), Service::reactor);

  explicit TwoCancelled(const CancelSpec& first_by = by_timeout) {
    EXPECT_EQ(kernel->await_end(worker, first, joiner), Status(Errc::would_block));
    EXPECT_TRUE(request(first, first_by));
    EXPECT_TRUE(cancel(scope, by_timeout));
    for (const TaskId task : {first, second}) {
      EXPECT_EQ(poll(task), PollStart::run);
      EXPECT_EQ(checkpoint(task), Status(Errc::cancelled));
    }
  }
  bool end_shortly(TaskId task, const Reason& why) {
    return kernel->complete_cancelled(worker, *kernel->find(task), task, ChildEnd(cancelled(why)));
  }
};

void expect_short_end_as_the_long_one(const CancelSpec& first_by) {
  TwoCancelled quick(first_by);
  TwoCancelled slow(first_by);
  for (const TaskId task : {quick.first, quick.second}) {
    EXPECT_TRUE(quick.end_shortly(task, quick.reason(task)));
    EXPECT_TRUE(slow.end(task));
    EXPECT_EQ(quick.marks(), slow.marks());
    EXPECT_EQ(quick.kernel->outcome_of(task), OutcomeKind::cancelled);
    const auto witness = quick.kernel->witness_of(quick.worker, task);
    ASSERT_TRUE(witness.has_value());
    EXPECT_EQ(witness->phase, CancelPhase::completed);
    EXPECT_EQ(witness->region, quick.scope);
  }
  EXPECT_EQ(quick.events(), slow.events());
  EXPECT_EQ(quick.host.queue, slow.host.queue);
  EXPECT_EQ(quick.state(quick.scope), RegionState::closed);
  EXPECT_EQ(quick.end_of(quick.scope), slow.end_of(slow.scope));
}

TEST(Cancel, CAN_9_the_short_end_leaves_what_the_long_one_leaves) { expect_short_end_as_the_long_one(by_timeout); }

TEST(Cancel, CAN_9_OUT_4_the_short_end_by_the_tasks_own_limit_cancels_its_siblings) {
  const TwoCancelled names;
  expect_short_end_as_the_long_one({.kind = CancelKind::shutdown, .region = names.scope, .task = names.first});
  expect_short_end_as_the_long_one({.kind = CancelKind::deadline, .region = names.scope, .task = names.first});
}

TEST(Cancel, CAN_9_the_short_end_is_refused_when_the_reason_is_another) {
  TwoCancelled bench;
  const Reason before = bench.reason(bench.first);
  EXPECT_TRUE(bench.request(bench.first, by_shutdown));
  const auto marks = bench.marks();
  EXPECT_FALSE(bench.end_shortly(bench.first, before));
  EXPECT_FALSE(bench.end_shortly(bench.second, Reason({.kind = CancelKind::user})));
  EXPECT_EQ(bench.marks(), marks);
  EXPECT_TRUE(bench.end_shortly(bench.first, bench.reason(bench.first)));
}

TEST(Cancel, CAN_9_the_short_end_is_refused_while_the_task_holds_something) {
  TwoCancelled bench;
  EXPECT_TRUE(bench.kernel->hand_over(bench.worker, bench.promise, bench.first));
  EXPECT_TRUE(bench.kernel->count(bench.worker, bench.second, ObligationKind::lock_guard));
  const auto marks = bench.marks();
  for (const TaskId task : {bench.first, bench.second}) EXPECT_FALSE(bench.end_shortly(task, bench.reason(task)));
  EXPECT_EQ(bench.marks(), marks);
  EXPECT_TRUE(bench.end(bench.first));
  EXPECT_TRUE(bench.end(bench.second));
  EXPECT_EQ(bench.state(bench.scope), RegionState::closed);
}

TEST(Cancel, CAN_9_the_short_end_is_refused_before_the_task_has_acknowledged) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId task = bench.parked(region);
  EXPECT_TRUE(bench.cancel(region, by_user));
  EXPECT_EQ(bench.poll(task), PollStart::run);
  const ChildEnd end = cancelled(bench.reason(task));
  EXPECT_FALSE(bench.kernel->complete_cancelled(bench.worker, *bench.kernel->find(task), task, end));
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  EXPECT_TRUE(bench.kernel->complete_cancelled(bench.worker, *bench.kernel->find(task), task, end));
}

// --- I3 ---

TEST(Cancel, I3_request_drain_finalize_in_this_order_and_only_forward) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId task = bench.parked(region);
  const TaskId finalizer = bench.defer(region);
  EXPECT_TRUE(bench.cancel(region, by_user));
  EXPECT_EQ(bench.poll(task), PollStart::run);
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  EXPECT_TRUE(bench.end(task));
  EXPECT_EQ(bench.poll(finalizer), PollStart::run);
  EXPECT_TRUE(bench.end(finalizer));
  std::vector<trace::EventKind> kinds;
  for (const trace::Event& event : bench.events()) kinds.push_back(event.kind);
  using enum trace::EventKind;
  EXPECT_EQ(kinds, (std::vector<trace::EventKind>{spawn, spawn, poll,  // the region, the task
                                                  cancel_request, region_move, region_move,
                                                  cancel_request,  // Closing, Draining, the task is told
                                                  poll, cancel_ack, complete, cancel_done,  // it drains
                                                  region_move, finalize, poll, complete,    // Finalizing
                                                  region_move}));                           // Closed
}

}  // namespace
}  // namespace calm::kernel
