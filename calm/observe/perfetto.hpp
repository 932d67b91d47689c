// perfetto.hpp — a trace in the trace-event JSON that ui.perfetto.dev and chrome://tracing open.
// Laws:    LAB-9
// Threads: pure functions
// Cancel:  an asynchronous slice on the row of the task, from the request to its end
//
// Processes are regions and threads their tasks; thread 0 of a region shows its states. Polls and waits are slices, promises
// and cancellations asynchronous slices, everything else instants with all fields of the event. Causes are flows.
#pragma once

#include <cstdint>
#include <string>

#include "calm/trace/names.hpp"

namespace calm::observe {

/// What the axis shows. In the lab time stands still while tasks run, so most of what happens has no length in time.
enum class Axis : std::uint8_t {
  order,  ///< one microsecond an event
  time,   ///< the time of the events; those at one instant are 10 ns apart
};

/// Needs: events by ascending sequence. Gives: the file. Fails: std::bad_alloc.
[[nodiscard]] std::string to_perfetto(const trace::Trace& trace, const trace::Names& names = {},
                                      Axis axis = Axis::order);

}  // namespace calm::observe
