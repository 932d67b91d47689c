// obligation_replica.hpp — what two places that saw one promise agree on: a join-semilattice that never hides a conflict.
// Laws:    OBL-9
// Threads: constants
// Cancel:  not applicable
//
//              Conflict
//             /        \.
//       Committed     Aborted
//            |           |
//            |         Leaked
//             \         /
//              Reserved
#pragma once

#include <cstdint>
#include <string_view>

#include "calm/check/require.hpp"
#include "calm/model/obligation_state.hpp"

namespace calm {

enum class ObligationReplica : std::uint8_t { reserved, leaked, aborted, committed, conflict };

inline constexpr ObligationReplica obligation_replicas[] = {ObligationReplica::reserved, ObligationReplica::leaked,
                                                            ObligationReplica::aborted, ObligationReplica::committed,
                                                            ObligationReplica::conflict};

/// Gives: the replica's view of a local state.
constexpr ObligationReplica replica(ObligationState state) noexcept {
  switch (state) {
    case ObligationState::reserved:
      return ObligationReplica::reserved;
    case ObligationState::committed:
      return ObligationReplica::committed;
    case ObligationState::aborted:
      return ObligationReplica::aborted;
    case ObligationState::leaked:
      return ObligationReplica::leaked;
  }
  CALM_INVARIANT(OBL_9, false, static_cast<std::uint8_t>(state));
  return ObligationReplica::conflict;
}

/// Gives: the least state that both views are below; Committed beside Aborted or Leaked is Conflict (OBL-9).
constexpr ObligationReplica join(ObligationReplica a, ObligationReplica b) noexcept {
  if (a == b) return a;
  if (a == ObligationReplica::reserved) return b;
  if (b == ObligationReplica::reserved) return a;
  const bool both_lost = (a == ObligationReplica::leaked || a == ObligationReplica::aborted) &&
                         (b == ObligationReplica::leaked || b == ObligationReplica::aborted);
  return both_lost ? ObligationReplica::aborted : ObligationReplica::conflict;
}

/// Gives: true when b already contains what a knows.
constexpr bool below(ObligationReplica a, ObligationReplica b) noexcept { return join(a, b) == b; }

/// Gives: the name as the law writes it.
constexpr std::string_view to_string(ObligationReplica view) noexcept {
  switch (view) {
    case ObligationReplica::reserved:
      return "Reserved";
    case ObligationReplica::leaked:
      return "Leaked";
    case ObligationReplica::aborted:
      return "Aborted";
    case ObligationReplica::committed:
      return "Committed";
    case ObligationReplica::conflict:
      return "Conflict";
  }
  CALM_INVARIANT(OBL_9, false, static_cast<std::uint8_t>(view));
  return {};
}

}  // namespace calm
