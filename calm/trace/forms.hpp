// forms.hpp — a trace from whatever form it was stored in.
// Laws:    LAB-11
// Threads: a pure function
// Cancel:  not applicable
#pragma once

#include <string_view>

#include "calm/model/outcome.hpp"
#include "calm/trace/names.hpp"

namespace calm::trace {

/// Needs: nothing; the bytes of a file. Its first ones tell the form: those of codec.hpp, or a `{` for json.hpp.
/// Gives: the trace, with names if the form has them.
/// Fails: as decode() and from_json(); protocol when it is neither form; std::bad_alloc.
Outcome<NamedTrace> read_trace(std::string_view bytes);

}  // namespace calm::trace
