// snapshots.hpp — snapshots made by hand: a lawful one to start from, and short names for its parts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "calm/kernel/snapshot.hpp"
#include "calm/kernel/view_text.hpp"

namespace calm::kernel::test {

using lockfree::WakeState;

inline RegionId region(std::uint32_t number) { return {number, Generation()}; }
inline TaskId task(std::uint32_t number) { return {number, Generation()}; }
inline ObligationId promise(std::uint32_t number) { return {number, Generation()}; }
inline ChannelId channel(std::uint32_t number) { return {number, Generation()}; }
inline TimerId timer(std::uint32_t number) { return {number, Generation()}; }

inline Reason stop(CancelKind kind = CancelKind::user, std::string_view message = "stop", std::uint64_t second = 2) {
  return Reason({.kind = kind, .region = region(1), .at = Time::at_ns(second * 1'000'000'000), .message = message});
}

/// A root that is Open and has nothing in it.
inline Snapshot empty_root() {
  Snapshot snapshot;
  snapshot.now = Time::at_ns(3'000'000'000);
  snapshot.round = 5000;
  snapshot.regions.push_back({.id = region(1), .handle = true});
  return snapshot;
}

/// The same, Closed.
inline Snapshot quiet() {
  Snapshot snapshot = empty_root();
  snapshot.regions[0].state = RegionState::closed;
  return snapshot;
}

/// Adds a region as the next child of its parent. Needs: the parent is there, and ids are added in their order.
inline RegionView& add_region(Snapshot& snapshot, std::uint32_t number, std::uint32_t parent) {
  RegionView& above = *const_cast<RegionView*>(snapshot.find(region(parent)));
  const std::uint64_t place = above.children_made++;
  ++above.live_regions;
  return snapshot.regions.emplace_back(
      RegionView{.id = region(number), .parent = region(parent), .creation = place, .handle = true});
}

/// Adds a task that runs and is parked, in the same way.
inline TaskView& add_task(Snapshot& snapshot, std::uint32_t number, std::uint32_t in) {
  RegionView& owner = *const_cast<RegionView*>(snapshot.find(region(in)));
  const std::uint64_t place = owner.children_made++;
  ++owner.live_tasks;
  return snapshot.tasks.emplace_back(TaskView{.id = task(number),
                                              .region = region(in),
                                              .state = TaskState::running,
                                              .creation = place,
                                              .started = true,
                                              .last_round = snapshot.round});
}

/// Adds a Reserved promise, in the same way.
inline ObligationView& add_promise(Snapshot& snapshot, std::uint32_t number, ObligationKind kind, std::uint32_t of,
                                   Holder holder, trace::ResourceId about = {}) {
  (void)const_cast<RegionView*>(snapshot.find(region(of)))->ledger.reserve(kind);
  return snapshot.obligations.emplace_back(ObligationView{.id = promise(number),
                                                          .region = region(of),
                                                          .kind = kind,
                                                          .holder = holder,
                                                          .resource = about,
                                                          .since = Time::at_ns(1'000'000'000)});
}

/// Makes the task one that was asked to stop.
inline void request(TaskView& view, const Reason& reason, std::uint64_t epoch = 7) {
  view.state = TaskState::cancel_requested;
  view.reason = reason;
  view.epoch = {epoch};
  if (!reason) return;
  view.left.deadline = reason.cleanup().deadline;
  view.left.priority = reason.cleanup().priority;
  view.cleanup_quota = static_cast<std::uint16_t>(reason.cleanup().polls.count());
}

/// r1 with r2 below it; t1 in r1, t2 and t3 in r2; t2 holds a send permit of c3, the reactor works for t3.
inline Snapshot family() {
  Snapshot snapshot = empty_root();
  add_region(snapshot, 2, 1);
  add_task(snapshot, 1, 1);
  add_task(snapshot, 2, 2);
  add_task(snapshot, 3, 2).wake = WakeState::queued;
  add_promise(snapshot, 1, ObligationKind::send_permit, 2, task(2), channel(3));
  add_promise(snapshot, 2, ObligationKind::io_operation, 2, Holder(Service::reactor, task(3)));
  return snapshot;
}

}  // namespace calm::kernel::test
