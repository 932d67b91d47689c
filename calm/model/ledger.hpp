// ledger.hpp — how many promises of each kind are open: a marking of a Petri net that must end at zero.
// Laws:    OBL-3
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>

#include "calm/model/error_code.hpp"
#include "calm/model/obligation_kind.hpp"

namespace calm {

/// Counts per kind. A region may be Closed only when its ledger is zero.
class Ledger {
 public:
  /// One more promise. Fails: `resource_exhausted` at 2^32 - 1 of one kind; nothing has changed then.
  [[gnu::always_inline]] constexpr Status reserve(ObligationKind kind) noexcept {
    std::uint32_t& open = counts_[index(kind)];
    if (open == UINT32_MAX) return Errc::resource_exhausted;
    ++open;
    return {};
  }

  /// One promise less. Fails: `obligation_already_resolved` when none of this kind is open; nothing has changed then.
  [[gnu::always_inline]] constexpr Status resolve(ObligationKind kind) noexcept {
    std::uint32_t& open = counts_[index(kind)];
    if (open == 0) return Errc::obligation_already_resolved;
    --open;
    return {};
  }

  [[nodiscard]] constexpr std::uint32_t open(ObligationKind kind) const noexcept { return counts_[index(kind)]; }

  [[nodiscard]] constexpr std::uint64_t total() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint32_t open : counts_) sum += open;
    return sum;
  }

  [[nodiscard]] constexpr bool is_zero() const noexcept { return total() == 0; }

  friend constexpr bool operator==(const Ledger&, const Ledger&) noexcept = default;

 private:
  [[gnu::always_inline]] static constexpr std::uint8_t index(ObligationKind kind) noexcept {
    (void)describe(kind);  // checks it; the rows are in the order of their kinds
    return static_cast<std::uint8_t>(kind);
  }

  std::uint32_t counts_[obligation_kind_count]{};
};

}  // namespace calm
