// score.hpp — how promising an execution is: the more lasting holes its dependencies have, the more.
// Laws:    LAB-5 (the persistence score, its caps and its fallback)
// Threads: pure functions
// Cancel:  not applicable
//
// Vertices are the events. An edge is a dependency that does not follow from others: from an event to the ones that happen
// next after it.
#pragma once

#include <compare>
#include <cstdint>

#include "calm/explore/execution.hpp"
#include "calm/explore/persistence.hpp"

namespace calm::explore {

/// A hole that lives for so long counts.
inline constexpr std::uint32_t lasting = 3;

/// Highest first. One that was too large to be looked at closely comes after all that were not.
struct Score {
  bool close = true;          ///< false for the fallback
  std::uint32_t lasting = 0;  ///< holes with a persistence of at least 3
  std::uint64_t total = 0;    ///< persistence of all holes
  std::uint32_t betti = 0;    ///< holes at the end; of the fallback: circles, with no square filled
  std::uint32_t apart = 0;    ///< of the fallback: pairs of processes that share nothing,
  std::uint32_t pairs = 1;    ///< and how many pairs there are
  std::uint32_t events = 0;   ///< fewer are better
  std::uint64_t fingerprint = 0;

  friend std::strong_ordering operator<=>(const Score& a, const Score& b) noexcept;
  friend bool operator==(const Score& a, const Score& b) noexcept { return (a <=> b) == 0; }
};

/// Gives: the events, and from each to the ones that happen next after it. Fails: std::bad_alloc.
[[nodiscard]] Graph dependencies(const Execution& run);

/// Fails: std::bad_alloc.
[[nodiscard]] Score score_of(const Execution& run, const HomologyCaps& caps = {});

}  // namespace calm::explore
