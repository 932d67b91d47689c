// Two threads, one pair of operations, many times: what tests/model proves step by step. ThreadSanitizer is the judge of the
// memory orders here, which the models do not look at.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "calm/kernel/kernel.hpp"
#include "calm/kernel/ownership.hpp"
#include "tests/show.hpp"
#include "tests/unit/kernel/threaded_host.hpp"

namespace calm::kernel {
namespace {

struct Bench {
  ThreadedHost host{2};
  std::unique_ptr<Kernel> kernel =
      Kernel::make({.workers = 2, .ceilings = {.regions = 256, .tasks = 1024, .obligations = 256}}, host).value();
};

/// A region with a task in its poll and one that is parked and holds a promise; and what the two threads were told.
struct Pair {
  ThreadedHost& host;
  Kernel* kernel;
  RegionId scope{};
  TaskId waiter{};
  TaskId task{};
  ObligationId promise{};
  Made<TaskId> spawned{.status = Errc::would_block};
  Status first = Errc::would_block;
  Status second = Errc::would_block;

  explicit Pair(Bench& bench) : host(bench.host), kernel(bench.kernel.get()) {
    scope = kernel->create_region(here(), kernel->root(), {.reports_to = ReportsTo::owner}).id;
    waiter = running();
    promise = kernel->reserve(here(), scope, {.kind = ObligationKind::ack, .holder = waiter}).id;
    EXPECT_TRUE(kernel->end_poll(here(), waiter));
    task = running();
    while (host.take(0)) {
    }
  }

  [[nodiscard]] Worker& here() const { return kernel->worker(0); }
  [[nodiscard]] Worker& there() const { return kernel->worker(1); }

  [[nodiscard]] TaskId running() const {
    const TaskId made = kernel->spawn(here(), scope, {}).id;
    EXPECT_EQ(kernel->begin_poll(here(), made), PollStart::run);
    return made;
  }

  /// Completes everything: then the region must be Closed. Nothing is left behind.
  void end() const {
    (void)kernel->close(here(), scope);
    for (const TaskId id : {task, waiter, spawned.id}) {
      if (!id || kernel->state(id) == TaskState::completed) continue;
      (void)kernel->wake(here(), id);
      (void)kernel->begin_poll(here(), id);
      EXPECT_TRUE(kernel->complete(here(), id, ok()));
    }
    EXPECT_EQ(kernel->state(scope), RegionState::closed);
    for (const TaskId id : {task, waiter, spawned.id}) (void)kernel->release(here(), id);
    EXPECT_TRUE(kernel->drop_token(here(), promise));
    EXPECT_TRUE(kernel->release(here(), scope));
  }
};

using Act = std::function<void(Pair&)>;

/// Here and there act on the same pairs at the same time, a little earlier or later each. They meet before and after a
/// batch only: a meeting costs more than the batch.
void race(const Act& prepare, const Act& here, const Act& there, const Act& check) {
  constexpr int batches = 1000;
  constexpr int batch = 40;
  Bench bench;
  std::vector<Pair> pairs;
  std::barrier<> together(2);
  std::atomic<bool> over{false};
  const auto act = [&pairs](std::mt19937& random, const Act& what) {
    for (Pair& pair : pairs) {
      for (volatile unsigned linger = random() % 64; linger != 0;) linger = linger - 1;
      what(pair);
    }
  };
  std::thread other([&] {
    std::mt19937 random(2);
    for (;;) {
      together.arrive_and_wait();
      if (over.load()) return;
      act(random, there);
      together.arrive_and_wait();
    }
  });
  std::mt19937 random(1);
  for (int i = 0; i < batches && !testing::Test::HasFailure(); ++i) {
    for (int k = 0; k < batch; ++k) pairs.emplace_back(bench);
    for (Pair& pair : pairs) prepare(pair);
    together.arrive_and_wait();
    act(random, here);
    together.arrive_and_wait();
    for (Pair& pair : pairs) {
      check(pair);
      pair.end();
    }
    pairs.clear();
  }
  over.store(true);
  together.arrive_and_wait();
  other.join();
  const Snapshot end = bench.kernel->snapshot(bench.kernel->worker(0));
  EXPECT_EQ(end.regions.size(), 1U) << "the root";
  EXPECT_TRUE(end.tasks.empty());
  for (const std::string& broken : broken_invariants(end)) ADD_FAILURE() << broken;
}

const Act nothing = [](Pair&) {};
const Act complete_here = [](Pair& pair) { pair.first = pair.kernel->complete(pair.here(), pair.task, ok()); };
const Act spawn_here = [](Pair& pair) { pair.spawned = pair.kernel->spawn(pair.here(), pair.scope, {}); };
const Act close_there = [](Pair& pair) { pair.second = pair.kernel->close(pair.there(), pair.scope); };
const Act cancel_there = [](Pair& pair) { pair.second = pair.kernel->cancel(pair.there(), pair.scope, {}); };

TEST(KernelStress, REG_6_admission_against_close) {
  race(nothing, spawn_here, close_there, [](Pair& pair) {
    EXPECT_TRUE(pair.second);
    EXPECT_EQ(pair.spawned.status, pair.spawned ? Status() : Status(Errc::region_not_open));
    EXPECT_EQ(pair.host.entries(pair.spawned.id), pair.spawned ? 1U : 0U);
  });
}

TEST(KernelStress, CAN_6_cancel_against_admission) {
  race(nothing, spawn_here, cancel_there, [](Pair& pair) {
    EXPECT_EQ(pair.spawned.status, pair.spawned ? Status() : Status(Errc::region_not_open));
    EXPECT_EQ(pair.kernel->is_cancel_requested(pair.spawned.id), pair.spawned.status.is_ok());
  });
}

TEST(KernelStress, REG_9_completion_against_close) {
  const Act only_one = [](Pair& pair) {
    EXPECT_TRUE(pair.kernel->commit(pair.here(), pair.promise));
    (void)pair.kernel->wake(pair.here(), pair.waiter);
    EXPECT_EQ(pair.kernel->begin_poll(pair.here(), pair.waiter), PollStart::run);
    EXPECT_TRUE(pair.kernel->complete(pair.here(), pair.waiter, ok()));
  };
  race(only_one, complete_here, close_there, [](Pair& pair) {
    EXPECT_TRUE(pair.first);
    EXPECT_EQ(pair.kernel->state(pair.scope), RegionState::closed);
  });
}

TEST(KernelStress, CAN_9_completion_against_cancel) {
  race(nothing, complete_here, cancel_there, [](Pair& pair) {
    EXPECT_EQ(pair.kernel->outcome_of(pair.task), OutcomeKind::ok);
    EXPECT_FALSE(pair.kernel->witness_of(pair.here(), pair.task).has_value());
  });
}

TEST(KernelStress, TSK_6_wake_against_poll_end) {
  const Act end_poll = [](Pair& pair) { pair.first = pair.kernel->end_poll(pair.here(), pair.task); };
  const Act wake = [](Pair& pair) { pair.second = pair.kernel->wake(pair.there(), pair.task); };
  race(nothing, end_poll, wake, [](Pair& pair) { EXPECT_EQ(pair.host.entries(pair.task), 1U); });
}

TEST(KernelStress, OBL_5_resolve_against_completion) {
  const Act hold = [](Pair& pair) { EXPECT_TRUE(pair.kernel->hand_over(pair.here(), pair.promise, pair.task)); };
  const Act commit = [](Pair& pair) { pair.second = pair.kernel->commit(pair.there(), pair.promise); };
  race(hold, complete_here, commit, [](Pair& pair) {
    EXPECT_EQ(pair.kernel->state(pair.here(), pair.promise),
              pair.second ? ObligationState::committed : ObligationState::leaked);
  });
}

TEST(KernelStress, OBL_5_hand_over_against_completion) {
  const Act hand_over = [](Pair& pair) { pair.second = pair.kernel->hand_over(pair.there(), pair.promise, pair.task); };
  race(nothing, complete_here, hand_over, [](Pair& pair) {
    EXPECT_EQ(pair.kernel->state(pair.here(), pair.promise),
              pair.second ? ObligationState::leaked : ObligationState::reserved);
  });
}

TEST(KernelStress, REG_2_two_closers) {
  const Act close_here = [](Pair& pair) { pair.first = pair.kernel->close(pair.here(), pair.scope); };
  race(nothing, close_here, close_there, [](Pair& pair) {
    EXPECT_TRUE(pair.first);
    EXPECT_TRUE(pair.second);
    EXPECT_EQ(pair.kernel->state(pair.scope), RegionState::draining);
  });
}

TEST(KernelStress, CAN_13_join_against_completion) {
  const Act join = [](Pair& pair) { pair.second = pair.kernel->await_end(pair.there(), pair.task, pair.waiter); };
  race(nothing, complete_here, join,
       [](Pair& pair) { EXPECT_EQ(pair.host.entries(pair.waiter), pair.second == Errc::would_block ? 1U : 0U); });
}

TEST(KernelStress, HND_1_release_against_completion) {
  const Act release = [](Pair& pair) { pair.second = pair.kernel->release(pair.there(), pair.task); };
  race(nothing, complete_here, release, [](Pair& pair) {
    EXPECT_TRUE(pair.second);
    EXPECT_EQ(pair.kernel->find(pair.task), nullptr);
  });
}

TEST(KernelStress, CAN_6_checkpoint_against_cancel) {
  const Act checkpoint_twice = [](Pair& pair) {
    const bool begun = pair.kernel->state(pair.scope) != RegionState::open;
    pair.first = pair.kernel->checkpoint(pair.here(), pair.task);
    if (begun) {
      EXPECT_EQ(pair.first, Errc::cancelled);
    }
  };
  race(nothing, checkpoint_twice, cancel_there,
       [](Pair& pair) { EXPECT_EQ(pair.kernel->checkpoint(pair.here(), pair.task), Errc::cancelled); });
}

}  // namespace
}  // namespace calm::kernel
