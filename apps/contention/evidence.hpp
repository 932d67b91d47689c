// evidence.hpp — who was cancelled because of whom, and what became of every promise, out of the events of a run.
// Laws:    SHD-4, CAN-5 (a cancel goes down the tree), OBL-1
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <string>

#include "calm/trace/reader.hpp"

namespace calm::contention {

/// Gives: members of a JSON object: `cancels`, one for each region and task that a cancel reached, `promises`, one for each
///        that was reserved, and `overwritten`, how many events are missing.
std::string json_evidence(const trace::Trace& trace);

}  // namespace calm::contention
