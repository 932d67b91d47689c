// specs.hpp — small numbers become configurations, budgets, limits, ends: a few telling values of each.
// Laws:    LAB-10
// Threads: pure functions
// Cancel:  which reasons a program uses is decided here
#pragma once

#include <cstdint>

#include "calm/kernel/config.hpp"
#include "operations.hpp"

namespace calm::reference {

kernel::Config config_of(const Setup& setup);
kernel::RegionSpec region_spec(std::uint16_t c, std::uint16_t d, Time now);
Budget budget_of(std::uint16_t choice, Time now);
Duration step_of(std::uint16_t choice);
ObligationKind kind_of(std::uint16_t choice);
/// Mostly one that is counted.
ObligationKind counted_kind_of(std::uint16_t choice);

/// A cancel without its origin.
kernel::CancelSpec cancel_spec(std::uint16_t c, std::uint16_t d);

/// How a child ends. `own` is the reason of its cancellation, or none; a reason that the program makes up itself names
/// `origin` and is given at `now`.
ChildEnd end_of(std::uint16_t c, std::uint16_t d, const Reason& own, ChildOrigin origin, Time now);

}  // namespace calm::reference
