// snapshot_steps.hpp — a look at everything at one moment. Definitions for basic_kernel.hpp.
// Laws:    SHD-2 (B→A→C), LAB-12, QUI-1
// Threads: see basic_kernel.hpp; beside running workers a task that is admitted or ends meanwhile may be in it or not
// Cancel:  not applicable
#pragma once

#include <algorithm>
#include <vector>

#include "calm/kernel/kernel.hpp"

namespace calm::kernel {

template <lockfree::AtomicsPolicy Atomics>
TaskView BasicKernel<Atomics>::view_of(const Task& task, const Region& region) const {
  const TaskLife life = task.word.look();
  const auto& terms = task.terms();
  const AwaitPoint await = host_.await_point(task);
  TaskView view{.id = task.id_of(life),
                .region = region.id(),
                .state = life.state(),
                .wake = life.wake(),
                .creation = task.creation,
                .left = task.budget(),
                .cleanup = life.has(TaskFlag::cleanup),
                .started = life.has(TaskFlag::started),
                .forced = life.has(TaskFlag::forced),
                .mask_depth = task.mask_depth(),
                .cleanup_polls = terms.cleanup_polls,
                .cleanup_quota = terms.cleanup_quota,
                .reason = terms.reason,
                .epoch = terms.epoch,
                .last_round = task.last_round.get(),
                .await_site = await.site,
                .waits_for = await.resource,
                .held_by = await.holder,
                .name = std::string(await.name),
                .polled = await.polled};
  if (life.state() == TaskState::completed) view.outcome = life.outcome();
  for (std::uint8_t kind = 0; kind < counted_kind_count; ++kind) view.counted[kind] = task.counted_open(kind);
  return view;
}

/// The region and those in its lists, at one moment: under the gate's bit nobody enters or leaves.
template <lockfree::AtomicsPolicy Atomics>
void BasicKernel<Atomics>::view_region(AllHeld, Region& region, Snapshot& snapshot) const {
  struct GateHold {
    explicit GateHold(RegionGate<Atomics>& locked) noexcept : gate(locked), view(locked.lock()) {}
    GateHold(const GateHold&) = delete;
    GateHold& operator=(const GateHold&) = delete;
    ~GateHold() { gate.unlock(view); }
    RegionGate<Atomics>& gate;
    GateView view;
  };
  const GateHold hold(region.gate);
  const bool closed = region.state.get() == RegionState::closed;
  std::uint64_t waiting = 0;
  for (const Task* task = region.finalizers; task != nullptr; task = task->queue_link) {
    snapshot.tasks.push_back(view_of(*task, region));
    ++waiting;
  }
  for (const ChildList* list : {&region.tasks, &region.cleanup_tasks}) {
    for (const ChildLink* link = list->first(); link != nullptr; link = list->behind(*link)) {
      snapshot.tasks.push_back(view_of(*static_cast<const Task*>(link), region));
    }
  }
  snapshot.regions.push_back({.id = region.id(),
                              .parent = region.parent == nullptr || closed ? RegionId() : region.parent->id(),
                              .state = region.state.get(),
                              .creation = region.creation,
                              .children_made = region.children_made,
                              .live_tasks = hold.view.tasks(),
                              .live_regions = hold.view.regions(),
                              .live_cleanup = region.cleanup_live,
                              .waiting_finalizers = waiting,
                              .body = hold.view.body(),
                              .handle = region.handle,
                              .owner = region.owner,
                              .budget = region.budget,
                              .policy = region.policy,
                              .reason = region.reason,
                              .epoch = region.epoch,
                              .cleanup = region.cleanup,
                              .end = region.fold.end(),
                              .ledger = region.ledger,
                              .leaked = region.leaked,
                              .heap_bytes = region.heap == nullptr ? 0 : region.heap->used()});
}

template <lockfree::AtomicsPolicy Atomics>
Snapshot BasicKernel<Atomics>::snapshot(Worker& worker) {
  Snapshot snapshot;
  const Locked<Operation::snapshot> held(shards_, worker.order());
  snapshot.now = worker.now();
  snapshot.round = worker.round();
  snapshot.pending_timers = host_.pending_timers();
  snapshot.undrained_channels = host_.undrained_channels();
  regions_.for_each([&](Region& region) {
    const bool gone = region.state.get() == RegionState::closed && !region.handle;
    if (region.generation.get() != 0 && !gone) view_region(held, region, snapshot);
  });
  tasks_.for_each([&](const Task& task) {
    const TaskLife life = task.word.look();
    if (!life.has(TaskFlag::left) || !life.has(TaskFlag::handle)) return;
    snapshot.tasks.push_back({.id = task.id_of(life),
                              .state = life.state(),
                              .wake = life.wake(),
                              .forced = life.has(TaskFlag::forced),
                              .outcome = life.outcome()});
  });
  obligations_.for_each([&](const Obligation& obligation) {
    if (obligation.free() || obligation.generation == 0) return;
    snapshot.obligations.push_back(
        {.id = obligation.id(),
         .region = obligation.state == ObligationState::reserved ? obligation.region->id() : RegionId(),
         .kind = obligation.kind,
         .state = obligation.state,
         .holder = obligation.holder(),
         .resource = obligation.resource,
         .since = obligation.since,
         .site = obligation.site});
  });
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::sort(snapshot.regions.begin(), snapshot.regions.end(), by_id);
  // A task that left between the two looks was seen twice; the first look, which knows its region, saw more of it.
  std::sort(snapshot.tasks.begin(), snapshot.tasks.end(), [](const TaskView& x, const TaskView& y) {
    return x.id != y.id ? x.id < y.id : bool(x.region) && !bool(y.region);
  });
  std::sort(snapshot.obligations.begin(), snapshot.obligations.end(), by_id);
  const auto same = [](const TaskView& a, const TaskView& b) { return a.id == b.id; };
  snapshot.tasks.erase(std::unique(snapshot.tasks.begin(), snapshot.tasks.end(), same), snapshot.tasks.end());
  return snapshot;
}

template <lockfree::AtomicsPolicy Atomics>
Outcome<trace::Trace> BasicKernel<Atomics>::trace() const {
  std::vector<const trace::Ring*> rings;
  rings.reserve(config_.workers);
  for (std::uint16_t i = 0; i < config_.workers; ++i) rings.push_back(&workers_[i]->ring());
  return trace::read_rings(rings);
}

}  // namespace calm::kernel
