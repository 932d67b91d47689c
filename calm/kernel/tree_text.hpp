// tree_text.hpp — a snapshot as a tree for people: regions, their tasks and promises, and who waits for whom.
// Laws:    OBS-1
// Threads: pure functions over a snapshot
// Cancel:  not applicable
#pragma once

#include <string>

#include "calm/kernel/snapshot.hpp"

namespace calm::kernel {

/// Gives: one line for all of it, then a line for each region, task and promise below what owns it, two columns further in,
///        then the waits whose end one task can bring about; no newline at the end:
///          calm: 2 regions, 2 tasks, 1 promise, 0 timers at 1.5s
///          r1 Open
///            t1 Running, parked at main.cpp:12, waits for r2
///            r2 Draining, cancelled: Shutdown
///              t4 Cancelling, parked at worker.cpp:88, waits for c3, held by t1
///                o5 send permit (c3, since 1.5s, made at worker.cpp:71)
///          t4 waits for t1
[[nodiscard]] std::string tree_text(const Snapshot& snapshot);

}  // namespace calm::kernel
