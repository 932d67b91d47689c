// zoo.hpp — small concurrent programs whose number of executions is known: what the explorer is measured by.
// Laws:    LAB-4, LAB-5
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "calm/explore/threads.hpp"

namespace calm::zoo {

/// A parameter and what it may be; one that is not used has `last` 0.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t standard = 0;  ///< when it is not given
};

struct Species {
  std::string_view name;
  std::string_view what;
  Range n;
  Range m;
  explore::Threads::Setup (*make)(std::uint32_t n, std::uint32_t m);
  /// How many executions there are.
  std::uint64_t (*count)(std::uint32_t n, std::uint32_t m);
};

/// Gives: all of them, by name.
std::span<const Species> species();

/// Gives: the one of this name, or nullptr.
const Species* find(std::string_view name) noexcept;

}  // namespace calm::zoo
