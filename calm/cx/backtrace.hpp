// backtrace.hpp — where a suspended task stands: its chain of awaiting coroutines, innermost first.
// Laws:    OBS-1 (the await site)
// Threads: by whoever may touch the task's frames: its poller, or the host while the task is parked
// Cancel:  not applicable
#pragma once

#include <source_location>
#include <string>

#include "calm/cx/task_root.hpp"

namespace calm::cx {

/// Gives: the task on one line, then one line for each of its frames, innermost first:
///          t4 "loader" of r2
///            #0 fetch.cpp:31 in calm::Task<Page> fetch(calm::Cx, Url)
///            #1 load.cpp:12 in calm::Task<Page> load(calm::Cx, Url)
/// Fails: std::bad_alloc.
[[nodiscard]] std::string backtrace(const TaskRoot& root);

/// Gives: the last part of the path and the line, `fetch.cpp:31`; `nowhere` for a place that names none.
[[nodiscard]] std::string short_place(const std::source_location& site);

}  // namespace calm::cx
