// budget.hpp — how long, how often and how dearly a piece of work may run, and the meet that only ever tightens it.
// Laws:    BUD-1..6
// Threads: values
// Cancel:  running out is one: PollQuota, CostBudget or Deadline (see exhausted_kind in cancel_kind.hpp)
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "calm/check/require.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/time.hpp"

namespace calm {

/// A number of polls or units of cost that may still be used, or infinitely many.
class Quota {
 public:
  /// Infinitely many.
  constexpr Quota() noexcept = default;

  /// Needs: a number below the one that says infinite (2^64 - 1).
  constexpr explicit Quota(std::uint64_t count) noexcept : count_(count) {
    CALM_REQUIRE(BUD_1, count != UINT64_MAX, count);
  }

  static constexpr Quota infinite() noexcept { return Quota(); }

  [[nodiscard]] constexpr bool is_infinite() const noexcept { return count_ == UINT64_MAX; }

  /// Needs: not infinite.
  [[nodiscard]] constexpr std::uint64_t count() const noexcept {
    CALM_REQUIRE(BUD_1, !is_infinite());
    return count_;
  }

  /// Gives: the number that stands for it, 2^64 - 1 for infinite; the smaller number is the tighter quota.
  [[nodiscard]] constexpr std::uint64_t raw() const noexcept { return count_; }
  static constexpr Quota from_raw(std::uint64_t raw) noexcept {
    Quota quota;
    quota.count_ = raw;
    return quota;
  }

  [[nodiscard]] constexpr bool covers(std::uint64_t amount) const noexcept { return is_infinite() || amount <= count_; }

  /// Uses up `amount`. Fails: `budget_exhausted`, and then nothing has changed (BUD-4).
  constexpr Status take(std::uint64_t amount) noexcept {
    if (!covers(amount)) return Errc::budget_exhausted;
    if (!is_infinite()) count_ -= amount;
    return {};
  }

  friend constexpr bool operator==(Quota, Quota) noexcept = default;
  friend constexpr auto operator<=>(Quota, Quota) noexcept = default;

 private:
  std::uint64_t count_ = UINT64_MAX;
};

/// What a piece of work may use. The default is INFINITE: no deadline, no quota, priority 0.
struct Budget {
  Deadline deadline{};
  Quota polls{};
  Quota cost{};
  std::uint8_t priority = 0;  ///< 0..255, higher is more urgent

  static constexpr Budget infinite() noexcept { return {}; }
  static constexpr Budget zero() noexcept {
    return {.deadline = Time(), .polls = Quota(0), .cost = Quota(0), .priority = 255};
  }

  /// Uses up polls and cost together. Fails: `budget_exhausted` when either is short, and then nothing has changed (BUD-4).
  constexpr Status take(std::uint64_t polls_used, std::uint64_t cost_used) noexcept {
    if (!polls.covers(polls_used) || !cost.covers(cost_used)) return Errc::budget_exhausted;
    (void)polls.take(polls_used);
    (void)cost.take(cost_used);
    return {};
  }

  /// Gives: true when it bounds nothing: its meet with another is that one.
  [[nodiscard]] constexpr bool is_infinite() const noexcept {
    return (deadline.raw() & polls.raw() & cost.raw()) == UINT64_MAX && priority == 0;  // none of them is above that
  }

  friend constexpr bool operator==(const Budget&, const Budget&) noexcept = default;
};

/// Gives: the tighter of both in every coordinate: earlier deadline, smaller quotas, larger priority (BUD-2).
constexpr Budget meet(const Budget& a, const Budget& b) noexcept {
  return {.deadline = a.deadline < b.deadline ? a.deadline : b.deadline,
          .polls = a.polls < b.polls ? a.polls : b.polls,
          .cost = a.cost < b.cost ? a.cost : b.cost,
          .priority = a.priority > b.priority ? a.priority : b.priority};
}

/// Gives: true when `inner` allows nothing that `outer` does not.
constexpr bool within(const Budget& inner, const Budget& outer) noexcept { return meet(inner, outer) == inner; }

/// Gives: the budget of a child: what it asked for, never more than the parent has left at the spawn (BUD-3).
constexpr Budget child_budget(const Budget& parent_left, const Budget& requested) noexcept {
  return meet(parent_left, requested);
}

/// Gives: the same budget with a deadline no later than this one; priority and quotas stay (BUD-6).
constexpr Budget tighten(Budget budget, Deadline deadline) noexcept {
  if (deadline < budget.deadline) budget.deadline = deadline;
  return budget;
}

/// Gives: the same budget, ending at most `timeout` from now; a timeout below zero ends now (BUD-6).
constexpr Budget with_timeout(const Budget& budget, Time now, Duration timeout) noexcept {
  return tighten(budget, now + (timeout < Duration() ? Duration() : timeout));
}

static_assert(meet(Budget::infinite(), Budget::zero()) == Budget::zero(),
              "BUD-2: INFINITE is the identity, ZERO absorbs");

/// Gives: for example `{deadline 2.5s, polls 100, cost infinite, priority 7}`.
std::string to_string(Quota quota);
std::string to_string(const Budget& budget);

}  // namespace calm
