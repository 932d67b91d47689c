// path_walker.hpp — the same question asked in the plainest way: walk every way through a function, one after the other.
// Laws:    OBL-8
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <set>

#include "apps/calm/lint/ir.hpp"
#include "apps/calm/lint/warning.hpp"

namespace calm::lint {

struct Walked {
  std::set<Warning> seen{};
  std::size_t ways = 0;
  bool complete = true;  ///< no way was cut short: no loop, no recursion, not too many ways
};

/// Walks all ways through every function: each loop up to twice, calls to the given depth. Needs: as find_leaks().
Walked walk_all(const Program& program, std::size_t depth_max, std::size_t ways_max);

}  // namespace calm::lint
