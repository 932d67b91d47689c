// task_terms.hpp — under what terms a task runs: what most tasks have nothing of, kept beside their records.
// Laws:    BUD-5, CAN-8, CAN-12, OBL-2
// Threads: who may touch which field stands beside it, in the words of task_record.hpp
// Cancel:  reason, epoch and the polls of clean-up are here
//
// A task without a budget that nobody has cancelled or joined, and that has promised nothing, has terms that are all zeros: they are
// memory that was never written, and the system has not given it yet. So a field says with 0 that there is nothing, and who has
// written to one writes zeros again before the slot goes to the next task. Reading is always right; where it is done often the word of
// the task tells that there is nothing to read.
#pragma once

#include <cstdint>
#include <utility>

#include "calm/kernel/counted_kinds.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/relaxed.hpp"
#include "calm/model/budget.hpp"
#include "calm/model/reason.hpp"
#include "calm/model/witness.hpp"

namespace calm::kernel {

template <lockfree::AtomicsPolicy Atomics>
struct alignas(64) TaskTerms {
  template <class T>
  using Relaxed = lockfree::Relaxed<T, Atomics>;

  /// A limit, whose absence is all ones in the model, kept the other way round.
  class Limit {
   public:
    [[nodiscard]] std::uint64_t raw() const noexcept { return ~complement_.get(); }
    /// As Relaxed::seen().
    [[nodiscard]] std::uint64_t seen() const noexcept { return ~complement_.seen(); }
    void set(std::uint64_t raw) noexcept { complement_.set(~raw); }

   private:
    Relaxed<std::uint64_t> complement_;
  };
  static_assert(~Quota::infinite().raw() == 0 && ~Deadline::none().raw() == 0);

  Limit deadline;  // fixed, as Deadline::raw(); A from the first request on: that of clean-up
  Limit polls;     // poll: left, as Quota::raw()
  Limit cost;      // poll: left, as Quota::raw()
  Reason reason;   // A
  Epoch epoch;     // A
  /// The joiner, published by the flag `awaited`; once it has ended under a cancel, its region. What an older task left here is not
  /// looked at.
  Relaxed<std::uint64_t> waiter;
  Relaxed<std::uint32_t> held;  // C, its poller may glance: index of the first obligation it holds, 0 for none
  /// A: promises without a record that others have settled; with LocalAtomics the record's tally has it all.
  Relaxed<std::uint16_t> settled_away[counted_kind_count];
  std::uint16_t cleanup_polls = 0;   // A: since the request
  std::uint16_t cleanup_quota = 0;   // A: polls that clean-up may take
  Relaxed<std::uint8_t> priority;    // fixed; A from the first request on
  Relaxed<std::uint8_t> mask_depth;  // poll: while the record says that it is masked

  /// Gives: what is left of the budget that the task was admitted with; once it is under cancellation, with the deadline
  ///        and the priority of its clean-up.
  [[nodiscard]] Budget budget() const noexcept {
    return {.deadline = Deadline::from_raw(deadline.raw()),
            .polls = Quota::from_raw(polls.raw()),
            .cost = Quota::from_raw(cost.raw()),
            .priority = priority.get()};
  }
  void set_budget(const Budget& budget) noexcept {
    deadline.set(budget.deadline.raw());
    polls.set(budget.polls.raw());
    cost.set(budget.cost.raw());
    priority.set(budget.priority);
  }

  /// Gives: what is left for clean-up. Needs: shard A, and a request.
  [[nodiscard]] Budget cleanup_left() const noexcept {
    const bool used_up = cleanup_polls >= cleanup_quota;
    return {.deadline = Deadline::from_raw(deadline.raw()),
            .polls = Quota(used_up ? 0 : static_cast<std::uint64_t>(cleanup_quota - cleanup_polls)),
            .cost = Quota::infinite(),
            .priority = priority.get()};
  }
  /// Bounds clean-up, for the first time or once more: by value, so that it holds without memory for a reason (CAN-4, CAN-8).
  /// Needs: shard A. Gives: true when that changed something.
  bool bound_cleanup(const Budget& by, bool first) noexcept {
    const std::uint64_t at = by.deadline.raw();
    const auto quota = static_cast<std::uint16_t>(by.polls.raw() < UINT16_MAX ? by.polls.raw() : UINT16_MAX);
    const std::uint64_t met_at = first || at < deadline.raw() ? at : deadline.raw();
    const std::uint16_t met_quota = first || quota < cleanup_quota ? quota : cleanup_quota;
    const std::uint8_t met_priority = by.priority > priority.get() ? by.priority : priority.get();
    const bool changed =
        first || met_at != deadline.raw() || met_quota != cleanup_quota || met_priority != priority.get();
    deadline.set(met_at);
    cleanup_quota = met_quota;
    priority.set(met_priority);
    if (first) cleanup_polls = 0;
    return changed;
  }

  // Zeros again. Needs: nothing names this life of the task any more.

  void forget_budget() noexcept { set_budget({}); }
  /// Needs: shard A. Gives: the reason.
  Reason forget_cancellation() noexcept {
    deadline.set(Deadline::none().raw());
    priority.set(0);
    epoch = {};
    cleanup_polls = 0;
    cleanup_quota = 0;
    return std::exchange(reason, {});
  }
};
static_assert(sizeof(TaskTerms<lockfree::RealAtomics>) == 64, "one line of the cache");

}  // namespace calm::kernel
