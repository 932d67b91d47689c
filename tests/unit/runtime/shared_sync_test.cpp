// Room sync on several workers: nothing is had twice, and nobody waits for ever.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "calm/runtime/injector.hpp"
#include "calm/sync/barrier.hpp"
#include "calm/sync/latch.hpp"
#include "calm/sync/mutex.hpp"
#include "calm/sync/notify.hpp"
#include "calm/sync/once_cell.hpp"
#include "calm/sync/pool.hpp"
#include "calm/sync/rwlock.hpp"
#include "calm/sync/select.hpp"
#include "calm/sync/semaphore.hpp"
#include "tests/unit/runtime/shared_by.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)
// NOLINTBEGIN(cppcoreguidelines-avoid-const-or-ref-data-members)

class SharedSync : public SharedBy {};
INSTANTIATE_TEST_SUITE_P(Workers, SharedSync, some_workers(), name_of_workers);

struct AddsLocked {
  Mutex<std::uint64_t>& sum;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 200; ++i) {
      Mutex<std::uint64_t>::Guard held = co_await sum.lock(cx);
      ++*held;
      co_await give_way(cx, i + number);
    }
  }
};
Task<std::uint64_t> locked_sum(Cx cx) {
  Mutex<std::uint64_t> sum(cx, 0);
  const Crowd crowd{8, AddsLocked{sum}};
  co_await scope(cx, crowd);
  const Mutex<std::uint64_t>::Guard held = co_await sum.lock(cx);
  co_return *held;
}
TEST_P(SharedSync, CHN_12_a_mutex_lets_one_task_in_at_a_time) {
  const Outcome<std::uint64_t> sum = run_program(locked_sum);
  ASSERT_TRUE(sum.is_ok()) << to_string(sum);
  EXPECT_EQ(sum.value(), 1600U);
}

/// The one who has locked waits while a fiber of it ends the guard: the promise is that of who made it (OBL-2). In between it locks
/// by itself, so the count of its promises would be wrong by then if the fiber's had been taken.
Task<bool> guards_that_end_elsewhere(Cx cx) {
  Mutex<std::uint64_t> sum(cx, 0);
  Mutex<> other(cx);
  for (int i = 0; i < 200; ++i) {
    std::optional<Mutex<std::uint64_t>::Guard> kept;
    const auto ends = [&kept, &other](Cx inner) -> Task<void> {
      const Mutex<>::Guard mine = co_await other.lock(inner);
      kept.reset();
    };
    const auto body = [&](Scope& scope) -> Task<void> {
      Mutex<std::uint64_t>::Guard held = co_await sum.lock(scope.cx());
      ++*held;
      kept = std::move(held);
      (void)co_await scope.fiber(ends);
    };
    co_await scope(cx, body);
    if (sum.is_locked() || other.is_locked()) co_return false;
    const Mutex<>::Guard mine = co_await other.lock(cx);
    const Mutex<std::uint64_t>::Guard held = co_await sum.lock(cx);
    if (*held != static_cast<std::uint64_t>(i) + 1) co_return false;
  }
  co_return true;
}
TEST_P(SharedSync, OBL_2_a_guard_that_ends_in_another_task_settles_the_promise_of_who_made_it) {
  const Outcome<bool> right = run_program(guards_that_end_elsewhere);
  ASSERT_TRUE(right.is_ok()) << to_string(right);
  EXPECT_TRUE(right.value());
}

/// What two polls at the same time have in common.
struct Handed {
  std::optional<Mutex<>::Guard> guard;
  std::atomic<bool> is_there{false};
};
Task<void> ends_guard(Cx /*cx*/, std::shared_ptr<Handed> handed) {
  handed->guard.reset();
  handed->is_there = false;
  co_return;
}
/// In one poll it locks and sees how a task from outside, on another worker, has ended the guard. Before each lock the others have gone to
/// sleep, so it is locked by the short way.
struct LocksBeside {
  std::shared_ptr<Handed> handed;
  Task<void> operator()(Scope& scope) const {
    const Cx cx = scope.cx();
    const auto mutex = std::make_shared<Mutex<>>(cx);
    for (int i = 0; i < 20; ++i) {
      const std::jthread outside([door = Injector(scope), handed = handed] {
        while (!handed->is_there) std::this_thread::yield();
        EXPECT_TRUE(door.spawn(ends_guard, handed).wait().is_ok());
      });
      co_await sleep(cx, Duration::milliseconds(1));
      for (int k = 0; k < 500; ++k) co_await yield(cx);  // by then this worker knows that it is alone
      Mutex<>::Guard guard = co_await mutex->lock(cx);
      handed->guard.emplace(std::move(guard));
      handed->is_there = true;
      while (handed->is_there) std::this_thread::yield();
      if (i % 2 == 0) co_await yield(cx);
      const Mutex<>::Guard again = co_await mutex->lock(cx);
    }
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
};
class SharedSyncBeside : public SharedBy {};
INSTANTIATE_TEST_SUITE_P(Workers, SharedSyncBeside, testing::Values(std::uint16_t{2}, std::uint16_t{8}),
                         name_of_workers);
TEST_P(SharedSyncBeside,
       OBL_2_OBL_5_a_guard_that_ends_on_another_worker_before_the_poll_that_made_it_is_not_forgotten) {
  testing::internal::CaptureStderr();
  const auto end = run_program(LocksBeside{std::make_shared<Handed>()});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("OBL-5"), std::string::npos) << said;
  EXPECT_TRUE(end.is_ok()) << to_string(end);
}

/// Locks and unlocks as often as it can, sometimes with a wait inside, until it is done or cancelled.
struct LocksInHaste {
  Mutex<std::uint64_t>& sum;
  std::atomic<int>& inside;
  std::atomic<int>& together;
  std::atomic<std::uint64_t>& counted;
  int rounds;

  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < rounds; ++i) {
      if ((i + number) % 16 == 0) {
        (void)co_await select(cx, sum.lock(cx), sleep(cx, Duration::microseconds(20)));
        continue;
      }
      const Mutex<std::uint64_t>::Guard held = co_await sum.lock(cx);
      if (inside.fetch_add(1) != 0) ++together;
      ++*held;
      ++counted;
      inside.fetch_sub(1);
      if ((i + number) % 64 == 0) co_await yield(cx);
    }
  }
};
/// Every other task is cancelled, wherever it stands.
struct CancelsEveryOther {
  const LocksInHaste& work;
  int tasks;

  Task<void> operator()(Scope& scope) const {
    std::vector<Handle<void>> victims;
    for (int number = 0; number < tasks; ++number) {
      Handle<void> task = co_await scope.spawn(work, number);
      if (number % 2 == 1) victims.push_back(std::move(task));
    }
    for (const Handle<void>& victim : victims) {
      co_await sleep(scope.cx(), Duration::microseconds(50));
      victim.cancel();
    }
  }
};
Task<bool> locked_in_haste(Cx cx) {
  for (int round = 0; round < 8; ++round) {
    Mutex<std::uint64_t> sum(cx, 0);
    std::atomic<int> inside{0};
    std::atomic<int> together{0};
    std::atomic<std::uint64_t> counted{0};
    const LocksInHaste work{sum, inside, together, counted, 400};
    const CancelsEveryOther body{work, 12};
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    if (sum.is_locked() || together != 0) co_return false;
    const Mutex<std::uint64_t>::Guard held = co_await sum.lock(cx);
    if (*held != counted || *held < std::uint64_t{6} * 300) co_return false;
  }
  co_return true;
}
TEST_P(SharedSync, CHN_12_CAN_13_a_mutex_in_haste_with_cancels_loses_no_call) {
  const Outcome<bool> right = run_program(locked_in_haste);
  ASSERT_TRUE(right.is_ok()) << to_string(right);
  EXPECT_TRUE(right.value());
}

struct TwoNumbers {
  int a = 0;
  int b = 0;
};
struct ReadsAndWrites {
  RwLock<TwoNumbers>& numbers;
  std::atomic<int>& torn;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 100; ++i) {
      if ((i + number) % 4 == 0) {
        const auto writes = co_await numbers.write(cx);
        ++writes->a;
        co_await give_way(cx, i);
        ++writes->b;
      } else {
        const auto reads = co_await numbers.read(cx);
        if (reads->a != reads->b) ++torn;
        co_await give_way(cx, i);
      }
    }
  }
};
Task<int> read_and_written(Cx cx) {
  RwLock<TwoNumbers> numbers(cx, {});
  std::atomic<int> torn{0};
  const Crowd crowd{8, ReadsAndWrites{numbers, torn}};
  co_await scope(cx, crowd);
  const auto reads = co_await numbers.read(cx);
  co_return torn != 0 ? -1 : reads->a;
}
TEST_P(SharedSync, CHN_12_readers_of_an_rwlock_never_meet_a_writer) {
  const Outcome<int> count = run_program(read_and_written);
  ASSERT_TRUE(count.is_ok()) << to_string(count);
  EXPECT_EQ(count.value(), 200);
}

struct TakesPermits {
  Semaphore& permits;
  std::atomic<int>& inside;
  std::atomic<int>& too_many;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 100; ++i) {
      const std::uint32_t wants = 1 + static_cast<std::uint32_t>(i + number) % 3;
      const Semaphore::Permit permit = co_await permits.acquire(cx, wants);
      const int count = static_cast<int>(wants);
      if (inside.fetch_add(count) + count > 3) ++too_many;
      co_await give_way(cx, i);
      inside.fetch_sub(count);
    }
  }
};
Task<int> permits_taken(Cx cx) {
  Semaphore permits(cx, 3);
  std::atomic<int> inside{0};
  std::atomic<int> too_many{0};
  const Crowd crowd{8, TakesPermits{permits, inside, too_many}};
  co_await scope(cx, crowd);
  co_return too_many != 0 ? -1 : static_cast<int>(permits.free());
}
TEST_P(SharedSync, CHN_12_no_more_permits_are_out_than_a_semaphore_has) {
  const Outcome<int> free = run_program(permits_taken);
  ASSERT_TRUE(free.is_ok()) << to_string(free);
  EXPECT_EQ(free.value(), 3);
}

struct Paddles {
  Notify& mine;
  Notify& yours;
  Task<void> operator()(Cx cx, int number) const {
    Notify& waits = number == 0 ? mine : yours;
    Notify& tells = number == 0 ? yours : mine;
    for (int i = 0; i < 200; ++i) {
      co_await waits.wait(cx);
      tells.notify_one();
    }
  }
};
Task<void> paddled(Cx cx) {
  Notify one(cx);
  Notify other(cx);
  one.notify_one();
  const Crowd crowd{2, Paddles{one, other}};
  co_await scope(cx, crowd);
}
TEST_P(SharedSync, CHN_12_a_notification_is_never_lost) { EXPECT_TRUE(run_program(paddled).is_ok()); }

struct Meets {
  Barrier& barrier;
  std::atomic<int>& leaders;
  Task<void> operator()(Cx cx, int /*number*/) const {
    for (int i = 0; i < 100; ++i) {
      const bool leads = co_await barrier.arrive(cx);
      if (leads) ++leaders;
    }
  }
};
Task<int> met(Cx cx) {
  Barrier barrier(cx, 4);
  std::atomic<int> leaders{0};
  const Crowd crowd{4, Meets{barrier, leaders}};
  co_await scope(cx, crowd);
  co_return leaders.load();
}
TEST_P(SharedSync, CHN_12_every_round_of_a_barrier_has_one_leader) {
  const Outcome<int> leaders = run_program(met);
  ASSERT_TRUE(leaders.is_ok()) << to_string(leaders);
  EXPECT_EQ(leaders.value(), 100);
}

struct CountsDown {
  Latch& latch;
  Task<void> operator()(Cx /*cx*/) const {
    latch.count_down();
    co_return;
  }
};
/// The latch ends as soon as its wait has: whoever opened it may not have returned yet.
Task<int> latched_in(Scope& scope) {
  int opened = 0;
  for (int i = 0; i < 300; ++i) {
    Latch latch(scope.cx(), 1);
    (void)co_await scope.spawn(CountsDown{latch});
    co_await latch.wait(scope.cx());
    ++opened;
  }
  co_return opened;
}
Task<int> latched(Cx cx) {
  const int opened = co_await scope(cx, latched_in);
  co_return opened;
}
TEST_P(SharedSync, CHN_12_who_was_granted_may_end_the_primitive_at_once) {
  const Outcome<int> opened = run_program(latched);
  ASSERT_TRUE(opened.is_ok()) << to_string(opened);
  EXPECT_EQ(opened.value(), 300);
}

struct MakesNumber {
  std::atomic<int>& makers;
  Task<int> operator()(Cx cx) const {
    ++makers;
    co_await yield(cx);
    co_return 42;
  }
};
struct AsksCell {
  OnceCell<int>& cell;
  std::atomic<int>& makers;
  std::atomic<int>& answers;
  Task<void> operator()(Cx cx, int /*number*/) const {
    const MakesNumber make{makers};
    const int* const value = co_await cell.get_or_make(cx, make);
    answers += *value;
  }
};
Task<int> asked(Cx cx) {
  OnceCell<int> cell(cx);
  std::atomic<int> makers{0};
  std::atomic<int> answers{0};
  const Crowd crowd{16, AsksCell{cell, makers, answers}};
  co_await scope(cx, crowd);
  co_return makers == 1 ? answers.load() : -1;
}
TEST_P(SharedSync, CHN_12_a_cell_is_made_once) {
  const Outcome<int> answers = run_program(asked);
  ASSERT_TRUE(answers.is_ok()) << to_string(answers);
  EXPECT_EQ(answers.value(), 16 * 42);
}

struct UsesPool {
  Pool<int>& pool;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 50; ++i) {
      Pool<int>::Lease object = co_await pool.checkout(cx);
      ++*object;  // a plain number: two who have it at a time would lose one
      co_await give_way(cx, i + number);
      object.give_back();
    }
  }
};
Task<int> pooled(Cx cx) {
  std::vector<int> objects(3, 0);
  Pool<int> pool(cx, std::move(objects));
  const Crowd crowd{8, UsesPool{pool}};
  co_await scope(cx, crowd);
  int sum = 0;
  Pool<int>::Lease a = co_await pool.checkout(cx);
  Pool<int>::Lease b = co_await pool.checkout(cx);
  Pool<int>::Lease c = co_await pool.checkout(cx);
  sum = *a + *b + *c;
  a.give_back();
  b.give_back();
  c.give_back();
  co_return sum;
}
TEST_P(SharedSync, CHN_12_an_object_of_a_pool_is_out_once) {
  const Outcome<int> sum = run_program(pooled);
  ASSERT_TRUE(sum.is_ok()) << to_string(sum);
  EXPECT_EQ(sum.value(), 400);
}

struct Selects {
  Mutex<int>& a;
  Mutex<int>& b;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 100; ++i) {
      Mutex<int>& first = (i + number) % 2 == 0 ? a : b;
      Mutex<int>& second = (i + number) % 2 == 0 ? b : a;
      auto chosen = co_await select(cx, first.lock(cx), second.lock(cx));
      if (chosen.index() == 0) {
        ++*std::get<0>(chosen);
      } else {
        ++*std::get<1>(chosen);
      }
      co_await give_way(cx, i);
    }
  }
};
Task<int> selected(Cx cx) {
  Mutex<int> a(cx, 0);
  Mutex<int> b(cx, 0);
  const Crowd crowd{6, Selects{a, b}};
  co_await scope(cx, crowd);
  const Mutex<int>::Guard in_a = co_await a.lock(cx);
  const Mutex<int>::Guard in_b = co_await b.lock(cx);
  co_return *in_a + *in_b;
}
TEST_P(SharedSync, COM_5_what_select_did_not_choose_goes_to_the_next) {
  const Outcome<int> sum = run_program(selected);
  ASSERT_TRUE(sum.is_ok()) << to_string(sum);
  EXPECT_EQ(sum.value(), 600);
}

// NOLINTEND(cppcoreguidelines-avoid-const-or-ref-data-members)
// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
