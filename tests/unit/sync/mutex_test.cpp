// A lock: one at a time in every schedule, with a cancel anywhere; a guard is a promise that can be seen.
#include "calm/sync/mutex.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "calm/cx/port.hpp"
#include "calm/kernel/quiescence.hpp"
#include "calm/kernel/snapshot.hpp"
#include "calm/runtime/run.hpp"
#include "calm/sync/notify.hpp"
#include "calm/sync/select.hpp"
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
  EXPECT_TRUE(contest::are_all(contest::explore_both_ways(locking<2, -1>), 4));
  EXPECT_TRUE(contest::are_all(contest::explore_both_ways(locking<3, -1>), 42));
}

TEST(Mutex, CHN_12_hand_off_against_cancel_loses_no_wake_in_any_schedule) {
  EXPECT_GT(contest::explore_both_ways(locking<2, 0>), 2U);
  EXPECT_GT(contest::explore_all_of(locking<3, 1>), 20U);
  EXPECT_GT(contest::explore_all_of(locking<3, 2>), 20U);
}

/// The same, twice in a row: the second time it passes who was called, if somebody was.
struct LockedTwice {
  Locked once;

  Task<void> operator()(Cx cx, int number) const {
    co_await once(cx, number);
    co_await once(cx, number);
  }
};

template <int tasks, int victim>
Task<void> locking_twice(Cx cx) {
  Mutex<> mutex(cx);
  lab::Shared<int> inside(cx, 0);
  lab::Shared<int> done(cx, 0);
  co_await contest::run_contest(cx, LockedTwice{{mutex, inside, done}}, tasks, victim);
  const int least = 2 * (victim < 0 ? tasks : tasks - 1);
  if (!cx.is_cancelled() && (inside.get(cx) != 0 || done.get(cx) < least)) co_await fail(Errc::protocol);
  if (mutex.is_locked()) co_await fail(Errc::busy);
}

TEST(Mutex, CHN_12_passing_against_cancel_loses_no_call_in_any_schedule) {
  EXPECT_GT(contest::explore_both_ways(locking_twice<2, -1>), 4U);
  EXPECT_GT(contest::explore_all_of(locking_twice<2, 0>), 20U);
  EXPECT_GT(contest::explore_all_of(locking_twice<2, 1>), 20U);
  EXPECT_GT(contest::explore_all_of(locking_twice<3, -1>), 100U);
  EXPECT_GT(contest::explore_all_of(locking_twice<3, 1>), 100U);
}

TEST(Mutex, CAN_13_a_cancel_at_any_await_point_of_those_who_pass_loses_no_call) {
  contest::cancel_everywhere_in(locking_twice<3, -1>);
  contest::cancel_everywhere_in(locking_twice<3, 1>);
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

Task<void> lock_once(Cx cx, Mutex<>* mutex) { const Mutex<>::Guard guard = co_await mutex->lock(cx); }

TEST(Mutex, CHN_12_who_waits_is_passed_until_it_was_polled_and_never_after) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Mutex<> mutex(cx);
    std::optional<Mutex<>::Guard> mine = mutex.try_lock(cx);
    EXPECT_TRUE(mine);
    EXPECT_FALSE(mutex.try_lock(cx)) << "it does not wait";
    const auto body = [&](Scope& scope) -> Task<void> {
      (void)co_await scope.fiber(lock_once, &mutex);
      co_await sleep(scope.cx(), ms(1));
      for (int i = 0; i < 3; ++i) {
        mine->unlock();
        EXPECT_FALSE(*mine);
        EXPECT_FALSE(mutex.is_locked()) << "who waits was called, and has not come";
        mine = mutex.try_lock(scope.cx());
        EXPECT_TRUE(mine) << "it may be passed";
      }
      co_await sleep(scope.cx(), ms(1));
      mine->unlock();
      EXPECT_TRUE(mutex.is_locked()) << "it came in vain, so now it is next";
      EXPECT_FALSE(mutex.try_lock(scope.cx()));
    };
    co_await scope(cx, body);
    EXPECT_TRUE(mutex.try_lock(cx));
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(Mutex, CHN_12_a_grant_is_followed_by_a_call_so_a_convoy_does_not_last) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Mutex<> mutex(cx);
    std::optional<Mutex<>::Guard> mine = mutex.try_lock(cx);
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto twice = [&mutex](Cx inner) -> Task<void> {
        Mutex<>::Guard guard = co_await mutex.lock(inner);
        guard.unlock();
        EXPECT_FALSE(mutex.is_locked()) << "others wait, and this one goes on all the same";
        const Mutex<>::Guard again = co_await mutex.lock(inner);
      };
      for (int i = 0; i < 3; ++i) (void)co_await scope.fiber(twice);
      co_await sleep(scope.cx(), ms(1));
      mine->unlock();
      mine = mutex.try_lock(scope.cx());
      co_await sleep(scope.cx(), ms(1));
      mine->unlock();
      EXPECT_TRUE(mutex.is_locked()) << "granted to the first";
    };
    co_await scope(cx, body);
    EXPECT_FALSE(mutex.is_locked());
  });
  EXPECT_LAB_CLEAN(report);
}

// --- how long one is passed, in every schedule ---

/// What one who waits has seen.
struct Passing {
  explicit Passing(Cx cx) : lock(cx) {}

  sync::Holding lock;
  int taken = 0;          // by others
  int in_vain = 0;        // polls of who waits that found it taken
  int taken_by_then = 0;  // when that was
};

class PlainWait : public sync::LineWait<sync::Holding> {
 public:
  PlainWait(const cx::Context* context, Passing* passing) noexcept : LineWait(context, &passing->lock) {}
  void result() noexcept {
    use_grant();
    primitive().count();
  }

 protected:
  ~PlainWait() = default;
};

class WatchedWait : public PlainWait {
 public:
  WatchedWait(const cx::Context* context, Passing* passing) noexcept
      : PlainWait(context, passing), passing_(*passing) {}
  cx::WaitState step(cx::TaskRoot& root, ChildEnd& end) noexcept override {
    const bool waited = place() == sync::Place::waiting;
    const cx::WaitState state = step_of_line(root, end);
    if (waited && state == cx::WaitState::pending) {
      ++passing_.in_vain;
      passing_.taken_by_then = passing_.taken;
    }
    return state;
  }

 protected:
  ~WatchedWait() = default;

 private:
  Passing& passing_;
};

template <class W>
auto lock_by(Cx cx, Passing* passing) {
  return cx::WaitFor<W, const cx::Context*, Passing*>(&cx::context_of(cx), passing);
}

/// Over all executions.
struct PassingSum {
  int met = 0;     // it found the lock taken when it came the second time
  int called = 0;  // it waited, and found it free
};

Task<void> takes_often(Cx cx, Passing* passing, int times) {
  for (int i = 0; i < times; ++i) {
    co_await lock_by<PlainWait>(cx, passing);
    ++passing->taken;
    if (i != 1) (void)co_await outcome(Locked::give_way(cx));
    passing->lock.unlock();
  }
}

Task<void> is_passed(Cx cx, Passing* passing, PassingSum* sum) {
  co_await lock_by<WatchedWait>(cx, passing);
  const bool bounded = passing->in_vain == 0 || (passing->in_vain == 1 && passing->taken == passing->taken_by_then);
  passing->lock.unlock();
  ++(passing->in_vain == 0 ? sum->called : sum->met);
  if (!bounded) co_await fail(Errc::protocol);
}

/// One waits; one takes the lock four times, and another so often.
struct PassesOne {
  int others;
  PassingSum* sum;

  Task<void> operator()(Cx cx) const {
    Passing passing(cx);
    const auto body = [this, &passing](Scope& scope) -> Task<void> {
      (void)co_await scope.fiber(takes_often, &passing, 4);
      (void)co_await scope.fiber(is_passed, &passing, sum);
      (void)co_await scope.fiber(takes_often, &passing, others);
    };
    co_await scope(cx, body);
    if (passing.lock.is_locked()) co_await fail(Errc::busy);
  }
};

TEST(Mutex, CHN_12_who_was_polled_in_vain_once_has_one_holder_before_it_in_every_schedule) {
  for (int others = 0; others < 5; ++others) {
    PassingSum sum;
    (void)contest::explore_all_of(PassesOne{others, &sum});
    if (!in_lab()) continue;  // threads come to some of the schedules
    EXPECT_GT(sum.met, 0);
    EXPECT_GT(sum.called, 0);
  }
}

TEST(Mutex, CAN_13_a_cancel_at_any_await_point_leaves_nobody_waiting_who_is_passed) {
  for (int others = 0; others < 5; ++others) {
    PassingSum sum;
    contest::cancel_everywhere_in(PassesOne{others, &sum});
  }
}

// --- one that was called, or passed, leaves ---

enum class Moment : std::uint8_t { called, called_and_taken, passed };

/// Two wait. The first is at this moment of its wait when it is cancelled: the second gets the lock all the same.
template <Moment moment>
Task<void> first_leaves(Cx cx) {
  Mutex<> mutex(cx);
  int had = 0;
  std::optional<Mutex<>::Guard> mine = mutex.try_lock(cx);
  const auto body = [&](Scope& scope) -> Task<void> {
    const auto waits = [&](Cx inner) -> Task<void> {
      const Mutex<>::Guard guard = co_await mutex.lock(inner);
      ++had;
    };
    const Handle<void> first = co_await scope.fiber(waits);
    co_await sleep(scope.cx(), ms(1));
    (void)co_await scope.fiber(waits);
    co_await sleep(scope.cx(), ms(1));
    mine->unlock();
    if (moment != Moment::called) mine = mutex.try_lock(scope.cx());
    if (moment == Moment::passed) co_await sleep(scope.cx(), ms(1));
    first.cancel();
    if (moment != Moment::called) co_await sleep(scope.cx(), ms(1));
    EXPECT_EQ(had, 0);
    mine->unlock();
    co_await sleep(scope.cx(), ms(1));
    EXPECT_EQ(had, 1);
  };
  (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  EXPECT_EQ(had, 1);
  mine.reset();
  EXPECT_FALSE(mutex.is_locked());
}

TEST(Mutex, CHN_12_who_was_called_and_leaves_passes_the_call_on) {
  EXPECT_LAB_CLEAN(lab::run({}, first_leaves<Moment::called>));
  EXPECT_LAB_CLEAN(lab::run({}, first_leaves<Moment::called_and_taken>));
  EXPECT_LAB_CLEAN(lab::run({}, first_leaves<Moment::passed>));
}

/// The first of two who wait goes another way when it is called: its wait ends with the select.
Task<void> first_chooses_otherwise(Cx cx) {
  Mutex<> mutex(cx);
  Notify other(cx);
  lab::Shared<int> had(cx, 0);
  const auto body = [&](Scope& scope) -> Task<void> {
    Mutex<>::Guard mine = co_await mutex.lock(scope.cx());
    const auto either = [&](Cx inner) -> Task<void> {
      const auto first = co_await select(inner, other.wait(inner), mutex.lock(inner));
    };
    const auto waits = [&](Cx inner) -> Task<void> {
      const Mutex<>::Guard guard = co_await mutex.lock(inner);
      ++had.changed(inner);
    };
    (void)co_await scope.fiber(either);
    (void)co_await scope.fiber(waits);
    const auto tells = [&other](Cx /*cx*/) -> Task<void> {
      other.notify_one();
      co_return;
    };
    (void)co_await scope.fiber(tells);
    co_await yield(scope.cx());
    mine.unlock();
  };
  co_await scope(cx, body);
  if (had.get(cx) != 1 || mutex.is_locked()) co_await fail(Errc::protocol);
}

TEST(Mutex, CHN_12_COM_5_a_select_that_goes_another_way_passes_the_call_on_in_every_schedule) {
  (void)contest::explore_both_ways(first_chooses_otherwise);
}

TEST(Mutex, CAN_13_COM_5_a_cancel_at_any_await_point_of_a_select_passes_the_call_on) {
  contest::cancel_everywhere_in(first_chooses_otherwise);
}

TEST(Mutex, CHN_12_wakes_for_nothing_change_nothing) {
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    lab::LabConfig config{.seed = seed};
    config.faults.spurious_wakes = 300;
    EXPECT_LAB_CLEAN(lab::run(config, locking<4, -1>));
    EXPECT_LAB_CLEAN(lab::run(config, locking<4, 1>));
  }
}

kernel::TaskView view_of(Cx cx, TaskId task) { return *look(cx).find(task); }

constexpr std::size_t guards = kernel::counted_index(ObligationKind::lock_guard);

TEST(Mutex, OBL_2_a_guard_held_across_an_await_is_seen_by_who_looks) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Mutex<> mutex(cx);
    std::atomic<bool> was_seen = false;
    std::atomic<bool> was_missed = false;
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto holds = [&](Cx inner) -> Task<void> {
        Mutex<>::Guard guard = co_await mutex.lock(inner);
        co_await sleep(inner, ms(2));
        co_await catch_up(inner, was_seen);
        guard.unlock();
        co_await sleep(inner, ms(2));
        co_await catch_up(inner, was_missed);
      };
      const auto holder = co_await scope.fiber(holds);
      co_await sleep(scope.cx(), ms(1));
      EXPECT_EQ(view_of(scope.cx(), holder.id()).counted[guards], 1);
      was_seen = true;
      co_await sleep(scope.cx(), ms(2));
      const auto is_free = [&mutex] { return !mutex.is_locked(); };
      co_await catch_up(scope.cx(), is_free);
      EXPECT_EQ(view_of(scope.cx(), holder.id()).counted[guards], 0);
      was_missed = true;
    };
    co_await scope(cx, body);
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(Mutex, OBL_2_OBS_1_who_inspects_sees_the_guard_its_place_and_who_waits_for_whom) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Mutex<> mutex(cx);
    std::atomic<bool> was_seen = false;
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto holds = [&](Cx inner) -> Task<void> {
        const Mutex<>::Guard guard = co_await mutex.lock(inner);
        co_await sleep(inner, ms(3));
        co_await catch_up(inner, was_seen);
      };
      const auto waits = [&mutex](Cx inner) -> Task<void> { (void)co_await mutex.lock(inner); };
      const auto holder = co_await scope.fiber(holds);
      co_await sleep(scope.cx(), ms(1));
      const auto waiter = co_await scope.fiber(waits);
      co_await sleep(scope.cx(), ms(1));
      EXPECT_EQ(view_of(scope.cx(), waiter.id()).held_by, holder.id());
      EXPECT_EQ(view_of(scope.cx(), holder.id()).held_by, TaskId());
      const std::string text = kernel::diagnose(look(scope.cx()));
      was_seen = true;
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
