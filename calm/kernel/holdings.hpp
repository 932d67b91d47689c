// holdings.hpp — what keeps the regions of a few tasks from being quiet, in numbers: for who decides in which order tasks go.
// Laws:    SCH-3 (what a governor sees)
// Threads: a value
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>

namespace calm::kernel {

/// So many tasks are looked at in one go at most, and so many promises of each and finalizers of their regions: a look takes
/// a moment, whatever there is.
inline constexpr std::size_t holdings_tasks_max = 32;
inline constexpr std::uint32_t holdings_each_max = 64;

struct Holdings {
  std::uint64_t obligations = 0;        ///< that the tasks have open, with those that are only counted
  std::uint64_t obligation_age_ms = 0;  ///< the sum of the ages of those with a record
  std::uint64_t finalizers = 0;         ///< of the regions of the tasks: that have not run yet
  std::uint64_t closing_regions = 0;    ///< among these: that have begun to close and are not closed

  friend constexpr bool operator==(const Holdings&, const Holdings&) noexcept = default;
};

}  // namespace calm::kernel
