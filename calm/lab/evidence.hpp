// evidence.hpp — what the oracles look at: a run as it was, when it is over.
// Laws:    LAB-6
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calm/kernel/finding.hpp"
#include "calm/kernel/futurelock.hpp"
#include "calm/kernel/snapshot.hpp"
#include "calm/lab/names.hpp"
#include "calm/sched/lane.hpp"
#include "calm/trace/reader.hpp"

namespace calm::lab {

/// An alarm that went off.
struct FiredAlarm {
  TaskId task{};
  Time wanted{};            ///< as it was armed
  Time fired{};             ///< the clock at that moment
  std::uint64_t armed = 0;  ///< the how manieth arming of the run
  std::uint64_t batch = 0;  ///< those that went off together have the same
};

/// A dispatch of a task whose deadline had passed and that nobody had cancelled.
struct OverdueTask {
  TaskId task{};
  Time deadline{};
  std::uint64_t before = 0;  ///< the last event before the dispatch
};

/// A dispatch that lanes chose.
struct LaneDispatch {
  TaskId task{};
  sched::Lane lane{};
  std::uint64_t waited = 0;  ///< dispatches since it became runnable
  std::uint64_t bound = 0;   ///< of them, in the ready lane, by the number of ready tasks when it became runnable
  std::uint32_t limit = 0;   ///< of a streak of cancel work at that moment
  bool others = false;       ///< work waited that was no cancel work
};

struct Evidence {
  kernel::Snapshot snapshot{};  ///< at the end
  trace::Trace trace{};
  Names names{};
  std::vector<FiredAlarm> alarms{};               ///< in the order in which they went off
  std::vector<OverdueTask> overdue{};             ///< by ascending `before`
  std::vector<LaneDispatch> dispatches{};         ///< where lanes chose
  std::vector<kernel::Finding> findings{};        ///< what the kernel noticed, forced ends left out
  std::vector<kernel::Futurelock> futurelocks{};  ///< found on the way
  std::vector<TaskId> lost_wakes{};               ///< parked tasks whose wait turned out to be over
  bool quiet = true;                              ///< it ended as it should
  bool stuck = false;                             ///< nothing was runnable and no alarm was armed, and it had not ended
};

}  // namespace calm::lab
