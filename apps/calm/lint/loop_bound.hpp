// loop_bound.hpp — how many rounds a loop has at most, where its text says so.
// Laws:    GHO-3
// Threads: pure functions
// Cancel:  not applicable
//
// Said are numbers, and names that the same file declares with one: `constexpr int parties = 3;`, `std::array<int, 4> all`,
// `int all[4]`, `int all[] = {1, 2}`. A loop says its bound as
//   for (…; i < 10; ++i)      with <, <= or !=: the number; with > or >=: the number at which i begins
//   for (x : {a, b, c})       how many; and so for a name of a fixed array
//   while (false)             none, and do … while (false) one
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "apps/calm/lint/tokens.hpp"

namespace calm::lint {

/// More rounds than these are many. A thousand rounds of little work are some microseconds.
inline constexpr std::uint64_t loop_rounds_max = 1000;

/// Gives: the most rounds of a `for` or `while` whose brackets open at `open`; nothing when the text does not say.
std::optional<std::uint64_t> rounds_of_header(const Tokens& tokens, std::size_t open);

}  // namespace calm::lint
