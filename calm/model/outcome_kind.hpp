// outcome_kind.hpp — the four ways work can end, ordered by severity.
// Laws:    OUT-1, OUT-2
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string_view>

#include "calm/check/require.hpp"

namespace calm {

/// The value is the severity.
enum class OutcomeKind : std::uint8_t { ok = 0, err = 1, cancelled = 2, panicked = 3 };

inline constexpr OutcomeKind outcome_kinds[] = {OutcomeKind::ok, OutcomeKind::err, OutcomeKind::cancelled,
                                                OutcomeKind::panicked};

/// Gives: the worse of both (OUT-2).
constexpr OutcomeKind join(OutcomeKind a, OutcomeKind b) noexcept { return a < b ? b : a; }

static_assert(join(OutcomeKind::ok, OutcomeKind::err) == OutcomeKind::err, "OUT-2: Ok is the identity");
static_assert(join(OutcomeKind::panicked, OutcomeKind::cancelled) == OutcomeKind::panicked, "OUT-2: Panicked absorbs");

/// Gives: the kind as the law writes it.
constexpr std::string_view to_string(OutcomeKind kind) noexcept {
  switch (kind) {
    case OutcomeKind::ok:
      return "Ok";
    case OutcomeKind::err:
      return "Err";
    case OutcomeKind::cancelled:
      return "Cancelled";
    case OutcomeKind::panicked:
      return "Panicked";
  }
  CALM_INVARIANT(OUT_1, false, static_cast<std::uint8_t>(kind));
  return {};
}

}  // namespace calm
