// reference_model.hpp — the kernel once more, deliberately naive: plain rows in std containers, everything recomputed.
// Laws:    LAB-10; written from the laws BUD, CAN, REG, TSK, OBL, OUT-4 and HND, not from the kernel's code
// Threads: one
// Cancel:  cancel(), request_cancel() and checkpoint() as the laws say
//
// The model never makes an id. Whoever admits something says how it is called, and takes the id that the kernel gave: so
// orders that ids decide (CAN-4, OBL-6) are the same on both sides. A name that is given a second time is refused.
// What the kernel tells its host, the model writes into `told`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "calm/kernel/finding.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/kernel/snapshot.hpp"

namespace calm::reference {

/// A difference that is planted on purpose, to see that it is found. Some are faults that the kernel once had.
enum class Fault : std::uint8_t {
  none,
  forget_strengthening,        ///< CAN-4: the first reason stays for ever
  oldest_finalizer_first,      ///< REG-5
  keep_cost_of_refused_spend,  ///< BUD-4: a refusal changes something
  fold_in_order_of_ends,       ///< OUT-4
  lose_wake_during_poll,       ///< TSK-6
  body_folds_last,             ///< OUT-4
  count_lost_batch_once,       ///< OBL-5
  audit_forgets_threshold,     ///< OBL-5, OBL-6
  hand_over_wakes_nobody,      ///< CAN-8: whoever waits to be forced waits for ever
  cleanup_masks_have_no_cap,   ///< CAN-12
  service_for_an_ended_task,   ///< CAN-8
  end_all_bodies_at_once,      ///< CAN-8: the outer ones while their frames are there
  unwound_keeps_its_promises,  ///< CAN-8, OBL-5
  force_in_a_call,             ///< CAN-8: the frame goes while something outside uses it
};
inline constexpr Fault faults[] = {
    Fault::forget_strengthening,       Fault::oldest_finalizer_first,    Fault::keep_cost_of_refused_spend,
    Fault::fold_in_order_of_ends,      Fault::lose_wake_during_poll,     Fault::body_folds_last,
    Fault::count_lost_batch_once,      Fault::audit_forgets_threshold,   Fault::hand_over_wakes_nobody,
    Fault::cleanup_masks_have_no_cap,  Fault::service_for_an_ended_task, Fault::end_all_bodies_at_once,
    Fault::unwound_keeps_its_promises, Fault::force_in_a_call,
};

/// What the host was told, in order.
struct Told {
  std::vector<TaskId> scheduled;
  std::vector<std::pair<TaskId, Time>> watched;
  std::vector<kernel::Finding> found;
};

/// How often each move of TSK-1, REG-1 and OBL-1 was made.
struct Moves {
  std::map<std::pair<RegionState, RegionState>, std::uint64_t> regions;
  std::map<std::pair<TaskState, TaskState>, std::uint64_t> tasks;
  std::map<std::pair<ObligationState, ObligationState>, std::uint64_t> obligations;
};

struct RegionRow {
  RegionId id{};
  RegionId parent{};
  kernel::RegionSpec spec{};
  Budget budget{};
  RegionState state = RegionState::open;
  std::uint64_t made = 0;  // when, among all regions
  std::uint64_t creation = 0;
  std::uint64_t children_made = 0;
  bool body = false;
  bool handle = true;
  Reason reason{};
  Epoch epoch{};
  std::map<std::uint64_t, ChildEnd> ends;    // by place in the creation sequence; a body has place 0
  std::vector<std::uint64_t> order_of_ends;  // places, as they came
  std::vector<TaskId> finalizers;            // waiting, oldest first
  std::optional<ChildEnd> last_word{};       // once Closed
  TaskId waiter{};
  std::uint64_t leaked = 0;
  std::uint64_t heap_bytes = 0;
};

struct TaskRow {
  TaskId id{};
  RegionId region{};
  TaskState state = TaskState::created;
  lockfree::WakeState wake = lockfree::WakeState::queued;
  std::uint64_t creation = 0;
  Budget left{};
  bool handle = true;
  bool cleanup = false;
  bool waiting_finalizer = false;
  bool started = false;
  bool dropping = false;   // its frame goes without being resumed; complete() follows
  bool unwinding = false;  // what its frame has inside the innermost body goes; unwound() follows
  bool forced = false;
  bool in_call = false;  // something outside uses its frame
  bool told = false;     // that it could not be forced for that reason
  bool acknowledged = false;
  std::uint8_t mask_depth = 0;
  std::uint32_t mask_polls = 0;
  bool mask_broken = false;
  std::uint32_t cleanup_polls = 0;
  Reason reason{};
  Epoch epoch{};
  std::optional<OutcomeKind> outcome{};
  std::uint16_t counted[kernel::counted_kind_count]{};
  TaskId waiter{};
};

struct ObligationRow {
  ObligationId id{};
  RegionId region{};
  ObligationKind kind = ObligationKind::custom;
  ObligationState state = ObligationState::reserved;
  kernel::Holder holder{};
  trace::ResourceId resource{};
  Time since{};
  std::uint64_t taken_over = 0;  // when its holder got it, among all hand-overs
  bool token = true;
};

class ReferenceKernel {
 public:
  ReferenceKernel(const kernel::Config& config, RegionId root, Fault fault = Fault::none);

  void set_time(Time now) { now_ = now; }

  // Regions; as kernel.hpp says of the operation of the same name. `name` is how an admitted record is called.
  Status create_region(RegionId name, RegionId parent, const kernel::RegionSpec& spec);
  Status close(RegionId region);
  Status cancel(RegionId region, const kernel::CancelSpec& spec);
  Status end_body(RegionId region, const ChildEnd& end);
  Status advance(RegionId region);
  Status defer(TaskId name, RegionId region);
  Status await_close(RegionId region, TaskId waiter);
  void forget_close(RegionId region, TaskId waiter);
  Status use_heap(RegionId region, std::uint64_t bytes);
  [[nodiscard]] Status check_heap(RegionId region) const;
  Status release(RegionId region);
  [[nodiscard]] RegionState state(RegionId region) const;
  [[nodiscard]] std::optional<ChildEnd> end_of(RegionId region) const;
  [[nodiscard]] Reason reason_of(RegionId region) const;

  // Tasks
  Status spawn(TaskId name, RegionId region, const kernel::TaskSpec& spec);
  Status wake(TaskId task);
  void begin_call(TaskId task);
  Status end_call(TaskId task);
  kernel::PollStart begin_poll(TaskId task);
  Status end_poll(TaskId task);
  Status complete(TaskId task, ChildEnd end);
  Status begin_finalizing(TaskId task);
  Status unwound(TaskId task, RegionId region);
  Status request_cancel(TaskId task, const kernel::CancelSpec& spec);
  Status checkpoint(TaskId task);
  Status enter_mask(TaskId task);
  Status leave_mask(TaskId task);
  Status spend(TaskId task, std::uint64_t cost);
  Status deadline_reached(TaskId task);
  Status await_end(TaskId task, TaskId waiter);
  bool forget_end(TaskId task);
  Status release(TaskId task);
  [[nodiscard]] std::optional<Witness> witness_of(TaskId task) const;
  /// Gives: the regions that the task owns, are not Closed and have no such region of it inside, oldest first.
  [[nodiscard]] std::vector<RegionId> innermost_of(TaskId task) const;
  /// Needs: a task under cancellation.
  [[nodiscard]] Budget cleanup_left(TaskId task) const;

  // Obligations
  Status reserve(ObligationId name, RegionId region, const kernel::ObligationSpec& spec);
  Status commit(ObligationId obligation) { return resolve(obligation, ObligationState::committed); }
  Status abort(ObligationId obligation) { return resolve(obligation, ObligationState::aborted); }
  Status commit_and_drop(ObligationId obligation) { return resolve_and_drop(obligation, ObligationState::committed); }
  Status abort_and_drop(ObligationId obligation) { return resolve_and_drop(obligation, ObligationState::aborted); }
  Status hand_over(ObligationId obligation, kernel::Holder to);
  Status drop_token(ObligationId obligation);
  Status count(TaskId holder, ObligationKind kind);
  Status uncount(TaskId holder, ObligationKind kind, TaskId by);
  [[nodiscard]] std::uint64_t leaks() const { return leaks_; }
  [[nodiscard]] std::uint64_t dropped_tokens() const { return dropped_tokens_; }

  /// Gives: the row while the id is good, else nullptr.
  [[nodiscard]] const RegionRow* find(RegionId id) const { return row_of(regions_, id); }
  [[nodiscard]] const TaskRow* find(TaskId id) const { return row_of(tasks_, id); }
  [[nodiscard]] const ObligationRow* find(ObligationId id) const { return row_of(obligations_, id); }
  [[nodiscard]] const std::map<RegionId, RegionRow>& regions() const { return regions_; }
  [[nodiscard]] const std::map<TaskId, TaskRow>& tasks() const { return tasks_; }
  [[nodiscard]] const std::map<ObligationId, ObligationRow>& obligations() const { return obligations_; }

  /// Gives: what the kernel's snapshot should say.
  [[nodiscard]] kernel::Snapshot snapshot() const;

  Told told;
  Moves moves;

 private:
  template <class Id, class Row>
  static const Row* row_of(const std::map<Id, Row>& rows, Id id) {
    const auto found = rows.find(id);
    return found == rows.end() ? nullptr : &found->second;
  }
  template <class Id, class Row>
  static Row* row_of(std::map<Id, Row>& rows, Id id) {
    const auto found = rows.find(id);
    return found == rows.end() ? nullptr : &found->second;
  }
  RegionRow* region_row(RegionId id) { return row_of(regions_, id); }
  TaskRow* task_row(TaskId id) { return row_of(tasks_, id); }

  static bool is_polled(const TaskRow& task) {
    return task.wake == lockfree::WakeState::running || task.wake == lockfree::WakeState::running_woken;
  }
  static bool is_live(const TaskRow& task) { return task.state != TaskState::completed; }
  void name(std::uint64_t bits);

  // What is counted is counted anew each time.
  [[nodiscard]] std::uint64_t live_tasks(RegionId region) const;
  [[nodiscard]] std::uint64_t live_cleanup(RegionId region) const;
  [[nodiscard]] std::uint64_t live_regions(RegionId region) const;
  [[nodiscard]] bool has_live_child(const RegionRow& region) const;
  [[nodiscard]] Ledger ledger(RegionId region) const;
  [[nodiscard]] bool buffer_in_use(TaskId task) const;
  [[nodiscard]] bool is_below(RegionId region, RegionId above) const;
  [[nodiscard]] bool serves(RegionId region, const kernel::Holder& holder) const;
  [[nodiscard]] ChildEnd fold(const RegionRow& region) const;
  /// Gives: its tasks in the order of their making; the clean-up tasks that run, or all others.
  [[nodiscard]] std::vector<TaskId> live_of(RegionId region, bool cleanup) const;
  [[nodiscard]] std::vector<TaskId> tasks_of(RegionId region) const { return live_of(region, false); }
  [[nodiscard]] std::vector<TaskId> cleanup_of(RegionId region) const { return live_of(region, true); }
  [[nodiscard]] std::vector<RegionId> children_of(RegionId region) const;
  [[nodiscard]] std::vector<RegionId> owned_by(TaskId task) const;

  // Steps that several operations share.
  void move(RegionRow& region, RegionState to);
  void move(TaskRow& task, TaskState to);
  void move(ObligationRow& obligation, ObligationState to);
  void wake_row(TaskRow& task);
  void wake_if_there(TaskId task);
  void leave_body(RegionRow& region, const Reason& reason);
  void cancel_tree(RegionId region, const Reason& reason);
  bool request(TaskRow& task, const Reason& reason, bool wakes);
  void request_own(TaskRow& task, CancelKind kind, bool wakes);
  [[nodiscard]] Reason reason_from(const kernel::CancelSpec& spec, const RegionRow& region) const;
  kernel::PollStart force(TaskRow& task);
  [[nodiscard]] Reason combine(const Reason& old, const Reason& fresh) const;
  void child_ended(RegionId region, std::uint64_t place, const ChildEnd& end, ChildOrigin child, bool may_fail_fast);
  void start_closing(RegionRow& region);
  void child_left(RegionId region);
  void let_advance(RegionId region);
  void advance_all();
  bool step_on(RegionId region);
  void start_finalizer(RegionRow& region);
  bool audit(const RegionRow& region);
  void finish_region(RegionRow& region);
  void settle(TaskRow& task, bool was_cancelled);
  void lose(ObligationRow& obligation, TaskId by, bool must_fail);
  void forget_if_over(RegionId region);
  void forget_if_over(TaskId task);
  void forget_if_over(ObligationId obligation);
  kernel::LeakPolicy count_leaks(std::uint64_t leaks);
  Status resolve(ObligationId obligation, ObligationState to);
  Status resolve_and_drop(ObligationId obligation, ObligationState to);
  std::vector<ObligationRow*> held_by(TaskId task);
  void abort_held(TaskId task);
  void promise_ended(const ObligationRow& obligation);
  void report(kernel::Finding finding) { told.found.push_back(finding); }

  kernel::Config config_;
  Fault fault_;
  Time now_{};
  std::map<RegionId, RegionRow> regions_;
  std::map<TaskId, TaskRow> tasks_;
  std::map<ObligationId, ObligationRow> obligations_;
  std::set<std::uint64_t> names_;
  std::vector<RegionId> line_;  // regions that may be able to move
  EpochCounter epochs_;
  std::uint64_t regions_made_ = 0;
  std::uint64_t hand_overs_ = 0;
  std::uint64_t leaks_ = 0;
  std::uint64_t dropped_tokens_ = 0;
};

}  // namespace calm::reference
