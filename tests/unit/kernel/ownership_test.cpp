#include "calm/kernel/ownership.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/unit/kernel/snapshots.hpp"

namespace calm::kernel::test {
namespace {

using Problems = std::vector<std::string>;

/// Gives: what is broken in the family after one change.
Problems after(const std::function<void(Snapshot&)>& change) {
  Snapshot snapshot = family();
  change(snapshot);
  return broken_invariants(snapshot);
}

TEST(Ownership, a_snapshot_prints_itself_as_separate_parts) {
  EXPECT_EQ(ownership(family()),
            "region(r1, Open, {deadline none, polls infinite, cost infinite, priority 0})\n"
            "* region(r2, Open, {deadline none, polls infinite, cost infinite, priority 0})\n"
            "* task(t1, r1, Running)\n"
            "* task(t2, r2, Running)\n"
            "* task(t3, r2, Running)\n"
            "* obligation(o1, send permit, t2, r2)\n"
            "* obligation(o2, I/O operation, the reactor for t3, r2)");
}

TEST(Ownership, what_has_ended_owns_nothing) {
  Snapshot snapshot = quiet();
  snapshot.tasks.push_back({.id = task(1), .state = TaskState::completed, .outcome = OutcomeKind::ok});
  snapshot.obligations.push_back({.id = promise(1), .state = ObligationState::committed});
  EXPECT_EQ(ownership(snapshot), "emp");
  EXPECT_EQ(broken_invariants(snapshot), Problems());
}

TEST(Ownership, a_lawful_snapshot_has_no_problem) {
  EXPECT_EQ(broken_invariants(Snapshot()), Problems());
  EXPECT_EQ(broken_invariants(quiet()), Problems());
  EXPECT_EQ(broken_invariants(family()), Problems());
}

TEST(Ownership, a_task_about_to_leave_its_region_still_counts_there) {
  EXPECT_EQ(after([](Snapshot& s) {
              s.tasks[0].state = TaskState::completed;
              s.tasks[0].wake = WakeState::done;
              s.tasks[0].outcome = OutcomeKind::ok;
            }),
            Problems());
}

TEST(Ownership, parts_are_disjoint) {
  EXPECT_EQ(after([](Snapshot& s) { s.tasks.push_back(s.tasks.back()); }),
            Problems{"t3 is out of order or repeated [HND-1]"});
  EXPECT_EQ(after([](Snapshot& s) { std::swap(s.obligations[0], s.obligations[1]); }),
            Problems{"o1 is out of order or repeated [HND-1]"});
  EXPECT_EQ(after([](Snapshot& s) { s.regions[0].id = {}; }), Problems{"a record has no id [HND-1]"});
}

TEST(Ownership, every_region_is_in_one_tree) {
  EXPECT_EQ(after([](Snapshot& s) {
              s.regions[1].parent = region(9);
              s.regions[0].live_regions = 0;
            }),
            Problems{"r2 has a parent that is not there [I1]"});
  EXPECT_EQ(after([](Snapshot& s) {
              s.regions[1].parent = {};
              s.regions[0].live_regions = 0;
            }),
            Problems{"the tree has more than one root [I1]"});
  Snapshot snapshot = empty_root();
  add_region(snapshot, 2, 1);
  add_region(snapshot, 3, 2);
  snapshot.regions[0].live_regions = 0;
  snapshot.regions[1].parent = region(3);
  snapshot.regions[2].live_regions = 1;
  snapshot.regions[2].children_made = 1;
  EXPECT_EQ(broken_invariants(snapshot), (Problems{"r2 is not below a root [I1]", "r3 is not below a root [I1]"}));
}

TEST(Ownership, every_task_has_one_region_that_lives) {
  EXPECT_EQ(after([](Snapshot& s) {
              s.tasks[0].region = region(9);
              s.regions[0].live_tasks = 0;
            }),
            Problems{"t1 has a region that is not there [I1]"});
  EXPECT_EQ(after([](Snapshot& s) { s.tasks.erase(s.tasks.begin()); }),
            Problems{"r1 says 1 live task, the snapshot has 0 [REG-4]"});
  Snapshot closed = empty_root();
  add_task(closed, 1, 1);
  closed.regions[0].state = RegionState::closed;
  EXPECT_EQ(broken_invariants(closed),
            (Problems{"t1 is in a region that is Closed [I2]", "r1 is past Draining with live children [REG-4]"}));
}

TEST(Ownership, a_region_lives_no_longer_than_its_parent) {
  Snapshot snapshot = empty_root();
  add_region(snapshot, 2, 1);
  snapshot.regions[0].state = RegionState::closed;
  EXPECT_EQ(broken_invariants(snapshot), (Problems{"r2 is alive below a region that is Closed [I2]",
                                                   "r1 is past Draining with live children [REG-4]"}));
}

TEST(Ownership, places_among_the_children_of_a_region_differ) {
  EXPECT_EQ(after([](Snapshot& s) { s.tasks[2].creation = s.tasks[1].creation; }),
            Problems{"t3 has the place of another child [OUT-4]"});
  EXPECT_EQ(after([](Snapshot& s) { s.tasks[0].creation = s.regions[1].creation; }),
            Problems{"t1 has the place of another child [OUT-4]"});
  EXPECT_EQ(after([](Snapshot& s) { s.regions[0].children_made = 1; }),
            Problems{"t1 has a place that its region has not given yet [OUT-4]"});
  EXPECT_EQ(after([](Snapshot& s) { s.regions[0].body = true; }),
            Problems{"r1 has a child in the place of its body [OUT-4]"});
}

TEST(Ownership, the_ledger_is_the_sum_of_the_promises) {
  EXPECT_EQ(after([](Snapshot& s) { s.obligations[0].state = ObligationState::aborted; }),
            Problems{"r2 says 1 open send permit, the snapshot has 0 [OBL-3]"});
  EXPECT_EQ(after([](Snapshot& s) {
              s.obligations[0].region = region(9);
              (void)s.regions[1].ledger.resolve(ObligationKind::send_permit);
            }),
            Problems{"o1 has a region that is not there [OBS-4]"});
}

TEST(Ownership, a_promise_that_is_open_has_a_holder_that_lives) {
  const Problems gone{"o1 is Reserved and held by t9, which has ended [OBL-5]"};
  EXPECT_EQ(after([](Snapshot& s) { s.obligations[0].holder = task(9); }), gone);
  EXPECT_EQ(after([](Snapshot& s) {
              s.obligations[0].holder = task(9);
              s.tasks.push_back({.id = task(9), .state = TaskState::completed, .outcome = OutcomeKind::ok});
            }),
            gone);
  EXPECT_EQ(after([](Snapshot& s) { s.obligations[0].holder = {}; }), Problems()) << "the audit will find it";
}

TEST(Ownership, budgets_only_tighten_on_the_way_down) {
  EXPECT_EQ(after([](Snapshot& s) {
              s.regions[0].budget.polls = Quota(5);
              s.tasks[0].left.polls = Quota(5);
            }),
            Problems{"r2 has more budget than its parent [BUD-3]"});
  EXPECT_EQ(after([](Snapshot& s) {
              s.regions[1].budget.priority = 3;
              s.tasks[1].left.priority = 4;
            }),
            Problems{"t3 has more budget than its region [BUD-3]"});
}

TEST(Ownership, a_cancelled_region_has_told_everyone_in_it) {
  Snapshot snapshot = family();
  snapshot.regions[0].state = RegionState::draining;
  snapshot.regions[0].reason = stop();
  snapshot.regions[0].epoch = {1};
  EXPECT_EQ(broken_invariants(snapshot), (Problems{"r2 was not told that its parent is cancelled [CAN-5]",
                                                   "t1 was not told that its region is cancelled [CAN-5]"}));
  snapshot.regions[0].state = RegionState::open;
  EXPECT_EQ(broken_invariants(snapshot).back(), "r1 is cancelled and Open [CAN-6]");
}

TEST(Ownership, state_reason_and_epoch_of_a_task_agree) {
  EXPECT_EQ(after([](Snapshot& s) { s.tasks[0].state = TaskState::cancelling; }),
            (Problems{"t1 has a state and a reason that do not agree [CAN-10]",
                      "t1 has a state and an epoch that do not agree [CAN-11]"}));
  EXPECT_EQ(after([](Snapshot& s) { request(s.tasks[0], stop()); }), Problems());
  EXPECT_EQ(after([](Snapshot& s) { s.regions[1].epoch = {3}; }),
            Problems{"r2 has a reason and an epoch that do not agree [CAN-11]"});
  EXPECT_EQ(after([](Snapshot& s) { s.tasks[0].outcome = OutcomeKind::ok; }),
            Problems{"t1 has an outcome and is alive, or is Completed without one [TSK-1]"});
  EXPECT_EQ(after([](Snapshot& s) { s.tasks[0].wake = WakeState::done; }),
            Problems{"t1 is alive and cannot be woken [TSK-6]"});
  EXPECT_EQ(after([](Snapshot& s) { s.tasks[0].mask_depth = 65; }),
            Problems{"t1 has more masks than there may be [CAN-12]"});
}

TEST(Ownership, finalizers_and_clean_up_tasks_are_counted_apart) {
  Snapshot snapshot = empty_root();
  RegionView& root = snapshot.regions[0];
  root.state = RegionState::finalizing;
  root.children_made = 2;
  root.live_cleanup = 1;
  root.waiting_finalizers = 1;
  snapshot.tasks.push_back({.id = task(1), .region = region(1), .wake = WakeState::done, .cleanup = true});
  snapshot.tasks.push_back(
      {.id = task(2), .region = region(1), .wake = WakeState::queued, .creation = 1, .cleanup = true});
  EXPECT_EQ(broken_invariants(snapshot), Problems());
  request(snapshot.tasks[0], stop());
  EXPECT_EQ(broken_invariants(snapshot), Problems()) << "a finalizer that was asked to stop still waits for its turn";
  snapshot.regions[0].state = RegionState::draining;
  EXPECT_EQ(broken_invariants(snapshot), Problems{"r1 has clean-up tasks and is not Finalizing [REG-6]"});
  snapshot.regions[0].state = RegionState::finalizing;
  snapshot.regions[0].waiting_finalizers = 2;
  EXPECT_EQ(broken_invariants(snapshot), Problems{"r1 says 2 waiting finalizers, the snapshot has 1 [REG-5]"});
  snapshot.tasks[1].cleanup = false;
  EXPECT_EQ(broken_invariants(snapshot).front(), "t2 is in a region that is Finalizing [REG-4]");
}

TEST(Ownership, a_closed_region_has_nothing_left) {
  Snapshot snapshot = quiet();
  snapshot.regions[0].waiting_finalizers = 1;
  snapshot.regions[0].heap_bytes = 8;
  (void)snapshot.regions[0].ledger.reserve(ObligationKind::ack);
  EXPECT_EQ(broken_invariants(snapshot),
            (Problems{"r1 says 1 waiting finalizer, the snapshot has 0 [REG-5]",
                      "r1 says 1 open ack, the snapshot has 0 [OBL-3]",
                      "r1 is Closed and has finalizers that did not run [I2]", "r1 is Closed and owes promises [OBL-3]",
                      "r1 is Closed and still has memory [REG-10]"}));
}

}  // namespace
}  // namespace calm::kernel::test
