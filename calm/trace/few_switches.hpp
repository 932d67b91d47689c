// few_switches.hpp — an order of the steps of a run that people can follow: of those that swap only steps that commute, one
//                    with the fewest changes from one process to another.
// Laws:    LAB-4 (for display only)
// Threads: a pure function
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calm/trace/foata.hpp"

namespace calm::trace {

struct DisplayOrder {
  std::vector<std::size_t> steps{};  ///< places of the run, in the new order
  std::uint64_t switches = 0;
  bool fewest = true;  ///< false when the search was given up: then it is an order with few
};

/// Gives: an order with the fewest switches. Where more than `effort` points would have to be looked at, one that goes on
///        with whoever can go furthest. Fails: std::bad_alloc.
[[nodiscard]] DisplayOrder few_switches(std::span<const Step> steps, std::size_t effort = 20'000);

}  // namespace calm::trace
