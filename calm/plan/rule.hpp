// rule.hpp — the rewrites of plans: what each does, what must hold for it, and the switches that allow it.
// Laws:    COM-3, COM-4
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace calm::plan {

enum class Rule : std::uint8_t { join_assoc, race_assoc, join_commute, race_commute, dedup_race_join, timeout_min };

/// What a rule asks of the parts that it moves.
enum class Condition : std::uint8_t {
  independence,  ///< parts that come to stand otherwise to each other touch nothing that one of them writes
  symmetry,      ///< the parts are alike: the same tree over leaves of the same groups
  repetition,    ///< what runs once instead of twice may do so
  no_failure,    ///< parts that are stopped earlier than before do not fail, or nobody sees how far they came
  obligations,   ///< no promise is held by who runs less often; who holds one ends at once when cancelled
  cancel,        ///< who is waited for less than before ends at once when cancelled
  budget,        ///< no leaf has more time than before, and the plan takes no longer
  order,         ///< the order of leaves stays, or becomes the one order that is sorted
};
inline constexpr std::uint8_t condition_count = 8;

/// A set of conditions.
class Conditions {
 public:
  constexpr Conditions() noexcept = default;
  constexpr Conditions(std::initializer_list<Condition> all) noexcept {
    for (const Condition condition : all) bits_ |= bit(condition);
  }

  [[nodiscard]] constexpr bool has(Condition condition) const noexcept { return (bits_ & bit(condition)) != 0; }
  [[nodiscard]] constexpr Conditions without(Condition condition) const noexcept {
    Conditions rest = *this;
    rest.bits_ &= ~bit(condition);
    return rest;
  }
  friend constexpr bool operator==(Conditions, Conditions) noexcept = default;

 private:
  static constexpr std::uint32_t bit(Condition condition) noexcept {
    return std::uint32_t{1} << static_cast<std::uint8_t>(condition);
  }
  std::uint32_t bits_ = 0;
};

struct RuleRow {
  Rule rule;
  std::string_view name;
  std::string_view from;
  std::string_view to;
  Conditions needs;
};

// clang-format off: one rule, one paragraph
inline constexpr RuleRow rule_table[] = {
    {Rule::join_assoc, "JoinAssoc", "Join[a, Join[b, c]]", "Join[a, b, c]",
     {Condition::independence, Condition::no_failure, Condition::obligations, Condition::cancel, Condition::budget,
      Condition::order}},
    {Rule::race_assoc, "RaceAssoc", "Race[a, Race[b, c]]", "Race[a, b, c]",
     {Condition::independence, Condition::obligations, Condition::cancel, Condition::budget, Condition::order}},
    {Rule::join_commute, "JoinCommute", "Join[b, a]", "Join[a, b]",
     {Condition::independence, Condition::symmetry, Condition::obligations, Condition::budget, Condition::order}},
    {Rule::race_commute, "RaceCommute", "Race[b, a]", "Race[a, b]",
     {Condition::independence, Condition::symmetry, Condition::obligations, Condition::budget, Condition::order}},
    {Rule::dedup_race_join, "DedupRaceJoin", "Race[Join[s, a], Join[s, b]]", "Join[s, Race[a, b]]",
     {Condition::independence, Condition::symmetry, Condition::repetition, Condition::no_failure, Condition::obligations,
      Condition::cancel, Condition::budget, Condition::order}},
    {Rule::timeout_min, "TimeoutMin", "Timeout(c, Timeout(d, x))", "Timeout(min(c, d), x)",
     {Condition::budget, Condition::order}},
};
// clang-format on
inline constexpr std::uint8_t rule_count = sizeof(rule_table) / sizeof(rule_table[0]);

constexpr const RuleRow& describe(Rule rule) noexcept { return rule_table[static_cast<std::uint8_t>(rule)]; }
constexpr std::string_view to_string(Rule rule) noexcept { return describe(rule).name; }

inline constexpr std::string_view condition_names[] = {"independence", "symmetry",           "repetition",
                                                       "no failure",   "obligations",        "cancel safety",
                                                       "budget",       "deterministic order"};
static_assert(sizeof(condition_names) / sizeof(condition_names[0]) == condition_count);

constexpr std::string_view to_string(Condition condition) noexcept {
  return condition_names[static_cast<std::uint8_t>(condition)];
}

/// Which rules may be used. None, unless it says so.
class Policy {
 public:
  constexpr Policy() noexcept = default;
  constexpr Policy(std::initializer_list<Rule> rules) noexcept {
    for (const Rule rule : rules) allow(rule);
  }
  static constexpr Policy all() noexcept {
    Policy policy;
    for (const RuleRow& row : rule_table) policy.allow(row.rule);
    return policy;
  }

  constexpr void allow(Rule rule) noexcept { bits_ |= bit(rule); }
  constexpr void forbid(Rule rule) noexcept { bits_ &= ~bit(rule); }
  [[nodiscard]] constexpr bool allows(Rule rule) const noexcept { return (bits_ & bit(rule)) != 0; }

 private:
  static constexpr std::uint32_t bit(Rule rule) noexcept { return std::uint32_t{1} << static_cast<std::uint8_t>(rule); }
  std::uint32_t bits_ = 0;
};

namespace detail {

consteval bool rule_table_is_dense() {
  for (std::uint8_t i = 0; i < rule_count; ++i) {
    if (static_cast<std::uint8_t>(rule_table[i].rule) != i) return false;
    // whatever a rule does, nobody gets more time by it and its result is one
    if (!rule_table[i].needs.has(Condition::budget) || !rule_table[i].needs.has(Condition::order)) return false;
  }
  return true;
}
static_assert(rule_table_is_dense(), "COM-4: every rule has its row and asks for budget and order");

}  // namespace detail
}  // namespace calm::plan
