// html.hpp — a trace as one HTML file: a timeline that opens from disk, asks no network, and explains what is clicked.
// Laws:    LAB-9
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <string>
#include <string_view>

#include "calm/trace/names.hpp"

namespace calm::observe {

/// Needs: events by ascending sequence. Names and title may be any text: none of it can break out of the page.
/// Gives: the file. Fails: std::bad_alloc.
[[nodiscard]] std::string to_html(const trace::Trace& trace, const trace::Names& names = {},
                                  std::string_view title = "calm trace");

}  // namespace calm::observe
