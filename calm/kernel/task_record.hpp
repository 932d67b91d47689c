// task_record.hpp — what the kernel knows of a task, in 128 bytes that are the slot of its handle.
// Laws:    HND-1, TSK-1, TSK-6, BUD-5, CAN-8, CAN-12, OBL-2
// Threads: who may touch which field stands beside it
// Cancel:  reason, epoch and the polls of clean-up are here
//
//   word     anywhere, one atomic step each (task_word.hpp)
//   gate     under the lock bit of the region's gate
//   poll     by the one who polls the task; before the first poll by the one who admits it. Others may glance (Relaxed)
//   A        under shard A of the record's home worker
//   C        under shard C; the poller may look whether there is anything at all, see held()
//   fixed    written before the task is published, read anywhere after
#pragma once

#include <cstdint>

#include "calm/kernel/config.hpp"
#include "calm/kernel/task_word.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/relaxed.hpp"
#include "calm/mem/slab.hpp"
#include "calm/model/budget.hpp"
#include "calm/model/reason.hpp"
#include "calm/model/witness.hpp"

namespace calm::kernel {

/// Place in a region's list of tasks.
struct ChildLink {
  ChildLink* before = nullptr;  // gate
  ChildLink* after = nullptr;   // gate
};

/// The kinds that are counted and have no record (OBL-2).
inline constexpr ObligationKind counted_kinds[] = {ObligationKind::send_permit, ObligationKind::semaphore_permit,
                                                   ObligationKind::lock_guard};
inline constexpr std::uint8_t counted_kind_count = 3;

/// Gives: the place of a kind among the counted ones, or counted_kind_count for one that has records.
constexpr std::uint8_t counted_index(ObligationKind kind) noexcept {
  for (std::uint8_t i = 0; i < counted_kind_count; ++i) {
    if (counted_kinds[i] == kind) return i;
  }
  return counted_kind_count;
}

template <lockfree::AtomicsPolicy Atomics>
struct alignas(128) TaskRecord : ChildLink {
  TaskWord<Atomics> word;                   // word
  lockfree::Relaxed<std::uint32_t> region;  // fixed: index of the region's record
  lockfree::Relaxed<std::uint32_t> held;    // C: index of the first obligation it holds, 0 for none

  std::uint64_t creation = 0;  // fixed: place among the children of the region
  lockfree::Relaxed<std::uint64_t>
      deadline_ns;                         // fixed, as Deadline::raw(); A from the first request on: that of clean-up
  lockfree::Relaxed<std::uint64_t> polls;  // poll: left, as Quota::raw()
  lockfree::Relaxed<std::uint64_t> cost;   // poll: left, as Quota::raw()
  Reason reason;                           // A
  Epoch epoch;                             // A

  // Promises without a record. Each is made in the holder's poll; the token may be settled elsewhere.
  lockfree::Relaxed<std::uint16_t> counted[counted_kind_count];       // poll: made less settled in its own polls
  std::uint16_t cleanup_polls = 0;                                    // A: since the request
  lockfree::Relaxed<std::uint16_t> settled_away[counted_kind_count];  // A: settled by others
  lockfree::Relaxed<std::uint16_t> mask_polls;                        // poll: begun under the present mask

  void* frame = nullptr;  // fixed: the host's
  lockfree::Relaxed<std::uint64_t>
      waiter;  // the joiner, published by the flag `awaited`; once it has ended under a cancel, its region
  TaskRecord* queue_link = nullptr;  // whoever made it queued; the region while it waits as a finalizer; the slab

  lockfree::Relaxed<std::uint32_t> last_round;  // poll: when it was last polled
  lockfree::Relaxed<std::uint8_t> priority;     // fixed; A from the first request on
  lockfree::Relaxed<std::uint8_t> mask_depth;   // poll
  std::uint16_t cleanup_quota = 0;              // A: polls that clean-up may take

  using SlabType = mem::Slab<TaskRecord, &TaskRecord::queue_link, Atomics>;

  [[nodiscard]] std::uint32_t index() const noexcept { return SlabType::index_of(*this); }
  [[nodiscard]] std::uint16_t home() const noexcept { return static_cast<std::uint16_t>(SlabType::home_of(*this)); }

  /// Gives: the id of the present life.
  [[nodiscard]] TaskId id() const noexcept { return id_of(word.look()); }
  [[nodiscard]] TaskId id_of(TaskLife life) const noexcept { return {index(), Generation(life.generation())}; }

  /// Gives: what is left of the budget that the task was admitted with; once it is under cancellation, with the deadline
  ///        and the priority of its clean-up.
  [[nodiscard]] Budget budget() const noexcept {
    return {.deadline = deadline(),
            .polls = Quota::from_raw(polls.get()),
            .cost = Quota::from_raw(cost.get()),
            .priority = priority.get()};
  }
  [[nodiscard]] Deadline deadline() const noexcept { return Deadline::from_raw(deadline_ns.get()); }
  void set_budget(const Budget& budget) noexcept {
    deadline_ns.set(budget.deadline.raw());
    polls.set(budget.polls.raw());
    cost.set(budget.cost.raw());
    priority.set(budget.priority);
  }

  /// Gives: what is left for clean-up. Needs: shard A, and a request.
  [[nodiscard]] Budget cleanup_left() const noexcept {
    const bool used_up = cleanup_polls >= cleanup_quota;
    return {.deadline = deadline(),
            .polls = Quota(used_up ? 0 : static_cast<std::uint64_t>(cleanup_quota - cleanup_polls)),
            .cost = Quota::infinite(),
            .priority = priority.get()};
  }
  /// Bounds clean-up, for the first time or once more: by value, so that it holds without memory for a reason (CAN-4, CAN-8).
  /// Needs: shard A. Gives: true when that changed something.
  bool bound_cleanup(const Budget& by, bool first) noexcept {
    const std::uint64_t at = by.deadline.raw();
    const auto quota = static_cast<std::uint16_t>(by.polls.raw() < UINT16_MAX ? by.polls.raw() : UINT16_MAX);
    const std::uint64_t met_at = first || at < deadline_ns.get() ? at : deadline_ns.get();
    const std::uint16_t met_quota = first || quota < cleanup_quota ? quota : cleanup_quota;
    const std::uint8_t met_priority = by.priority > priority.get() ? by.priority : priority.get();
    const bool changed =
        first || met_at != deadline_ns.get() || met_quota != cleanup_quota || met_priority != priority.get();
    deadline_ns.set(met_at);
    cleanup_quota = met_quota;
    priority.set(met_priority);
    if (first) cleanup_polls = 0;
    return changed;
  }

  /// Gives: true when the task has made counted promises that it did not settle itself.
  [[nodiscard]] bool has_counted() const noexcept {
    return (counted[0].get() | counted[1].get() | counted[2].get() | settled_away[0].get() | settled_away[1].get() |
            settled_away[2].get()) != 0;
  }
  /// Gives: how many of a kind are open; exact under shard A, and in the task's own poll.
  [[nodiscard]] std::uint16_t counted_open(std::uint8_t kind) const noexcept {
    return static_cast<std::uint16_t>(counted[kind].get() - settled_away[kind].get());
  }
};

static_assert(sizeof(TaskRecord<lockfree::RealAtomics>) == 128, "a task at rest costs 128 bytes beside its frame");

}  // namespace calm::kernel
