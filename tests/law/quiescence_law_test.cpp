#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "calm/kernel/futurelock.hpp"
#include "calm/kernel/ownership.hpp"
#include "calm/kernel/quiescence.hpp"
#include "tests/unit/kernel/snapshots.hpp"

namespace calm::kernel::test {
namespace {

using Change = std::function<void(Snapshot&)>;

/// One way to break each clause of QUI-1 alone, in the order of the law.
struct Clause {
  Errc error;
  std::vector<Change> ways;
};

const std::vector<Clause>& clauses() {
  static const std::vector<Clause> all = {
      {Errc::tasks_still_active,
       {[](Snapshot& s) { s.tasks.push_back({.id = task(1), .state = TaskState::created}); },
        [](Snapshot& s) { s.tasks.push_back({.id = task(1), .state = TaskState::running}); },
        [](Snapshot& s) { s.tasks.push_back({.id = task(1), .state = TaskState::cancel_requested}); },
        [](Snapshot& s) { s.tasks.push_back({.id = task(1), .state = TaskState::cancelling}); },
        [](Snapshot& s) { s.tasks.push_back({.id = task(1), .state = TaskState::finalizing}); }}},
      {Errc::obligations_unresolved,
       {[](Snapshot& s) { s.obligations.push_back({.id = promise(1), .holder = task(1)}); },
        [](Snapshot& s) { s.obligations.push_back({.id = promise(1), .holder = Holder(Service::reactor)}); },
        [](Snapshot& s) { s.obligations.push_back({.id = promise(1)}); }}},
      {Errc::regions_not_closed,
       {[](Snapshot& s) { s.regions[0].state = RegionState::open; },
        [](Snapshot& s) { s.regions[0].state = RegionState::closing; },
        [](Snapshot& s) { s.regions[0].state = RegionState::draining; },
        [](Snapshot& s) { s.regions[0].state = RegionState::finalizing; }}},
      {Errc::timers_pending, {[](Snapshot& s) { s.pending_timers = 1; }}},
      {Errc::channel_not_drained, {[](Snapshot& s) { s.undrained_channels = 1; }}},
  };
  return all;
}

TEST(Quiescence, QUI_1_nothing_left_is_quiet_whatever_ended_records_are_still_named) {
  Snapshot snapshot = quiet();
  EXPECT_EQ(quiescent(snapshot), Status());
  EXPECT_EQ(quiescent(Snapshot()), Status());
  for (std::uint32_t i = 0; i < 4; ++i) {
    snapshot.tasks.push_back(
        {.id = task(i + 1), .state = TaskState::completed, .outcome = static_cast<OutcomeKind>(i)});
  }
  snapshot.obligations.push_back({.id = promise(1), .state = ObligationState::committed});
  snapshot.obligations.push_back({.id = promise(2), .state = ObligationState::aborted});
  snapshot.obligations.push_back({.id = promise(3), .state = ObligationState::leaked});
  EXPECT_EQ(quiescent(snapshot), Status());
  EXPECT_TRUE(failing_clauses(snapshot).empty());
}

TEST(Quiescence, QUI_1_each_clause_fails_with_its_own_error) {
  for (const Clause& clause : clauses()) {
    for (const Change& way : clause.ways) {
      Snapshot snapshot = quiet();
      way(snapshot);
      EXPECT_EQ(quiescent(snapshot), Status(clause.error)) << to_string(clause.error);
      EXPECT_EQ(failing_clauses(snapshot), std::vector<Errc>{clause.error}) << to_string(clause.error);
    }
  }
}

TEST(Quiescence, QUI_1_a_counted_promise_is_a_reserved_obligation) {
  for (std::size_t kind = 0; kind < 3; ++kind) {
    Snapshot snapshot = quiet();
    snapshot.tasks.push_back({.id = task(1), .state = TaskState::running});
    snapshot.tasks[0].counted[kind] = 1;
    EXPECT_EQ(failing_clauses(snapshot), (std::vector<Errc>{Errc::tasks_still_active, Errc::obligations_unresolved}));
  }
}

TEST(Quiescence, QUI_1_the_first_failing_clause_is_named_and_all_are_listed) {
  for (std::uint32_t set = 1; set < 1U << clauses().size(); ++set) {
    Snapshot snapshot = quiet();
    std::vector<Errc> expected;
    for (std::size_t i = 0; i < clauses().size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      clauses()[i].ways.front()(snapshot);
      expected.push_back(clauses()[i].error);
    }
    EXPECT_EQ(quiescent(snapshot), Status(expected.front())) << set;
    EXPECT_EQ(failing_clauses(snapshot), expected) << set;
    const std::string text = diagnose(snapshot);
    for (const Errc error : expected) EXPECT_NE(text.find(to_string(error)), std::string::npos) << text;
  }
}

TEST(Quiescence, QUI_1_idle_is_nothing_runnable) {
  const std::pair<lockfree::WakeState, bool> cases[] = {{WakeState::idle, true},
                                                        {WakeState::queued, false},
                                                        {WakeState::running, false},
                                                        {WakeState::running_woken, false}};
  for (const auto& [wake, is_idle] : cases) {
    Snapshot snapshot = empty_root();
    add_task(snapshot, 1, 1).wake = wake;
    EXPECT_EQ(idle(snapshot), is_idle ? Status() : Status(Errc::tasks_still_active)) << wake_text(wake);
  }
}

TEST(Quiescence, QUI_1_idle_is_nothing_pending) {
  Snapshot snapshot = empty_root();
  add_task(snapshot, 1, 1).counted[0] = 1;
  add_promise(snapshot, 1, ObligationKind::ack, 1, task(1));
  snapshot.undrained_channels = 1;
  snapshot.regions[0].waiting_finalizers = 1;
  snapshot.tasks.push_back({.id = task(2), .region = region(1), .wake = WakeState::done, .cleanup = true});
  EXPECT_EQ(idle(snapshot), Status()) << "nothing is on its way to any of these";
  add_promise(snapshot, 2, ObligationKind::io_operation, 1, Holder(Service::reactor, task(1)));
  EXPECT_EQ(idle(snapshot), Status(Errc::obligations_unresolved));
  snapshot.obligations[1].holder = Service::lease_keeper;
  EXPECT_EQ(idle(snapshot), Status(Errc::obligations_unresolved));
  snapshot.obligations[1].state = ObligationState::committed;
  EXPECT_EQ(idle(snapshot), Status());
  snapshot.pending_timers = 1;
  EXPECT_EQ(idle(snapshot), Status(Errc::timers_pending));
}

/// t1 holds a promise, waits for c3 and was last polled in round 1; t2 holds a permit of c3.
Snapshot suspect() {
  Snapshot snapshot = empty_root();
  snapshot.round = 1 + futurelock_rounds;
  add_task(snapshot, 1, 1).waits_for = channel(3);
  snapshot.tasks[0].last_round = 1;
  add_task(snapshot, 2, 1).waits_for = trace::ResourceId::registered(1);
  add_promise(snapshot, 1, ObligationKind::ack, 1, task(1));
  add_promise(snapshot, 2, ObligationKind::send_permit, 1, task(2), channel(3));
  return snapshot;
}

TEST(Futurelock, OBL_7_a_holder_that_waits_for_itself_is_reported) {
  Snapshot snapshot = suspect();
  EXPECT_TRUE(find_futurelocks(snapshot).empty()) << "t2 was polled in this round";
  snapshot.tasks[1].waits_for = task(1);
  const std::vector<Futurelock> found = find_futurelocks(snapshot);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].task, task(1));
  EXPECT_TRUE(found[0].is_cycle());
}

TEST(Futurelock, OBL_7_a_holder_that_waits_for_a_stopped_poller_is_reported_with_the_wait_graph) {
  Snapshot snapshot = suspect();
  snapshot.tasks[1].last_round = 1;
  const std::vector<Futurelock> found = find_futurelocks(snapshot);
  ASSERT_EQ(found.size(), 1U) << "t2 waits for something that nobody holds";
  EXPECT_FALSE(found[0].is_cycle());
  ASSERT_EQ(found[0].chain.size(), 1U);
  const WaitStep& step = found[0].chain[0];
  EXPECT_EQ(step.task, task(1));
  EXPECT_EQ(step.waits_for, trace::ResourceId(channel(3)));
  EXPECT_EQ(step.through, promise(2));
  EXPECT_EQ(step.next, task(2));
}

TEST(Futurelock, OBL_7_the_bound_is_a_thousand_rounds) {
  EXPECT_EQ(futurelock_rounds, 1000U);
  Snapshot snapshot = suspect();
  snapshot.tasks[1].last_round = 1;
  EXPECT_EQ(find_futurelocks(snapshot).size(), 1U);
  --snapshot.round;
  EXPECT_TRUE(find_futurelocks(snapshot).empty()) << "999 rounds";
  EXPECT_EQ(find_futurelocks(snapshot, 999).size(), 1U);
}

TEST(Futurelock, OBL_7_who_holds_nothing_or_can_run_is_not_reported) {
  Snapshot snapshot = suspect();
  snapshot.tasks[1].last_round = 1;
  snapshot.tasks[0].wake = WakeState::queued;
  EXPECT_TRUE(find_futurelocks(snapshot).empty());
  snapshot.tasks[0].wake = WakeState::idle;
  snapshot.obligations[0].state = ObligationState::committed;
  EXPECT_TRUE(find_futurelocks(snapshot).empty());
  snapshot.tasks[0].counted[2] = 1;
  EXPECT_EQ(find_futurelocks(snapshot).size(), 1U) << "a counted promise is a promise";
}

TEST(Ownership, OBS_4_a_snapshot_prints_its_parts_and_finds_what_is_missing_or_owned_twice) {
  Snapshot snapshot = empty_root();
  add_task(snapshot, 4, 1);
  add_promise(snapshot, 3, ObligationKind::send_permit, 1, task(4));
  EXPECT_EQ(ownership(snapshot),
            "region(r1, Open, {deadline none, polls infinite, cost infinite, priority 0})\n"
            "* task(t4, r1, Running)\n"
            "* obligation(o3, send permit, t4, r1)");
  EXPECT_TRUE(broken_invariants(snapshot).empty());
  Snapshot twice = snapshot;
  twice.tasks.push_back(twice.tasks.back());
  EXPECT_FALSE(broken_invariants(twice).empty());
  Snapshot without_region = snapshot;
  without_region.regions.clear();
  EXPECT_FALSE(broken_invariants(without_region).empty());
  Snapshot without_task = snapshot;
  without_task.tasks.clear();
  EXPECT_FALSE(broken_invariants(without_task).empty());
  Snapshot without_promise = snapshot;
  without_promise.obligations.clear();
  EXPECT_FALSE(broken_invariants(without_promise).empty());
}

}  // namespace
}  // namespace calm::kernel::test
