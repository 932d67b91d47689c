// suggestion.hpp — what a governor may suggest: in which order runnable work goes, never whether it goes.
// Laws:    SCH-3, SCH-4 (what a suggestion changes in the limits)
// Threads: constants
// Cancel:  two of them give the cancel lane longer streaks, one puts timed work before it
#pragma once

#include <cstdint>
#include <string_view>

#include "calm/check/require.hpp"
#include "calm/sched/lane.hpp"

namespace calm::sched {

/// From the one that changes least to the one that is preferred last.
enum class Suggestion : std::uint8_t { none, meet_deadlines, drain_obligations, drain_regions };

struct SuggestionRow {
  Suggestion suggestion;
  std::string_view name;
  std::uint32_t cancel_limit;  ///< dispatches of the cancel lane in a row while other work waits
  std::uint32_t
      timed_limit;  ///< dispatches of the timed lane in a row before waiting cancel work; 0: cancel goes first
};

inline constexpr SuggestionRow suggestion_table[] = {
    {Suggestion::none, "none", cancel_limit, 0},
    {Suggestion::meet_deadlines, "meet-deadlines", cancel_limit, cancel_limit},
    {Suggestion::drain_obligations, "drain-obligations", draining_limit, 0},
    {Suggestion::drain_regions, "drain-regions", draining_limit, 0},
};
inline constexpr std::uint8_t suggestion_count = sizeof(suggestion_table) / sizeof(suggestion_table[0]);

namespace detail {

consteval bool suggestions_are_lawful() {
  for (std::uint8_t i = 0; i < suggestion_count; ++i) {
    const SuggestionRow& row = suggestion_table[i];
    const bool drains = row.suggestion == Suggestion::drain_obligations || row.suggestion == Suggestion::drain_regions;
    if (static_cast<std::uint8_t>(row.suggestion) != i || row.name.empty()) return false;
    if (row.cancel_limit != (drains ? 2 * cancel_limit : cancel_limit)) return false;
    if ((row.timed_limit != 0) != (row.suggestion == Suggestion::meet_deadlines)) return false;
    if (row.timed_limit > cancel_limit) return false;
  }
  return true;
}
static_assert(suggestions_are_lawful(),
              "SCH-3: draining doubles the limit, meeting deadlines is bounded, nothing else changes anything");

}  // namespace detail

constexpr const SuggestionRow& describe(Suggestion suggestion) noexcept {
  const auto number = static_cast<std::uint8_t>(suggestion);
  CALM_REQUIRE(SCH_3, number < suggestion_count, number);
  return suggestion_table[number];
}

/// Gives: `none`, `meet-deadlines`, `drain-obligations` or `drain-regions`.
constexpr std::string_view to_string(Suggestion suggestion) noexcept { return describe(suggestion).name; }

}  // namespace calm::sched
