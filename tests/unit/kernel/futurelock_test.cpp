#include "calm/kernel/futurelock.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/kernel/snapshots.hpp"

namespace calm::kernel::test {
namespace {

/// t1 waits for c3, of which t2 holds a permit; t2 waits for t1, which holds an ack. Nobody was polled for 1000 rounds.
Snapshot ring_of_two() {
  Snapshot snapshot = empty_root();
  add_task(snapshot, 1, 1).waits_for = channel(3);
  add_task(snapshot, 2, 1).waits_for = task(1);
  for (TaskView& view : snapshot.tasks) view.last_round = snapshot.round - futurelock_rounds;
  add_promise(snapshot, 1, ObligationKind::ack, 1, task(1));
  add_promise(snapshot, 2, ObligationKind::send_permit, 1, task(2), channel(3));
  return snapshot;
}

std::vector<TaskId> caught(const Snapshot& snapshot) {
  std::vector<TaskId> tasks;
  for (const Futurelock& futurelock : find_futurelocks(snapshot)) tasks.push_back(futurelock.task);
  return tasks;
}

using Tasks = std::vector<TaskId>;

TEST(Futurelock, prints_the_wait_graph_with_names_and_sites) {
  Snapshot snapshot = ring_of_two();
  const Site awaits = Site::current();
  const Site made = Site::current();
  snapshot.tasks[0].await_site = awaits;
  snapshot.obligations[1].site = made;
  snapshot.tasks[0].counted[1] = 3;
  const std::vector<Futurelock> found = find_futurelocks(snapshot);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(to_string(found[0]),
            "calm: futurelock: t1 holds promises and was not polled for 1000 rounds\n"
            "  owes: o1 ack\n"
            "  owes: 3 semaphore permits\n"
            "  wait: t1 in r1 at " +
                place_of(awaits) + " waits for c3: t2 holds o2 send permit, made at " + place_of(made) +
                "\n"
                "  ends: t2 is polled no more\n"
                "  law:  OBL-7 nobody stops being polled while it holds an obligation\n"
                "  next: resolve the promise before the wait, hand it to another task, or cancel one of these");
}

TEST(Futurelock, a_task_that_waits_for_what_it_holds_itself_waits_for_itself) {
  Snapshot snapshot = empty_root();
  add_task(snapshot, 1, 1).waits_for = channel(3);
  snapshot.tasks[0].last_round = 1;
  add_promise(snapshot, 1, ObligationKind::send_permit, 1, task(1), channel(3));
  const std::vector<Futurelock> found = find_futurelocks(snapshot);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].is_cycle());
  EXPECT_EQ(found[0].rounds, 4999U);
  const std::string text = to_string(found[0]);
  EXPECT_NE(text.find("\n  ends: t1 waits for itself"), std::string::npos) << text;
}

TEST(Futurelock, the_way_to_a_stop_goes_through_tasks_that_were_polled_lately) {
  Snapshot snapshot = ring_of_two();
  snapshot.tasks[1].last_round = snapshot.round - 1;
  const std::vector<Futurelock> found = find_futurelocks(snapshot);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].task, task(1));
  ASSERT_EQ(found[0].chain.size(), 2U);
  EXPECT_EQ(found[0].chain[0].next, task(2));
  EXPECT_EQ(found[0].chain[0].through, promise(2));
  EXPECT_EQ(found[0].chain[1].next, task(1));
  EXPECT_FALSE(found[0].chain[1].through);
  EXPECT_TRUE(found[0].is_cycle());
}

TEST(Futurelock, who_can_run_stops_nobody) {
  Snapshot snapshot = ring_of_two();
  for (const WakeState wake : {WakeState::queued, WakeState::running, WakeState::running_woken}) {
    snapshot.tasks[1].wake = wake;
    EXPECT_EQ(caught(snapshot), Tasks()) << wake_text(wake);
  }
}

TEST(Futurelock, who_waits_for_a_timer_or_a_service_will_be_polled_again) {
  Snapshot snapshot = ring_of_two();
  snapshot.tasks[1].waits_for = timer(1);
  EXPECT_EQ(caught(snapshot), Tasks());
  snapshot.tasks[1].waits_for = trace::ResourceId::registered(4);
  EXPECT_EQ(caught(snapshot), Tasks{task(1)}) << "t2 is polled no more";
  add_promise(snapshot, 3, ObligationKind::io_operation, 1, Holder(Service::reactor, task(2)));
  EXPECT_EQ(caught(snapshot), Tasks());
}

TEST(Futurelock, a_resource_that_nobody_holds_leads_nowhere) {
  Snapshot snapshot = ring_of_two();
  snapshot.tasks[0].waits_for = channel(4);
  EXPECT_EQ(caught(snapshot), Tasks{task(2)});
  snapshot.tasks[0].waits_for = {};
  EXPECT_EQ(caught(snapshot), Tasks{task(2)});
  snapshot.tasks[0].waits_for = channel(3);
  snapshot.obligations[1].state = ObligationState::committed;
  EXPECT_EQ(caught(snapshot), Tasks());
}

TEST(Futurelock, waiting_for_a_region_is_waiting_for_all_in_it_and_below) {
  Snapshot snapshot = empty_root();
  add_region(snapshot, 2, 1);
  add_region(snapshot, 3, 2);
  add_task(snapshot, 1, 1).waits_for = region(2);
  add_task(snapshot, 2, 3).waits_for = task(1);
  snapshot.tasks[0].last_round = 0;
  snapshot.tasks[0].counted[0] = 1;
  const std::vector<Futurelock> found = find_futurelocks(snapshot);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].is_cycle());
  const std::string text = to_string(found[0]);
  EXPECT_NE(text.find("t1 in r1 waits for r2: t2 is in it\n  wait: t2 in r3 waits for t1\n"), std::string::npos)
      << text;
}

TEST(Futurelock, waiting_for_a_promise_is_waiting_for_its_holder) {
  Snapshot snapshot = ring_of_two();
  snapshot.tasks[0].waits_for = promise(2);
  EXPECT_EQ(caught(snapshot), (Tasks{task(1), task(2)}));
  snapshot.tasks[0].waits_for = promise(9);
  EXPECT_EQ(caught(snapshot), Tasks{task(2)});
}

TEST(Futurelock, rounds_wrap_and_another_worker_may_be_ahead) {
  Snapshot snapshot = ring_of_two();
  snapshot.round = 3;
  for (TaskView& view : snapshot.tasks) view.last_round = UINT32_MAX - 995;
  EXPECT_EQ(caught(snapshot).size(), 0U) << "999 rounds";
  for (TaskView& view : snapshot.tasks) --view.last_round;
  EXPECT_EQ(caught(snapshot).size(), 2U) << "1000 rounds";
  for (TaskView& view : snapshot.tasks) view.last_round = 10;
  EXPECT_EQ(caught(snapshot).size(), 0U) << "polled in a round that this worker has not reached";
}

TEST(Futurelock, time_may_be_the_bound_where_rounds_are_few) {
  Snapshot earlier = ring_of_two();
  for (TaskView& view : earlier.tasks) view.last_round = earlier.round - 1;
  Snapshot later = earlier;
  later.round += 5;
  later.now = earlier.now + Duration::seconds(10);
  EXPECT_EQ(find_futurelocks(later).size(), 0U);
  EXPECT_EQ(find_futurelocks(earlier, later, Duration::seconds(10)).size(), 2U);
  EXPECT_EQ(find_futurelocks(earlier, later, Duration::seconds(11)).size(), 0U);
  for (TaskView& view : later.tasks) view.last_round = later.round;
  EXPECT_EQ(find_futurelocks(earlier, later, Duration::seconds(10)).size(), 0U) << "polled in between";
  later.tasks = earlier.tasks;
  earlier.tasks.clear();
  EXPECT_EQ(find_futurelocks(earlier, later, Duration::seconds(10)).size(), 0U) << "spawned in between";
}

}  // namespace
}  // namespace calm::kernel::test
