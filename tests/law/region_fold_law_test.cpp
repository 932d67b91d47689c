// How a region ends: the fold of its children in creation order, and which of their ends stop the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/law/law_bench.hpp"

namespace calm::kernel {
namespace {

const RegionSpec collecting{.policy = FoldPolicy::collect};

/// Acknowledges what was requested and ends.
Status stop(LawBench& bench, TaskId task) {
  (void)bench.poll_again(task);
  (void)bench.checkpoint(task);
  return bench.end(task);
}

// --- the fold ---

TEST(RegionFold, OUT_4_an_empty_region_is_ok) {
  LawBench bench;
  const RegionId closed = bench.region(bench.root());
  EXPECT_TRUE(bench.close(closed));
  EXPECT_TRUE(bench.end_of(closed).is_ok());
  const RegionId stopped = bench.region(bench.root());
  EXPECT_TRUE(bench.cancel(stopped, {.kind = CancelKind::shutdown}));
  EXPECT_TRUE(bench.end_of(stopped).is_ok());
}

TEST(RegionFold, OUT_4_children_fold_in_creation_order_however_they_end) {
  std::array<int, 4> order = {0, 1, 2, 3};
  do {
    for (const bool panics : {false, true}) {
      LawBench bench;
      const RegionId region = bench.region(bench.root(), {.policy = FoldPolicy::collect, .body = true});
      const TaskId first = bench.parked(region);
      const RegionId child = bench.region(region, collecting);
      const TaskId in_child = bench.parked(child);
      const TaskId last = bench.parked(region);
      EXPECT_TRUE(bench.close(region));
      EXPECT_TRUE(bench.close(child));
      const std::array<ChildEnd, 4> ends = {err(Errc::full), panics ? thrown("first") : ChildEnd(err(Errc::empty)),
                                            panics ? thrown("child") : ChildEnd(err(Errc::io)),
                                            panics ? thrown("last") : ChildEnd(err(Errc::busy))};
      for (const int next : order) {
        const ChildEnd& end = ends[static_cast<std::size_t>(next)];
        if (next == 0) {
          EXPECT_TRUE(bench.kernel->end_body(bench.worker, region, end));
        }
        if (next == 1) {
          EXPECT_TRUE(bench.poll_and_end(first, end));
        }
        if (next == 2) {
          EXPECT_TRUE(bench.poll_and_end(in_child, end));
        }
        if (next == 3) {
          EXPECT_TRUE(bench.poll_and_end(last, end));
        }
      }
      ASSERT_EQ(bench.state(region), RegionState::closed);
      EXPECT_EQ(bench.end_of(region), ends[panics ? 1 : 0]) << "the body is the first child, then by creation";
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(RegionFold, OUT_4_the_worst_severity_wins) {
  LawBench bench;
  const RegionId region = bench.region(bench.root(), collecting);
  EXPECT_TRUE(bench.end(bench.running(region), ok()));
  EXPECT_TRUE(bench.view(region).end.is_ok());
  EXPECT_TRUE(bench.end(bench.running(region), err(Errc::io)));
  EXPECT_TRUE(bench.view(region).end.is_err());
  const TaskId task = bench.parked(region);
  EXPECT_TRUE(bench.request(task));
  EXPECT_TRUE(stop(bench, task));
  EXPECT_TRUE(bench.view(region).end.is_cancelled());
  EXPECT_TRUE(bench.end(bench.running(region), thrown()));
  EXPECT_TRUE(bench.view(region).end.is_panicked());
  EXPECT_TRUE(bench.end(bench.running(region), err(Errc::io)));
  EXPECT_TRUE(bench.close(region));
  EXPECT_TRUE(bench.end_of(region).is_panicked()) << "a further child never improves it";
}

TEST(RegionFold, OUT_4_cancelled_children_strengthen) {
  for (const bool swapped : {false, true}) {
    LawBench bench;
    const RegionId region = bench.region(bench.root(), collecting);
    const TaskId weaker = bench.parked(region);
    const TaskId stronger = bench.parked(region);
    EXPECT_TRUE(bench.request(weaker, {.kind = CancelKind::user}));
    EXPECT_TRUE(bench.request(stronger, {.kind = CancelKind::linked_exit}));
    EXPECT_TRUE(stop(bench, swapped ? stronger : weaker));
    EXPECT_TRUE(stop(bench, swapped ? weaker : stronger));
    EXPECT_TRUE(bench.close(region));
    ASSERT_TRUE(bench.end_of(region).is_cancelled());
    EXPECT_EQ(bench.end_of(region).reason().kind(), CancelKind::linked_exit);
  }
}

TEST(RegionFold, OUT_4_a_cancelled_region_does_not_end_weaker_than_its_children) {
  LawBench bench;
  const RegionId region = bench.region(bench.root(), collecting);
  const TaskId stopped_before = bench.parked(region);
  const TaskId other = bench.parked(region);
  EXPECT_TRUE(bench.request(stopped_before, {.kind = CancelKind::shutdown, .message = "by itself"}));
  EXPECT_TRUE(stop(bench, stopped_before));
  EXPECT_TRUE(bench.cancel(region, {.kind = CancelKind::user}));
  EXPECT_TRUE(stop(bench, other));
  ASSERT_TRUE(bench.end_of(region).is_cancelled());
  EXPECT_EQ(bench.end_of(region).reason().kind(), CancelKind::shutdown) << bench.end_of(region).reason();
}

TEST(RegionFold, OUT_4_a_cancelled_region_ends_with_the_reason_of_its_children) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const RegionId child = bench.region(region);
  const TaskId task = bench.parked(region);
  const TaskId below = bench.parked(child);
  EXPECT_TRUE(bench.cancel(region, {.kind = CancelKind::timeout, .message = "slow"}));
  EXPECT_TRUE(stop(bench, task));
  EXPECT_TRUE(stop(bench, below));
  ASSERT_TRUE(bench.end_of(child).is_cancelled());
  EXPECT_EQ(bench.end_of(child).reason().kind(), CancelKind::parent_cancelled);
  ASSERT_TRUE(bench.end_of(region).is_cancelled());
  // Its child region's ParentCancelled is the more severe and has the timeout as its cause.
  const Reason reason = bench.end_of(region).reason();
  EXPECT_EQ(reason.levels().levels[reason.levels().depth - 1].message, "slow");
}

TEST(RegionFold, OUT_4_a_region_that_reports_to_its_owner_is_not_folded_into_its_parent) {
  LawBench bench;
  const RegionId parent = bench.region(bench.root());
  const TaskId owner = bench.parked(parent);
  const RegionId child = bench.region(parent, {.reports_to = ReportsTo::owner, .owner = owner});
  EXPECT_TRUE(bench.close(child));
  const RegionId failing = bench.region(parent, {.reports_to = ReportsTo::owner, .owner = owner});
  EXPECT_TRUE(bench.end(bench.running(failing), err(Errc::io)));
  EXPECT_EQ(bench.state(failing), RegionState::closed);
  EXPECT_TRUE(bench.end_of(failing).is_err()) << "the owner asks for it";
  EXPECT_EQ(bench.state(parent), RegionState::open) << "and the siblings are not stopped";
  EXPECT_TRUE(bench.view(parent).end.is_ok());
}

TEST(RegionFold, OUT_4_notes_of_children_are_kept) {
  LawBench bench;
  const RegionId region = bench.region(bench.root(), collecting);
  ChildEnd loser = ok();
  loser.add_note(Note(OutcomeKind::err, "a note"));
  EXPECT_TRUE(bench.end(bench.running(region), loser));
  EXPECT_TRUE(bench.end(bench.running(region), err(Errc::io)));
  EXPECT_TRUE(bench.close(region));
  EXPECT_TRUE(bench.end_of(region).is_err());
  EXPECT_EQ(bench.end_of(region).notes(), loser.notes());
}

TEST(RegionFold, OUT_4_notes_of_children_are_kept_when_others_end_with_one_reason) {
  LawBench bench;
  const RegionId region = bench.region(bench.root(), collecting);
  ChildEnd loser = ok();
  loser.add_note(Note(OutcomeKind::err, "a note"));
  EXPECT_TRUE(bench.end(bench.running(region), loser));
  const TaskId tasks[] = {bench.running(region), bench.running(region), bench.running(region)};
  EXPECT_TRUE(bench.cancel(region));
  for (const TaskId task : tasks) {
    EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
    EXPECT_TRUE(bench.end(task));
  }
  EXPECT_TRUE(bench.end_of(region).is_cancelled());
  EXPECT_EQ(bench.end_of(region).notes(), loser.notes());
}

// --- fail-fast ---

TEST(RegionFold, OUT_4_under_fail_fast_the_first_failure_cancels_the_siblings_and_stays_visible) {
  for (const bool panics : {false, true}) {
    LawBench bench;
    const RegionId region = bench.region(bench.root(), {.body = true});
    const TaskId early = bench.parked(region);
    const RegionId child = bench.region(region);
    const TaskId below = bench.parked(child);
    const TaskId failing = bench.running(region);
    const TaskId late = bench.parked(region);
    const ChildEnd failure = panics ? thrown() : ChildEnd(err(Errc::full));
    EXPECT_TRUE(bench.end(failing, failure));
    for (const TaskId task : {early, late}) {
      EXPECT_EQ(bench.reason(task).kind(), CancelKind::fail_fast);
      EXPECT_EQ(bench.reason(task).region(), region);
      EXPECT_EQ(bench.reason(task).task(), failing);
    }
    EXPECT_EQ(bench.reason(below).kind(), CancelKind::parent_cancelled);
    EXPECT_EQ(bench.state(region), RegionState::draining);
    for (const TaskId task : {early, late, below}) EXPECT_TRUE(stop(bench, task));
    EXPECT_TRUE(bench.kernel->end_body(bench.worker, region, cancelled(bench.reason(region))));
    ASSERT_EQ(bench.state(region), RegionState::closed);
    EXPECT_EQ(bench.end_of(region), failure) << "those it stopped itself are left out";
    EXPECT_NE(bench.state(bench.root()), RegionState::open) << "and its own parent fails fast as well";
  }
}

TEST(RegionFold, OUT_4_collect_and_supervised_wait_for_all) {
  for (const FoldPolicy policy : {FoldPolicy::collect, FoldPolicy::supervised}) {
    LawBench bench({.root_limits = {}});
    const RegionId outer = bench.region(bench.root(), collecting);
    const RegionId region = bench.region(outer, {.policy = policy, .body = true});
    const TaskId sibling = bench.parked(region);
    EXPECT_TRUE(bench.end(bench.running(region), err(Errc::full)));
    EXPECT_TRUE(bench.end(bench.running(region), thrown()));
    EXPECT_TRUE(bench.kernel->end_body(bench.worker, region, err(Errc::io)));
    EXPECT_EQ(bench.state(region), RegionState::open);
    EXPECT_FALSE(bench.kernel->is_cancel_requested(sibling));
    EXPECT_TRUE(bench.poll_and_end(sibling));
    EXPECT_TRUE(bench.close(region));
    EXPECT_TRUE(bench.end_of(region).is_panicked());
  }
}

TEST(RegionFold, OUT_4_the_body_and_a_child_region_trigger_fail_fast_like_a_task) {
  for (const bool by_body : {true, false}) {
    LawBench bench;
    const RegionId region = bench.region(bench.root(), {.body = true});
    const RegionId child = bench.region(region, collecting);
    const TaskId failing = bench.parked(child);
    const TaskId sibling = bench.parked(region);
    EXPECT_TRUE(bench.close(child));
    if (by_body) {
      EXPECT_TRUE(bench.kernel->end_body(bench.worker, region, err(Errc::full)));
      EXPECT_EQ(bench.reason(failing).kind(), CancelKind::parent_cancelled);
    } else {
      EXPECT_TRUE(bench.poll_and_end(failing, err(Errc::full)));
    }
    ASSERT_TRUE(bench.kernel->is_cancel_requested(sibling));
    EXPECT_EQ(bench.reason(sibling).kind(), CancelKind::fail_fast);
    EXPECT_EQ(bench.reason(sibling).region(), region);
  }
}

TEST(RegionFold, OUT_4_a_second_failure_cancels_nobody_again) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId sibling = bench.parked(region);
  const TaskId first = bench.running(region);
  const TaskId second = bench.running(region);
  EXPECT_TRUE(bench.end(first, err(Errc::full)));
  const Reason before = bench.reason(sibling);
  bench.at(Time() + seconds(1));
  EXPECT_TRUE(bench.end(second, err(Errc::empty)));
  EXPECT_EQ(bench.reason(sibling), before);
}

TEST(RegionFold, OUT_4_who_panicked_while_it_was_stopped_is_seen) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId sibling = bench.parked(region);
  EXPECT_TRUE(bench.end(bench.running(region), err(Errc::full)));
  EXPECT_EQ(bench.poll(sibling), PollStart::run);
  EXPECT_EQ(bench.checkpoint(sibling), Status(Errc::cancelled));
  EXPECT_TRUE(bench.end(sibling, thrown("while stopping")));
  ASSERT_TRUE(bench.end_of(region).is_panicked());
  EXPECT_EQ(bench.end_of(region).panic().what(), "while stopping");
}

TEST(RegionFold, OUT_4_losers_of_a_race_of_the_region_are_left_out) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId loser = bench.parked(region);
  const RegionId losing = bench.region(region);
  const TaskId below = bench.parked(losing);
  EXPECT_TRUE(bench.request(loser, {.kind = CancelKind::race_lost}));
  EXPECT_TRUE(bench.cancel(losing, {.kind = CancelKind::race_lost, .region = region}));
  EXPECT_TRUE(stop(bench, loser));
  EXPECT_TRUE(stop(bench, below));
  EXPECT_TRUE(bench.end_of(losing).is_cancelled());
  EXPECT_EQ(bench.state(region), RegionState::open);
  EXPECT_TRUE(bench.close(region));
  EXPECT_TRUE(bench.end_of(region).is_ok());
}

TEST(RegionFold, OUT_4_who_was_stopped_from_elsewhere_counts) {
  const std::pair<CancelKind, bool> rows[] = {
      {CancelKind::user, false}, {CancelKind::fail_fast, true}, {CancelKind::race_lost, true}};
  for (const auto& [kind, from_elsewhere] : rows) {
    LawBench bench;
    const RegionId region = bench.region(bench.root());
    const TaskId task = bench.parked(region);
    EXPECT_TRUE(bench.request(task, {.kind = kind, .region = from_elsewhere ? bench.root() : RegionId()}));
    EXPECT_TRUE(stop(bench, task));
    EXPECT_TRUE(bench.close(region));
    EXPECT_TRUE(bench.end_of(region).is_cancelled()) << to_string(kind);
  }
}

// --- a child's own limits ---

struct OwnLimit {
  const char* name;
  CancelKind kind;
  Budget budget;
};
const OwnLimit own_limits[] = {
    {"deadline", CancelKind::deadline, {.deadline = Time::at_ns(10)}},
    {"polls", CancelKind::poll_quota, {.polls = Quota(1)}},
    {"cost", CancelKind::cost_budget, {.cost = Quota(5)}},
    {"timeout", CancelKind::timeout, {}},
};

/// Makes the task, which is parked, run into its limit and stop because of it.
void run_into(LawBench& bench, RegionId region, TaskId task, const OwnLimit& limit) {
  if (limit.kind == CancelKind::deadline) bench.at(Time::at_ns(10));
  EXPECT_EQ(bench.poll_again(task), PollStart::run);
  if (limit.kind == CancelKind::cost_budget) {
    EXPECT_EQ(bench.kernel->spend(bench.worker, task, 6), Status(Errc::budget_exhausted));
  }
  if (limit.kind == CancelKind::timeout) {
    EXPECT_TRUE(bench.request(task, {.kind = CancelKind::timeout, .region = region, .task = task}));
  }
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled)) << limit.name;
  EXPECT_TRUE(bench.end(task));
}

TEST(RegionFold, OUT_4_a_child_that_ends_by_its_own_limit_triggers_fail_fast) {
  for (const OwnLimit& limit : own_limits) {
    LawBench bench;
    const RegionId region = bench.region(bench.root());
    const TaskId sibling = bench.parked(region);
    const TaskId task = bench.parked(region, {.budget = limit.budget});
    run_into(bench, region, task, limit);
    ASSERT_TRUE(bench.kernel->is_cancel_requested(sibling)) << limit.name;
    EXPECT_EQ(bench.reason(sibling).kind(), CancelKind::fail_fast) << limit.name;
  }
}

TEST(RegionFold, OUT_4_the_limit_that_started_a_fail_fast_stays_visible) {
  for (const OwnLimit& limit : own_limits) {
    LawBench bench;
    const RegionId region = bench.region(bench.root());
    const TaskId sibling = bench.parked(region);
    const TaskId task = bench.parked(region, {.budget = limit.budget});
    run_into(bench, region, task, limit);
    EXPECT_TRUE(stop(bench, sibling));
    const ChildEnd end = bench.end_of(region);
    ASSERT_TRUE(end.is_cancelled()) << limit.name;
    EXPECT_EQ(end.reason().kind(), limit.kind) << end.reason();
    EXPECT_EQ(end.reason().task(), task) << limit.name;
  }
}

TEST(RegionFold, OUT_4_under_collect_a_limit_only_folds_in) {
  for (const OwnLimit& limit : own_limits) {
    LawBench bench;
    const RegionId region = bench.region(bench.root(), collecting);
    const TaskId sibling = bench.parked(region);
    const TaskId task = bench.parked(region, {.budget = limit.budget});
    run_into(bench, region, task, limit);
    EXPECT_FALSE(bench.kernel->is_cancel_requested(sibling)) << limit.name;
    EXPECT_TRUE(bench.poll_and_end(sibling));
    EXPECT_TRUE(bench.close(region));
    ASSERT_TRUE(bench.end_of(region).is_cancelled()) << limit.name;
    EXPECT_EQ(bench.end_of(region).reason().kind(), limit.kind);
  }
}

TEST(RegionFold, OUT_4_a_cancel_by_somebody_else_does_not_trigger) {
  for (const CancelKindRow& row : cancel_kind_table) {
    LawBench bench;
    const RegionId region = bench.region(bench.root());
    const TaskId sibling = bench.parked(region);
    const TaskId task = bench.parked(region);
    EXPECT_TRUE(bench.request(task, {.kind = row.kind, .task = sibling}));
    EXPECT_TRUE(stop(bench, task));
    EXPECT_FALSE(bench.kernel->is_cancel_requested(sibling)) << row.name;
    EXPECT_EQ(bench.state(region), RegionState::open);
  }
}

TEST(RegionFold, OUT_4_a_child_region_that_ends_by_its_own_timeout_triggers_fail_fast) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId sibling = bench.parked(region);
  const RegionId child = bench.region(region);
  const TaskId task = bench.parked(child);
  EXPECT_TRUE(bench.cancel(child, {.kind = CancelKind::timeout}));
  EXPECT_TRUE(stop(bench, task));
  ASSERT_EQ(bench.state(child), RegionState::closed);
  ASSERT_TRUE(bench.kernel->is_cancel_requested(sibling));
  EXPECT_EQ(bench.reason(sibling).kind(), CancelKind::fail_fast);
}

// --- a long way ---

TEST(RegionFold, OUT_4_the_error_stays_visible_above_40_nested_regions_that_it_stopped) {
  LawBench bench;
  const RegionId top = bench.region(bench.root());
  std::vector<RegionId> chain{bench.region(top)};
  while (chain.size() < 40) chain.push_back(bench.region(chain.back()));
  const TaskId leaf = bench.parked(chain.back());
  EXPECT_TRUE(bench.end(bench.running(top), err(Errc::full)));
  EXPECT_TRUE(bench.reason(leaf).truncated());
  EXPECT_TRUE(stop(bench, leaf));
  ASSERT_EQ(bench.state(top), RegionState::closed);
  EXPECT_EQ(bench.end_of(top), ChildEnd(err(Errc::full)));
  EXPECT_TRUE(bench.end_of(chain.front()).is_cancelled());
}

}  // namespace
}  // namespace calm::kernel
