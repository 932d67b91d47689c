// task_record.hpp — what the kernel knows of every task, in 64 bytes that are the slot of its handle.
// Laws:    HND-1, TSK-1, TSK-6, BUD-5, CAN-8, CAN-12, OBL-2
// Threads: who may touch which field stands beside it
// Cancel:  what a request leaves behind stands in the terms of the task
//
//   word     anywhere, one atomic step each (task_word.hpp)
//   gate     under the lock bit of the region's gate
//   poll     by the one who polls the task; before the first poll by the one who admits it. Others may glance (Relaxed)
//   A        under shard A of the record's home worker
//   C        under shard C
//   fixed    written before the task is published, read anywhere after
#pragma once

#include <cstdint>

#include "calm/kernel/config.hpp"
#include "calm/kernel/counted_kinds.hpp"
#include "calm/kernel/task_terms.hpp"
#include "calm/kernel/task_word.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/relaxed.hpp"
#include "calm/mem/slab.hpp"
#include "calm/model/budget.hpp"

namespace calm::kernel {

/// Place in a region's list of tasks.
struct ChildLink {
  ChildLink* before = nullptr;  // gate
  ChildLink* after = nullptr;   // gate
};

template <lockfree::AtomicsPolicy Atomics>
struct alignas(64) TaskRecord : ChildLink {
  template <class T>
  using Relaxed = lockfree::Relaxed<T, Atomics>;
  using Terms = TaskTerms<Atomics>;

  TaskWord<Atomics> word;             // word
  Relaxed<std::uint32_t> region;      // fixed: index of the region's record
  Relaxed<std::uint32_t> last_round;  // poll: when it was last polled
  std::uint64_t creation = 0;         // fixed: place among the children of the region

  // Bits 0..47: promises without a record, 16 for each counted kind: those made less those settled in its own polls. Each is made in
  // the holder's poll; the token may be settled elsewhere, see settled_away. What a processor has just written it reads back at once,
  // but not in pieces of 16 bits: so it is one word.
  // Bits 48..61: polls begun under the present mask. Bit 62: it has had promises with a record. Bit 63: it is masked.
  Relaxed<std::uint64_t> tally;  // poll

  void* frame = nullptr;             // fixed: the host's
  TaskRecord* queue_link = nullptr;  // whoever made it queued; the region while it waits as a finalizer; the slab

  using SlabType = mem::Slab<TaskRecord, &TaskRecord::queue_link, Atomics, Terms>;

  [[nodiscard]] std::uint32_t index() const noexcept { return SlabType::index_of(*this); }
  [[nodiscard]] std::uint16_t home() const noexcept { return static_cast<std::uint16_t>(SlabType::home_of(*this)); }
  [[nodiscard]] Terms& terms() noexcept { return SlabType::aside_of(*this); }
  [[nodiscard]] const Terms& terms() const noexcept { return SlabType::aside_of(*this); }

  /// Gives: the id of the present life.
  [[nodiscard]] TaskId id() const noexcept { return id_of(word.look()); }
  [[nodiscard]] TaskId id_of(TaskLife life) const noexcept { return {index(), Generation(life.generation())}; }

  /// Gives: what is left of its budget, as its terms say.
  [[nodiscard]] Budget budget() const noexcept { return terms().budget(); }
  [[nodiscard]] Deadline deadline() const noexcept { return Deadline::from_raw(terms().deadline.raw()); }
  [[nodiscard]] std::uint8_t priority() const noexcept { return terms().priority.get(); }

  // --- promises ---

  /// Gives: true when the task has made no promise that it did not settle itself, as far as a look at one word tells.
  [[nodiscard]] bool looks_free() const noexcept { return (tally.get() & (all_counted | recorded_bit)) == 0; }
  /// Gives: true when the task has made counted promises that it did not settle itself.
  [[nodiscard]] bool has_counted() const noexcept { return (tally.get() & all_counted) != 0; }
  /// Gives: how many of a kind are open; exact under shard A, and in the task's own poll.
  [[nodiscard]] std::uint16_t counted_open(std::uint8_t kind) const noexcept {
    if constexpr (!Atomics::shared) return lane(kind);
    const std::uint16_t made = lane(kind);
    const std::uint16_t away = terms().settled_away[kind].get();
    return made > away ? static_cast<std::uint16_t>(made - away) : std::uint16_t{0};  // less: the poll has yet to tell
  }
  /// One more or one less of a kind. Needs: the task's own poll; less than 65535 in its lane, or one at least.
  void count_up(std::uint8_t kind) noexcept { tally.set(tally.get() + one_of(kind)); }
  void count_down(std::uint8_t kind) noexcept {
    CALM_SLOW(OBL_3, lane(kind) != 0, kind);
    tally.set(tally.get() - one_of(kind));
  }
  /// The same in as few steps as can be. Gives: false, and nothing is done, when it takes more than that: the kernel's steps do
  /// it then, or say why not.
  [[nodiscard]] bool try_count_up(std::uint8_t kind) noexcept {
    const std::uint64_t was = tally.get();
    const std::uint64_t many = one_of(kind) << (lane_bits - 1);
    if ((was & many) != 0) [[unlikely]]
      return false;
    tally.set(was + one_of(kind));
    return true;
  }
  [[nodiscard]] bool try_count_down(std::uint8_t kind) noexcept {
    const std::uint64_t was = tally.get();
    if ((was & UINT16_MAX * one_of(kind)) == 0) [[unlikely]]
      return false;
    tally.set(was - one_of(kind));
    return true;
  }
  /// Gives: true when its lane of a kind has no room, whatever others have settled.
  [[nodiscard]] bool is_lane_full(std::uint8_t kind) const noexcept { return lane(kind) == UINT16_MAX; }
  /// Takes what others have settled out of its lane. Needs: shard A, and the task's own poll.
  void take_home(std::uint8_t kind) noexcept {
    tally.set(tally.get() - terms().settled_away[kind].get() * one_of(kind));
    terms().settled_away[kind].set(0);
  }
  void forget_counted() noexcept {
    if (!has_counted()) return;
    tally.set(tally.get() & ~all_counted);
    for (auto& settled : terms().settled_away) settled.set(0);
  }
  /// One with a record, of the running task. Needs: its own poll.
  void note_record() noexcept { tally.set(tally.get() | recorded_bit); }
  /// Gives: true when it made one itself and that is open. Those that were handed to it the word tells of.
  [[nodiscard]] bool holds_record() const noexcept {
    return (tally.get() & recorded_bit) != 0 && terms().held.get() != 0;
  }

  // --- masks. Needs: the task's own poll, or a glance ---

  [[nodiscard]] bool is_masked() const noexcept { return (tally.get() & masked_bit) != 0; }
  [[nodiscard]] std::uint8_t mask_depth() const noexcept { return is_masked() ? terms().mask_depth.get() : 0; }
  void set_mask_depth(std::uint8_t depth) noexcept {
    terms().mask_depth.set(depth);
    tally.set(depth == 0 ? tally.get() & ~masked_bit : tally.get() | masked_bit);
  }
  /// Polls begun under the present mask.
  [[nodiscard]] std::uint16_t mask_polls() const noexcept {
    return static_cast<std::uint16_t>((tally.get() & all_mask_polls) >> mask_polls_shift);
  }
  void set_mask_polls(std::uint16_t begun) noexcept {
    tally.set((tally.get() & ~all_mask_polls) | (std::uint64_t{begun} << mask_polls_shift & all_mask_polls));
  }

 private:
  static constexpr unsigned lane_bits = 16;
  static constexpr unsigned mask_polls_shift = lane_bits * counted_kind_count;
  static constexpr std::uint64_t all_counted = (std::uint64_t{1} << mask_polls_shift) - 1;
  static constexpr std::uint64_t masked_bit = std::uint64_t{1} << 63;
  static constexpr std::uint64_t recorded_bit = std::uint64_t{1} << 62;
  static constexpr std::uint64_t all_mask_polls = recorded_bit - 1 - all_counted;
  static_assert(mask_polls_max < all_mask_polls >> mask_polls_shift, "CAN-12: the cap of a mask's polls is counted to");

  // The last kind, guards of locks, comes first: what is added for one is part of the instruction then.
  static constexpr unsigned shift_of(std::uint8_t kind) noexcept {
    return lane_bits * (counted_kind_count - 1U - kind);
  }
  static constexpr std::uint64_t one_of(std::uint8_t kind) noexcept { return std::uint64_t{1} << shift_of(kind); }
  // OBL-2: no less than what others have settled, so it is 0 only where nothing is open.
  [[nodiscard]] std::uint16_t lane(std::uint8_t kind) const noexcept {
    return static_cast<std::uint16_t>(tally.get() >> shift_of(kind));
  }
};

static_assert(sizeof(TaskRecord<lockfree::RealAtomics>) == 64, "a task at rest costs 64 bytes beside its frame");

}  // namespace calm::kernel
