// split_mix.hpp — the generator of every choice: small, seeded, the same everywhere.
// Laws:    SCH-7 (splitmix64), I6
// Threads: a value
// Cancel:  not applicable
#pragma once

#include <cstdint>

namespace calm {

class SplitMix {
 public:
  explicit constexpr SplitMix(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
    return z ^ (z >> 31U);
  }

  /// Gives: a number below `bound`. Needs: a bound above 0.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace calm
