// spec_fields.hpp — ends, cancels and reasons from the keys of a step.
// Laws:    OUT-1, CAN-2
// Threads: one
// Cancel:  not applicable
#pragma once

#include "apps/calm/scenario/world.hpp"

namespace calm::scenario {

/// Gives: the end that the keys `outcome`, `error`, `message` and `with` describe; `own` is the reason of an end that says
///        Cancelled without naming one. Fails: Problem when there is no such reason, or `with` names no outcome.
ChildEnd end_in(const World& world, const Step& step, const Reason& own);

/// Gives: what the keys of a cancel say, with a cause that lives in the world.
/// Fails: Problem when `cause` names no reason.
kernel::CancelSpec cancel_in(const World& world, const Step& step);

/// Gives: the reason that a key names, or no reason. Fails: Problem when the value is no reason.
const Reason* reason_in(const World& world, const Step& step, std::string_view key);

}  // namespace calm::scenario
