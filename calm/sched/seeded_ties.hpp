// seeded_ties.hpp — a seed decides among equals, instead of who came first: a policy for exploration.
// Laws:    SCH-7 (random ties only as an exploration policy), I6 (the same seed gives the same order)
// Threads: one
// Cancel:  not applicable
//
// The lanes and their bounds say what is next as always: a choice is made only among tasks of one lane with the same priority or
// deadline. Workers do not use it.
#pragma once

#include <cstdint>

#include "calm/model/split_mix.hpp"
#include "calm/sched/lanes.hpp"

namespace calm::sched {

class SeededTies {
 public:
  explicit SeededTies(std::uint64_t seed) noexcept : numbers_(seed) {}

  /// Gives: the task to dispatch now, as Lanes::take(). Needs: what choose() has just given.
  template <lockfree::AtomicsPolicy Atomics>
  [[nodiscard]] typename Lanes<Atomics>::Task& take(Lanes<Atomics>& lanes, Pick pick) noexcept {
    return lanes.take_equal(pick, static_cast<std::size_t>(numbers_.below(lanes.equals(pick))));
  }

 private:
  SplitMix numbers_;
};

}  // namespace calm::sched
