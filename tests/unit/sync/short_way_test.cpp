// Locks and permits that are free, taken without a wait: the same laws hold on the short way, on one worker and in the lab.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "calm/cx/port.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "calm/kernel/snapshot.hpp"
#include "calm/lab/gtest.hpp"
#include "calm/lab/lab.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/runtime/run.hpp"
#include "calm/sync/mutex.hpp"
#include "calm/sync/select.hpp"
#include "calm/sync/semaphore.hpp"
#include "tests/both_worlds.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

/// On one worker of the production runtime, where the short way is, and in the lab, which follows every wait.
template <class F>
void run_both_ways(F program) {
  const Outcome<void> end = block_on(program, {.workers = 1});
  EXPECT_TRUE(end.is_ok()) << to_string(end);
  EXPECT_LAB_CLEAN(lab::run({}, program));
}

/// The task is cancelled from here on; it has seen nothing of it.
void cancel_this_task(CxOf<> cx) {
  const cx::TaskRoot& root = *cx::context_of(cx).root();
  (void)root.port().request_cancel(root.worker(), root.id(), {.message = "by itself"});
}

/// Gives: how many promises of the kind the kernel knows of. Needs: the task has suspended since.
std::uint32_t promises_of(Cx cx, TaskId task, ObligationKind kind) {
  return look(cx).find(task)->counted[kernel::counted_index(kind)];
}

TEST(ShortWay, CAN_13_a_cancelled_task_does_not_get_a_lock_that_is_free) {
  run_both_ways([](Cx cx) -> Task<void> {
    Mutex<int> mutex(cx, 0);
    const auto body = [&mutex](Scope& scope) -> Task<void> {
      const auto locks = [&mutex](Cx inner) -> Task<void> {
        co_await checkpoint(inner);  // from here on it is known that nobody cancelled it
        {
          const auto guard = co_await mutex.lock(inner);
          ++*guard;
        }
        cancel_this_task(inner);
        const auto guard = co_await mutex.lock(inner);
        *guard = 100;
      };
      Handle<void> task = co_await scope.fiber(locks);
      const Outcome<void> end = co_await outcome(std::move(task).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled()) << to_string(end);
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    EXPECT_FALSE(mutex.is_locked());
    const auto guard = co_await mutex.lock(cx);
    EXPECT_EQ(*guard, 1);
  });
}

TEST(ShortWay, CAN_13_in_a_scope_that_is_cancelled_nobody_gets_a_lock_that_is_free) {
  run_both_ways([](Cx cx) -> Task<void> {
    Mutex<int> mutex(cx, 0);
    co_await checkpoint(cx);
    const auto body = [&mutex](Scope& scope) -> Task<void> {
      {
        const auto guard = co_await mutex.lock(scope.cx());
        ++*guard;
      }
      scope.cancel("enough");
      const auto guard = co_await mutex.lock(scope.cx());
      *guard = 100;
    };
    const Outcome<void> end = co_await outcome(scope(cx, body));
    EXPECT_TRUE(end.is_cancelled()) << to_string(end);
    const auto guard = co_await mutex.lock(cx);
    EXPECT_EQ(*guard, 1);
  });
}

TEST(ShortWay, BUD_3_a_budget_that_is_used_up_is_seen_before_a_lock_that_is_free) {
  run_both_ways([](Cx cx) -> Task<void> {
    Mutex<> mutex(cx);
    co_await checkpoint(cx);
    const auto locks_late = [&mutex](Cx outer) -> Task<void> {
      const auto late = outer.with_deadline(outer.now() - Duration::milliseconds(1));
      const auto guard = co_await mutex.lock(late);
    };
    const Outcome<void> end = co_await outcome(locks_late(cx));
    EXPECT_TRUE(end.is_cancelled()) << to_string(end);
    EXPECT_FALSE(mutex.is_locked());
  });
}

TEST(ShortWay, CHN_12_a_lock_taken_on_it_is_known_as_held) {
  run_both_ways([](Cx cx) -> Task<void> {
    Mutex<int> mutex(cx, 7);
    co_await checkpoint(cx);
    auto guard = co_await mutex.lock(cx);
    EXPECT_TRUE(mutex.is_locked());
    EXPECT_FALSE(mutex.try_lock(cx));
    const auto again = [&mutex](Cx inner) -> Task<void> { const auto second = co_await mutex.lock(inner); };
    const Outcome<void> twice = co_await outcome(again(cx));
    EXPECT_TRUE(twice.is_err() && twice.error().code() == Errc::conflict) << to_string(twice);
    bool others_had_it = false;
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto waits = [&](Cx inner) -> Task<void> {
        co_await checkpoint(inner);
        const auto seen = co_await mutex.lock(inner);
        EXPECT_EQ(*seen, 8);
        others_had_it = true;
      };
      (void)co_await scope.fiber(waits);
      co_await sleep(scope.cx(), Duration::milliseconds(1));
      EXPECT_FALSE(others_had_it);
      ++*guard;
      guard.unlock();
      EXPECT_FALSE(mutex.is_locked()) << "who waits was called, and has not come";
    };
    co_await scope(cx, body);
    EXPECT_TRUE(others_had_it);
    EXPECT_FALSE(mutex.is_locked());
  });
}

TEST(ShortWay, OBL_2_guards_and_permits_taken_on_it_are_counted) {
  run_both_ways([](Cx cx) -> Task<void> {
    Mutex<> mutex(cx);
    Semaphore semaphore(cx, 3);
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto holds = [&](Cx inner) -> Task<void> {
        co_await checkpoint(inner);
        auto guard = co_await mutex.lock(inner);
        guard.unlock();
        guard = co_await mutex.lock(inner);
        const auto permit = co_await semaphore.acquire(inner, 2);
        co_await sleep(inner, Duration::milliseconds(20));
        guard.unlock();
        co_await sleep(inner, Duration::seconds(60));
      };
      const Handle<void> holder = co_await scope.fiber(holds);
      const auto counted = [&](ObligationKind kind) { return promises_of(scope.cx(), holder.id(), kind); };
      while (semaphore.free() == 3) co_await yield(scope.cx());
      EXPECT_EQ(counted(ObligationKind::lock_guard), 1U);
      EXPECT_EQ(counted(ObligationKind::semaphore_permit), 1U);
      while (mutex.is_locked()) co_await sleep(scope.cx(), Duration::milliseconds(1));
      EXPECT_EQ(counted(ObligationKind::lock_guard), 0U);
      EXPECT_EQ(semaphore.free(), 1U);
      holder.cancel();
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    EXPECT_EQ(semaphore.free(), 3U);
  });
}

TEST(ShortWay, OBL_2_a_guard_taken_on_it_may_go_to_another_task_which_settles_it) {
  run_both_ways([](Cx cx) -> Task<void> {
    Mutex<> mutex(cx);
    co_await checkpoint(cx);
    std::optional<Mutex<>::Guard> shelf;
    shelf.emplace(co_await mutex.lock(cx));
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto ends_it = [&shelf](Cx /*cx*/) -> Task<void> {
        shelf.reset();
        co_return;
      };
      (void)co_await scope.fiber(ends_it);
    };
    co_await scope(cx, body);
    EXPECT_EQ(promises_of(cx, cx.task(), ObligationKind::lock_guard), 0U);
    EXPECT_FALSE(mutex.is_locked());
  });
}

TEST(ShortWay, SCH_10_who_finds_every_lock_free_lets_others_run_all_the_same) {
  run_both_ways([](Cx cx) -> Task<void> {
    Mutex<int> mutex(cx, 0);
    bool done = false;
    int turns = 0;
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto locks = [&](Cx inner) -> Task<void> {
        for (int i = 0; i < 10'000; ++i) {
          const auto guard = co_await mutex.lock(inner);
          ++*guard;
        }
        done = true;
      };
      const auto looks = [&](Cx inner) -> Task<void> {
        while (!done) {
          ++turns;
          co_await yield(inner);
        }
      };
      (void)co_await scope.fiber(looks);
      (void)co_await scope.fiber(locks);
    };
    co_await scope(cx, body);
    EXPECT_GE(turns, 10'000 / static_cast<int>(cx::TaskRoot::ready_in_a_row) / 2);
    const auto guard = co_await mutex.lock(cx);
    EXPECT_EQ(*guard, 10'000);
  });
}

TEST(ShortWay, SCH_10_CHN_12_those_who_stood_in_line_have_many_turns_in_a_row) {
  run_both_ways([](Cx cx) -> Task<void> {
    constexpr int in_line = 4;
    constexpr int rounds = 2000;
    Mutex<TaskId> last(cx, TaskId());
    int switches = 0;
    const auto body = [&](Scope& scope) -> Task<void> {
      auto held = co_await last.lock(scope.cx());
      const auto locks = [&](Cx inner) -> Task<void> {
        for (int i = 0; i < rounds; ++i) {
          const auto guard = co_await last.lock(inner);
          if (*guard != inner.task()) ++switches;
          *guard = inner.task();
        }
      };
      for (int i = 0; i < in_line; ++i) (void)co_await scope.fiber(locks);
      co_await sleep(scope.cx(), Duration::milliseconds(1));
      held.unlock();
    };
    co_await scope(cx, body);
    EXPECT_GE(switches, in_line);
    EXPECT_LE(switches, 2 * in_line * rounds / static_cast<int>(cx::TaskRoot::ready_in_a_row)) << "a convoy";
  });
}

TEST(ShortWay, CHN_12_permits_are_taken_as_many_as_were_asked_for_and_not_more_than_there_are) {
  run_both_ways([](Cx cx) -> Task<void> {
    Semaphore semaphore(cx, 3);
    co_await checkpoint(cx);
    auto two = co_await semaphore.acquire(cx, 2);
    EXPECT_EQ(two.count(), 2U);
    EXPECT_EQ(semaphore.free(), 1U);
    const auto asks = [&semaphore](Cx inner, std::uint32_t count) -> Task<void> {
      const auto permit = co_await semaphore.acquire(inner, count);
    };
    const Outcome<void> none = co_await outcome(asks(cx, 0U));
    const Outcome<void> many = co_await outcome(asks(cx, 4U));
    EXPECT_TRUE(none.is_err() && none.error().code() == Errc::invalid_argument) << to_string(none);
    EXPECT_TRUE(many.is_err() && many.error().code() == Errc::invalid_argument) << to_string(many);
    int order = 0;
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto waits = [&](Cx inner, std::uint32_t count, int place) -> Task<void> {
        co_await checkpoint(inner);
        const auto permit = co_await semaphore.acquire(inner, count);
        EXPECT_EQ(++order, place);
      };
      (void)co_await scope.fiber(waits, 3U, 1);
      co_await sleep(scope.cx(), Duration::milliseconds(1));
      (void)co_await scope.fiber(waits, 1U, 2);  // one is free, but not for who comes later
      co_await sleep(scope.cx(), Duration::milliseconds(1));
      EXPECT_EQ(order, 0);
      two.release();
    };
    co_await scope(cx, body);
    EXPECT_EQ(semaphore.free(), 3U);
  });
}

// --- what is not there is waited for from where it was asked for ---

/// The same on two workers: what a task stands in line for may come from another one.
template <class F>
void run_all_ways(F program) {
  run_both_ways(program);
  const Outcome<void> end = block_on(program, {.workers = 2});
  EXPECT_TRUE(end.is_ok()) << to_string(end);
}

TEST(ShortWay, CHN_12_TSK_6_who_finds_nothing_stands_in_line_and_is_polled_once_more) {
  run_all_ways([](Cx cx) -> Task<void> {
    Semaphore semaphore(cx, 1);
    auto held = co_await semaphore.acquire(cx, 1);
    bool had_it = false;
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto waits = [&](Cx inner) -> Task<void> {
        co_await checkpoint(inner);
        const cx::TaskRoot& root = *cx::context_of(inner).root();
        const std::uint32_t moves = root.moves();
        const auto permit = co_await semaphore.acquire(inner, 1);
        EXPECT_EQ(root.moves(), moves + 2) << "it parks, and is polled once";
        had_it = true;
      };
      Handle<void> waiter = co_await scope.fiber(waits);
      co_await sleep(scope.cx(), Duration::milliseconds(1));
      EXPECT_FALSE(had_it);
      held.release();
      co_await std::move(waiter).join(scope.cx());
    };
    co_await scope(cx, body);
    EXPECT_TRUE(had_it);
    EXPECT_EQ(semaphore.free(), 1U);
  });
}

TEST(ShortWay, CAN_13_who_stands_in_line_and_is_cancelled_has_left_it) {
  run_all_ways([](Cx cx) -> Task<void> {
    Semaphore semaphore(cx, 2);
    auto held = co_await semaphore.acquire(cx, 2);
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto waits = [&](Cx inner) -> Task<void> {
        co_await checkpoint(inner);
        const auto permit = co_await semaphore.acquire(inner, 2);
      };
      Handle<void> first = co_await scope.fiber(waits);
      co_await sleep(scope.cx(), Duration::milliseconds(1));
      first.cancel("enough");
      const Outcome<void> end = co_await outcome(std::move(first).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled()) << to_string(end);
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    held.release();
    EXPECT_EQ(semaphore.free(), 2U) << "nobody is in line who could have got them";
  });
}

TEST(ShortWay, SCH_10_who_has_passed_many_and_finds_nothing_then_gets_it_all_the_same) {
  run_all_ways([](Cx cx) -> Task<void> {
    constexpr std::uint32_t more_than_in_a_row = 2 * cx::TaskRoot::ready_in_a_row;
    Semaphore many(cx, 1);
    for (std::uint32_t before = 0; before <= more_than_in_a_row; ++before) {
      Semaphore one(cx, 1);
      auto held = co_await one.acquire(cx, 1);
      const auto body = [&](Scope& scope) -> Task<void> {
        const auto waits = [&](Cx inner) -> Task<void> {
          co_await checkpoint(inner);
          for (std::uint32_t i = 0; i < before; ++i) const auto permit = co_await many.acquire(inner, 1);
          const auto permit = co_await one.acquire(inner, 1);
        };
        Handle<void> waiter = co_await scope.fiber(waits);
        co_await yield(scope.cx());
        held.release();
        co_await std::move(waiter).join(scope.cx());
      };
      co_await scope(cx, body);
      EXPECT_EQ(one.free(), 1U) << before;
    }
  });
}

TEST(ShortWay, COM_5_a_select_of_a_lock_that_is_free_takes_it) {
  run_both_ways([](Cx cx) -> Task<void> {
    Mutex<int> mutex(cx, 3);
    co_await checkpoint(cx);
    {
      auto first = co_await select(cx, mutex.lock(cx), sleep(cx, Duration::seconds(60)));
      EXPECT_EQ(first.index(), 0U);
      EXPECT_TRUE(mutex.is_locked());
    }
    const auto guard = co_await mutex.lock(cx);
    EXPECT_EQ(*guard, 3);
  });
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
