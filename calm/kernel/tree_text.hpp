// tree_text.hpp — a snapshot as a tree for people: regions, their tasks and promises, and who waits for whom.
// Laws:    OBS-1
// Threads: pure functions over a snapshot
// Cancel:  not applicable
#pragma once

#include <string>

#include "calm/kernel/snapshot.hpp"

namespace calm::kernel {

/// Gives: one line for all of it, then a line for each region, task and promise below what owns it, two columns further in,
///        then who waits for a task: it is joined, or holds what is waited for; no newline at the end:
///          calm: 2 regions, 3 tasks, 1 promise, 0 timers at 2s
///          r1 Open
///            t1 in r1: Running, parked for 500ms at main.cpp:12, waits for r2
///            r2 Draining, cancelled: Shutdown 250ms ago
///              t4 "reader" in r1/r2: Cancelling, parked for 500ms at worker.cpp:88, waits for what is held by t6
///              t6 in r1/r2: Cancelling, queued, last polled 10ms ago
///                o5 send permit (c3, since 1.5s, made at worker.cpp:71), open for 500ms
///          t4 waits for t6
[[nodiscard]] std::string tree_text(const Snapshot& snapshot);

}  // namespace calm::kernel
