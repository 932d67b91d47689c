// text.hpp — events as lines for people, and the names of records read back.
// Laws:    LAB-2, LAB-12 (how a digest is written)
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "calm/trace/event.hpp"

namespace calm::trace {

/// Gives: one line without its newline, as much of it as the event has:
///          #12 t4 in r1 reserve o3 send permit (cause #9)
///          #13 t4 write c3
///        Time, worker and position are left out, so that lines of two runs can be compared. Any event has a line, also
///        one that no program of this version could have recorded.
std::string to_string(const Event& event);

/// Gives: what the argument of an event says, `Closing to Draining`, `User severity 0`; empty for a plain zero.
std::string argument_text(const Event& event);

/// Gives: the resource that to_string() gives this very text for, or nothing; `none` is none of them.
std::optional<ResourceId> resource_in(std::string_view text) noexcept;

/// Gives: a digest in 16 hexadecimal digits.
std::string digest_text(std::uint64_t digest);

}  // namespace calm::trace
