// futurelock.hpp — finds tasks that hold promises, are polled no more, and wait for what only they or another such task can give.
// Laws:    OBL-7
// Threads: pure functions over snapshots
// Cancel:  not applicable
//
// The wait graph: a parked task waits for a resource; what the resource depends on are tasks again:
//   a task         itself
//   a region       its live tasks and, through child regions that are not Closed, theirs; holders of its promises
//   a promise      its holder
//   anything else  the holders of the Reserved promises about it; a registered object counts as one, whatever its part
//   a timer        nobody: time goes on
// A task is stopped when it is parked and was not polled for the bound. Who waits for a timer, or has a service at work for
// it, will be polled again and does not count as stopped. A task that is stopped and holds a promise, with a record or
// counted, is reported when the graph leads from it to itself or to another task that is stopped. Counted promises have
// no resource and so no place in the graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calm/kernel/snapshot.hpp"

namespace calm::kernel {

/// One step of a wait: this task waits for that resource, and the resource depends on `next`.
struct WaitStep {
  TaskId task{};
  RegionId region{};
  Site await_site{};
  trace::ResourceId waits_for{};
  ObligationId
      through{};  ///< the promise that `next` holds; none when `next` is waited for itself, or as part of a region
  ObligationKind kind = ObligationKind::custom;  ///< of that promise
  Site made_at{};                                ///< where it was made
  TaskId next{};
};

/// A promise that the reported task holds.
struct HeldPromise {
  ObligationId id{};  ///< none for counted ones
  ObligationKind kind = ObligationKind::custom;
  std::uint64_t count = 1;
  trace::ResourceId resource{};
  Site made_at{};
};

struct Futurelock {
  TaskId task{};
  std::uint32_t rounds = 0;  ///< since its last poll
  std::vector<HeldPromise> holds{};
  std::vector<WaitStep> chain{};  ///< the shortest way; each step goes on at the task where the one before ended

  /// Gives: true when the task waits for itself; else for a task that is polled no more.
  [[nodiscard]] bool is_cycle() const noexcept { return chain.back().next == task; }
};

/// Gives: one for each task that is caught, by ascending id, after at least `rounds` rounds without a poll. Rounds wrap; one
///        that is ahead of the snapshot's, on another worker, is no age at all. Fails: std::bad_alloc.
[[nodiscard]] std::vector<Futurelock> find_futurelocks(const Snapshot& snapshot,
                                                       std::uint32_t rounds = futurelock_rounds);

/// The same by time, where it runs faster than rounds: a task counts as not polled when it was parked in `earlier`, still is,
/// and was in no round polled in between, with at least `bound` between the two. Fails: std::bad_alloc.
[[nodiscard]] std::vector<Futurelock> find_futurelocks(const Snapshot& earlier, const Snapshot& snapshot,
                                                       Duration bound);

/// Gives: the wait graph in lines, with names, await sites and creation sites, and no newline at the end.
std::string to_string(const Futurelock& futurelock);

}  // namespace calm::kernel
