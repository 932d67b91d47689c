// graded_budget.hpp — a budget whose type says how much it can be at most; the type only ever says less.
// Laws:    OBL-8, BUD-3, BUD-4
// Threads: values
// Cancel:  not applicable; what a context does with a used-up budget is in budget.hpp
//
//   using Small = calm::GradedBudget<calm::Grade{.polls = 10}>;
//   calm::Task<void> step(calm::Cx cx, Small budget);   // takes any budget of ten polls or more, and no smaller one
#pragma once

#include <cstdint>

#include "calm/model/budget.hpp"
#include "calm/model/outcome.hpp"

namespace calm {

/// What a type says of a budget: at most so many polls and units of cost; 2^64 - 1 says nothing, as in Quota.
struct Grade {
  std::uint64_t polls = UINT64_MAX;
  std::uint64_t cost = UINT64_MAX;

  friend constexpr bool operator==(Grade, Grade) noexcept = default;
};

/// Gives: true when `inner` allows nothing that `outer` does not.
constexpr bool within(Grade inner, Grade outer) noexcept {
  return inner.polls <= outer.polls && inner.cost <= outer.cost;
}

/// Gives: the smaller of both in each coordinate.
constexpr Grade meet(Grade a, Grade b) noexcept {
  return {.polls = a.polls < b.polls ? a.polls : b.polls, .cost = a.cost < b.cost ? a.cost : b.cost};
}

/// Gives: what is left of a grade; infinite stays infinite. Needs: within(used, of).
constexpr Grade left_of(Grade of, Grade used) noexcept {
  CALM_REQUIRE(OBL_8, within(used, of), used.polls, of.polls, used.cost, of.cost);
  return {.polls = of.polls == UINT64_MAX ? of.polls : of.polls - used.polls,
          .cost = of.cost == UINT64_MAX ? of.cost : of.cost - used.cost};
}

/// Gives: the largest budget of a grade.
constexpr Budget budget_of(Grade grade) noexcept {
  return {.polls = Quota::from_raw(grade.polls), .cost = Quota::from_raw(grade.cost)};
}

/// A budget within its grade. It passes for a Budget, and for one of a smaller grade, which it then is cut down to; nothing
/// makes a grade larger.
template <Grade grade>
class GradedBudget {
 public:
  static constexpr Grade bound = grade;

  /// Gives: the part of a budget that the grade allows.
  explicit constexpr GradedBudget(const Budget& budget = Budget::infinite()) noexcept
      : budget_(meet(budget, budget_of(grade))) {}

  template <Grade larger>
    requires(larger != grade)
  // NOLINTNEXTLINE(google-explicit-constructor): it only loses
  constexpr GradedBudget(const GradedBudget<larger>& other) noexcept : GradedBudget(other.budget()) {
    static_assert(within(grade, larger), "calm: the grade of a budget only shrinks (OBL-8)");
  }

  [[nodiscard]] constexpr const Budget& budget() const noexcept { return budget_; }
  constexpr operator const Budget&() const noexcept {  // NOLINT(google-explicit-constructor): it is one
    return budget_;
  }

  /// Gives: the same budget, cut down to a smaller grade.
  template <Grade smaller>
  [[nodiscard]] constexpr GradedBudget<smaller> shrink() const noexcept {
    static_assert(within(smaller, grade), "calm: the grade of a budget only shrinks (OBL-8)");
    return GradedBudget<smaller>(budget_);
  }

  /// Gives: what is left after this use, with a grade that is smaller by it.
  /// Fails: budget_exhausted when there is less in the budget than its grade allows; nothing has changed (BUD-4).
  template <Grade used>
  [[nodiscard]] constexpr Outcome<GradedBudget<left_of(grade, meet(grade, used))>> take() const {
    static_assert(used.polls != UINT64_MAX && used.cost != UINT64_MAX,
                  "calm: say how many polls and how much cost (OBL-8)");
    static_assert(within(used, grade), "calm: this use is more than the grade of the budget allows (OBL-8)");
    Budget rest = budget_;
    if (const Status taken = rest.take(used.polls, used.cost); !taken) return err(taken.error());
    return ok(GradedBudget<left_of(grade, meet(grade, used))>(rest));
  }

 private:
  Budget budget_;
};

/// Gives: the tighter of both in every coordinate, in the budget and in its grade (BUD-2).
template <Grade a, Grade b>
constexpr GradedBudget<meet(a, b)> meet(const GradedBudget<a>& one, const GradedBudget<b>& other) noexcept {
  return GradedBudget<meet(a, b)>(meet(one.budget(), other.budget()));
}

}  // namespace calm
