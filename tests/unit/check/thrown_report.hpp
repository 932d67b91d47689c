// thrown_report.hpp — turns a failed check into an exception, so that a test can look at its report.
// Laws:    none
// Threads: those of the test
// Cancel:  not applicable
#pragma once

#include <optional>

#include "calm/check/report.hpp"

namespace calm::check {

struct ThrownReport {
  Report report;
};

inline void throw_report(const Report& report) { throw ThrownReport{report}; }

// Gives: the report of the check that failed in `body`, or nothing when none did.
template <class Body>
std::optional<Report> report_of(Body body) {
  const ScopedHandler handler(throw_report);
  try {
    body();
  } catch (const ThrownReport& thrown) {
    return thrown.report;
  }
  return std::nullopt;
}

}  // namespace calm::check
