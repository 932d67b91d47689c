// region_record.hpp — what the kernel knows of a region.
// Laws:    REG-1..10, CAN-5, CAN-6, OUT-4, OBL-3
// Threads: who may touch which field stands beside it
// Cancel:  reason and epoch are here; a region's tasks share its reason
//
//   word    anywhere, one atomic step each
//   gate    under the lock bit of the gate
//   B, C    under that shard
//   fixed   written before the region is published, read anywhere after
// A slot is renewed under its gate's lock bit, so whoever holds that bit and has compared the generation has the region.
#pragma once

#include <cstdint>
#include <memory>

#include "calm/kernel/config.hpp"
#include "calm/kernel/end_fold.hpp"
#include "calm/kernel/obligation_record.hpp"
#include "calm/kernel/region_gate.hpp"
#include "calm/kernel/region_heap.hpp"
#include "calm/kernel/task_record.hpp"
#include "calm/lockfree/relaxed.hpp"
#include "calm/mem/slab.hpp"
#include "calm/model/ledger.hpp"
#include "calm/model/region_state.hpp"
#include "calm/model/witness.hpp"

namespace calm::kernel {

/// A list with both ends; a node is in one list at most. It is a ring through the list itself, so no node is the first or the
/// last for who takes it out.
class ChildList {
 public:
  ChildList() noexcept : ends_{.before = &ends_, .after = &ends_} {}
  ChildList(const ChildList&) = delete;
  ChildList& operator=(const ChildList&) = delete;

  /// Gives: nullptr when there is none, here and behind a node.
  [[nodiscard]] ChildLink* first() const noexcept { return behind(ends_); }
  [[nodiscard]] ChildLink* behind(const ChildLink& node) const noexcept {
    return node.after == &ends_ ? nullptr : node.after;
  }

  void append(ChildLink& node) noexcept { insert_before(ends_, node); }
  static void insert_before(ChildLink& place, ChildLink& node) noexcept {
    ChildLink* const before = place.before;
    node.before = before;
    node.after = &place;
    before->after = &node;
    place.before = &node;
  }
  static void remove(const ChildLink& node) noexcept {
    ChildLink* const before = node.before;
    ChildLink* const after = node.after;
    before->after = after;
    after->before = before;
  }

 private:
  ChildLink ends_;
};

template <lockfree::AtomicsPolicy Atomics>
struct alignas(512) RegionRecord {
  template <class T>
  using Relaxed = lockfree::Relaxed<T, Atomics>;
  using Task = TaskRecord<Atomics>;
  using Obligation = ObligationRecord<Atomics>;

  RegionGate<Atomics> gate;                         // word
  Relaxed<std::uint32_t> generation;                // gate to write; 0 before the first life
  RegionId self;                                    // fixed
  Relaxed<RegionState> state{RegionState::closed};  // B to write
  Relaxed<bool> cancelled;                          // B to write: `reason` is there
  bool handle = false;                              // B
  bool advancing = false;                           // B: in the line of regions that may move
  ChildList tasks;                                  // gate
  std::uint64_t children_made = 0;                  // gate
  EndFold fold;                                     // gate; B once Closed

  RegionRecord* parent = nullptr;       // fixed
  RegionRecord* first_child = nullptr;  // B
  RegionRecord* last_child = nullptr;   // B
  RegionRecord* before = nullptr;       // B: sibling
  RegionRecord* after = nullptr;        // B: sibling
  RegionRecord* link = nullptr;         // B: line of regions that may move; the slab's while the slot is free
  std::uint64_t creation = 0;           // fixed: place among the children of the parent
  Reason reason;                        // B
  Reason child_reason;                  // B: what its child regions are told, made from `reason`
  ReasonReserve reserve;                // B
  Epoch epoch;                          // B
  Budget cleanup;                    // B: what clean-up may use, by value, so that it holds without memory for a reason
  Task* finalizers = nullptr;        // B: newest first
  std::uint32_t cleanup_live = 0;    // B: clean-up tasks that run
  ChildList cleanup_tasks;           // B: the same, as a list
  std::unique_ptr<RegionHeap> heap;  // B
  Relaxed<std::uint64_t> waiter;     // B to write: a task woken at Closed

  Budget budget;                              // fixed
  Limits limits;                              // fixed
  std::uint32_t plain_tasks = 0;              // fixed: how many may be in it that ask for nothing, see set_limits()
  TaskId owner;                               // fixed
  Duration cleanup_time;                      // fixed
  FoldPolicy policy = FoldPolicy::fail_fast;  // fixed
  CleanupMode cleanup_mode = CleanupMode::bounded;  // fixed
  Escalation escalation = Escalation::drop;         // fixed
  ReportsTo reports_to = ReportsTo::parent;         // fixed

  Ledger ledger;                  // C: recorded ones
  Obligation* unowned = nullptr;  // C: those held by a service or by nobody
  std::uint64_t leaked = 0;       // C: how many were lost here

  using SlabType = mem::Slab<RegionRecord, &RegionRecord::link, Atomics>;

  [[nodiscard]] std::uint32_t index() const noexcept { return SlabType::index_of(*this); }
  /// Needs: the region's own life: fixed in it.
  [[nodiscard]] RegionId id() const noexcept { return self; }

  /// What tasks and regions in it are bounded by. A task that asks for nothing has nothing to be met with where the region
  /// has no budget either, and one look tells that together with whether there is room.
  void set_limits(const Budget& its_budget, const Limits& its_limits) noexcept {
    budget = its_budget;
    limits = its_limits;
    const std::uint64_t room = its_limits.tasks < GateView::count_max ? its_limits.tasks : GateView::count_max;
    plain_tasks = its_budget.is_infinite() ? static_cast<std::uint32_t>(room) : 0;
  }
};

static_assert(sizeof(RegionRecord<lockfree::RealAtomics>) == 512);

}  // namespace calm::kernel
