// A snapshot as a tree for people.
#include "calm/kernel/tree_text.hpp"

#include <gtest/gtest.h>

#include <string>

#include "calm/kernel/counted_kinds.hpp"
#include "tests/unit/kernel/snapshots.hpp"

namespace calm::kernel::test {
namespace {

bool says(const Snapshot& snapshot, const std::string& part) {
  return tree_text(snapshot).find(part) != std::string::npos;
}

TEST(TreeText, OBS_1_a_task_shows_its_name_and_how_long_it_is_where_it_is) {
  Snapshot snapshot = empty_root();  // at 3 s
  TaskView& parked = add_task(snapshot, 1, 1);
  parked.name = "reader";
  parked.polled = Time::at_ns(500'000'000);
  EXPECT_TRUE(says(snapshot, "t1 \"reader\" in r1: Running, parked for 2500ms")) << tree_text(snapshot);

  TaskView& queued = add_task(snapshot, 2, 1);
  queued.wake = WakeState::queued;
  queued.polled = Time::at_ns(2'990'000'000);
  EXPECT_TRUE(says(snapshot, "t2 in r1: Running, queued, last polled 10ms ago")) << tree_text(snapshot);

  TaskView& polled = add_task(snapshot, 3, 1);
  polled.wake = WakeState::running;
  polled.polled = Time::at_ns(3'000'000'001);  // by a clock that is a little ahead
  EXPECT_TRUE(says(snapshot, "t3 in r1: Running, being polled for 0s")) << tree_text(snapshot);

  (void)add_task(snapshot, 4, 1);
  EXPECT_TRUE(says(snapshot, "t4 in r1: Running, parked\n") ||
              tree_text(snapshot).ends_with("t4 in r1: Running, parked"))
      << tree_text(snapshot);
}

TEST(TreeText, OBS_1_a_promise_shows_its_age) {
  Snapshot snapshot = empty_root();
  (void)add_task(snapshot, 1, 1);
  add_promise(snapshot, 1, ObligationKind::ack, 1, Holder(task(1))).since = Time::at_ns(1'000'000'000);
  add_promise(snapshot, 2, ObligationKind::io_operation, 1, Holder(Service::reactor)).since = Time();
  EXPECT_TRUE(says(snapshot, "    o1 ack (since 1s), open for 2s")) << tree_text(snapshot);
  EXPECT_TRUE(says(snapshot, ", open for 3s of the reactor")) << tree_text(snapshot);
}

TEST(TreeText, OBS_1_OBL_2_promises_without_a_record_stand_at_their_holder) {
  Snapshot snapshot = empty_root();
  (void)add_task(snapshot, 1, 1);
  TaskView& holder = add_task(snapshot, 2, 1);
  holder.counted[counted_index(ObligationKind::send_permit)] = 1;
  holder.counted[counted_index(ObligationKind::lock_guard)] = 2;
  add_promise(snapshot, 1, ObligationKind::ack, 1, Holder(task(2))).since = Time::at_ns(1'000'000'000);
  (void)add_task(snapshot, 3, 1);
  EXPECT_TRUE(says(snapshot, ", 4 promises, ")) << tree_text(snapshot);
  EXPECT_TRUE(says(snapshot,
                   "\n  t2 in r1: Running, parked\n    o1 ack (since 1s), open for 2s\n"
                   "    holds 1 send permit, 2 lock guards\n  t3 in r1"))
      << tree_text(snapshot);
  EXPECT_EQ(tree_text(snapshot).find("holds"), tree_text(snapshot).rfind("holds")) << "the others hold nothing";
}

TEST(TreeText, OBS_1_the_waits_that_one_task_can_end_stand_last) {
  Snapshot snapshot = empty_root();
  (void)add_task(snapshot, 1, 1);
  (void)add_task(snapshot, 2, 1);
  (void)add_task(snapshot, 3, 1);
  (void)add_task(snapshot, 4, 1);
  snapshot.tasks[0].held_by = task(2);
  snapshot.tasks[1].waits_for = trace::ResourceId(task(3));
  snapshot.tasks[3].waits_for = trace::ResourceId(region(1));
  const std::string text = tree_text(snapshot);
  EXPECT_TRUE(
      text.ends_with("t4 in r1: Running, parked, waits for r1\n"
                     "t1 waits for t2\n"
                     "t2 waits for t3"))
      << text;
}

TEST(TreeText, OBS_1_who_holds_what_is_waited_for_is_told_rather_than_what_it_is) {
  Snapshot snapshot = empty_root();
  TaskView& waits = add_task(snapshot, 1, 1);
  waits.waits_for = trace::ResourceId(channel(3));
  waits.held_by = task(2);
  EXPECT_TRUE(tree_text(snapshot).ends_with("waits for c3 held by t2\nt1 waits for t2")) << tree_text(snapshot);
}

TEST(TreeText, OBS_1_a_cancelled_region_shows_since_when) {
  Snapshot snapshot = empty_root();
  add_region(snapshot, 2, 1).reason = stop(CancelKind::user, "stop", 2);
  EXPECT_TRUE(says(snapshot, "r2 Open, cancelled: User 1s ago")) << tree_text(snapshot);
}

}  // namespace
}  // namespace calm::kernel::test
