// loops.hpp — loops of coroutines that neither await nor come to a checkpoint, found in the text of a source.
// Laws:    GHO-3 (by lint where it can be seen)
// Threads: pure functions
// Cancel:  not applicable
//
// It knows blocks, not types. A coroutine is a function, or lambda, whose own body has co_await, co_yield or co_return. Its
// loops are for, while and do. A loop is in order when
//   - a co_await, a co_yield or a call of checkpoint() stands in it, on any of its ways;
//   - its body ends with break or co_return, and no continue of its own goes round before, so it runs once;
//   - it has at most loop_rounds_max rounds and shows it, see loop_bound.hpp; loops in loops are multiplied.
// What is inside a lambda or a local class is another function. What a called function does is not seen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/lint/tokens.hpp"

namespace calm::lint {

struct LongLoop {
  Token loop;      ///< the for, while or do
  Token function;  ///< the name of the coroutine; the `[` of a lambda
};

/// Gives: every such loop, by place. Those whose line says `NOLINT(calm-long-loop): reason` are left out; it must give a
///        reason. Needs: the text outlives what is given.
std::vector<LongLoop> find_long_loops(std::string_view text);

/// Gives: what, who, law and next, for people: `a.cpp:12:5: …`.
std::string to_string(std::string_view file, const LongLoop& found);

}  // namespace calm::lint
