// parse.hpp — reads a plan from its text, as print.hpp writes it.
// Laws:    COM-4
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <string_view>

#include "calm/model/outcome.hpp"
#include "calm/plan/plan.hpp"

namespace calm::plan {

/// Gives: the plan. Blanks and line ends may stand anywhere in the tree; below `where` a line is a leaf.
/// Fails: invalid_argument: `line 2, column 7: expected …`, or what Plan::make finds.
Outcome<Plan> parse(std::string_view text);

/// Gives: a tree without what is known of its leaves. Its form is not looked at: Plan::make does that.
/// Fails: invalid_argument, as parse() does.
Outcome<Node> parse_tree(std::string_view text);

}  // namespace calm::plan
