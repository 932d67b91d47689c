// random_program.hpp — small programs of promises, made from a seed.
// Laws:    OBL-8
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <cstdint>

#include "apps/calm/lint/ir.hpp"

namespace calm::lint {

enum class Shape : std::uint8_t {
  straight,  ///< branches and calls, no loop, a function calls only later ones
  any,       ///< loops and recursion too
};

/// Gives: the same program for the same seed; every statement has a place of its own, in one of two files.
Program random_program(std::uint64_t seed, Shape shape);

}  // namespace calm::lint
