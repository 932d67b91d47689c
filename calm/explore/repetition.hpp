// repetition.hpp — whether a sequence ends in the same part again and again.
// Laws:    LAB-6 (what never ends is said to)
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <algorithm>
#include <cstddef>

namespace calm::explore {

struct Repetition {
  std::size_t period = 0;  ///< how long the part is; 0 when nothing repeats
  std::size_t times = 0;   ///< how often it stands at the end, one after the other
};

/// Looks at the end of `size` things, of which `equal(i, k)` compares two.
/// Gives: the shortest part that stands there at least three times; none longer than `longest`.
template <class Equal>
[[nodiscard]] Repetition repetition_at_end(std::size_t size, std::size_t longest, const Equal& equal) {
  for (std::size_t period = 1; period <= std::min(longest, size / 3); ++period) {
    std::size_t same = 0;
    while (same + period < size && equal(size - 1 - same, size - 1 - same - period)) ++same;
    if (same >= 2 * period) return {period, same / period + 1};
  }
  return {};
}

}  // namespace calm::explore
