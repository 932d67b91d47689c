#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "calm/model/budget.hpp"
#include "calm/model/cancel_kind.hpp"
#include "calm/model/tropical.hpp"
#include "tests/law/generators.hpp"

namespace calm {
namespace {

/// Every budget over the edge values of each coordinate.
const std::vector<Budget>& all_small_budgets() {
  static const std::vector<Budget> all = [] {
    std::vector<Budget> budgets;
    for (const Deadline deadline :
         {Deadline::none(), Deadline(Time()), Deadline(Time::at_ns(1)), Deadline(Time::max())}) {
      for (const Quota polls : {Quota::infinite(), Quota(0), Quota(1)}) {
        for (const Quota cost : {Quota::infinite(), Quota(0), Quota(1)}) {
          for (const int priority : {0, 1, 255}) {
            budgets.push_back({deadline, polls, cost, static_cast<std::uint8_t>(priority)});
          }
        }
      }
    }
    return budgets;
  }();
  return all;
}

TEST(Budget, BUD_1_absence_is_an_explicit_value_and_time_zero_an_instant) {
  constexpr Budget infinite = Budget::infinite();
  static_assert(infinite.deadline.is_none() && infinite.polls.is_infinite() && infinite.cost.is_infinite());
  static_assert(infinite.priority == 0);
  constexpr Budget zero = Budget::zero();
  static_assert(!zero.deadline.is_none() && zero.deadline.time() == Time() && zero.priority == 255);
  static_assert(zero.polls == Quota(0) && zero.cost == Quota(0));
  EXPECT_LT(Deadline(Time()), Deadline(Time::max()));
  EXPECT_LT(Deadline(Time::max()), Deadline::none());
  EXPECT_TRUE(Deadline(Time()).reached(Time()));
  EXPECT_FALSE(Deadline::none().reached(Time::max()));
  EXPECT_LT(Quota(UINT64_MAX - 1), Quota::infinite());
}

TEST(Budget, BUD_2_meet_takes_the_tighter_of_each_coordinate) {
  const Budget a{.deadline = Time::at_ns(10), .polls = Quota(5), .priority = 3};
  const Budget b{.deadline = Time::at_ns(20), .polls = Quota(2), .cost = Quota(9), .priority = 1};
  const Budget both{.deadline = Time::at_ns(10), .polls = Quota(2), .cost = Quota(9), .priority = 3};
  EXPECT_EQ(meet(a, b), both);
}

TEST(Budget, BUD_2_meet_is_a_semilattice_with_identity_and_zero_on_every_small_budget) {
  const auto& all = all_small_budgets();
  for (const Budget& a : all) {
    ASSERT_EQ(meet(a, a), a);
    ASSERT_EQ(meet(a, Budget::infinite()), a);
    ASSERT_EQ(meet(a, Budget::zero()), Budget::zero());
    for (const Budget& b : all) {
      const Budget ab = meet(a, b);
      ASSERT_EQ(ab, meet(b, a)) << a << b;
      for (const Budget& c : all) {
        if (meet(ab, c) != meet(a, meet(b, c))) FAIL() << a << b << c;
      }
    }
  }
}

RC_GTEST_PROP(Budget, BUD_2_meet_is_commutative_associative_and_idempotent, (Budget a, Budget b, Budget c)) {
  RC_ASSERT(meet(a, b) == meet(b, a));
  RC_ASSERT(meet(a, meet(b, c)) == meet(meet(a, b), c));
  RC_ASSERT(meet(a, a) == a);
}

RC_GTEST_PROP(Budget, BUD_2_infinite_is_the_identity_and_zero_absorbs, (Budget a)) {
  RC_ASSERT(meet(a, Budget::infinite()) == a);
  RC_ASSERT(meet(a, Budget::zero()) == Budget::zero());
}

RC_GTEST_PROP(Budget, BUD_3_a_child_never_has_more_than_its_parent_has_left, (Budget parent, Budget requested)) {
  const Budget child = child_budget(parent, requested);
  RC_ASSERT(within(child, parent));
  RC_ASSERT(within(child, requested));
  RC_ASSERT(child_budget(parent, Budget::infinite()) == parent);
  const Budget grandchild = child_budget(child, requested);
  RC_ASSERT(within(grandchild, child));
}

RC_GTEST_PROP(Budget, BUD_4_consumption_is_all_or_nothing, (Budget budget, std::uint8_t polls, std::uint64_t cost)) {
  const Budget before = budget;
  const Status status = budget.take(polls, cost);
  if (before.polls.covers(polls) && before.cost.covers(cost)) {
    RC_ASSERT(status.is_ok());
    RC_ASSERT(budget.polls == (before.polls.is_infinite() ? before.polls : Quota(before.polls.count() - polls)));
    RC_ASSERT(budget.cost == (before.cost.is_infinite() ? before.cost : Quota(before.cost.count() - cost)));
    RC_ASSERT(within(budget, before));
  } else {
    RC_ASSERT(status == Status(Errc::budget_exhausted));
    RC_ASSERT(budget == before);
  }
  RC_ASSERT(budget.deadline == before.deadline);
  RC_ASSERT(budget.priority == before.priority);
}

TEST(Budget, BUD_4_one_short_coordinate_leaves_the_other_untouched) {
  Budget budget{.polls = Quota(3), .cost = Quota(10)};
  EXPECT_EQ(budget.take(1, 11), Status(Errc::budget_exhausted));
  EXPECT_EQ(budget.take(4, 1), Status(Errc::budget_exhausted));
  EXPECT_EQ(budget, (Budget{.polls = Quota(3), .cost = Quota(10)}));
  EXPECT_TRUE(budget.take(3, 10));
  EXPECT_EQ(budget, (Budget{.polls = Quota(0), .cost = Quota(0)}));
  EXPECT_TRUE(budget.take(0, 0));
}

TEST(Budget, BUD_5_quota_n_allows_exactly_n_polls) {
  for (const std::uint64_t n : {0U, 1U, 7U, 1000U}) {
    Quota polls(n);
    for (std::uint64_t i = 0; i < n; ++i) ASSERT_TRUE(polls.take(1)) << "poll " << i + 1 << " of " << n;
    EXPECT_EQ(polls.take(1), Status(Errc::budget_exhausted)) << "attempt " << n + 1;
  }
  Quota endless;
  EXPECT_TRUE(endless.take(UINT64_MAX));
  EXPECT_TRUE(endless.is_infinite());
}

TEST(Budget, BUD_5_each_exhausted_coordinate_requests_its_own_kind) {
  EXPECT_EQ(exhausted_kind(BudgetAxis::polls), CancelKind::poll_quota);
  EXPECT_EQ(exhausted_kind(BudgetAxis::cost), CancelKind::cost_budget);
  EXPECT_EQ(exhausted_kind(BudgetAxis::deadline), CancelKind::deadline);
}

TEST(Budget, BUD_5_a_deadline_is_reached_at_its_own_instant) {
  const Deadline deadline = Time::at_ns(100);
  EXPECT_FALSE(deadline.reached(Time::at_ns(99)));
  EXPECT_TRUE(deadline.reached(Time::at_ns(100)));
  EXPECT_TRUE(deadline.reached(Time::at_ns(101)));
}

RC_GTEST_PROP(Budget, BUD_6_a_timeout_tightens_the_deadline_and_nothing_else,
              (Budget budget, Time now, Duration timeout)) {
  const Budget after = with_timeout(budget, now, timeout);
  RC_ASSERT(after.deadline <= budget.deadline);
  RC_ASSERT(after.deadline == budget.deadline || after.deadline == Deadline(now + std::max(timeout, Duration())));
  RC_ASSERT(after.polls == budget.polls);
  RC_ASSERT(after.cost == budget.cost);
  RC_ASSERT(after.priority == budget.priority);
}

TimeSpan span_of(std::uint32_t ms) { return ms == 0 ? TimeSpan::infinite() : TimeSpan(Duration::milliseconds(ms)); }

RC_GTEST_PROP(Budget, BUD_7_sequence_and_constraint_form_the_tropical_semiring,
              (std::uint32_t x, std::uint32_t y, std::uint32_t z)) {
  const TimeSpan a = span_of(x);
  const TimeSpan b = span_of(y);
  const TimeSpan c = span_of(z);
  RC_ASSERT(then(a, then(b, c)) == then(then(a, b), c));
  RC_ASSERT(then(a, TimeSpan()) == a);
  RC_ASSERT(then(a, TimeSpan::infinite()) == TimeSpan::infinite());
  RC_ASSERT(meet(a, b) == meet(b, a));
  RC_ASSERT(meet(a, meet(b, c)) == meet(meet(a, b), c));
  RC_ASSERT(meet(a, TimeSpan::infinite()) == a);
  RC_ASSERT(then(a, meet(b, c)) == meet(then(a, b), then(a, c)));
  RC_ASSERT(then(a, beside(b, c)) == beside(then(a, b), then(a, c)));
}

TEST(Budget, BUD_7_the_semiring_laws_hold_on_every_small_span) {
  const TimeSpan all[] = {TimeSpan(),
                          TimeSpan(Duration::nanoseconds(1)),
                          TimeSpan(Duration::nanoseconds(2)),
                          TimeSpan(Duration::seconds(1)),
                          TimeSpan(Duration::nanoseconds(INT64_MAX - 1)),
                          TimeSpan::infinite()};
  for (const TimeSpan a : all) {
    EXPECT_EQ(then(a, TimeSpan()), a);
    EXPECT_EQ(then(a, TimeSpan::infinite()), TimeSpan::infinite());
    EXPECT_EQ(meet(a, a), a);
    for (const TimeSpan b : all) {
      EXPECT_EQ(then(a, b), then(b, a));
      EXPECT_EQ(meet(a, b), meet(b, a));
      for (const TimeSpan c : all) {
        EXPECT_EQ(then(a, then(b, c)), then(then(a, b), c));
        EXPECT_EQ(meet(a, meet(b, c)), meet(meet(a, b), c));
        EXPECT_EQ(then(a, meet(b, c)), meet(then(a, b), then(a, c)));
      }
    }
  }
}

RC_GTEST_PROP(Budget, BUD_7_meeting_spans_is_meeting_the_deadlines_they_mean, (std::uint32_t x, std::uint32_t y)) {
  const Time start = Time::at_ns(17);
  const Budget a{.deadline = deadline_after(start, span_of(x))};
  const Budget b{.deadline = deadline_after(start, span_of(y))};
  RC_ASSERT(meet(a, b).deadline == deadline_after(start, meet(span_of(x), span_of(y))));
}

TEST(Budget, BUD_1_budgets_have_a_readable_text) {
  EXPECT_EQ(to_string(Budget{.deadline = Time() + Duration::milliseconds(2500), .polls = Quota(100), .priority = 7}),
            "{deadline 2.5s, polls 100, cost infinite, priority 7}");
  EXPECT_EQ(to_string(Budget::infinite()), "{deadline none, polls infinite, cost infinite, priority 0}");
}

}  // namespace
}  // namespace calm
