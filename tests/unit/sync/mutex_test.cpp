// A lock: one at a time in every schedule, with a cancel anywhere; a guard is a promise that can be seen.
#include "calm/sync/mutex.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "calm/cx/port.hpp"
#include "calm/kernel/quiescence.hpp"
#include "calm/kernel/snapshot.hpp"
#include "calm/runtime/run.hpp"
#include "contest.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using contest::ms;

struct Locked {
  Mutex<>& mutex;
  lab::Shared<int>& inside;
  lab::Shared<int>& done;

  Task<void> operator()(Cx cx, int /*number*/) const {
    const Mutex<>::Guard guard = co_await mutex.lock(cx);
    if (++inside.changed(cx) != 1) co_await fail(Errc::protocol);
    const Outcome<void> end = co_await outcome(give_way(cx));
    --inside.changed(cx);
    if (!end.is_ok()) co_return;
    ++done.changed(cx);
  }
  static Task<void> give_way(Cx cx) { co_await yield(cx); }
};

template <int tasks, int victim>
Task<void> locking(Cx cx) {
  Mutex<> mutex(cx);
  lab::Shared<int> inside(cx, 0);
  lab::Shared<int> done(cx, 0);
  co_await contest::run_contest(cx, Locked{mutex, inside, done}, tasks, victim);
  const int least = victim < 0 ? tasks : tasks - 1;
  if (!cx.is_cancelled() && (inside.get(cx) != 0 || done.get(cx) < least)) co_await fail(Errc::protocol);
  if (mutex.is_locked()) co_await fail(Errc::busy);
}

TEST(Mutex, CHN_12_has_one_holder_at_a_time_in_every_schedule) {
  // Who is first, and whether the others come before it unlocks.
  EXPECT_EQ(contest::explore_both_ways(locking<2, -1>), 4U);
  EXPECT_EQ(contest::explore_all_of(locking<3, -1>), 30U);
}

TEST(Mutex, CHN_12_hand_off_against_cancel_loses_no_wake_in_any_schedule) {
  EXPECT_GT(contest::explore_both_ways(locking<2, 0>), 2U);
  EXPECT_GT(contest::explore_all_of(locking<3, 1>), 20U);
  EXPECT_GT(contest::explore_all_of(locking<3, 2>), 20U);
}

TEST(Mutex, CAN_13_a_cancel_at_any_await_point_wakes_who_waits_for_a_lock) {
  contest::cancel_everywhere_in(locking<3, -1>);
  contest::cancel_everywhere_in(locking<3, 1>);
}

TEST(Mutex, CHN_12_guards_a_value_that_need_not_be_copied) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Mutex<std::unique_ptr<int>> value(cx, std::make_unique<int>(1));
    {
      const auto guard = co_await value.lock(cx);
      ++**guard;
    }
    const auto guard = co_await value.lock(cx);
    EXPECT_EQ(*guard->get(), 2);
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(Mutex, CHN_12_locking_twice_by_one_task_is_a_clear_error) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Mutex<int> mutex(cx, 7);
    const auto guard = co_await mutex.lock(cx);
    const auto again = [&mutex](Cx inner) -> Task<int> {
      const auto second = co_await mutex.lock(inner);
      co_return *second;
    };
    const Outcome<int> end = co_await outcome(again(cx));
    EXPECT_TRUE(end.is_err());
    if (!end.is_err()) co_return;
    EXPECT_EQ(end.error().code(), Errc::conflict);
    EXPECT_NE(end.error().explain().find("would wait for itself [CHN-12]"), std::string::npos) << end.error().explain();
    EXPECT_EQ(*guard, 7);
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(Mutex, CHN_12_try_lock_does_not_wait_and_does_not_overtake) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Mutex<> mutex(cx);
    std::optional<Mutex<>::Guard> mine = mutex.try_lock(cx);
    EXPECT_TRUE(mine);
    EXPECT_FALSE(mutex.try_lock(cx));
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto waits = [&mutex](Cx inner) -> Task<void> { const auto guard = co_await mutex.lock(inner); };
      (void)co_await scope.fiber(waits);
      co_await sleep(scope.cx(), ms(1));
      mine->unlock();
      EXPECT_FALSE(*mine);
      EXPECT_TRUE(mutex.is_locked()) << "it went to who waited";
      EXPECT_FALSE(mutex.try_lock(scope.cx()));
    };
    co_await scope(cx, body);
    EXPECT_TRUE(mutex.try_lock(cx));
  });
  EXPECT_LAB_CLEAN(report);
}

kernel::TaskView view_of(Cx cx, TaskId task) {
  auto& port = static_cast<cx::KernelPort<lockfree::LocalAtomics>&>(cx::context_of(cx).root->port());
  return *port.kernel().snapshot(port.here()).find(task);
}

constexpr std::size_t guards = kernel::counted_index(ObligationKind::lock_guard);

TEST(Mutex, OBL_2_a_guard_held_across_an_await_is_seen_by_who_looks) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Mutex<> mutex(cx);
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto holds = [&mutex](Cx inner) -> Task<void> {
        Mutex<>::Guard guard = co_await mutex.lock(inner);
        co_await sleep(inner, ms(2));
        guard.unlock();
        co_await sleep(inner, ms(2));
      };
      const auto holder = co_await scope.fiber(holds);
      co_await sleep(scope.cx(), ms(1));
      EXPECT_EQ(view_of(scope.cx(), holder.id()).counted[guards], 1);
      co_await sleep(scope.cx(), ms(2));
      EXPECT_EQ(view_of(scope.cx(), holder.id()).counted[guards], 0);
    };
    co_await scope(cx, body);
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(Mutex, OBL_2_OBS_1_who_inspects_sees_the_guard_its_place_and_who_waits_for_whom) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Mutex<> mutex(cx);
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto holds = [&mutex](Cx inner) -> Task<void> {
        const Mutex<>::Guard guard = co_await mutex.lock(inner);
        co_await sleep(inner, ms(3));
      };
      const auto waits = [&mutex](Cx inner) -> Task<void> { (void)co_await mutex.lock(inner); };
      const auto holder = co_await scope.fiber(holds);
      co_await sleep(scope.cx(), ms(1));
      const auto waiter = co_await scope.fiber(waits);
      co_await sleep(scope.cx(), ms(1));
      EXPECT_EQ(view_of(scope.cx(), waiter.id()).held_by, holder.id());
      EXPECT_EQ(view_of(scope.cx(), holder.id()).held_by, TaskId());
      auto& port = static_cast<cx::KernelPort<lockfree::LocalAtomics>&>(cx::context_of(scope.cx()).root->port());
      const std::string text = kernel::diagnose(port.kernel().snapshot(port.here()));
      EXPECT_NE(text.find(", holds 1 lock guard"), std::string::npos) << text;
      EXPECT_NE(text.find(" held by " + to_string(holder.id())), std::string::npos) << text;
      EXPECT_NE(text.find("mutex_test.cpp:"), std::string::npos) << text;
    };
    co_await scope(cx, body);
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(Mutex, OBL_5_a_guard_that_outlives_its_task_is_a_leak_and_unlocks_all_the_same) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Mutex<> mutex(cx);
    std::optional<Mutex<>::Guard> shelf;
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto forgets = [&](Cx inner) -> Task<void> { shelf.emplace(co_await mutex.lock(inner)); };
      (void)co_await scope.fiber(forgets);
    };
    co_await scope(cx, body);
    EXPECT_TRUE(mutex.is_locked());
    shelf.reset();
    EXPECT_FALSE(mutex.is_locked());
  });
  ASSERT_FALSE(report.is_clean());
  EXPECT_NE(to_string(report).find("lock guard"), std::string::npos) << to_string(report);
}

TEST(Mutex, OBL_2_a_guard_may_go_to_another_task_which_settles_it) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Mutex<> mutex(cx);
    std::optional<Mutex<>::Guard> shelf = mutex.try_lock(cx);
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto ends_it = [&shelf](Cx /*cx*/) -> Task<void> {
        shelf.reset();
        co_return;
      };
      (void)co_await scope.fiber(ends_it);
    };
    co_await scope(cx, body);
    EXPECT_EQ(view_of(cx, cx.task()).counted[guards], 0);
    EXPECT_FALSE(mutex.is_locked());
  });
  EXPECT_LAB_CLEAN(report);
}

Task<void> lock_both(Cx cx, Mutex<>* first, Mutex<>* second) {
  const auto one = co_await first->lock(cx);
  co_await yield(cx);
  const auto two = co_await second->lock(cx);
}

Task<void> lock_in_two_orders(Cx cx) {
  Mutex<> a(cx);
  Mutex<> b(cx);
  const auto body = [&](Scope& scope) -> Task<void> {
    (void)co_await scope.fiber(lock_both, &a, &b);
    (void)co_await scope.fiber(lock_both, &b, &a);
  };
  co_await scope(cx, body);
}

TEST(Mutex, LAB_6_a_deadlock_names_who_holds_each_lock_and_where_it_waits) {
  std::string text;
  for (std::uint64_t seed = 1; seed < 100 && text.empty(); ++seed) {
    const auto report = lab::run({.seed = seed}, lock_in_two_orders);
    for (const lab::Problem& problem : report.problems) {
      if (problem.oracle == lab::Oracle::deadlock) text.append(problem.text);
    }
  }
  EXPECT_NE(text.find("calm: deadlock: 2 tasks wait for each other\n"), std::string::npos) << text;
  std::size_t held = 0;
  for (std::size_t at = text.find(", held by t"); at != std::string::npos; at = text.find(", held by t", at + 1))
    ++held;
  EXPECT_EQ(held, 2U) << text;
  EXPECT_NE(text.find("mutex_test.cpp:"), std::string::npos) << text;
  EXPECT_NE(text.find("lock_both waits for x"), std::string::npos) << text;
  EXPECT_NE(text.find("law:  LAB-6 no deadlock\n  next: take these in one order everywhere"), std::string::npos)
      << text;
}

TEST(Mutex, LAB_6_two_locks_in_two_orders_deadlock_in_some_schedule_and_the_lab_says_so) {
  const auto report = lab::explore(lock_in_two_orders, {.stop_at_first_problem = false});
  EXPECT_TRUE(report.exhausted());
  EXPECT_GT(report.counts.deadlocks, 0U);
  EXPECT_LT(report.counts.deadlocks, report.counts.executions);
}

TEST(Mutex, CHN_12_works_on_the_host_of_one_thread) {
  const auto program = [](Cx cx) -> Task<int> {
    Mutex<int> sum(cx, 0);
    const auto body = [&](Scope& scope) -> Task<void> {
      for (int i = 0; i < 4; ++i) {
        const auto adds = [&sum](Cx inner) -> Task<void> {
          for (int turn = 0; turn < 1000; ++turn) {
            const auto guard = co_await sum.lock(inner);
            const int seen = *guard;
            if (turn % 10 == 0) co_await yield(inner);
            *guard = seen + 1;
          }
        };
        (void)co_await scope.fiber(adds);
      }
    };
    co_await scope(cx, body);
    const auto guard = co_await sum.lock(cx);
    co_return *guard;
  };
  EXPECT_EQ(block_on(program).value(), 4000);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
