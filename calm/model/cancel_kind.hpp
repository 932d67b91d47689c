// cancel_kind.hpp — the eleven reasons to stop work: how severe each is and what clean-up it allows.
// Laws:    CAN-1, CAN-8 (the default clean-up time), BUD-5 (which kind an exhausted budget requests)
// Threads: values
// Cancel:  this is its vocabulary
#pragma once

#include <cstdint>
#include <string_view>

#include "calm/check/require.hpp"
#include "calm/model/budget.hpp"
#include "calm/model/time.hpp"

namespace calm {

/// Ordinals are part of the law: CAN-4 compares them.
enum class CancelKind : std::uint8_t {
  user,
  timeout,
  deadline,
  poll_quota,
  cost_budget,
  fail_fast,
  race_lost,
  linked_exit,
  parent_cancelled,
  resource_unavailable,
  shutdown,
};

/// One row of CAN-1.
struct CancelKindRow {
  CancelKind kind;
  std::string_view name;
  std::uint8_t severity;          ///< 0..5
  std::uint64_t cleanup_polls;    ///< how many polls clean-up may take
  std::uint8_t cleanup_priority;  ///< how urgently clean-up is scheduled
};

inline constexpr CancelKindRow cancel_kind_table[] = {
    {CancelKind::user, "User", 0, 1000, 200},
    {CancelKind::timeout, "Timeout", 1, 500, 210},
    {CancelKind::deadline, "Deadline", 1, 500, 210},
    {CancelKind::poll_quota, "PollQuota", 2, 300, 215},
    {CancelKind::cost_budget, "CostBudget", 2, 300, 215},
    {CancelKind::fail_fast, "FailFast", 3, 200, 220},
    {CancelKind::race_lost, "RaceLost", 3, 200, 220},
    {CancelKind::linked_exit, "LinkedExit", 3, 200, 220},
    {CancelKind::parent_cancelled, "ParentCancelled", 4, 200, 220},
    {CancelKind::resource_unavailable, "ResourceUnavailable", 4, 200, 220},
    {CancelKind::shutdown, "Shutdown", 5, 50, 255},
};
inline constexpr std::uint8_t cancel_kind_count = sizeof(cancel_kind_table) / sizeof(cancel_kind_table[0]);

namespace detail {

consteval bool cancel_kinds_are_lawful() {
  if (cancel_kind_count != 11) return false;
  for (std::uint8_t i = 0; i < cancel_kind_count; ++i) {
    const CancelKindRow& row = cancel_kind_table[i];
    if (static_cast<std::uint8_t>(row.kind) != i) return false;
    if (i == 0) continue;
    // A more severe kind never leaves more room to clean up.
    const CancelKindRow& before = cancel_kind_table[i - 1];
    if (row.severity < before.severity || row.cleanup_polls > before.cleanup_polls ||
        row.cleanup_priority < before.cleanup_priority) {
      return false;
    }
  }
  return true;
}
static_assert(cancel_kinds_are_lawful(), "CAN-1: eleven kinds in order; severity rises while clean-up only tightens");

}  // namespace detail

/// Gives: the row of a kind. Needs: a kind of the enum.
constexpr const CancelKindRow& describe(CancelKind kind) noexcept {
  CALM_REQUIRE(CAN_1, static_cast<std::uint8_t>(kind) < cancel_kind_count, static_cast<std::uint8_t>(kind));
  return cancel_kind_table[static_cast<std::uint8_t>(kind)];
}

/// Gives: the name as the law writes it, `ParentCancelled`.
constexpr std::string_view to_string(CancelKind kind) noexcept { return describe(kind).name; }

/// The time clean-up gets, counted from the request, unless a region says otherwise (CAN-8).
inline constexpr Duration default_cleanup_time = Duration::seconds(5);

/// Gives: what a task cancelled for this kind at this time may use to clean up; cost is not limited (CAN-1, CAN-8).
constexpr Budget cleanup_budget(CancelKind kind, Time requested,
                                Duration cleanup_time = default_cleanup_time) noexcept {
  const CancelKindRow& row = describe(kind);
  return {.deadline = requested + cleanup_time,
          .polls = Quota(row.cleanup_polls),
          .cost = Quota::infinite(),
          .priority = row.cleanup_priority};
}

/// The coordinate of a budget that ran out.
enum class BudgetAxis : std::uint8_t { polls, cost, deadline };

/// Gives: what running out of it requests (BUD-5).
constexpr CancelKind exhausted_kind(BudgetAxis axis) noexcept {
  switch (axis) {
    case BudgetAxis::polls:
      return CancelKind::poll_quota;
    case BudgetAxis::cost:
      return CancelKind::cost_budget;
    case BudgetAxis::deadline:
      return CancelKind::deadline;
  }
  CALM_INVARIANT(BUD_5, false, static_cast<std::uint8_t>(axis));
  return CancelKind::deadline;
}

}  // namespace calm
