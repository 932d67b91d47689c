// Every step of a task's word against every other one that may meet it: why wake, poll, completion and join need no lock.
#include "calm/kernel/task_word.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "calm/explore/plain.hpp"
#include "tests/model/explored.hpp"
#include "tests/model/orders.hpp"

namespace calm::explored {
namespace {

using kernel::TaskFlag;
using kernel::TaskLife;
using lockfree::WakeState;

constexpr std::uint32_t generation = 7;

/// A task, how often it stands in the ready queue, what its polls saw of the wakers' signals, and how it ended.
template <TaskState state, WakeState wake_state>
struct World {
  kernel::TaskWord<ModelAtomics> word;
  std::array<ModelAtomics::Atomic<bool>, 2> signals{};
  ModelAtomics::Atomic<unsigned> seen{0};  // a bit for each signal
  // As a queue does it, who takes an entry sees what its pusher did.
  ModelAtomics::Atomic<int> entries{wake_state == WakeState::queued ? 1 : 0};
  int enqueued = wake_state == WakeState::queued ? 1 : 0;
  int polls = wake_state == WakeState::running ? 1 : 0;
  int polls_at_once = polls;
  TaskLife end;        // the step with which it was completed
  TaskLife requested;  // what a request found
  bool flagged = false;
  int frees = 0;

  World() { word.renew(TaskLife(generation, state, wake_state).with(TaskFlag::handle)); }

  void enqueue() {
    ++enqueued;
    EXPECT_EQ(entries.fetch_add(1, release), 0) << "queued twice";
  }
  void wake() {
    if (word.wake().enqueue) enqueue();
  }
  void signal(std::size_t which) {
    signals[which].store(true, relaxed);
    wake();
  }
  bool begin_poll() {
    TaskLife now;
    if (!word.begin_poll(generation, now, [] { return true; })) return false;
    ++polls;
    EXPECT_EQ(++polls_at_once, 1);
    EXPECT_EQ(now.wake(), WakeState::running);
    return true;
  }
  void end_poll() {
    --polls_at_once;
    if (word.end_poll()) enqueue();
  }

  bool all_seen() const { return seen.load(relaxed) == 3; }

  /// What a worker does with a queue entry: the task looks at its signals and parks.
  bool work_once() {
    int one = 1;
    if (!entries.compare_exchange_strong(one, 0, acquire, relaxed)) return false;
    if (!begin_poll()) return true;
    unsigned bits = 0;
    for (std::size_t i = 0; i < signals.size(); ++i) bits |= signals[i].load(relaxed) ? 1U << i : 0U;
    if (bits != 0) seen.fetch_or(bits, relaxed);
    end_poll();
    return true;
  }
  /// Goes on until both signals are seen. With a lost wake it would wait for ever, which the exploration reports.
  void work() {
    while (!all_seen()) {
      if (!work_once()) ModelAtomics::pause();
    }
  }
  void work_off() {
    while (work_once()) {
    }
  }

  /// As the kernel does: on whatever the word has become meanwhile.
  void complete() {
    TaskLife was = word.look();
    do {
      end = was.with(TaskState::completed).with(WakeState::done).with(OutcomeKind::ok);
    } while (!word.step(was, end));
    end = was;
  }
  void leave() { frees += word.leave() ? 1 : 0; }
  void drop_handle() { frees += word.flag(generation, TaskFlag::handle, false).has(TaskFlag::left) ? 1 : 0; }
};

using Created = World<TaskState::created, WakeState::queued>;
using Parked = World<TaskState::running, WakeState::idle>;
using Queued = World<TaskState::running, WakeState::queued>;
using Polled = World<TaskState::running, WakeState::running>;

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
void complete(World& world) {
  world.complete();
}
template <class World>
void request(World& world) {
  world.requested = world.word.request(generation);
}

template <class World>
void queued_exactly_once(World& world) {
  EXPECT_EQ(world.word.look().wake(), WakeState::queued);
  EXPECT_EQ(world.entries.load(relaxed), 1);
  EXPECT_EQ(world.enqueued, 1);
}

constexpr Options with_spurious{.max_spurious = 1};  // compare_exchange_weak may fail for no reason

// --- wakes and polls ---

TEST(TaskWordModel, TSK_6_of_several_wakers_of_a_parked_task_one_enqueues_it) {
  expect_exhausted(
      explore<Parked>({wake<Parked>, wake<Parked>, wake<Parked>, wake<Parked>}, queued_exactly_once<Parked>));
}

TEST(TaskWordModel, TSK_6_many_wakes_during_a_poll_cause_exactly_one_further_poll) {
  const Body<Polled> twice = [](Polled& world) {
    world.wake();
    world.wake();
  };
  expect_exhausted(explore<Polled>({end_poll<Polled>, twice, twice}, [](Polled& world) {
    queued_exactly_once(world);
    world.work_off();
    EXPECT_EQ(world.polls, 2);
    EXPECT_EQ(world.word.look().wake(), WakeState::idle);
  }));
}

template <class World>
void every_poll_was_asked_for(World& world) {
  EXPECT_TRUE(world.all_seen());
  world.work_off();
  EXPECT_EQ(world.polls, world.enqueued);
  EXPECT_EQ(world.word.look().wake(), WakeState::idle);
}

TEST(TaskWordModel, TSK_6_no_wake_is_lost_between_two_wakers_and_a_worker) {
  expect_exhausted(explore<Parked>(
      {signal<Parked, 0>, signal<Parked, 1>, work<Parked>},
      [](Parked& world) {
        every_poll_was_asked_for(world);
        EXPECT_LE(world.polls, 2) << "at most one for each wake";
      },
      with_spurious));
}

TEST(TaskWordModel, TSK_6_two_workers_never_poll_at_once_and_lose_no_wake) {
  expect_exhausted(explore<Parked>({signal<Parked, 0>, signal<Parked, 1>, work<Parked>, work<Parked>},
                                   every_poll_was_asked_for<Parked>));
}

// A joiner polls a queued task in place and leaves its entry behind: the worker finds it stale.
TEST(TaskWordModel, TSK_6_of_two_claims_on_a_queued_task_one_succeeds) {
  const Body<Queued> claim = [](Queued& world) { world.begin_poll(); };
  expect_exhausted(explore<Queued>(
      {claim, claim, wake<Queued>},
      [](Queued& world) {
        EXPECT_EQ(world.polls, 1);
        EXPECT_EQ(world.enqueued, 1);
      },
      with_spurious));
}

TEST(TaskWordModel, TSK_6_wakes_against_the_end_of_a_task_never_enqueue_it) {
  expect_exhausted(explore<Polled>(
      {complete<Polled>, wake<Polled>, wake<Polled>},
      [](Polled& world) {
        EXPECT_EQ(world.enqueued, 0);
        EXPECT_EQ(world.word.look().wake(), WakeState::done);
        EXPECT_FALSE(world.begin_poll());
      },
      with_spurious));
}

TEST(TaskWordModel, HND_1_a_poll_or_a_request_for_an_earlier_life_has_no_effect) {
  const Body<Queued> claim_old = [](Queued& world) {
    TaskLife now;
    EXPECT_FALSE(world.word.begin_poll(generation - 1, now, [] { return true; }));
  };
  const Body<Queued> request_old = [](Queued& world) {
    EXPECT_EQ(world.word.request(generation - 1).generation(), generation);
    EXPECT_FALSE(world.word.flag_unless_completed(generation - 1, TaskFlag::holds));
  };
  expect_exhausted(explore<Queued>({claim_old, request_old, wake<Queued>}, [](Queued& world) {
    EXPECT_EQ(world.word.look(), TaskLife(generation, TaskState::running, WakeState::queued).with(TaskFlag::handle));
  }));
}

// --- requests ---

TEST(TaskWordModel, TSK_8_a_request_against_the_first_poll_comes_before_the_body_or_during_it) {
  const Body<Created> begin = [](Created& world) { EXPECT_TRUE(world.begin_poll()); };
  expect_exhausted(explore<Created>(
      {begin, request<Created>},
      [](Created& world) {
        const TaskLife now = world.word.look();
        EXPECT_EQ(now.state(), TaskState::cancel_requested);
        EXPECT_EQ(now.has(TaskFlag::started), world.requested.state() == TaskState::running);
      },
      with_spurious));
}

TEST(TaskWordModel, CAN_9_a_request_is_seen_by_the_completer_or_finds_the_task_completed) {
  expect_exhausted(explore<Polled>(
      {complete<Polled>, request<Polled>, wake<Polled>},
      [](Polled& world) {
        const bool seen = world.end.state() == TaskState::cancel_requested;
        EXPECT_EQ(world.requested.state(), seen ? TaskState::running : TaskState::completed);
      },
      with_spurious));
}

TEST(TaskWordModel, CAN_3_of_two_requests_one_is_the_first) {
  struct Twice : Polled {
    TaskLife too;
  };
  const Body<Twice> request_too = [](Twice& world) { world.too = world.word.request(generation); };
  expect_exhausted(explore<Twice>(
      {request<Twice>, request_too, end_poll<Twice>},
      [](Twice& world) {
        EXPECT_NE(world.requested.state(), world.too.state());
        EXPECT_EQ(world.word.look().state(), TaskState::cancel_requested);
      },
      with_spurious));
}

// --- flags against the end ---

template <TaskFlag flag>
void set_flag(Polled& world) {
  world.flagged = world.word.flag_unless_completed(generation, flag);
}

TEST(TaskWordModel, CAN_13_a_joiner_is_seen_by_the_completer_or_told_that_the_task_has_ended) {
  expect_exhausted(explore<Polled>(
      {complete<Polled>, set_flag<TaskFlag::awaited>, wake<Polled>},
      [](Polled& world) { EXPECT_EQ(world.end.has(TaskFlag::awaited), world.flagged); }, with_spurious));
}

/// The value of the task is read by a joiner that comes too late to wait for it; it is no atomic.
TEST(TaskWordModel, OUT_5_a_joiner_that_is_told_that_the_task_has_ended_sees_what_it_ended_with) {
  struct Giving : Polled {
    explore::Plain<int> value{0};
  };
  const Body<Giving> give_and_complete = [](Giving& world) {
    world.value = 7;
    world.complete();
  };
  const Body<Giving> join = [](Giving& world) {
    const bool awaited = world.word.flag_unless_completed(generation, TaskFlag::awaited);
    if (!awaited) {
      EXPECT_EQ(world.value.get(), 7);
    }
  };
  expect_exhausted(explore<Giving>({give_and_complete, join, wake<Giving>}, [](Giving&) {}, with_spurious));
}

TEST(TaskWordModel, OBL_5_a_hand_over_is_seen_by_the_completer_or_refused) {
  expect_exhausted(explore<Polled>(
      {complete<Polled>, set_flag<TaskFlag::holds>, request<Polled>},
      [](Polled& world) {
        EXPECT_EQ(world.end.has(TaskFlag::holds), world.flagged);
        EXPECT_EQ(world.requested.state() == TaskState::completed, world.end.state() == TaskState::running);
      },
      with_spurious));
}

TEST(TaskWordModel, HND_1_of_leaving_and_dropping_the_handle_the_second_frees_the_slot) {
  const Body<Polled> end_and_leave = [](Polled& world) {
    world.complete();
    world.leave();
  };
  const Body<Polled> drop_handle = [](Polled& world) { world.drop_handle(); };
  expect_exhausted(explore<Polled>(
      {end_and_leave, drop_handle, wake<Polled>}, [](Polled& world) { EXPECT_EQ(world.frees, 1); }, with_spurious));
}

}  // namespace
}  // namespace calm::explored
