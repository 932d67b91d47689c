// text.hpp — events as lines for people.
// Laws:    LAB-2
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <string>

#include "calm/trace/event.hpp"

namespace calm::trace {

/// Gives: one line without its newline, as much of it as the event has:
///          #12 t4 in r1 reserve o3 send permit (cause #9)
///          #13 t4 write c3
///        Time, worker and position are left out, so that lines of two runs can be compared. Any event has a line, also
///        one that no program of this version could have recorded.
std::string to_string(const Event& event);

}  // namespace calm::trace
