// obligation_state.hpp — a promise is reserved, and then committed, aborted or leaked, once and for all.
// Laws:    OBL-1
// Threads: constants
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string_view>

#include "calm/check/require.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/state_table.hpp"

namespace calm {

enum class ObligationState : std::uint8_t { reserved = 1, committed = 2, aborted = 4, leaked = 8 };

inline constexpr ObligationState obligation_states[] = {ObligationState::reserved, ObligationState::committed,
                                                        ObligationState::aborted, ObligationState::leaked};

inline constexpr Move<ObligationState> obligation_moves[] = {
    // moves-begin
    {ObligationState::reserved, ObligationState::committed},
    {ObligationState::reserved, ObligationState::aborted},
    {ObligationState::reserved, ObligationState::leaked},
    // moves-end
};
inline constexpr StateTable<ObligationState, 4> obligation_table{obligation_moves};

static_assert(obligation_table.size() == 3 && !obligation_table.repeated(), "OBL-1: three of the 16 pairs are legal");
static_assert(obligation_table.next(ObligationState::reserved).size() == 3 &&
                  !obligation_table.next(ObligationState::reserved).has(ObligationState::reserved),
              "OBL-1: Reserved goes to Committed, Aborted or Leaked");
static_assert(obligation_table.terminal(ObligationState::committed) &&
                  obligation_table.terminal(ObligationState::aborted) &&
                  obligation_table.terminal(ObligationState::leaked),
              "OBL-1: what is resolved stays resolved");

/// Gives: ok for a legal move; resolving again `obligation_already_resolved`; touching a leaked one `obligation_leaked`;
/// going back to Reserved `invalid_transition`.
constexpr Status check_move(ObligationState from, ObligationState to) noexcept {
  if (obligation_table.allows(from, to)) return {};
  if (from == ObligationState::leaked) return Errc::obligation_leaked;
  return to == ObligationState::reserved ? Errc::invalid_transition : Errc::obligation_already_resolved;
}

/// Gives: the state as the law writes it.
constexpr std::string_view to_string(ObligationState state) noexcept {
  switch (state) {
    case ObligationState::reserved:
      return "Reserved";
    case ObligationState::committed:
      return "Committed";
    case ObligationState::aborted:
      return "Aborted";
    case ObligationState::leaked:
      return "Leaked";
  }
  CALM_INVARIANT(OBL_1, false, static_cast<std::uint8_t>(state));
  return {};
}

}  // namespace calm
