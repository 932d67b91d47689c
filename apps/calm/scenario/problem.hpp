// problem.hpp — what is wrong with a scenario file, and where: one line that names the place, what was found, what is allowed.
// Laws:    LAB-11
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace calm::scenario {

/// A place in a file; both count from 1. Line 0 is the file as a whole.
struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  friend constexpr bool operator==(Place, Place) noexcept = default;
};

/// Thrown by the loader, and by a step that cannot be run.
class Problem : public std::runtime_error {
 public:
  Problem(Place place, const std::string& text) : std::runtime_error(text), place_(place) {}

  [[nodiscard]] Place place() const noexcept { return place_; }

 private:
  Place place_;
};

/// Gives: `FILE:LINE:COLUMN: `, without the numbers that are 0.
std::string place_text(std::string_view file, Place place);

/// Gives: the candidate that a mistyped word was meant to be, or an empty text when none is near.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

/// Gives: `unknown step "spwan"; did you mean "spawn"? allowed: ...`, the list cut where it gets long.
std::string unknown_text(std::string_view what, std::string_view word, const std::vector<std::string_view>& allowed);

}  // namespace calm::scenario
