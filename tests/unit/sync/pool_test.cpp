// Objects that are taken out and brought back; a checkout is a promise with a record.
#include "calm/sync/pool.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calm/trace/argument.hpp"
#include "contest.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using contest::ms;

std::vector<std::unique_ptr<int>> numbers(int count) {
  std::vector<std::unique_ptr<int>> made;
  for (int i = 0; i < count; ++i) made.push_back(std::make_unique<int>(0));
  return made;
}

using Numbers = Pool<std::unique_ptr<int>>;

/// Each marks the object that it has, in two steps: nobody else has it meanwhile.
template <int tasks, int victim, int objects>
Task<void> sharing_objects(Cx cx) {
  Numbers pool(cx, numbers(objects));
  lab::Shared<int> done(cx, 0);
  const auto uses = [&](Cx inner, int /*number*/) -> Task<void> {
    Numbers::Lease lease = co_await pool.checkout(inner);
    if (++**lease != 1) co_await fail(Errc::protocol);
    const auto give_way = [](Cx deep) -> Task<void> { co_await yield(deep); };
    const Outcome<void> end = co_await outcome(give_way(inner));
    --**lease;
    if (!end.is_ok()) co_return;
    lease.give_back();
    ++done.changed(inner);
  };
  co_await contest::run_contest(cx, uses, tasks, victim);
  const int least = victim < 0 ? tasks : tasks - 1;
  if (!cx.is_cancelled() && done.get(cx) < least) co_await fail(Errc::protocol);
  if (pool.free() != objects) co_await fail(Errc::busy);
}

TEST(Pool, CHN_12_an_object_is_with_one_task_at_a_time_in_every_schedule) {
  EXPECT_GE(contest::explore_both_ways(sharing_objects<2, -1, 1>), 2U);
  EXPECT_GE(contest::explore_all_of(sharing_objects<3, -1, 2>), 6U);
}

TEST(Pool, CHN_12_a_cancelled_checkout_goes_to_the_next_in_every_schedule) {
  EXPECT_GT(contest::explore_both_ways(sharing_objects<2, 0, 1>), 2U);
  EXPECT_GT(contest::explore_all_of(sharing_objects<3, 1, 1>), 20U);
}

TEST(Pool, CAN_13_a_cancel_at_any_await_point_wakes_who_waits_for_an_object) {
  contest::cancel_everywhere_in(sharing_objects<3, -1, 2>);
  contest::cancel_everywhere_in(sharing_objects<3, 1, 1>);
}

int checkouts(const lab::LabReport& report, ObligationState to) {
  int count = 0;
  for (const trace::Event& event : report.trace.events) {
    if (event.kind == trace::EventKind::resolve && trace::resolution_in(event.argument) == to) ++count;
  }
  return count;
}

TEST(Pool, OBL_4_a_lease_that_ends_without_being_given_back_expires) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Numbers pool(cx, numbers(1));
    {
      const Numbers::Lease lease = co_await pool.checkout(cx);
      EXPECT_EQ(pool.free(), 0U);
    }
    EXPECT_EQ(pool.free(), 1U);
    Numbers::Lease lease = co_await pool.checkout(cx);
    lease.give_back();
    lease.give_back();
    EXPECT_EQ(pool.free(), 1U);
  });
  EXPECT_LAB_CLEAN(report);
  EXPECT_EQ(checkouts(report, ObligationState::aborted), 1);
  EXPECT_EQ(checkouts(report, ObligationState::committed), 1);
}

TEST(Pool, LAB_6_a_deadlock_names_who_has_the_object_and_where_it_was_taken_out) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Numbers pool(cx, numbers(1));
    Numbers::Lease lease = co_await pool.checkout(cx);
    Numbers::Lease second = co_await pool.checkout(cx);
    second.give_back();
  });
  ASSERT_FALSE(report.is_clean());
  const std::string text = to_string(report);
  EXPECT_NE(text.find("waits for itself"), std::string::npos) << text;
  EXPECT_NE(text.find("pool checkout, made at "), std::string::npos) << text;
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
