// host.hpp — the kernel's one door out: schedule this task, mind that deadline, hear this.
// Laws:    LAB-1 (production and lab differ behind this door only), HND-3 (nothing here can be refused), QUI-1
// Threads: called by whichever worker does the operation, some functions with shard locks held
// Cancel:  not applicable
//
// Waiting for a task or a region is a wake of the waiting task, so `schedule` covers "wake that waiter"; events go to the
// worker's recorder. Queue entries should carry the id: an entry for a life that has ended is stale.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "calm/kernel/config.hpp"
#include "calm/kernel/finding.hpp"
#include "calm/kernel/task_record.hpp"
#include "calm/kernel/worker.hpp"

namespace calm::kernel {

/// Where a parked task stands, for people and for the futurelock detector.
struct AwaitPoint {
  Site site{};
  trace::ResourceId resource{};  ///< what it waits for; none when that is not known
  TaskId holder{};               ///< who has that; none when several may have it, or it is not known
  std::string_view name{};       ///< of the task, for people; good as long as the task is there
  std::optional<Time> polled{};  ///< when its last poll began, to a millisecond or so; none when that is not known
};

template <lockfree::AtomicsPolicy Atomics>
class Host {
 public:
  using Task = TaskRecord<Atomics>;

  /// Puts the task into a queue; its place there is its queue_link, so there is always one. The kernel calls this once
  /// for each time a task becomes runnable; the next begin_poll() makes the entry used up.
  /// Needs: no call back into the kernel; locks of shards may be held.
  virtual void schedule(Worker& worker, Task& task) noexcept = 0;

  /// The task has a deadline: budget's or clean-up's. At that time, or later, deadline_reached() must be called; a task
  /// that has ended by then is found by its id. An earlier deadline for the same task may follow a later one.
  /// Needs: as schedule.
  virtual void watch(Worker& worker, TaskId task, Time deadline) noexcept = 0;

  /// The same for all tasks that are in this region now, which is cancelled: they have one deadline for clean-up, and a walk
  /// through thousands of them need not tell of each. Gives: false when it wants to hear of each; then this was nothing.
  virtual bool watch_all(Worker& /*worker*/, RegionId /*region*/, Time /*deadline*/) noexcept { return false; }

  /// Needs: as schedule. The finding is borrowed.
  virtual void report(Worker& worker, const Finding& finding) noexcept = 0;

  /// Where a parked task waits. Needs: as schedule; the task is in a list of its region, whose gate is held, so its frame is
  /// there: it is let go after the task has left.
  [[nodiscard]] virtual AwaitPoint await_point(const Task& task) const noexcept = 0;

  /// The clean-up budget of a task is used up, and its frames are to go, all or those of a scope (CAN-8). Gives: false while
  ///        something outside uses what is in them, a call that blocks; what has not begun is taken back instead. The host wakes
  ///        the task when that is over, and then it is asked again.
  /// Needs: the poll of the task, no lock of a shard; no call back into the kernel.
  [[nodiscard]] virtual bool take_frames_back(const Task& /*task*/) noexcept { return true; }

  /// What else must be quiet: armed timers and messages in registered channels (QUI-1).
  [[nodiscard]] virtual std::uint64_t pending_timers() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t undrained_channels() const noexcept = 0;

 protected:
  ~Host() = default;
};

}  // namespace calm::kernel
