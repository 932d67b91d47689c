// tla.hpp — the kernel's state machines and single runs of them as TLA+ modules, for TLC and other tools.
// Laws:    LAB-9; the machines are those of REG-1, TSK-1, TSK-2 and OBL-1, with the guards REG-4, REG-6 and I2
// Threads: pure functions
// Cancel:  requests, acknowledgements and forced ends are steps of the machine
#pragma once

#include <string>

#include "calm/trace/reader.hpp"

namespace calm::observe {

/// Gives: the module CalmKernel: which states there are, which steps the kernel takes, and what holds always. The moves are
///        the tables that the kernel itself obeys. Fails: std::bad_alloc.
[[nodiscard]] std::string tla_model();

/// Gives: the module CalmTrace: the events as a sequence of records, and the behaviour that takes a step of CalmKernel for
///        each. TLC reaches the end of the sequence if every step is lawful and stops before the first that is not.
///        Of the end of a trace (Trace::overwritten), records that are older begin in a state that
///        their first event allows.
/// Needs: events by ascending sequence. Fails: std::bad_alloc.
[[nodiscard]] std::string tla_of(const trace::Trace& trace);

}  // namespace calm::observe
