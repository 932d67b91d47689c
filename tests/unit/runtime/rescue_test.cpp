// A worker that is stuck in a poll: what waits for it is done by others, but for what must stay where it is.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "calm/channel/mpsc.hpp"
#include "calm/combinator/never.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/run.hpp"
#include "calm/sync/mutex.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines): what
// they refer to outlives the run

using Steady = std::chrono::steady_clock;

/// Keeps its worker busy until `count` has come so far. Gives: false when that took longer than any rescue may.
bool spin_until(const std::atomic<int>& count, int enough, std::chrono::milliseconds limit = std::chrono::minutes(1)) {
  const auto end = Steady::now() + limit;
  while (count < enough) {
    if (Steady::now() > end) return false;
  }
  return true;
}
/// The same for so long, whatever happens. Gives: how far it has come.
int spin_for(const std::atomic<int>& count, std::chrono::milliseconds time) {
  (void)spin_until(count, INT32_MAX, time);
  return count;
}

/// Runs `body` in a scope of a run with so many workers, and what it does not await is stuck.
template <class Body>
void run_stuck(std::uint16_t workers, Body body, Duration rescue_after = Duration::milliseconds(5)) {
  RunOptions options{.workers = workers};
  options.rescue_after = rescue_after;
  const auto program = [&body](Cx cx) -> Task<void> {
    const ScopeOptions collect{.policy = FoldPolicy::collect};
    (void)co_await outcome(scope(cx, body, collect));
  };
  EXPECT_TRUE(block_on(program, options).is_ok());
}

/// Gives: a task that counts itself and ends.
auto counts(std::atomic<int>& count) {
  return [&count](Cx /*cx*/) -> Task<void> {
    ++count;
    co_return;
  };
}
/// Gives: a task that counts itself when it begins, and once more when it was cancelled.
auto waits_for_its_cancel(std::atomic<int>& begun, std::atomic<int>& ended) {
  return [&](Cx cx) -> Task<void> {
    ++begun;
    const Outcome<void> end = co_await outcome(never(cx));
    ended = end.is_cancelled() ? 1 : 0;
  };
}
/// Gives way until so many have begun, and parked since.
Task<void> let_park(Cx cx, const std::atomic<int>& begun, int enough) {
  while (begun < enough) co_await yield(cx);
  for (int i = 0; i < 10; ++i) co_await yield(cx);
}

class RescueOn : public testing::TestWithParam<std::uint16_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, RescueOn, testing::Values(std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(RescueOn, SCH_6_what_a_poll_has_spawned_begins_though_it_does_not_end) {
  std::atomic<int> begun = 0;
  run_stuck(GetParam(), [&begun](Scope& scope) -> Task<void> {
    const auto child = counts(begun);
    for (int i = 0; i < 3; ++i) (void)co_await scope.spawn(child);
    EXPECT_TRUE(spin_until(begun, 3));
  });
}

TEST_P(RescueOn, SCH_6_and_so_do_more_than_a_ring_has_room_for) {
  constexpr int many = 2000;
  std::atomic<int> begun = 0;
  run_stuck(GetParam(), [&begun](Scope& scope) -> Task<void> {
    const auto child = counts(begun);
    for (int i = 0; i < many; ++i) (void)co_await scope.spawn(child);
    EXPECT_TRUE(spin_until(begun, many));
  });
}

TEST_P(RescueOn, SCH_6_SCH_1_those_with_a_priority_or_a_deadline_too) {
  std::atomic<int> begun = 0;
  run_stuck(GetParam(), [&begun](Scope& scope) -> Task<void> {
    const auto child = counts(begun);
    TaskOptions urgent;
    urgent.budget.priority = 9;
    (void)co_await scope.spawn(urgent, child);
    TaskOptions timed;
    timed.budget.deadline = Deadline(scope.cx().now() + Duration::seconds(1000));
    (void)co_await scope.spawn(timed, child);
    EXPECT_TRUE(spin_until(begun, 2));
  });
}

TEST_P(RescueOn, SCH_6_a_task_that_the_stuck_one_has_woken_goes_on) {
  std::atomic<int> parked = 0;
  std::atomic<int> heard = 0;
  run_stuck(GetParam(), [&](Scope& scope) -> Task<void> {
    auto made = std::move(channel::mpsc<int>(scope.cx(), 1)).value();
    auto listens = [&, receiver = std::move(made.receiver)](Cx cx) mutable -> Task<void> {
      ++parked;
      const int value = co_await receiver.recv(cx);
      heard = value;
    };
    (void)co_await scope.spawn(std::move(listens));
    co_await let_park(scope.cx(), parked, 1);
    EXPECT_TRUE(made.sender.try_send(1).is_ok());
    EXPECT_TRUE(spin_until(heard, 1));
  });
}

TEST_P(RescueOn, SCH_6_CAN_7_a_task_that_the_stuck_one_has_cancelled_ends) {
  std::atomic<int> parked = 0;
  std::atomic<int> ended = 0;
  run_stuck(GetParam(), [&](Scope& scope) -> Task<void> {
    const auto waits = waits_for_its_cancel(parked, ended);
    const Handle<void> child = co_await scope.spawn(waits);
    co_await let_park(scope.cx(), parked, 1);
    child.cancel();
    EXPECT_TRUE(spin_until(ended, 1));
  });
}

TEST_P(RescueOn, SCH_6_TMR_3_timers_of_the_stuck_worker_go_off) {
  std::atomic<int> parked = 0;
  std::atomic<int> slept = 0;
  run_stuck(GetParam(), [&](Scope& scope) -> Task<void> {
    const auto sleeps = [&](Cx cx) -> Task<void> {
      ++parked;
      co_await sleep(cx, Duration::milliseconds(30));
      ++slept;
    };
    for (int i = 0; i < 3; ++i) (void)co_await scope.spawn(sleeps);
    co_await let_park(scope.cx(), parked, 3);
    EXPECT_TRUE(spin_until(slept, 3));
  });
}

TEST_P(RescueOn, SCH_6_BUD_5_deadlines_that_the_stuck_worker_keeps_are_kept) {
  std::atomic<int> parked = 0;
  std::atomic<int> ended = 0;
  run_stuck(GetParam(), [&](Scope& scope) -> Task<void> {
    const auto waits = waits_for_its_cancel(parked, ended);
    const Time by = scope.cx().now() + Duration::milliseconds(300);
    TaskOptions soon;
    soon.budget.deadline = Deadline(by);
    (void)co_await scope.spawn(soon, waits);
    while (parked == 0 && scope.cx().now() < by) co_await yield(scope.cx());
    // On a machine that was busy with other things for so long it never began.
    EXPECT_TRUE(parked == 0 || spin_until(ended, 1));
  });
}

TEST_P(RescueOn, TSK_4_fibers_stay_where_they_are) {
  std::atomic<int> begun = 0;
  run_stuck(GetParam(), [&begun](Scope& scope) -> Task<void> {
    const auto child = counts(begun);
    Handle<void> fiber = co_await scope.fiber(child);
    Handle<void> task = co_await scope.spawn(child);
    EXPECT_TRUE(spin_until(begun, 1));
    EXPECT_EQ(spin_for(begun, std::chrono::milliseconds(60)), 1) << "the task has run, the fiber has not";
    co_await std::move(fiber).join(scope.cx());
    co_await std::move(task).join(scope.cx());
    EXPECT_EQ(begun, 2);
  });
}

TEST_P(RescueOn, SCH_6_nobody_is_rescued_where_the_options_say_so) {
  std::atomic<int> begun = 0;
  const auto spawns = [&begun](Scope& scope) -> Task<void> {
    const auto child = counts(begun);
    (void)co_await scope.spawn(child);
    EXPECT_EQ(spin_for(begun, std::chrono::milliseconds(60)), 0);
  };
  run_stuck(GetParam(), spawns, Duration());
  EXPECT_EQ(begun, 1);
}

/// Polls that take longer than a rescue waits, all the time: what they spawn, wake and lock is moved about under their hands.
TEST_P(RescueOn, SCH_6_I1_nothing_is_lost_or_done_twice_where_everybody_is_rescued_all_the_time) {
  constexpr int stuck_ones = 12;
  constexpr int rounds = 20;
  constexpr int children = 5;
  std::atomic<int> done = 0;
  const auto body = [&done](Scope& outer) -> Task<void> {
    Mutex<int> counted(outer.cx(), 0);
    const auto works = [&](Cx cx) -> Task<void> {
      for (int round = 0; round < rounds; ++round) {
        const auto spawns = [&](Scope& scope) -> Task<void> {
          const auto child = [&](Cx inner) -> Task<void> {
            co_await yield(inner);
            const Mutex<int>::Guard guard = co_await counted.lock(inner);
            ++*guard;
            ++done;
          };
          for (int i = 0; i < children; ++i) (void)co_await scope.spawn(child);
          (void)spin_for(done, std::chrono::milliseconds(round % 2));
          co_await sleep(scope.cx(), Duration::microseconds(50));
        };
        co_await scope(cx, spawns);
      }
    };
    const auto all = [&](Scope& scope) -> Task<void> {
      for (int i = 0; i < stuck_ones; ++i) (void)co_await scope.spawn(works);
    };
    co_await scope(outer.cx(), all);
    const Mutex<int>::Guard guard = co_await counted.lock(outer.cx());
    EXPECT_EQ(*guard, stuck_ones * rounds * children);
  };
  run_stuck(GetParam(), body, Duration::microseconds(100));
  EXPECT_EQ(done, stuck_ones * rounds * children);
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
