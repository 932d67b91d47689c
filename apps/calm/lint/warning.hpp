// warning.hpp — what the checker has to say, and in which order.
// Laws:    OBL-8
// Threads: values
// Cancel:  not applicable
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "apps/calm/lint/ir.hpp"

namespace calm::lint {

/// In the order of their names, by which warnings of one line are sorted.
enum class WarningKind : std::uint8_t {
  already_resolved,  ///< committed, aborted or passed on, and on some way it was resolved before (OBL-1)
  leak,              ///< reserved, and on some way still held where the function ends (OBL-5, OBL-6)
  not_reserved,      ///< committed, aborted or passed on, and on some way nothing was ever reserved (OBL-1)
  overwritten,       ///< reserved again, and on some way the first promise is still held (OBL-4)
};

struct Warning {
  Place place{};  ///< of a leak where the promise was made, else where the mistake is
  WarningKind kind = WarningKind::leak;
  std::string variable{};
  std::string function{};  ///< in which the variable is
  std::string promise{};   ///< its kind, or `parameter`; of a leak and of what is overwritten
  Place other{};           ///< of a leak where the function ends, of what is overwritten where it was made

  friend bool operator==(const Warning&, const Warning&) = default;
  /// By file, line and kind, then by the rest: no two runs print them in another order.
  friend auto operator<=>(const Warning&, const Warning&) = default;
};

/// Gives: `worker.cpp:12: leak: p (ack) may still be held where handle ends, worker.cpp:20 [OBL-6]`.
std::string to_string(const Warning& warning);

}  // namespace calm::lint
