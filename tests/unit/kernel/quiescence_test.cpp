#include "calm/kernel/quiescence.hpp"

#include <gtest/gtest.h>

#include <string>

#include "calm/kernel/explain.hpp"
#include "tests/unit/kernel/snapshots.hpp"

namespace calm::kernel::test {
namespace {

TEST(Diagnose, a_quiet_kernel_has_one_line) { EXPECT_EQ(diagnose(quiet()), "calm: quiet at 3s"); }

TEST(Diagnose, names_every_straggler_with_its_site_and_what_it_holds) {
  Snapshot snapshot = family();
  const Site awaits = Site::current();
  const Site made = Site::current();
  snapshot.tasks[1].await_site = awaits;
  snapshot.tasks[1].waits_for = channel(3);
  snapshot.tasks[1].counted[2] = 2;
  snapshot.obligations[0].site = made;
  snapshot.pending_timers = 1;
  snapshot.undrained_channels = 2;
  EXPECT_EQ(diagnose(snapshot),
            "calm: not quiet at 3s: tasks_still_active, obligations_unresolved, regions_not_closed, timers_pending, "
            "channel_not_drained\n"
            "  live: t1 in r1: Running, parked\n"
            "  live: t2 in r1/r2: Running, parked at " +
                place_of(awaits) + ", waits for c3, holds o1 send permit (c3, since 1s, made at " + place_of(made) +
                "), 2 lock guards\n"
                "  live: t3 in r1/r2: Running, queued, holds o2 I/O operation (since 1s) with the reactor\n"
                "  held: o2 I/O operation (since 1s) of r1/r2 by the reactor for t3\n"
                "  open: r1 Open, nobody has closed it; in it: 1 task, 1 region\n"
                "  open: r1/r2 Open, nobody has closed it; in it: 2 tasks, 2 promises\n"
                "  time: 1 timer pending\n"
                "  chan: 2 channels not drained\n"
                "  law:  QUI-1 quiet is: no active task, no reserved obligation, all regions Closed, no timer, no "
                "message\n"
                "  next: something is still on its way; look again, or cancel what is named above");
}

TEST(Diagnose, says_when_nothing_will_move_by_itself) {
  Snapshot snapshot = empty_root();
  add_task(snapshot, 1, 1);
  const std::string text = diagnose(snapshot);
  EXPECT_NE(text.find("\n  next: nothing here moves by itself"), std::string::npos) << text;
}

TEST(Explain, a_region_tells_what_it_waits_for_through_the_regions_below) {
  Snapshot snapshot = family();
  RegionView& below = snapshot.regions[1];
  snapshot.regions[0].state = RegionState::draining;
  below.body = true;
  below.owner = task(1);
  snapshot.tasks[1].waits_for = channel(3);
  EXPECT_EQ(explain_region(snapshot, region(1)),
            "calm: r1 is Draining, waits for 1 task, 1 region\n"
            "  live: t1 in r1: Running, parked\n"
            "  open: r1/r2 Open, nobody has closed it; in it: 2 tasks, its body, 2 promises\n"
            "  live: t2 in r1/r2: Running, parked, waits for c3, holds o1 send permit (c3, since 1s)\n"
            "  live: t3 in r1/r2: Running, queued, holds o2 I/O operation (since 1s) with the reactor\n"
            "  body: the body of r1/r2 has not ended, t1 runs it\n"
            "  held: o2 I/O operation (since 1s) by the reactor for t3\n"
            "  law:  REG-4 Finalizing begins when no task is live and every child region is Closed\n"
            "  next: let the live ones end, or cancel the region");
}

TEST(Explain, a_finalizing_region_waits_for_clean_up_and_for_promises_held_elsewhere) {
  Snapshot snapshot = empty_root();
  RegionView& closing = add_region(snapshot, 2, 1);
  closing.state = RegionState::finalizing;
  closing.live_cleanup = 1;
  closing.waiting_finalizers = 1;
  closing.children_made = 2;
  closing.reason = stop();
  closing.epoch = {4};
  add_task(snapshot, 1, 1);
  snapshot.tasks.push_back({.id = task(2), .region = region(2), .wake = WakeState::done, .cleanup = true});
  snapshot.tasks.push_back({.id = task(3),
                            .region = region(2),
                            .state = TaskState::running,
                            .wake = WakeState::queued,
                            .creation = 1,
                            .cleanup = true});
  add_promise(snapshot, 1, ObligationKind::lease, 2, task(1));
  add_promise(snapshot, 2, ObligationKind::ack, 2, task(3));
  EXPECT_EQ(explain_region(snapshot, region(2)),
            "calm: r1/r2 is Finalizing, waits for 1 clean-up task, 1 finalizer, 2 promises\n"
            "  live: t2 in r1/r2: a finalizer that waits for its turn\n"
            "  live: t3 in r1/r2: clean-up, Running, queued, holds o2 ack (since 1s)\n"
            "  held: o1 lease (since 1s) by t1\n"
            "  why:  epoch 4, User at 2s by r1: \"stop\"\n"
            "    severity 0, clean-up until 7s with 1000 polls at priority 200\n"
            "  law:  I2 Closed means all finalizers ran and every obligation is terminal\n"
            "  next: see why the live ones do not reach a checkpoint, or wait for their clean-up budgets to end");
}

TEST(Explain, a_region_that_is_open_closed_or_unknown_gets_a_plain_answer) {
  Snapshot snapshot = empty_root();
  EXPECT_EQ(explain_region(snapshot, region(1)),
            "calm: r1 is Open, nobody has closed it\n"
            "  law:  REG-2 a region closes when it is told to\n"
            "  next: close it, or cancel it to stop what is in it");
  EXPECT_EQ(explain_region(quiet(), region(1)), "calm: r1 is Closed, it ended with Ok");
  EXPECT_EQ(explain_region(snapshot, region(8)), "calm: r8 is not there: it has closed and was released, or never was");
}

TEST(Explain, a_region_that_its_last_child_just_left_waits_for_nothing) {
  Snapshot snapshot = empty_root();
  snapshot.regions[0].state = RegionState::draining;
  const std::string text = explain_region(snapshot, region(1));
  EXPECT_NE(text.find("waits for nothing, its last child is about to let it go"), std::string::npos) << text;
}

TEST(Explain, a_task_tells_its_state_budget_and_promises) {
  const Snapshot snapshot = family();
  EXPECT_EQ(explain_task(snapshot, task(2)),
            "calm: t2 in r1/r2: Running, parked\n"
            "  left: {deadline none, polls infinite, cost infinite, priority 0}\n"
            "  owes: o1 send permit (c3, since 1s)");
}

// OBS-3
TEST(Explain, a_cancelled_task_tells_the_whole_story_and_what_its_clean_up_may_use) {
  Snapshot snapshot = family();
  const Reason cause = stop(CancelKind::timeout, "too slow", 1);
  request(snapshot.tasks[1], Reason(parent_cancelled(cause, region(1), Time::at_ns(1'500'000'000))));
  snapshot.tasks[1].cleanup_polls = 12;
  snapshot.tasks[1].mask_depth = 1;
  EXPECT_EQ(explain_task(snapshot, task(2)),
            "calm: t2 in r1/r2: CancelRequested, parked\n"
            "  left: {deadline 6s, polls infinite, cost infinite, priority 220}\n"
            "  owes: o1 send permit (c3, since 1s)\n"
            "  why:  epoch 7, ParentCancelled at 1.5s by r1\n"
            "    because Timeout at 1s by r1: \"too slow\"\n"
            "    severity 4, clean-up until 6s with 200 polls at priority 220\n"
            "  left for clean-up: 188 of 200 polls, 3s, under 1 mask");
}

TEST(Explain, clean_up_that_is_used_up_has_nothing_left) {
  Snapshot snapshot = family();
  request(snapshot.tasks[1], stop(CancelKind::shutdown));
  snapshot.tasks[1].cleanup_polls = 60;
  snapshot.now = Time::at_ns(100'000'000'000);
  const std::string text = explain_task(snapshot, task(2));
  EXPECT_NE(text.find("left for clean-up: 0 of 50 polls, 0s"), std::string::npos) << text;
}

TEST(Explain, a_task_that_has_ended_says_how) {
  Snapshot snapshot = empty_root();
  snapshot.tasks.push_back({.id = task(1), .state = TaskState::completed, .outcome = OutcomeKind::ok});
  snapshot.tasks.push_back(
      {.id = task(2), .state = TaskState::completed, .forced = true, .outcome = OutcomeKind::cancelled});
  EXPECT_EQ(explain_task(snapshot, task(1)), "calm: t1 has ended: Ok");
  EXPECT_EQ(explain_task(snapshot, task(2)),
            "calm: t2 has ended: Cancelled, forced: its clean-up budget ran out and its frame was dropped (CAN-8)");
  EXPECT_EQ(explain_task(snapshot, task(3)), "calm: t3 is not there: it has ended and was released, or never was");
}

}  // namespace
}  // namespace calm::kernel::test
