// argument.hpp — what the argument of an event can say, packed into its 64 bits and taken out again.
// Laws:    LAB-2
// Threads: values
// Cancel:  not applicable
//
// Reading takes any number, a stored trace may hold anything: what no state or kind has comes back as nothing.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "calm/model/cancel_kind.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/model/obligation_state.hpp"
#include "calm/model/outcome_kind.hpp"
#include "calm/model/region_state.hpp"
#include "calm/model/state_table.hpp"

namespace calm::trace {

/// The reason of a cancel event: its kind and its effective severity (CAN-2).
struct CancelArgument {
  CancelKind kind;
  std::uint8_t severity;

  friend constexpr bool operator==(CancelArgument, CancelArgument) noexcept = default;
};

constexpr std::uint64_t argument_of(OutcomeKind kind) noexcept { return static_cast<std::uint8_t>(kind); }
constexpr std::uint64_t argument_of(ObligationKind kind) noexcept { return static_cast<std::uint8_t>(kind); }
constexpr std::uint64_t argument_of(ObligationState state) noexcept { return static_cast<std::uint8_t>(state); }
constexpr std::uint64_t argument_of(CancelArgument reason) noexcept {
  return std::uint64_t{reason.severity} << 8 | static_cast<std::uint8_t>(reason.kind);
}
constexpr std::uint64_t argument_of(Move<RegionState> move) noexcept {
  return std::uint64_t{static_cast<std::uint8_t>(move.to)} << 8 | static_cast<std::uint8_t>(move.from);
}

constexpr std::optional<OutcomeKind> outcome_in(std::uint64_t argument) noexcept {
  if (argument > static_cast<std::uint8_t>(OutcomeKind::panicked)) return std::nullopt;
  return static_cast<OutcomeKind>(argument);
}

constexpr std::optional<ObligationKind> obligation_in(std::uint64_t argument) noexcept {
  if (argument >= obligation_kind_count) return std::nullopt;
  return static_cast<ObligationKind>(argument);
}

constexpr std::optional<ObligationState> resolution_in(std::uint64_t argument) noexcept {
  if (!std::has_single_bit(argument) || argument > static_cast<std::uint8_t>(ObligationState::leaked))
    return std::nullopt;
  return static_cast<ObligationState>(argument);
}

constexpr std::optional<CancelArgument> cancel_in(std::uint64_t argument) noexcept {
  if ((argument & 0xFF) >= cancel_kind_count || argument >> 16 != 0) return std::nullopt;
  return CancelArgument{static_cast<CancelKind>(argument & 0xFF), static_cast<std::uint8_t>(argument >> 8)};
}

constexpr std::optional<Move<RegionState>> region_move_in(std::uint64_t argument) noexcept {
  constexpr std::uint64_t last = static_cast<std::uint8_t>(RegionState::closed);
  const std::uint64_t from = argument & 0xFF;
  const std::uint64_t to = argument >> 8;
  if (!std::has_single_bit(from) || !std::has_single_bit(to) || from > last || to > last) return std::nullopt;
  return Move<RegionState>{static_cast<RegionState>(from), static_cast<RegionState>(to)};
}

}  // namespace calm::trace
