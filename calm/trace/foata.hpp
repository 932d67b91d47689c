// foata.hpp — the canonical form of a run: its steps in layers, the same for all orders that swap only steps that commute.
// Laws:    LAB-4 (independence, layers by task and then by index), LAB-12 (the fingerprint)
// Threads: pure functions
// Cancel:  not applicable
//
// A step depends on an earlier one that is of the same process, that touched the same resource while one of the two wrote
// it, or that enabled it. A layer holds the steps whose longest chain of such steps before them has one length: steps of a
// layer commute, and none could stand in an earlier one. Two runs are one trace when their forms are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace calm::trace {

/// What a step did to a resource.
struct StepTouch {
  std::uint64_t resource = 0;
  bool write = false;
};

struct Step {
  std::uint64_t process = 0;              ///< who; by this a layer is ordered
  std::vector<StepTouch> touched{};       ///< in any order
  std::vector<std::size_t> enabled_by{};  ///< places of earlier steps
  std::vector<std::uint64_t> says{};      ///< what it is, beside who did it: equal for equal steps
};

/// The place of a step in the form.
struct Place {
  std::uint32_t layer = 0;  ///< from 1
  std::uint64_t process = 0;
  std::uint32_t number = 0;  ///< the how manieth of its process, from 1
  std::size_t step = 0;      ///< where it stands in the run

  /// The order of the form; where it stands in the run is no part of it.
  friend constexpr bool operator<(const Place& a, const Place& b) noexcept {
    if (a.layer != b.layer) return a.layer < b.layer;
    return a.process != b.process ? a.process < b.process : a.number < b.number;
  }
};

/// Gives: the places of all steps in the order of the form. Fails: std::bad_alloc.
[[nodiscard]] std::vector<Place> foata_of(std::span<const Step> steps);

/// Gives: XXH64 with seed 0 over the form: of each step, in its order and as 64-bit little-endian numbers, the layer, the
///        process, how many numbers it says, and these.
[[nodiscard]] std::uint64_t fingerprint(std::span<const Step> steps, std::span<const Place> form) noexcept;

/// Where two forms part.
struct FormDifference {
  std::uint32_t layer = 0;  ///< the first that is not the same
};

/// Gives: nothing when the two runs differ only in the order of steps that commute.
[[nodiscard]] std::optional<FormDifference> first_difference(std::span<const Step> a, std::span<const Place> form_a,
                                                             std::span<const Step> b, std::span<const Place> form_b);

/// Gives: how many swaps of neighbours lead from one run to the other. Needs: their forms are equal. Fails: std::bad_alloc.
[[nodiscard]] std::uint64_t swap_distance(std::span<const Place> form_a, std::span<const Place> form_b);

/// Gives: how often the process changes from one step to the next.
[[nodiscard]] std::uint64_t switches_in(std::span<const Step> steps) noexcept;

}  // namespace calm::trace
