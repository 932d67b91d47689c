// snapshot_index.hpp — a snapshot read from the other end: the children of a region, what a task holds, who holds a resource.
// Laws:    OBS-1 (what inspection asks for)
// Threads: a value; borrows the snapshot
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "calm/kernel/snapshot.hpp"

namespace calm::kernel {

/// Gives: true until the task is Completed.
inline bool is_alive(const TaskView& task) noexcept { return task.state != TaskState::completed; }

/// Gives: true for a finalizer that waits until the children of its region are gone: wakes have no effect on it, a request
///        may have come.
inline bool is_waiting_finalizer(const TaskView& task) noexcept {
  return task.cleanup && is_alive(task) && task.wake == lockfree::WakeState::done;
}

/// Gives: true when a poll of the task is due or under way.
inline bool is_runnable(const TaskView& task) noexcept {
  return is_alive(task) && task.wake != lockfree::WakeState::idle && task.wake != lockfree::WakeState::done;
}

/// Gives: the promises without a record that the task has open.
inline std::uint64_t counted_total(const TaskView& task) noexcept {
  std::uint64_t total = 0;
  for (const std::uint16_t open : task.counted) total += open;
  return total;
}

/// Gives: the resource without its part: a wait names a part of an object where a promise names the whole.
constexpr trace::ResourceId whole_of(trace::ResourceId resource) noexcept {
  return resource.is_registered() ? trace::ResourceId::registered(resource.object()) : resource;
}

/// Groups of views with the same key, each in the order of the snapshot.
template <class View>
class Groups {
 public:
  void add(std::uint64_t key, const View& view) { entries_.push_back({key, &view}); }
  void sort();

  /// Needs: sort() since the last add(). Gives: pointers into the snapshot.
  [[nodiscard]] std::span<const View* const> of(std::uint64_t key) const noexcept;

 private:
  struct Entry {
    std::uint64_t key;
    const View* view;
  };
  std::vector<Entry> entries_;  // until sort(), then:
  std::vector<std::uint64_t> keys_;
  std::vector<const View*> views_;
};

/// Needs: the snapshot stays as it is while the index lives. Fails: std::bad_alloc.
class SnapshotIndex {
 public:
  explicit SnapshotIndex(const Snapshot& snapshot);

  /// Tasks that are alive.
  [[nodiscard]] std::span<const TaskView* const> tasks_of(RegionId region) const noexcept {
    return tasks_.of(region.bits());
  }
  /// Child regions that are not Closed.
  [[nodiscard]] std::span<const RegionView* const> regions_of(RegionId parent) const noexcept {
    return regions_.of(parent.bits());
  }

  /// Reserved promises: registered to a region; held by a task itself; kept by a service for a task; about a resource.
  [[nodiscard]] std::span<const ObligationView* const> promises_of(RegionId region) const noexcept {
    return by_region_.of(region.bits());
  }
  [[nodiscard]] std::span<const ObligationView* const> held_by(TaskId task) const noexcept {
    return by_holder_.of(task.bits());
  }
  [[nodiscard]] std::span<const ObligationView* const> kept_for(TaskId task) const noexcept {
    return by_client_.of(task.bits());
  }
  [[nodiscard]] std::span<const ObligationView* const> about(trace::ResourceId resource) const noexcept {
    return by_resource_.of(whole_of(resource).bits());
  }

 private:
  Groups<TaskView> tasks_;
  Groups<RegionView> regions_;
  Groups<ObligationView> by_region_;
  Groups<ObligationView> by_holder_;
  Groups<ObligationView> by_client_;
  Groups<ObligationView> by_resource_;
};

}  // namespace calm::kernel
