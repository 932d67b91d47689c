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
#include "calm/kernel/counted_kinds.hpp"
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

template <lockfree::AtomicsPolicy Atomics>
struct alignas(128) TaskRecord : ChildLink {
  template <class T>
  using Relaxed = lockfree::Relaxed<T, Atomics>;

  TaskWord<Atomics> word;         // word
  Relaxed<std::uint32_t> region;  // fixed: index of the region's record
  Relaxed<std::uint32_t> held;    // C: index of the first obligation it holds, 0 for none

  std::uint64_t creation = 0;          // fixed: place among the children of the region
  Relaxed<std::uint64_t> deadline_ns;  // fixed, as Deadline::raw(); A from the first request on: that of clean-up
  Relaxed<std::uint64_t> polls;        // poll: left, as Quota::raw()
  Relaxed<std::uint64_t> cost;         // poll: left, as Quota::raw()
  Reason reason;                       // A
  Epoch epoch;                         // A

  // Promises without a record. Each is made in the holder's poll; the token may be settled elsewhere.
  // One word of four lanes: what a processor has just written it reads back at once, but not in pieces of 16 bits.
  Relaxed<std::uint64_t>
      tally;  // poll: for each counted kind those made less those settled in its own polls; mask polls
  Relaxed<std::uint16_t>
      settled_away[counted_kind_count];  // A: settled by others; with LocalAtomics `tally` has it all
  std::uint16_t cleanup_polls = 0;       // A: since the request

  void* frame = nullptr;  // fixed: the host's
  Relaxed<std::uint64_t>
      waiter;  // the joiner, published by the flag `awaited`; once it has ended under a cancel, its region
  TaskRecord* queue_link = nullptr;  // whoever made it queued; the region while it waits as a finalizer; the slab

  Relaxed<std::uint32_t> last_round;  // poll: when it was last polled
  Relaxed<std::uint8_t> priority;     // fixed; A from the first request on
  Relaxed<std::uint8_t> mask_depth;   // poll
  std::uint16_t cleanup_quota = 0;    // A: polls that clean-up may take

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
    const std::uint64_t own = tally.get() << lane_bits;  // without the mask polls
    if constexpr (!Atomics::shared) return own != 0;
    return own != 0 || (settled_away[0].get() | settled_away[1].get() | settled_away[2].get()) != 0;
  }
  /// Gives: how many of a kind are open; exact under shard A, and in the task's own poll.
  [[nodiscard]] std::uint16_t counted_open(std::uint8_t kind) const noexcept {
    if constexpr (!Atomics::shared) return lane(kind);
    return static_cast<std::uint16_t>(lane(kind) - settled_away[kind].get());
  }
  /// One more or one less of a kind. Needs: the task's own poll; fewer than 65535 are open, or one at least.
  void count_up(std::uint8_t kind) noexcept { change_lane(kind, one_of(kind)); }
  void count_down(std::uint8_t kind) noexcept { change_lane(kind, ~one_of(kind) + 1); }
  /// The same in as few steps as can be. Gives: false, and nothing is done, when it takes more than that: the kernel's steps do
  /// it then, or say why not.
  [[nodiscard]] bool try_count_up(std::uint8_t kind) noexcept {
    const std::uint64_t was = tally.get();
    const std::uint64_t many = one_of(kind) << (lane_bits - 1);
    if ((was & many) != 0 || settled_away[kind].get() != 0) [[unlikely]]
      return false;
    tally.set(was + one_of(kind));
    return true;
  }
  [[nodiscard]] bool try_count_down(std::uint8_t kind) noexcept {
    const std::uint64_t was = tally.get();
    if ((was & UINT16_MAX * one_of(kind)) == 0 || settled_away[kind].get() != 0) [[unlikely]]
      return false;
    tally.set(was - one_of(kind));
    return true;
  }
  void forget_counted() noexcept {
    tally.set(tally.get() & ~all_counted);
    for (auto& settled : settled_away) settled.set(0);
  }

  /// Polls begun under the present mask. Needs: the task's own poll.
  [[nodiscard]] std::uint16_t mask_polls() const noexcept { return lane(counted_kind_count); }
  void set_mask_polls(std::uint16_t begun) noexcept {
    tally.set((tally.get() & all_counted) | std::uint64_t{begun} * one_of(counted_kind_count));
  }

 private:
  static constexpr unsigned lane_bits = 16;
  static constexpr std::uint64_t all_counted = (std::uint64_t{1} << lane_bits * counted_kind_count) - 1;
  static_assert(lane_bits * (counted_kind_count + 1) == 64, "three counts and the polls of a mask");

  static constexpr std::uint64_t one_of(std::uint8_t kind) noexcept { return std::uint64_t{1} << lane_bits * kind; }
  [[nodiscard]] std::uint16_t lane(std::uint8_t kind) const noexcept {
    return static_cast<std::uint16_t>(tally.get() >> lane_bits * kind);
  }
  void change_lane(std::uint8_t kind, std::uint64_t by) noexcept {
    const std::uint64_t was = tally.get();
    if constexpr (!Atomics::shared) {
      tally.set(was + by);
    } else {  // those settled elsewhere are not taken away here: a lane may go round
      const std::uint64_t mask = UINT16_MAX * one_of(kind);
      tally.set((was & ~mask) | ((was + by) & mask));
    }
  }
};

static_assert(sizeof(TaskRecord<lockfree::RealAtomics>) == 128, "a task at rest costs 128 bytes beside its frame");

}  // namespace calm::kernel
