// region_state.hpp — the five states of a region and the only moves between them.
// Laws:    REG-1, REG-9 (the state is monotone)
// Threads: constants
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string_view>

#include "calm/check/require.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/state_table.hpp"

namespace calm {

enum class RegionState : std::uint8_t { open = 1, closing = 2, draining = 4, finalizing = 8, closed = 16 };

inline constexpr RegionState region_states[] = {RegionState::open, RegionState::closing, RegionState::draining,
                                                RegionState::finalizing, RegionState::closed};

inline constexpr Move<RegionState> region_moves[] = {
    // moves-begin
    {RegionState::open, RegionState::closing},        {RegionState::closing, RegionState::draining},
    {RegionState::closing, RegionState::finalizing},  // the fast path: no live child
    {RegionState::draining, RegionState::finalizing}, {RegionState::finalizing, RegionState::closed},
    // moves-end
};
inline constexpr StateTable<RegionState, 5> region_table{region_moves};

static_assert(region_table.size() == 5 && !region_table.repeated(), "REG-1: five of the 25 pairs are legal");
static_assert(region_table.monotone() && region_table.terminal(RegionState::closed), "REG-9: the state is monotone");
static_assert(region_table.next(RegionState::open) == RegionState::closing, "REG-1: Open goes to Closing only");
static_assert(region_table.next(RegionState::closing) == (RegionState::draining | StateMask(RegionState::finalizing)),
              "REG-1: Closing goes to Draining, or to Finalizing without live children");
static_assert(region_table.next(RegionState::draining) == RegionState::finalizing,
              "REG-1: Draining goes to Finalizing only");
static_assert(region_table.next(RegionState::finalizing) == RegionState::closed,
              "REG-1: Finalizing goes to Closed only");

/// Gives: ok for a legal move, else `invalid_transition`.
constexpr Status check_move(RegionState from, RegionState to) noexcept {
  return region_table.allows(from, to) ? Status() : Status(Errc::invalid_transition);
}

/// Gives: the state as the law writes it.
constexpr std::string_view to_string(RegionState state) noexcept {
  switch (state) {
    case RegionState::open:
      return "Open";
    case RegionState::closing:
      return "Closing";
    case RegionState::draining:
      return "Draining";
    case RegionState::finalizing:
      return "Finalizing";
    case RegionState::closed:
      return "Closed";
  }
  CALM_INVARIANT(REG_1, false, static_cast<std::uint8_t>(state));
  return {};
}

}  // namespace calm
