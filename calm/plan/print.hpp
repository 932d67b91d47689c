// print.hpp — a plan as text that people read and parse.hpp reads back.
// Laws:    COM-4
// Threads: pure functions
// Cancel:  not applicable
//
//   Timeout(50ms, Race[Join[user, orders], mirror])
//   where
//     mirror takes 20ms, reads db, ends at once
//     orders takes 5ms, reads db, writes log
//     user takes 2ms, touches nothing, like reader, never fails
#pragma once

#include <string>

#include "calm/plan/plan.hpp"

namespace calm::plan {

/// Gives: the tree on one line. Two trees are equal when their texts are.
std::string to_string(const Node& node);

/// Gives: the name and what the leaf says, `user takes 2ms, reads db`.
std::string to_string(const Leaf& leaf);

/// Gives: the tree, broken into lines where it is long, and below `where` every leaf on a line of its own.
std::string to_string(const Plan& plan);

}  // namespace calm::plan
