// obligation_kind.hpp — what can be promised, and how closely each kind is followed.
// Laws:    OBL-2
// Threads: constants
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string_view>

#include "calm/check/require.hpp"

namespace calm {

enum class ObligationKind : std::uint8_t {
  send_permit,
  ack,
  lease,
  io_operation,
  semaphore_permit,
  lock_guard,
  pool_checkout,
  finalizer,
  custom,
};

/// How a kind is followed. A counted one costs a number per task and kind; a recorded one has a record with its creation site.
enum class Tracking : std::uint8_t {
  counted,
  recorded,
  chosen,  ///< counted, or recorded when the token is tracked
};

struct ObligationKindRow {
  ObligationKind kind;
  std::string_view name;
  Tracking tracking;
};

inline constexpr ObligationKindRow obligation_kind_table[] = {
    {ObligationKind::send_permit, "send permit", Tracking::chosen},
    {ObligationKind::ack, "ack", Tracking::recorded},
    {ObligationKind::lease, "lease", Tracking::recorded},
    {ObligationKind::io_operation, "I/O operation", Tracking::recorded},
    {ObligationKind::semaphore_permit, "semaphore permit", Tracking::counted},
    {ObligationKind::lock_guard, "lock guard", Tracking::counted},
    {ObligationKind::pool_checkout, "pool checkout", Tracking::recorded},
    {ObligationKind::finalizer, "finalizer", Tracking::recorded},
    {ObligationKind::custom, "custom", Tracking::recorded},
};
inline constexpr std::uint8_t obligation_kind_count = sizeof(obligation_kind_table) / sizeof(obligation_kind_table[0]);

namespace detail {

consteval bool obligation_kinds_are_dense() {
  for (std::uint8_t i = 0; i < obligation_kind_count; ++i) {
    if (static_cast<std::uint8_t>(obligation_kind_table[i].kind) != i) return false;
  }
  return obligation_kind_count == 9;
}
static_assert(obligation_kinds_are_dense(), "OBL-2: nine kinds, one row each, in order");

}  // namespace detail

/// Gives: the row of a kind. Needs: a kind of the enum.
constexpr const ObligationKindRow& describe(ObligationKind kind) noexcept {
  CALM_REQUIRE(OBL_2, static_cast<std::uint8_t>(kind) < obligation_kind_count, static_cast<std::uint8_t>(kind));
  return obligation_kind_table[static_cast<std::uint8_t>(kind)];
}

/// Gives: the name as the law writes it, `send permit`.
constexpr std::string_view to_string(ObligationKind kind) noexcept { return describe(kind).name; }

/// Gives: true when a token of this kind has a record; `tracked` is what the user asked for.
constexpr bool has_record(ObligationKind kind, bool tracked) noexcept {
  const Tracking tracking = describe(kind).tracking;
  return tracking == Tracking::recorded || (tracking == Tracking::chosen && tracked);
}

}  // namespace calm
