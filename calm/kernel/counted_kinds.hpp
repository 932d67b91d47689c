// counted_kinds.hpp — which promises are only counted, and have no record.
// Laws:    OBL-2
// Threads: constants
// Cancel:  not applicable
#pragma once

#include <cstdint>

#include "calm/model/obligation_kind.hpp"

namespace calm::kernel {

/// The kinds that are counted and have no record (OBL-2).
inline constexpr ObligationKind counted_kinds[] = {ObligationKind::send_permit, ObligationKind::semaphore_permit,
                                                   ObligationKind::lock_guard};
inline constexpr std::uint8_t counted_kind_count = 3;

/// Gives: the place of a kind among the counted ones, or counted_kind_count for one that has records.
constexpr std::uint8_t counted_index(ObligationKind kind) noexcept {
  for (std::uint8_t i = 0; i < counted_kind_count; ++i) {
    if (counted_kinds[i] == kind) return i;
  }
  return counted_kind_count;
}

}  // namespace calm::kernel
