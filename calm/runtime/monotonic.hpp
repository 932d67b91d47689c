// monotonic.hpp — the time by which threads beside the workers wait.
// Laws:    none of its own; QUI-2 (a shutdown has a time) and GHO-3 (a poll has one) stand on it
// Threads: anywhere
// Cancel:  not applicable
#pragma once

#include <ctime>

#include "calm/model/time.hpp"

namespace calm::runtime {

/// Gives: the time of CLOCK_MONOTONIC, which is not the time of the program.
inline Time monotonic_now() noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return Time() + Duration::seconds(now.tv_sec) + Duration::nanoseconds(now.tv_nsec);
}

}  // namespace calm::runtime
