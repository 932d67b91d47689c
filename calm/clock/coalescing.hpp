// coalescing.hpp — which alarms may wait for each other, so that who sleeps is woken once for many of them.
// Laws:    TMR-6
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>

#include "calm/model/time.hpp"

namespace calm::clock {

inline constexpr Duration max_wheel = Duration::seconds(86'400);  ///< so far a wheel reaches; beyond it the heap

/// Alarms whose times lie in one window go off together at its end, once there are `group_min` of them (TMR-6). Windows follow
/// each other from the clock's beginning on; fewer alarms than that go off each at its own time.
struct Coalescing {
  Duration window{};            ///< 0: each goes off at its own time; at most max_wheel
  std::uint64_t group_min = 2;  ///< 1: every one waits for the end of its window; never 0

  friend constexpr bool operator==(const Coalescing&, const Coalescing&) noexcept = default;
};

/// Gives: false for a window below 0 or beyond max_wheel, and for groups of nobody.
[[nodiscard]] constexpr bool is_valid(const Coalescing& coalescing) noexcept {
  return coalescing.window >= Duration() && coalescing.window <= max_wheel && coalescing.group_min != 0;
}

}  // namespace calm::clock
