// victim_order.hpp — the numbers of a worker, and the order in which it looks for work at the others.
// Laws:    SCH-7 (splitmix64 per worker), SCH-6 (victims in seeded circular order)
// Threads: the owner's
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <optional>

#include "calm/check/require.hpp"
#include "calm/model/split_mix.hpp"

namespace calm::sched {

/// Gives: the seed of a worker's generator.
constexpr std::uint64_t worker_seed(std::uint64_t seed, std::uint16_t worker) noexcept {
  return seed ^ (worker * std::uint64_t{0x9E3779B97F4A7C15});
}
static_assert(worker_seed(7, 0) == 7 && worker_seed(7, 1) == (7 ^ 0x9E3779B97F4A7C15), "SCH-7");

/// Rounds through all other workers, each from a drawn one on.
class VictimOrder {
 public:
  /// Needs: worker < workers.
  constexpr VictimOrder(std::uint64_t seed, std::uint16_t worker, std::uint16_t workers) noexcept
      : numbers_(worker_seed(seed, worker)), worker_(worker), others_(static_cast<std::uint16_t>(workers - 1)) {
    CALM_REQUIRE(SCH_7, worker < workers, worker, workers);
  }

  /// Begins a round.
  constexpr void restart() noexcept {
    left_ = others_;
    if (others_ > 1) at_ = static_cast<std::uint16_t>(numbers_.below(others_));
  }

  /// Gives: the next victim of the round; none when everyone else was named once.
  [[nodiscard]] constexpr std::optional<std::uint16_t> next() noexcept {
    if (left_ == 0) return std::nullopt;
    --left_;
    const std::uint16_t other = at_;
    at_ = static_cast<std::uint16_t>(other + 1 == others_ ? 0 : other + 1);
    return static_cast<std::uint16_t>(other < worker_ ? other : other + 1);
  }

 private:
  SplitMix numbers_;
  std::uint16_t worker_;
  std::uint16_t others_;
  std::uint16_t at_ = 0;    // among the others: this worker is left out of the count
  std::uint16_t left_ = 0;  // in this round
};

}  // namespace calm::sched
