// time_text.hpp — numbers and lengths of time as a scenario writes them: `20ms`, `5s`.
// Laws:    LAB-11
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "calm/model/time.hpp"

namespace calm::scenario {

/// Gives: the number that the whole text is, or nothing.
inline std::optional<std::uint64_t> number_in(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number == UINT64_MAX) return std::nullopt;
  return number;
}

/// Gives: the length of time that the text is, up to about 292 years, or nothing.
inline std::optional<Duration> duration_in(std::string_view text) noexcept {
  struct Unit {
    std::string_view name;
    std::int64_t ns;
  };
  constexpr Unit units[] = {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint64_t> count = number_in(text.substr(0, digits));
  if (!count) return std::nullopt;
  for (const Unit& unit : units) {
    if (text.substr(digits) != unit.name) continue;
    if (*count > static_cast<std::uint64_t>(INT64_MAX / unit.ns)) return std::nullopt;
    return Duration::nanoseconds(static_cast<std::int64_t>(*count) * unit.ns);
  }
  return std::nullopt;
}

}  // namespace calm::scenario
