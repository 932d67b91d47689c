// How a region closes: what it waits for, whom it refuses, and that it is never stuck.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/law/law_bench.hpp"

namespace calm::kernel {
namespace {

using Path = std::vector<RegionState>;
const Path straight{RegionState::open, RegionState::closing, RegionState::finalizing, RegionState::closed};
const Path by_draining{RegionState::open, RegionState::closing, RegionState::draining, RegionState::finalizing,
                       RegionState::closed};

/// A region that stands in this state as long as nobody goes on with it. Closing is left within the step that enters it.
RegionId in_state(LawBench& bench, RegionState state, const Limits& limits = {}) {
  const RegionId region = bench.region(bench.root(), {.limits = limits});
  switch (state) {
    case RegionState::open:
    case RegionState::closing:
      break;
    case RegionState::draining:
      bench.parked(region);
      EXPECT_TRUE(bench.close(region));
      break;
    case RegionState::finalizing:
      bench.defer(region);
      EXPECT_TRUE(bench.close(region));
      break;
    case RegionState::closed:
      EXPECT_TRUE(bench.close(region));
      break;
  }
  EXPECT_EQ(bench.state(region), state);
  return region;
}

constexpr std::array stable_states = {RegionState::open, RegionState::draining, RegionState::finalizing,
                                      RegionState::closed};

// --- REG-2 ---

TEST(Region, REG_2_close_neither_cancels_nor_closes_what_is_below) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const RegionId child = bench.region(region);
  const TaskId task = bench.parked(region);
  const TaskId task_below = bench.parked(child);
  EXPECT_TRUE(bench.close(region));
  EXPECT_EQ(bench.state(region), RegionState::draining);
  EXPECT_EQ(bench.state(child), RegionState::open);
  EXPECT_FALSE(bench.kernel->is_cancel_requested(task));
  EXPECT_FALSE(bench.kernel->is_cancel_requested(task_below));
  EXPECT_TRUE(bench.host.queue.empty());
  EXPECT_TRUE(bench.kernel->spawn(bench.worker, child, {})) << "the body below still needs its scope";
  EXPECT_TRUE(bench.kernel->create_region(bench.worker, child, {}));
}

TEST(Region, REG_2_cancel_cancels_and_closes_everything_below) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const RegionId child = bench.region(region);
  const RegionId grandchild = bench.region(child);
  const TaskId task = bench.parked(grandchild);
  EXPECT_TRUE(bench.cancel(region));
  EXPECT_EQ(bench.state(region), RegionState::draining);
  EXPECT_EQ(bench.state(child), RegionState::draining);
  EXPECT_EQ(bench.state(grandchild), RegionState::draining);
  EXPECT_TRUE(bench.kernel->is_cancel_requested(task));
  bench.run_all();
  EXPECT_EQ(bench.state(region), RegionState::closed);
  EXPECT_EQ(bench.state(bench.root()), RegionState::open) << "never upward";
}

TEST(Region, REG_2_closing_again_changes_nothing) {
  LawBench bench;
  for (const RegionState state : {RegionState::draining, RegionState::finalizing, RegionState::closed}) {
    const RegionId region = in_state(bench, state);
    expect_unchanged(bench, {}, [&] { return bench.close(region); });
  }
}

TEST(Region, REG_2_cancelling_a_closing_region_reaches_its_tasks_and_again_strengthens) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId task = bench.parked(region);
  EXPECT_TRUE(bench.close(region));
  EXPECT_TRUE(bench.cancel(region, {.kind = CancelKind::user}));
  EXPECT_EQ(bench.reason(task).kind(), CancelKind::user);
  EXPECT_TRUE(bench.cancel(region, {.kind = CancelKind::shutdown}));
  EXPECT_EQ(bench.reason(region).kind(), CancelKind::shutdown);
  EXPECT_EQ(bench.reason(task).kind(), CancelKind::shutdown);
  expect_unchanged(bench, {}, [&] { return bench.cancel(region, {.kind = CancelKind::user}); });
  EXPECT_EQ(bench.path(region), (Path{RegionState::open, RegionState::closing, RegionState::draining}));
}

TEST(Region, REG_2_cancelling_a_closed_region_changes_nothing) {
  LawBench bench;
  const RegionId region = in_state(bench, RegionState::closed);
  expect_unchanged(bench, {}, [&] { return bench.cancel(region, {.kind = CancelKind::shutdown}); });
  EXPECT_FALSE(bench.reason(region));
}

// --- REG-3, REG-4 ---

TEST(Region, REG_3_draining_is_entered_exactly_when_a_child_is_live) {
  for (const bool cancels : {false, true}) {
    for (int live = 0; live < 8; ++live) {
      LawBench bench;
      const RegionId region = bench.region(bench.root(), {.body = (live & 4) != 0});
      bench.defer(region);  // a finalizer that waits is no child
      (void)bench.end(bench.running(region));
      (void)bench.close(bench.region(region));
      if ((live & 1) != 0) bench.parked(region);
      const RegionId child = (live & 2) != 0 ? bench.region(region) : RegionId();
      EXPECT_TRUE(cancels ? bench.cancel(region) : bench.close(region));
      if ((live & 2) != 0 && !cancels) {
        EXPECT_TRUE(bench.close(child));
      }
      if ((live & 4) != 0) {
        EXPECT_TRUE(bench.kernel->end_body(bench.worker, region, ok()));
      }
      for (const TaskView& task : bench.kernel->snapshot(bench.worker).tasks) (void)bench.wake(task.id);
      bench.run_all();
      EXPECT_EQ(bench.path(region), live == 0 ? straight : by_draining) << live << (cancels ? " cancelled" : "");
    }
  }
}

TEST(Region, REG_4_finalizing_begins_when_the_last_child_leaves_whichever_it_is) {
  std::array<int, 4> order = {0, 1, 2, 3};
  do {
    LawBench bench;
    const RegionId region = bench.region(bench.root(), {.body = true});
    const TaskId task = bench.parked(region);
    const TaskId other = bench.parked(region);
    const RegionId child = bench.region(region);
    bench.defer(region);
    EXPECT_TRUE(bench.close(region));
    for (const int next : order) {
      EXPECT_EQ(bench.state(region), RegionState::draining);
      if (next == 0) {
        EXPECT_TRUE(bench.poll_and_end(task));
      }
      if (next == 1) {
        EXPECT_TRUE(bench.poll_and_end(other));
      }
      if (next == 2) {
        EXPECT_TRUE(bench.close(child));
      }
      if (next == 3) {
        EXPECT_TRUE(bench.kernel->end_body(bench.worker, region, ok()));
      }
    }
    EXPECT_EQ(bench.state(region), RegionState::finalizing);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Region, REG_4_a_child_region_counts_until_it_is_closed) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const RegionId child = bench.region(region);
  bench.defer(child);
  EXPECT_TRUE(bench.close(region));
  EXPECT_TRUE(bench.close(child));
  EXPECT_EQ(bench.state(child), RegionState::finalizing);
  EXPECT_EQ(bench.state(region), RegionState::draining);
  bench.run_all();
  EXPECT_EQ(bench.state(child), RegionState::closed);
  EXPECT_EQ(bench.state(region), RegionState::closed);
}

// --- REG-6 ---

TEST(Region, REG_6_tasks_regions_and_promises_are_admitted_only_while_open) {
  for (const RegionState state : stable_states) {
    LawBench bench;
    const RegionId region = in_state(bench, state);
    const auto spawn = [&] { return bench.kernel->spawn(bench.worker, region, {}); };
    const auto create = [&] { return bench.kernel->create_region(bench.worker, region, {}); };
    const auto reserve = [&] { return bench.kernel->reserve(bench.worker, region, {}); };
    if (state == RegionState::open) {
      EXPECT_TRUE(spawn());
      EXPECT_TRUE(create());
      EXPECT_TRUE(reserve());
      continue;
    }
    expect_unchanged(bench, Errc::region_not_open, spawn);
    expect_unchanged(bench, Errc::region_not_open, create);
    expect_unchanged(bench, Errc::region_not_open, reserve);
  }
}

TEST(Region, REG_6_finalizers_are_taken_until_finalizing_begins) {
  for (const RegionState state : stable_states) {
    LawBench bench;
    const RegionId region = in_state(bench, state);
    const auto defer = [&] { return bench.kernel->defer(bench.worker, region, nullptr); };
    if (state == RegionState::open || state == RegionState::draining) {
      EXPECT_TRUE(defer());
    } else {
      expect_unchanged(bench, Errc::region_not_open, defer);
    }
  }
}

TEST(Region, REG_6_clean_up_tasks_come_only_with_a_live_finalizer_and_need_no_room) {
  for (const RegionState state : stable_states) {
    LawBench bench;
    const RegionId region = in_state(bench, state, {.tasks = 1});
    const auto spawn = [&] { return bench.kernel->spawn(bench.worker, region, {.cleanup = true}); };
    if (state != RegionState::finalizing) {
      expect_unchanged(bench, Errc::region_not_open, spawn);
      continue;
    }
    const Made<TaskId> first = spawn();
    const Made<TaskId> second = spawn();
    EXPECT_TRUE(first);
    EXPECT_TRUE(second) << "exempt from the limit of one task";
    (void)bench.poll(bench.host.queue.front());
    EXPECT_EQ(bench.state(region), RegionState::finalizing);
    bench.run_all();
    EXPECT_EQ(bench.state(region), RegionState::finalizing) << "the finalizer itself is still polled";
  }
}

TEST(Region, REG_6_the_region_waits_for_the_tasks_that_its_finalizer_started) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId finalizer = bench.defer(region);
  EXPECT_TRUE(bench.close(region));
  EXPECT_EQ(bench.poll(finalizer), PollStart::run);
  const TaskId started = bench.task(region, {.spawner = finalizer, .cleanup = true});
  EXPECT_TRUE(bench.end(finalizer));
  EXPECT_EQ(bench.state(region), RegionState::finalizing);
  EXPECT_EQ(bench.poll(started), PollStart::run);
  EXPECT_TRUE(bench.end(started));
  EXPECT_EQ(bench.state(region), RegionState::closed);
}

TEST(Region, REG_6_without_a_live_finalizer_finalizing_admits_nobody) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  bench.reserve(region, Service::reactor, ObligationKind::io_operation);
  EXPECT_TRUE(bench.close(region));
  ASSERT_EQ(bench.state(region), RegionState::finalizing);
  expect_unchanged(bench, Errc::region_not_open,
                   [&] { return bench.kernel->spawn(bench.worker, region, {.cleanup = true}); });
}

TEST(Region, REG_6_only_a_clean_up_task_of_the_region_reserves_while_it_finalizes) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const RegionId other = bench.region(bench.root());
  const TaskId finalizer = bench.defer(region);
  const TaskId foreign = bench.defer(other);
  const TaskId stranger = bench.running(bench.root());
  EXPECT_TRUE(bench.close(region));
  EXPECT_TRUE(bench.close(other));
  (void)bench.poll(finalizer);
  (void)bench.poll(foreign);
  for (const Holder holder : {Holder(), Holder(Service::reactor), Holder(stranger), Holder(foreign)}) {
    expect_unchanged(bench, Errc::region_not_open,
                     [&] { return bench.kernel->reserve(bench.worker, region, {.holder = holder}); });
  }
  const ObligationId promise = bench.reserve(region, finalizer);
  EXPECT_EQ(bench.state(promise), ObligationState::reserved);
  EXPECT_TRUE(bench.kernel->commit(bench.worker, promise));
  EXPECT_TRUE(bench.end(finalizer));
  EXPECT_EQ(bench.state(region), RegionState::closed);
  EXPECT_EQ(bench.host.found(FindingKind::leak), 0U);
}

TEST(Region, REG_6_what_a_clean_up_task_did_not_resolve_before_its_end_is_lost) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId finalizer = bench.defer(region);
  EXPECT_TRUE(bench.close(region));
  (void)bench.poll(finalizer);
  const ObligationId promise = bench.reserve(region, finalizer);
  EXPECT_TRUE(bench.end(finalizer));
  EXPECT_EQ(bench.state(promise), ObligationState::leaked);
  EXPECT_EQ(bench.state(region), RegionState::closed);
}

TEST(Region, REG_6_promises_are_resolved_in_every_state_before_closed) {
  for (const RegionState state : {RegionState::open, RegionState::draining, RegionState::finalizing}) {
    LawBench bench;
    const RegionId region = bench.region(bench.root());
    const TaskId holder = bench.running(bench.root());
    const ObligationId kept = bench.reserve(region, holder);
    const ObligationId given_up = bench.reserve(region, holder);
    const TaskId task = state == RegionState::draining ? bench.parked(region) : TaskId();
    if (state != RegionState::open) {
      EXPECT_TRUE(bench.close(region));
    }
    ASSERT_EQ(bench.state(region), state);
    EXPECT_TRUE(bench.kernel->commit(bench.worker, kept));
    EXPECT_TRUE(bench.kernel->abort(bench.worker, given_up));
    EXPECT_EQ(bench.state(kept), ObligationState::committed);
    EXPECT_EQ(bench.state(given_up), ObligationState::aborted);
    if (task) {
      EXPECT_TRUE(bench.poll_and_end(task));
    }
    if (state != RegionState::open) {
      EXPECT_EQ(bench.state(region), RegionState::closed);
    }
  }
}

// --- REG-7 ---

TEST(Region, REG_7_an_advance_tells_what_the_region_waits_for) {
  LawBench bench;
  const RegionId open = in_state(bench, RegionState::open);
  expect_unchanged(bench, Errc::invalid_transition, [&] { return bench.kernel->advance(bench.worker, open); });
  const RegionId draining = in_state(bench, RegionState::draining);
  expect_unchanged(bench, Errc::incomplete_children, [&] { return bench.kernel->advance(bench.worker, draining); });
  const RegionId finalizing = in_state(bench, RegionState::finalizing);
  expect_unchanged(bench, Errc::incomplete_children, [&] { return bench.kernel->advance(bench.worker, finalizing); });
  const RegionId closed = in_state(bench, RegionState::closed);
  expect_unchanged(bench, {}, [&] { return bench.kernel->advance(bench.worker, closed); });
  const RegionId waiting = bench.region(bench.root());
  bench.reserve(waiting, Service::reactor, ObligationKind::io_operation);
  EXPECT_TRUE(bench.close(waiting));
  expect_unchanged(bench, Errc::unresolved_obligations, [&] { return bench.kernel->advance(bench.worker, waiting); });
}

TEST(Region, REG_7_the_body_ends_once) {
  LawBench bench;
  const RegionId without = bench.region(bench.root());
  expect_unchanged(bench, Errc::invalid_transition,
                   [&] { return bench.kernel->end_body(bench.worker, without, ok()); });
  const RegionId region = bench.region(bench.root(), {.body = true});
  EXPECT_TRUE(bench.kernel->end_body(bench.worker, region, ok()));
  expect_unchanged(bench, Errc::invalid_transition, [&] { return bench.kernel->end_body(bench.worker, region, ok()); });
}

TEST(Region, REG_7_a_query_of_the_state_never_fails) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  EXPECT_TRUE(bench.close(region));
  EXPECT_TRUE(bench.kernel->release(bench.worker, region));
  EXPECT_EQ(bench.state(region), RegionState::closed) << "its slot may have another life";
  EXPECT_EQ(bench.state(bench.region(bench.root())), RegionState::open);
  EXPECT_EQ(bench.state(region), RegionState::closed);
  EXPECT_EQ(bench.state(RegionId()), RegionState::closed);
  EXPECT_EQ(bench.state(RegionId(UINT32_MAX, Generation())), RegionState::closed);
}

// --- REG-8 ---

TEST(Region, REG_8_a_limit_refuses_without_effect_and_a_place_that_is_free_again_is_given) {
  LawBench bench;
  const Limits limits{.tasks = 2, .regions = 1, .obligations = 2, .heap_bytes = 64};
  const RegionId region = bench.region(bench.root(), {.limits = limits});

  const TaskId task = bench.parked(region);
  bench.parked(region);
  const auto spawn = [&] { return bench.kernel->spawn(bench.worker, region, {}); };
  expect_unchanged(bench, Errc::admission_limit, spawn);
  EXPECT_TRUE(bench.poll_and_end(task));
  EXPECT_TRUE(spawn());

  const RegionId child = bench.region(region);
  const auto create = [&] { return bench.kernel->create_region(bench.worker, region, {}); };
  expect_unchanged(bench, Errc::admission_limit, create);
  EXPECT_TRUE(bench.close(child));
  EXPECT_TRUE(create());

  const ObligationId promise = bench.reserve(region);
  bench.reserve(region);
  const auto reserve = [&] { return bench.kernel->reserve(bench.worker, region, {}); };
  expect_unchanged(bench, Errc::admission_limit, reserve);
  EXPECT_TRUE(bench.kernel->commit(bench.worker, promise));
  EXPECT_TRUE(reserve());
}

TEST(Region, REG_8_limits_are_those_of_one_region) {
  LawBench bench;
  const RegionId region = bench.region(bench.root(), {.limits = {.tasks = 1, .regions = 2, .obligations = 0}});
  bench.parked(region);
  const RegionId child = bench.region(region);
  EXPECT_TRUE(bench.kernel->spawn(bench.worker, child, {})) << "what is below has limits of its own";
  EXPECT_TRUE(bench.kernel->reserve(bench.worker, child, {}));
  EXPECT_TRUE(bench.kernel->create_region(bench.worker, child, {}));
  expect_unchanged(bench, Errc::admission_limit, [&] { return bench.kernel->reserve(bench.worker, region, {}); });
}

TEST(Region, REG_8_the_root_has_limits_too) {
  LawBench bench({.root_limits = {.tasks = 0, .regions = 0, .obligations = 0, .heap_bytes = 0}});
  expect_unchanged(bench, Errc::admission_limit, [&] { return bench.kernel->spawn(bench.worker, bench.root(), {}); });
  expect_unchanged(bench, Errc::admission_limit,
                   [&] { return bench.kernel->create_region(bench.worker, bench.root(), {}); });
  expect_unchanged(bench, Errc::admission_limit, [&] { return bench.kernel->reserve(bench.worker, bench.root(), {}); });
  expect_unchanged(bench, Errc::admission_limit,
                   [&] { return bench.kernel->template make_in<int>(bench.worker, bench.root(), 1); });
}

// --- REG-9 ---

TEST(Region, REG_9_the_last_child_to_leave_advances_the_region_and_its_ancestors_in_the_same_step) {
  LawBench bench;
  const RegionId top = bench.region(bench.root());
  const RegionId middle = bench.region(top);
  const RegionId bottom = bench.region(middle);
  const TaskId task = bench.running(bottom);
  for (const RegionId region : {top, middle, bottom}) EXPECT_TRUE(bench.close(region));
  for (const RegionId region : {top, middle, bottom}) EXPECT_EQ(bench.state(region), RegionState::draining);
  EXPECT_TRUE(bench.end(task));
  for (const RegionId region : {top, middle, bottom}) EXPECT_EQ(bench.state(region), RegionState::closed);
}

TEST(Region, REG_9_whoever_waits_for_the_close_is_woken_by_it) {
  LawBench bench;
  const TaskId owner = bench.parked(bench.root());
  const TaskId waiter = bench.parked(bench.root());
  const RegionId region = bench.region(bench.root(), {.owner = owner});
  const TaskId task = bench.running(region);
  EXPECT_TRUE(bench.close(region));
  EXPECT_EQ(bench.kernel->await_close(bench.worker, region, waiter), Status(Errc::would_block));
  expect_unchanged(bench, Errc::busy, [&] { return bench.kernel->await_close(bench.worker, region, owner); });
  EXPECT_TRUE(bench.host.queue.empty());
  EXPECT_TRUE(bench.end(task));
  EXPECT_TRUE(bench.is_queued(waiter));
  EXPECT_TRUE(bench.is_queued(owner));
  expect_unchanged(bench, {}, [&] { return bench.kernel->await_close(bench.worker, region, waiter); });
}

TEST(Region, REG_9_a_wish_that_was_taken_back_wakes_nobody) {
  LawBench bench;
  const TaskId waiter = bench.parked(bench.root());
  const RegionId region = bench.region(bench.root());
  EXPECT_EQ(bench.kernel->await_close(bench.worker, region, waiter), Status(Errc::would_block));
  bench.kernel->forget_close(bench.worker, region, waiter);
  EXPECT_TRUE(bench.close(region));
  EXPECT_TRUE(bench.host.queue.empty());
}

class Chain : public testing::Test {
 public:
  static constexpr std::size_t depth = 100'000;

  Chain() {
    regions.reserve(depth);
    for (RegionId parent = bench.root(); regions.size() < depth; parent = regions.back()) {
      regions.push_back(bench.region(parent));
    }
  }

  void expect_all(RegionState state) const {
    for (const RegionId region : regions) {
      if (bench.state(region) != state) {
        ADD_FAILURE() << region << " is " << bench.state(region) << ", not " << state;
        return;
      }
    }
  }

  LawBench bench;
  std::vector<RegionId> regions;
};

TEST_F(Chain, REG_9_of_100000_regions_closes_from_the_inside_out) {
  for (auto region = regions.rbegin(); region != regions.rend(); ++region) {
    ASSERT_TRUE(bench.close(*region));
    ASSERT_EQ(bench.state(*region), RegionState::closed);
  }
}

TEST_F(Chain, REG_9_of_100000_regions_closes_when_its_innermost_region_does) {
  for (const RegionId region : regions) ASSERT_TRUE(bench.close(region));
  expect_all(RegionState::closed);
}

TEST_F(Chain, REG_9_of_100000_regions_closes_by_one_cancel) {
  ASSERT_TRUE(bench.cancel(regions.front(), {.kind = CancelKind::shutdown}));
  expect_all(RegionState::closed);
}

TEST_F(Chain, REG_9_of_100000_regions_closes_when_the_last_task_leaves) {
  const TaskId task = bench.running(regions.back());
  for (const RegionId region : regions) ASSERT_TRUE(bench.close(region));
  expect_all(RegionState::draining);
  ASSERT_TRUE(bench.end(task));
  expect_all(RegionState::closed);
}

TEST_F(Chain, REG_9_of_100000_regions_closes_when_a_cancelled_task_leaves) {
  const TaskId task = bench.running(regions.back());
  ASSERT_TRUE(bench.cancel(regions.front()));
  expect_all(RegionState::draining);
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  ASSERT_TRUE(bench.end(task));
  expect_all(RegionState::closed);
}

}  // namespace
}  // namespace calm::kernel
