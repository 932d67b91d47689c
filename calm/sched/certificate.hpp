// certificate.hpp — what a worker's fairness comes down to: seven counts and their hash.
// Laws:    SCH-5
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>

namespace calm::sched {

/// FNV-1a, 64 bits, over bytes and over numbers least significant byte first.
class Fnv1a {
 public:
  constexpr Fnv1a& add_byte(std::uint8_t byte) noexcept {
    hash_ = (hash_ ^ byte) * 0x100000001B3;
    return *this;
  }
  constexpr Fnv1a& add(std::uint64_t number) noexcept {
    for (unsigned shift = 0; shift < 64; shift += 8) add_byte(static_cast<std::uint8_t>(number >> shift));
    return *this;
  }
  [[nodiscard]] constexpr std::uint64_t hash() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325;
};

static_assert(Fnv1a().hash() == 0xCBF29CE484222325 && Fnv1a().add_byte('a').hash() == 0xAF63DC4C8601EC8C,
              "SCH-5: the published values for no bytes and for `a`");

/// Counts of one worker's dispatches; two runs that dispatched alike have equal ones.
struct Certificate {
  std::uint64_t cancel = 0;                 ///< dispatches of the cancel lane within its limit
  std::uint64_t timed = 0;                  ///< of the timed lane
  std::uint64_t ready = 0;                  ///< of ready work, wherever it was kept
  std::uint64_t fallback_cancel = 0;        ///< of the cancel lane at its limit, when there was nothing else to run
  std::uint64_t base_exceedances = 0;       ///< of the cancel lane beyond 16 in a row, while something was drained
  std::uint64_t effective_exceedances = 0;  ///< beyond the limit in force; a fair worker has none
  std::uint64_t largest_limit = 0;          ///< that was in force

  /// Gives: the hash over the seven numbers in this order.
  [[nodiscard]] constexpr std::uint64_t hash() const noexcept {
    return Fnv1a()
        .add(cancel)
        .add(timed)
        .add(ready)
        .add(fallback_cancel)
        .add(base_exceedances)
        .add(effective_exceedances)
        .add(largest_limit)
        .hash();
  }
  [[nodiscard]] constexpr std::uint64_t dispatches() const noexcept { return cancel + timed + ready + fallback_cancel; }

  friend constexpr bool operator==(const Certificate&, const Certificate&) noexcept = default;
};

}  // namespace calm::sched
