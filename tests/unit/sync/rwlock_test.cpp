// Readers together, a writer alone and first; in every schedule and with a cancel anywhere.
#include "calm/sync/rwlock.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "contest.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using contest::ms;

struct ReadsOrWrites {
  RwLock<>& lock;
  lab::Shared<int>& readers;
  lab::Shared<int>& writers;
  lab::Shared<int>& done;
  int writing;  ///< so many of the first are writers

  static Task<void> give_way(Cx cx) { co_await yield(cx); }

  Task<void> operator()(Cx cx, int number) const {
    if (number < writing) {
      const RwLock<>::WriteGuard guard = co_await lock.write(cx);
      ++writers.changed(cx);
      if (writers.get(cx) != 1 || readers.get(cx) != 0) co_await fail(Errc::protocol);
      const Outcome<void> end = co_await outcome(give_way(cx));
      --writers.changed(cx);
      if (end.is_ok()) ++done.changed(cx);
    } else {
      const RwLock<>::ReadGuard guard = co_await lock.read(cx);
      ++readers.changed(cx);
      if (writers.get(cx) != 0) co_await fail(Errc::protocol);
      const Outcome<void> end = co_await outcome(give_way(cx));
      --readers.changed(cx);
      if (end.is_ok()) ++done.changed(cx);
    }
  }
};

template <int tasks, int writing, int victim>
Task<void> reading_and_writing(Cx cx) {
  RwLock<> lock(cx);
  lab::Shared<int> readers(cx, 0);
  lab::Shared<int> writers(cx, 0);
  lab::Shared<int> done(cx, 0);
  co_await contest::run_contest(cx, ReadsOrWrites{lock, readers, writers, done, writing}, tasks, victim);
  const int least = victim < 0 ? tasks : tasks - 1;
  if (!cx.is_cancelled() && done.get(cx) < least) co_await fail(Errc::protocol);
  if (lock.reading() != 0 || lock.is_written()) co_await fail(Errc::busy);
}

TEST(RwLock, CHN_12_readers_and_a_writer_keep_apart_in_every_schedule) {
  EXPECT_GE(contest::explore_both_ways(reading_and_writing<2, 1, -1>), 4U);
  EXPECT_GE(contest::explore_all_of(reading_and_writing<3, 1, -1>), 6U);
  EXPECT_GE(contest::explore_all_of(reading_and_writing<3, 2, -1>), 6U);
}

TEST(RwLock, CHN_12_a_cancelled_writer_lets_the_readers_behind_it_go_on_in_every_schedule) {
  EXPECT_GT(contest::explore_both_ways(reading_and_writing<2, 1, 0>), 4U);
  EXPECT_GT(contest::explore_all_of(reading_and_writing<3, 1, 0>), 20U);
  EXPECT_GT(contest::explore_all_of(reading_and_writing<3, 1, 1>), 20U);
}

TEST(RwLock, CAN_13_a_cancel_at_any_await_point_wakes_readers_and_writers) {
  contest::cancel_everywhere_in(reading_and_writing<3, 1, -1>);
  contest::cancel_everywhere_in(reading_and_writing<3, 2, 0>);
}

TEST(RwLock, CHN_12_a_writer_that_waits_goes_before_readers_that_come_later) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    RwLock<std::string> text(cx, "a");
    std::string order;
    const auto body = [&](Scope& scope) -> Task<void> {
      auto reading = co_await text.read(scope.cx());
      const auto also_reading = co_await text.read(scope.cx());
      EXPECT_EQ(text.reading(), 2U);
      const auto writes = [&](Cx inner) -> Task<void> {
        const auto guard = co_await text.write(inner);
        *guard += "b";
        order += "w";
      };
      const auto reads = [&](Cx inner) -> Task<void> {
        const auto guard = co_await text.read(inner);
        EXPECT_EQ(*guard, "ab");
        order += "r";
      };
      (void)co_await scope.fiber(writes);
      co_await sleep(scope.cx(), ms(1));
      (void)co_await scope.fiber(reads);
      (void)co_await scope.fiber(reads);
      co_await sleep(scope.cx(), ms(1));
      EXPECT_EQ(order, "") << "readers hold it, and who comes later stands behind the writer";
      reading.unlock();
      EXPECT_FALSE(text.is_written());
    };
    co_await scope(cx, body);
    EXPECT_EQ(order, "wrr");
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(RwLock, CHN_12_locking_what_the_task_writes_is_a_clear_error) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    RwLock<int> lock(cx, 1);
    const auto guard = co_await lock.write(cx);
    const auto reads = [&lock](Cx inner) -> Task<int> {
      const auto second = co_await lock.read(inner);
      co_return *second;
    };
    const Outcome<int> end = co_await outcome(reads(cx));
    EXPECT_TRUE(end.is_err());
    if (end.is_err()) {
      EXPECT_EQ(end.error().code(), Errc::conflict);
      EXPECT_NE(end.error().explain().find("would wait for itself [CHN-12]"), std::string::npos);
    }
    EXPECT_EQ(*guard, 1);
  });
  EXPECT_LAB_CLEAN(report);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
