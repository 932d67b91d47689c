// json.hpp — a trace as JSON and back: the form that people read and other programs take in.
// Laws:    LAB-11 (the JSON form; it loses nothing and has the digest of the binary form), LAB-12
// Threads: pure functions
// Cancel:  not applicable
//
// One object, in UTF-8, an event a line. Version 1:
//   format        "calm-trace"
//   version       1
//   overwritten   how many older events are not here
//   digest        the trace digest in 16 hexadecimal digits; may be left out, and is checked when it is there
//   events        by strictly ascending sequence, each an object with
//                   sequence, kind                          always
//                   access, worker, position, time_ns, task, region, resource, cause, argument
//                                                           left out where they are zero or none
//   names         may be left out: {"tasks": {"t4": {"name", "spawn_site", "await_site"}}, "resources": {"r1": "…"}}
// Kinds and accesses are the words of event.hpp, ids those of to_string (`t4`, `t4.2`, `x5/2`). A number beyond 2^53 - 1,
// which many readers of JSON would round, stands as a text of its digits.
#pragma once

#include <string>
#include <string_view>

#include "calm/model/outcome.hpp"
#include "calm/trace/names.hpp"

namespace calm::trace {

/// Needs: events as a recorder makes them, by ascending sequence. Bytes of a name that are no UTF-8 become U+FFFD.
/// Gives: the text. It has no `<`, so it may stand inside a page. Fails: std::bad_alloc.
std::string to_json(const Trace& trace, const Names& names = {});

/// Needs: nothing; the text may come from anywhere. Fields may stand in any order.
/// Gives: the trace and the names that to_json() gave this text for.
/// Fails: protocol, or unsupported for another version, with line, column and field in the message; std::bad_alloc.
Outcome<NamedTrace> from_json(std::string_view text);

}  // namespace calm::trace
