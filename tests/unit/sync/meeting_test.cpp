// Latches and barriers: tasks that wait for each other, in every schedule and with a cancel anywhere.
#include <gtest/gtest.h>

#include <utility>

#include "calm/sync/barrier.hpp"
#include "calm/sync/latch.hpp"
#include "contest.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using contest::ms;

// --- latch ---

/// Two count down, two wait; what was done is seen by those who waited.
template <int victim>
Task<void> at_a_latch(Cx cx) {
  Latch latch(cx, 2);
  lab::Shared<int> done(cx, 0);
  lab::Shared<int> through(cx, 0);
  const auto works_or_waits = [&](Cx inner, int number) -> Task<void> {
    if (number >= 2) {
      ++done.changed(inner);
      latch.count_down();
      co_return;
    }
    co_await latch.wait(inner);
    if (done.get(inner) != 2) co_await fail(Errc::protocol);
    ++through.changed(inner);
  };
  co_await contest::run_contest(cx, works_or_waits, 4, victim);
  const int least = victim < 0 ? 2 : 1;
  if (!cx.is_cancelled() && through.get(cx) < least) co_await fail(Errc::protocol);
}

TEST(Latch, CHN_12_opens_when_all_is_done_in_every_schedule) {
  EXPECT_GE(contest::explore_both_ways(at_a_latch<-1>), 4U);
  EXPECT_GT(contest::explore_all_of(at_a_latch<0>), 4U);
}

TEST(Latch, CAN_13_a_cancel_at_any_await_point_wakes_who_waits_at_a_latch) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    EXPECT_LAB_CLEAN(lab::cancel_scopes_everywhere({.seed = seed}, at_a_latch<-1>));
  }
}

TEST(Latch, CHN_12_stays_open) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Latch latch(cx, 3);
    latch.count_down(2);
    EXPECT_EQ(latch.remaining(), 1U);
    latch.count_down();
    co_await latch.wait(cx);
    co_await latch.wait(cx);
    Latch open(cx, 0);
    co_await open.wait(cx);
  });
  EXPECT_LAB_CLEAN(report);
}

// --- barrier ---

/// Two rounds of two parties; nobody is in the second round before both have done the first.
Task<void> at_a_barrier(Cx cx) {
  Barrier barrier(cx, 2);
  lab::Shared<int> done(cx, 0);
  lab::Shared<int> leaders(cx, 0);
  const auto goes_round = [&](Cx inner, int /*number*/) -> Task<void> {
    for (int round = 1; round <= 2; ++round) {
      ++done.changed(inner);
      const bool leads = co_await barrier.arrive(inner);
      if (done.get(inner) < 2 * round) co_await fail(Errc::protocol);
      if (leads) ++leaders.changed(inner);
    }
  };
  co_await contest::run_contest(cx, goes_round, 2, -1);
  if (!cx.is_cancelled() && leaders.get(cx) != 2) co_await fail(Errc::protocol);
}

TEST(Barrier, CHN_12_nobody_is_a_round_ahead_and_each_round_has_one_leader_in_every_schedule) {
  // Who comes last goes on at once and is the first of the next round: only the order of the first round is open.
  EXPECT_TRUE(contest::are_all(contest::explore_both_ways(at_a_barrier), 2));
}

TEST(Barrier, CAN_13_a_cancel_at_any_await_point_wakes_who_waits_at_a_barrier) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    EXPECT_LAB_CLEAN(lab::cancel_scopes_everywhere({.seed = seed}, at_a_barrier));
  }
}

/// Three want to meet as two; one of them is cancelled at any time. Two of them meet, or the one that was met is the cancelled.
Task<void> late_for_a_barrier(Cx cx) {
  Barrier barrier(cx, 2);
  lab::Shared<int> through(cx, 0);
  const auto meets = [&](Cx inner, int /*number*/) -> Task<void> {
    // The wait of who is left over ends by time.
    const auto limited = inner.with_deadline(inner.now() + ms(1));
    (void)co_await barrier.arrive(limited);
    ++through.changed(inner);
  };
  co_await contest::run_contest(cx, meets, 3, 0);
  const int seen = through.get(cx);
  if (!cx.is_cancelled() && (seen < 1 || seen > 2 || barrier.waiting() != 0)) co_await fail(Errc::protocol);
}

TEST(Barrier, CHN_12_who_was_cancelled_has_not_arrived_in_any_schedule) {
  EXPECT_GT(contest::explore_all_of(late_for_a_barrier), 6U);
  contest::cancel_everywhere_in(late_for_a_barrier, 2);
}

TEST(Barrier, CHN_12_one_party_never_waits_and_leads) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Barrier barrier(cx, 1);
    for (int i = 0; i < 3; ++i) {
      const bool leads = co_await barrier.arrive(cx);
      EXPECT_TRUE(leads);
    }
  });
  EXPECT_LAB_CLEAN(report);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
