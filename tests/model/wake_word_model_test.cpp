#include "calm/lockfree/wake_word.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "tests/model/interleave.hpp"
#include "tests/model/orders.hpp"

namespace calm::interleave {
namespace {

using lockfree::WakeState;

/// A task, how often it stands in the ready queue, and what its polls saw of the wakers' signals.
template <WakeState initial>
struct World {
  lockfree::WakeWord<ModelAtomics> word{initial};
  std::array<ModelAtomics::Atomic<bool>, 2> signals{};
  std::array<bool, 2> seen{};
  int entries = initial == WakeState::queued ? 1 : 0;
  int enqueued = entries;
  int polls = initial == WakeState::running ? 1 : 0;
  int polls_at_once = polls;

  void enqueue() {
    ++enqueued;
    EXPECT_EQ(++entries, 1) << "queued twice";
  }

  void wake() {
    if (word.wake()) enqueue();
  }

  void signal(std::size_t which) {
    signals[which].store(true, relaxed);
    wake();
  }

  bool begin_poll() {
    if (!word.begin_poll()) return false;
    ++polls;
    EXPECT_EQ(++polls_at_once, 1);
    return true;
  }

  void end_poll() {
    --polls_at_once;
    if (word.end_poll()) enqueue();
  }

  bool all_seen() const { return seen[0] && seen[1]; }

  /// What a worker does with a queue entry: the task looks at its signals and parks.
  void work_once() {
    --entries;
    if (!begin_poll()) return;
    for (std::size_t i = 0; i < signals.size(); ++i) seen[i] = signals[i].load(relaxed) || seen[i];
    end_poll();
  }

  /// Goes on until both signals are seen. With a lost wake it would wait for ever, which the exploration reports.
  void work() {
    for (;;) {
      while (entries == 0 && !all_seen()) ModelAtomics::pause();
      if (all_seen()) return;
      work_once();
    }
  }

  void work_off() {
    while (entries != 0) work_once();
  }
};

using Parked = World<WakeState::idle>;
using Queued = World<WakeState::queued>;
using Polled = World<WakeState::running>;
using Gone = World<WakeState::done>;

template <class World>
void wake(World& world) {
  world.wake();
}
template <class World>
void end_poll(World& world) {
  world.end_poll();
}
template <class World, std::size_t which>
void signal(World& world) {
  world.signal(which);
}
template <class World>
void work(World& world) {
  world.work();
}

template <class World>
void queued_exactly_once(World& world) {
  EXPECT_EQ(world.word.state(), WakeState::queued);
  EXPECT_EQ(world.entries, 1);
  EXPECT_EQ(world.enqueued, 1);
}

void expect_exhausted(const Report& report) {
  EXPECT_TRUE(report.ok()) << report;
  testing::Test::RecordProperty("executions", std::to_string(report.executions));
}

TEST(WakeWordModel, TSK_6_of_several_wakers_of_a_parked_task_one_enqueues_it) {
  expect_exhausted(
      explore<Parked>({wake<Parked>, wake<Parked>, wake<Parked>, wake<Parked>}, queued_exactly_once<Parked>));
}

TEST(WakeWordModel, TSK_6_a_wake_against_the_end_of_a_poll_causes_exactly_one_further_poll) {
  expect_exhausted(explore<Polled>({end_poll<Polled>, wake<Polled>}, queued_exactly_once<Polled>));
}

TEST(WakeWordModel, TSK_6_many_wakes_during_a_poll_cause_exactly_one_further_poll) {
  const Body<Polled> twice = [](Polled& world) {
    world.wake();
    world.wake();
  };
  expect_exhausted(explore<Polled>({end_poll<Polled>, twice, twice}, [](Polled& world) {
    queued_exactly_once(world);
    world.work_off();
    EXPECT_EQ(world.polls, 2);
    EXPECT_EQ(world.word.state(), WakeState::idle);
  }));
}

template <class World>
void every_poll_was_asked_for(World& world) {
  EXPECT_TRUE(world.all_seen());
  world.work_off();
  EXPECT_EQ(world.polls, world.enqueued);
  EXPECT_EQ(world.word.state(), WakeState::idle);
}

TEST(WakeWordModel, TSK_6_no_wake_is_lost_between_two_wakers_and_a_worker) {
  expect_exhausted(explore<Parked>({signal<Parked, 0>, signal<Parked, 1>, work<Parked>}, [](Parked& world) {
    every_poll_was_asked_for(world);
    EXPECT_LE(world.polls, 2) << "at most one for each wake";
  }));
}

TEST(WakeWordModel, TSK_6_no_wake_is_lost_when_the_task_starts_queued) {
  expect_exhausted(explore<Queued>({signal<Queued, 0>, signal<Queued, 1>, work<Queued>}, [](Queued& world) {
    every_poll_was_asked_for(world);
    EXPECT_LE(world.polls, 3) << "at most one for the start and one for each wake";
  }));
}

TEST(WakeWordModel, TSK_6_two_workers_never_poll_at_once_and_lose_no_wake) {
  expect_exhausted(explore<Parked>({signal<Parked, 0>, signal<Parked, 1>, work<Parked>, work<Parked>},
                                   every_poll_was_asked_for<Parked>));
}

// A joiner polls a queued task in place and leaves its entry behind: the worker finds it stale.
TEST(WakeWordModel, TSK_6_of_two_claims_on_a_queued_task_one_succeeds) {
  const Body<Queued> claim = [](Queued& world) { world.begin_poll(); };
  expect_exhausted(explore<Queued>({claim, claim, wake<Queued>}, [](Queued& world) {
    EXPECT_EQ(world.polls, 1);
    EXPECT_EQ(world.enqueued, 1);
  }));
}

TEST(WakeWordModel, TSK_6_a_wake_against_finish_never_enqueues_a_finished_task) {
  const Body<Queued> poll_and_finish = [](Queued& world) {
    --world.entries;
    EXPECT_TRUE(world.begin_poll());
    world.word.finish();
    EXPECT_TRUE(world.word.is_done());
  };
  expect_exhausted(explore<Queued>({poll_and_finish, wake<Queued>, wake<Queued>, wake<Queued>}, [](Queued& world) {
    EXPECT_EQ(world.enqueued, 1) << "only the start";
    EXPECT_EQ(world.entries, 0);
    EXPECT_EQ(world.word.state(), WakeState::done);
    EXPECT_FALSE(world.word.begin_poll());
  }));
}

TEST(WakeWordModel, a_late_wake_against_a_slot_renewed_queued_changes_nothing) {
  const Body<Gone> start_queued = [](Gone& world) {
    world.word.renew(WakeState::queued);
    world.enqueue();
  };
  expect_exhausted(explore<Gone>({start_queued, wake<Gone>, wake<Gone>}, queued_exactly_once<Gone>));
}

TEST(WakeWordModel, a_late_wake_against_a_slot_renewed_parked_costs_at_most_one_poll) {
  const Body<Gone> start_parked = [](Gone& world) { world.word.renew(WakeState::idle); };
  expect_exhausted(explore<Gone>({start_parked, wake<Gone>, wake<Gone>}, [](Gone& world) {
    EXPECT_LE(world.entries, 1);
    EXPECT_EQ(world.word.state(), world.entries == 1 ? WakeState::queued : WakeState::idle);
  }));
}

}  // namespace
}  // namespace calm::interleave
