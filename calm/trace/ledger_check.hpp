// ledger_check.hpp — the ledger laws checked again from events alone, without a kernel to ask.
// Laws:    OBL-10 (never negative; Closed implies the zero marking), OBL-1 (resolved once)
// Threads: a pure function
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calm/trace/reader.hpp"

namespace calm::trace {

/// One event that no lawful kernel records.
struct LedgerProblem {
  std::uint64_t sequence = 0;  ///< of the event
  std::string text;            ///< what is wrong, with its law
};

/// Gives: every event by which a promise is made twice, resolved without being open, left open by a region that is Closed,
///        or made in one, in the order of the trace; none when the ledger laws hold. Of promises that were made before
///        the trace begins (Trace::overwritten) nothing is known, and nothing is said. Fails: std::bad_alloc.
[[nodiscard]] std::vector<LedgerProblem> check_ledger(const Trace& trace);

}  // namespace calm::trace
