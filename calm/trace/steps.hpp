// steps.hpp — the events of a run as steps that commute or not: what the canonical form is made of.
// Laws:    LAB-2, LAB-4
// Threads: a pure function
// Cancel:  not applicable
//
// A step is one poll with everything recorded in it, or what the clock did when it went on. It touches what its events
// touched; it reads the time and the record of its task, which the clock and a cancel request write; the event that led to
// the poll enabled it. Choices of the scheduler are no part of it: they say which order it was, and that is what may differ.
#pragma once

#include <cstddef>
#include <vector>

#include "calm/model/outcome.hpp"
#include "calm/trace/foata.hpp"
#include "calm/trace/reader.hpp"

namespace calm::trace {

/// The steps of a trace, and their events.
struct TraceSteps {
  std::vector<Step> steps{};
  std::vector<std::vector<std::size_t>> events{};  ///< of each step: places in the trace
};

/// Gives: the steps in the order of the trace. A step says kind, access, region, resource and argument of each event.
/// Fails: unsupported for a trace of several workers or without its beginning; std::bad_alloc.
Outcome<TraceSteps> steps_of(const Trace& trace);

}  // namespace calm::trace
