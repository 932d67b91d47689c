// ownership.hpp — a snapshot as assertions about who owns what, and the check that the parts are disjoint and complete.
// Laws:    OBS-4, I1, I2, REG-3..6, OBL-3, HND-1, BUD-3, CAN-5, CAN-10..12
// Threads: pure functions over a snapshot
// Cancel:  not applicable
#pragma once

#include <string>
#include <vector>

#include "calm/kernel/snapshot.hpp"

namespace calm::kernel {

/// Gives: the records as one separating conjunction, a part each line and no newline at the end:
///          region(r1, Open, {deadline none, polls infinite, cost infinite, priority 0})
///          * task(t4, r1, Running)
///          * obligation(o3, send permit, t4, r1)
///        with those parts only that own or are owned: regions that are not Closed, tasks that are alive, promises that are
///        Reserved. `emp` when there is none.
[[nodiscard]] std::string ownership(const Snapshot& snapshot);

/// Gives: what is wrong with the snapshot, a sentence with its law each; nothing when every part has one owner, no owner is
///        gone and all counts agree. Other workers may have gone on meanwhile: a task that is Completed and still named by
///        its region is about to leave it and counts as its child; a region may be Draining with nobody left in it.
/// Needs: what the snapshot says of a region's gate (counts, children made, fold) and its list of tasks are of one moment.
[[nodiscard]] std::vector<std::string> broken_invariants(const Snapshot& snapshot);

}  // namespace calm::kernel
