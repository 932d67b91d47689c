// Every allocation fails in turn: the program ends quietly, as resource_exhausted or Panicked or however it likes.
#include <gtest/gtest.h>

#include <vector>

#include "calm/cx/mask.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/scope.hpp"
#include "calm/lab/lab.hpp"
#include "calm/mem/allocation_points.hpp"
#include "calm/mem/frame_pool.hpp"
#include "tests/unit/lab/strike.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::lab {
namespace {

Task<int> after(Cx cx, Duration wait, int value) {
  co_await sleep(cx, wait);
  co_return value;
}

TEST(Allocations, LAB_7_HND_3_a_scope_with_children_survives_every_failure) {
  Ends ends;
  const auto report = strike(
      [](Cx cx) -> Task<int> {
        const auto body = [](Scope& scope) -> Task<int> {
          auto a = co_await scope.spawn(after, Duration::milliseconds(2), 1);
          auto b = co_await scope.spawn(after, Duration::milliseconds(1), 2);
          const int one = co_await std::move(a).join(scope.cx());
          const int two = co_await std::move(b).join(scope.cx());
          co_return one + two;
        };
        const int value = co_await scope(cx, body);
        co_return value;
      },
      ends);
  EXPECT_GE(report.points_seen, 10U);  // shells, frames, records, the reserve of the region
  EXPECT_GT(ends.exhausted, 3);        // what the runtime could not do
  EXPECT_GE(ends.panicked, 2);         // a frame that was called for inside a coroutine
  EXPECT_EQ(ends.other, 0);
}

TEST(Allocations, LAB_7_HND_3_spawn_without_memory_is_an_error_and_no_exception) {
  Ends ends;
  int refused = 0;
  (void)strike(
      [&refused](Cx cx) -> Task<int> {
        const auto body = [&refused](Scope& scope) -> Task<int> {
          const auto child = scope.spawn(after, Duration::milliseconds(1), 1);
          if (!child) {
            EXPECT_EQ(child.error().code(), Errc::resource_exhausted);
            ++refused;
          }
          co_return 0;
        };
        const int value = co_await scope(cx, body);
        co_return value;
      },
      ends);
  EXPECT_GE(refused, 3);  // shell, frame, record
  EXPECT_GE(ends.ok, 1 + refused);
}

TEST(Allocations, LAB_7_HND_3_cancellation_and_finalizers_survive_every_failure) {
  Ends ends;
  int finalized = 0;
  (void)strike(
      [&finalized](Cx cx) -> Task<int> {
        const auto body = [&finalized](Scope& scope) -> Task<int> {
          co_await scope.defer_async([&finalized](Cx inner) -> Task<void> {
            co_await yield(inner);
            ++finalized;
          });
          auto a = co_await scope.spawn(after, Duration::seconds(100), 1);
          auto b = co_await scope.spawn(after, Duration::seconds(100), 2);
          co_await sleep(scope.cx(), Duration::milliseconds(1));
          scope.cancel("enough");
          co_await checkpoint(scope.cx());
          co_return 0;
        };
        const Outcome<int> end = co_await outcome(scope(cx, body));
        EXPECT_FALSE(end.is_ok());
        co_return 0;
      },
      ends);
  EXPECT_GT(finalized, 0);
}

TEST(Allocations, LAB_7_HND_3_brackets_errors_and_promises_survive_every_failure) {
  Ends ends;
  int opened = 0;
  int closed = 0;
  (void)strike(
      [&](Cx cx) -> Task<int> {
        const auto acquire = [&opened](Cx at) -> Task<int> {
          co_await yield(at);
          ++opened;
          co_return 1;
        };
        const auto use = [](Cx at, int& door) -> Task<int> {
          std::vector<int> work(100, door);
          Obligation promise = co_await reserve(at, ObligationKind::custom);
          (void)promise.commit();
          if (work[3] == 1) co_await fail(Error(Errc::full, "a text that needs memory for itself"));
          co_return 0;
        };
        const auto release = [&closed](Cx at, int& /*door*/) -> Task<void> {
          ++closed;
          co_await yield(at);
        };
        const int value = co_await bracket(cx, acquire, use, release);
        co_return value;
      },
      ends);
  EXPECT_EQ(opened, closed);
  EXPECT_GT(opened, 3);
}

TEST(Allocations, LAB_7_a_crash_under_a_failed_allocation_would_be_repeated_by_its_word) {
  const auto program = [](Cx cx) -> Task<int> {
    const int value = co_await after(cx, Duration::milliseconds(1), 1);
    co_return value;
  };
  LabConfig config;
  config.faults.fail_allocation = 1;
  const LabReport report = run(config, program);
  EXPECT_TRUE(report.end.is_panicked());
  const LabReport again = run({}, parse_schedule(report.replay_word()).value(), program);
  EXPECT_TRUE(again.end.is_panicked());
  EXPECT_EQ(again.trace, report.trace);
}

TEST(AllocationPoints, HND_3_a_pool_that_keeps_no_blocks_allocates_every_frame) {
  mem::FramePool::clear();
  mem::FramePool::give_back(mem::FramePool::take(100), 100);
  mem::AllocationPoints::watch(2, mem::AllocationPoints::Caches::counted);
  EXPECT_EQ(mem::FramePool::kept(), 0U);
  void* const block = mem::FramePool::take(100);
  EXPECT_THROW((void)mem::FramePool::take(100), std::bad_alloc);
  mem::FramePool::give_back(block, 100);
  EXPECT_EQ(mem::AllocationPoints::stop(), 2U);
}

TEST(AllocationPoints, LAB_7_a_pause_neither_counts_nor_fails) {
  mem::AllocationPoints::watch(1, mem::AllocationPoints::Caches::left_out);
  {
    const mem::AllocationPoints::Pause pause;
    EXPECT_FALSE(mem::AllocationPoints::refuse());
    const mem::AllocationPoints::Resume resume;
    EXPECT_FALSE(mem::AllocationPoints::refuse_cached());  // caches are left out
    EXPECT_TRUE(mem::AllocationPoints::refuse());
  }
  EXPECT_FALSE(mem::AllocationPoints::refuse());
  EXPECT_EQ(mem::AllocationPoints::stop(), 2U);
}

/// Ends with a value, and with a note beside it.
Task<int> say(Cx cx) {
  co_await yield(cx);
  Outcome<int> end = ok(1);
  end.add_note(Note(OutcomeKind::err, "a note"));
  co_return end;
}

TEST(Allocations, LAB_7_OUT_5_a_note_is_there_or_said_to_be_missing_whichever_allocation_fails) {
  Ends ends;
  int whole = 0;
  int missing = 0;
  const auto report = strike(
      [&](Cx cx) -> Task<int> {
        const auto twice = [](Cx inner) -> Task<int> {
          const int one = co_await say(inner);
          const int two = co_await say(inner);
          co_return one + two;
        };
        const Outcome<int> end = co_await outcome(twice(cx));
        if (!end.is_ok()) co_return 0;
        EXPECT_FALSE(end.notes().empty());
        ++(end.notes().incomplete() ? missing : whole);
        co_return 2;
      },
      ends);
  EXPECT_GT(report.points_seen, 3U);
  EXPECT_GT(whole, 0);
  EXPECT_GT(missing, 2);  // the note itself, its list, and its place in the task
}

}  // namespace
}  // namespace calm::lab
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
