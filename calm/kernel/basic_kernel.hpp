// basic_kernel.hpp — decides everything that has meaning: regions, tasks, obligations, cancellation. Never waits, reads no clock.
// Laws:    I1, I2, I3; sections CAN, REG, TSK, OBL, SHD, HND, QUI of the spec
// Threads: every operation anywhere, with a Worker that is the calling thread's; one whose task must be "in its own poll" by
//          the thread whose begin_poll() gave `run`. With LocalAtomics all calls come from one thread at a time.
// Cancel:  cancel(), request_cancel(), checkpoint(); wake, cancel, complete, resolve and close never fail for want of memory
//
// An operation that is refused has changed nothing: the state digest is what it was. Ids are checked: one whose slot has
// another life is `stale_handle`. Two kernels are made of this template: BasicKernel<RealAtomics> for several workers,
// BasicKernel<LocalAtomics> for one.
//
// Which paths take no shard lock, and why that is right:
//   spawn                    one hold of the region's gate bit: region_gate.hpp, "admission against close"
//   wake, begin_poll, end_poll  one step on the task's word each: task_word.hpp. A task under cancellation takes its A in
//                            begin_poll to count the poll against its clean-up budget
//   complete                 one step on the task's word, then one hold of the gate bit, when the task is not under
//                            cancellation, holds nothing, does not make its region fail fast and is not the last one out
//   checkpoint               one look at the task's word and one at walking_. A cancel raises walking_, sets the flag of
//                            its region, walks, and lowers walking_: whoever finds it low has its own word to believe
// tests/model runs each against the others under every interleaving.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "calm/check/probe.hpp"
#include "calm/kernel/anatomy.hpp"
#include "calm/kernel/config.hpp"
#include "calm/kernel/holdings.hpp"
#include "calm/kernel/host.hpp"
#include "calm/kernel/region_record.hpp"
#include "calm/kernel/shards.hpp"
#include "calm/kernel/snapshot.hpp"
#include "calm/kernel/task_record.hpp"
#include "calm/kernel/worker.hpp"
#include "calm/lockfree/local_atomics.hpp"
#include "calm/model/outcome.hpp"
#include "calm/trace/argument.hpp"
#include "calm/trace/reader.hpp"

namespace calm::kernel {

/// An id, or why there is none.
template <class Id>
struct [[nodiscard]] Made {
  Id id{};
  Status status{};

  constexpr explicit operator bool() const noexcept { return status.is_ok(); }
};

/// What begin_poll() says.
enum class PollStart : std::uint8_t {
  run,   ///< resume the frame, then end_poll() or complete()
  drop,  ///< destroy the frame without resuming it, innermost part first, then complete(): the body never began, or its
         ///< clean-up budget is used up
  unwind,  ///< it must be dropped, and bodies of regions still run in its frame: destroy what is inside the innermost of
           ///< these, then unwound(); the rest stays parked until that region is Closed
  later,   ///< it must be dropped and something still borrows from it; it is parked and will be scheduled again
  stale,   ///< nothing to do: the entry was for a poll that someone else made, or for a life that has ended
};

/// The largest severity there is (CAN-1).
inline constexpr std::uint8_t severity_max = cancel_kind_table[cancel_kind_count - 1].severity;

/// What a task knows of its own cancellation.
struct Cancellation {
  Reason reason{};
  Epoch epoch{};
  Budget cleanup{};  ///< what is left for clean-up
};

template <lockfree::AtomicsPolicy Atomics>
class BasicKernel {
 public:
  using Region = RegionRecord<Atomics>;
  using Task = TaskRecord<Atomics>;
  using Obligation = ObligationRecord<Atomics>;
  using HostType = Host<Atomics>;

  /// Gives: a kernel with its root region open. Needs: the host outlives it. The observer is for lock metrics (SHD-4),
  /// without them nobody looks at it.
  /// Fails: invalid_argument for the configuration; resource_exhausted without memory.
  static Outcome<std::unique_ptr<BasicKernel>> make(const Config& config, HostType& host,
                                                    const LockObserver& observer = {}) noexcept;
  BasicKernel(const BasicKernel&) = delete;
  BasicKernel& operator=(const BasicKernel&) = delete;

  /// The kernel is as new, in the memory that it has: for who makes many short runs. Every frame of a task must be gone; what
  /// else is left ends now, as it would with the kernel. Needs: one worker; nobody uses an id of this kernel any more.
  /// Fails: resource_exhausted; then it is only good to be destroyed.
  Status start_over() noexcept;

  [[nodiscard]] const Config& config() const noexcept { return config_; }
  [[nodiscard]] RegionId root() const noexcept { return root_; }
  /// Needs: an index below config().workers.
  [[nodiscard]] Worker& worker(std::uint16_t index) noexcept;

  // --- regions (region_steps.hpp) ---

  /// Gives: a new region with a handle. Fails: stale_handle, region_not_open, admission_limit for the parent;
  ///        resource_exhausted; invalid_argument when the owner is no live task of the parent, nor owns the parent.
  Made<RegionId> create_region(Worker& worker, RegionId parent_id, const RegionSpec& spec);

  /// Stops admission; the region goes on by itself when its last child leaves. Again: nothing happens (REG-2).
  /// Fails: stale_handle.
  Status close(Worker& worker, RegionId id);

  /// The same, and cancels and closes everything below; again it may strengthen the reason (REG-2, CAN-5, CAN-6). On a
  /// Closed region nothing happens. Fails: stale_handle.
  Status cancel(Worker& worker, RegionId id, const CancelSpec& spec);

  /// The body of the region has ended like this. Fails: stale_handle; invalid_transition when it has no live body.
  Status end_body(Worker& worker, RegionId id, const ChildEnd& end);

  /// Demands that a region which has begun to close goes on now. It always has gone as far as it can, so this only tells
  /// what it waits for. Fails: stale_handle; invalid_transition while Open; incomplete_children while something is alive;
  ///        unresolved_obligations while promises are held elsewhere.
  Status advance(Worker& worker, RegionId id);

  /// Registers a finalizer: a clean-up task that will run when the children are gone, newest first, masked, with 1000
  /// polls (REG-5). Its memory is taken now (HND-3).
  /// Fails: stale_handle; region_not_open from Finalizing on; resource_exhausted.
  Made<TaskId> defer(Worker& worker, RegionId id, void* frame);

  /// Asks for a wake of `waiter` when the region is Closed. Gives: ok when it is Closed already; would_block when the wake
  /// will come. Fails: stale_handle; busy when another task waits.
  Status await_close(Worker& worker, RegionId id, TaskId waiter);
  /// Takes the wish back; the wake may be under way.
  void forget_close(Worker& worker, RegionId id, TaskId waiter);

  /// Makes an object that lives until the region is Closed; they are ended then, newest first, without any lock (REG-10).
  /// Fails: stale_handle, region_closed, admission_limit, resource_exhausted.
  template <class T, class... Arguments>
  Outcome<T*> make_in(Worker& worker, RegionId region, Arguments&&... arguments);
  /// The two halves of make_in(), for those who know the type when the kernel does not: memory for an Ending and its object;
  /// then the Ending, or nullptr when no object was made. Between them the region does not close. Fails: as make_in().
  Status begin_making(Worker& worker, RegionId id, std::size_t bytes, std::size_t align, void*& memory);
  void end_making(Worker& worker, RegionId id, RegionHeap::Ending* ending);
  /// Gives: ok while the memory of the region may be used. Fails: region_closed.
  [[nodiscard]] Status check_heap(RegionId id) const noexcept;

  /// Nobody will ask for this region any more: its slot is used again once it is Closed. Fails: stale_handle.
  Status release(Worker& worker, RegionId id);

  /// Never fails: a region whose slot has another life was Closed (REG-7).
  [[nodiscard]] RegionState state(RegionId id) const noexcept;
  /// Gives: how a Closed region ended; nothing before, or for a stale id.
  [[nodiscard]] std::optional<ChildEnd> end_of(Worker& worker, RegionId id);
  /// Only looks. Gives: false for a stale id.
  [[nodiscard]] bool is_cancelled(RegionId id) const noexcept;
  /// Gives: why the region was cancelled; no reason when it was not, or for a stale id.
  [[nodiscard]] Reason reason_of(Worker& worker, RegionId id);

  // --- tasks (hot_steps.hpp, task_steps.hpp, completion_steps.hpp) ---

  /// Admits a task and schedules its first poll. Fails: stale_handle, region_not_open, admission_limit; resource_exhausted.
  [[gnu::always_inline]] Made<TaskId> spawn(Worker& worker, RegionId id, const TaskSpec& spec);

  struct Admitted {
    Task* task = nullptr;
    TaskId id{};
  };
  /// The same for a task that asks for nothing and has no handle, spawned by the running one, for who is alone. The caller
  /// schedules it. Needs: nobody else calls the kernel meanwhile; a region that is kept by somebody.
  /// Gives: no task when it is not as simple as that, and spawn() has to decide; nothing has changed then.
  [[nodiscard, gnu::always_inline]] Admitted spawn_alone(Worker& worker, Region& region, void* frame) noexcept;

  /// Makes of any number of wakes one further poll (TSK-6). Fails: stale_handle.
  [[gnu::always_inline]] Status wake(Worker& worker, TaskId id) noexcept;

  /// Counts the poll against the budget, or the clean-up budget, and requests PollQuota or Deadline when it has run out
  /// (BUD-5). `cause` is the event that led to the dispatch.
  [[nodiscard, gnu::always_inline]] PollStart begin_poll(Worker& worker, TaskId id, std::uint64_t cause = 0);

  /// The same for who has the record. Needs: the id of a life of this task, which may be over.
  [[nodiscard, gnu::always_inline]] PollStart begin_poll(Worker& worker, Task& task, TaskId id,
                                                         std::uint64_t cause = 0);

  /// The same for a plain task (sched::is_plain()) from a queue without stale entries. Needs: its id; nobody else calls the
  /// kernel meanwhile; where it is the first one, the round in which it was spawned. Gives: false when begin_poll() has to
  /// decide; nothing has changed then.
  template <bool first = false>
  [[nodiscard, gnu::always_inline]] bool begin_plain_poll(Worker& worker, Task& task, TaskId id,
                                                          std::uint32_t round) noexcept;
  /// The same for one that was polled before.
  [[nodiscard, gnu::always_inline]] bool begin_next_poll(Worker& worker, Task& task, TaskId id,
                                                         std::uint32_t round) noexcept;

  /// The task has suspended. Fails: stale_handle; invalid_transition when it is not being polled.
  [[gnu::always_inline]] Status end_poll(Worker& worker, TaskId id);
  /// The same for who has the record. Needs: the poll of this caller.
  [[gnu::always_inline]] void end_poll(Worker& worker, Task& task) noexcept;
  /// The same when it wants to be polled again, after others.
  [[gnu::always_inline]] void end_poll_woken(Worker& worker, Task& task) noexcept;

  /// The frame is gone and the task has ended like this; Created may only end otherwise than Ok (TSK-2). After an
  /// acknowledgement Ok and Err become Cancelled (CAN-9). What it still holds is settled (OBL-5).
  /// Fails: stale_handle; invalid_transition when it is parked, or has ended.
  Status complete(Worker& worker, TaskId id, ChildEnd end);
  /// The same for an end that says nothing more than Ok.
  [[gnu::always_inline]] Status complete(Worker& worker, TaskId id, Ok<Unit> end);
  /// The same when nothing is to be told, decided or settled: it runs uncancelled and holds nothing. Needs: the poll of this
  /// caller. Gives: false when it is not such an end; nothing has changed then.
  [[nodiscard, gnu::always_inline]] bool complete_plainly(Worker& worker, Task& task, TaskId id);

  /// The same in parts, for who is alone and has more to do in the same step.
  struct Departure {
    std::uint64_t waiter = 0;
    RegionId region{};
    bool last = false;
  };
  /// Gives: true when nobody else calls the kernel before end_alone().
  [[nodiscard, gnu::always_inline]] bool begin_alone(Worker& worker) noexcept;
  [[gnu::always_inline]] void end_alone(Worker& worker) noexcept;
  /// Needs: begin_alone(). Gives: true when complete_alone() may follow in the same step.
  [[nodiscard, gnu::always_inline]] static bool may_complete_alone(const Task& task, TaskId id) noexcept {
    const TaskLife was = task.word.look();
    CALM_SLOW(HND_1, was.is(id), id.bits());
    return may_end_plainly(task, was);
  }
  /// Needs: its region.
  [[gnu::always_inline]] Departure complete_alone(Worker& worker, Region& region, Task& task, TaskId id) noexcept;
  /// What is to be told of it after end_alone().
  [[gnu::always_inline]] void tell(Worker& worker, const Departure& departure) {
    if (departure.waiter != 0 || departure.last) [[unlikely]]
      (void)tell_of_leaving(worker, departure.waiter, departure.region, departure.last);
  }
  /// The same for a task that was cancelled and says nothing else: it has acknowledged, ends with the very reason that the
  /// kernel has for it, and holds nothing. Needs: the poll of this caller; a Cancelled end without notes. Gives: as above.
  [[nodiscard]] bool complete_cancelled(Worker& worker, Task& task, TaskId id, const ChildEnd& end);

  /// The root frame is gone and what the task still holds is about to be settled (TSK-8); complete() does it by itself.
  /// Fails: stale_handle; invalid_transition unless it is Cancelling.
  Status begin_finalizing(Worker& worker, TaskId id);

  /// The answer to `unwind`: what the frame had inside this region is gone, so its body has ended Cancelled, and the task is
  /// parked; it is scheduled again when the region is Closed. Until then it does not run, so nobody may wait for what it
  /// still holds further out: that is settled, unless the region is Closed at once (section 0, OBL-5).
  /// Fails: stale_handle; invalid_transition unless the task is being polled under cancellation, runs the body of the region
  ///        and owns no region inside it.
  Status unwound(Worker& worker, TaskId id, RegionId region_id);

  /// Sticky and idempotent; on a task that has ended nothing happens (CAN-3). Fails: stale_handle.
  Status request_cancel(Worker& worker, TaskId id, const CancelSpec& spec);

  /// Only looks (CAN-7).
  [[nodiscard]] bool is_cancel_requested(TaskId id) const noexcept;

  /// Acknowledges a request. Gives: ok; cancelled from then on, every time; under a mask and in a finalizer always ok.
  /// Needs: the task's own poll. Fails: stale_handle.
  Status checkpoint(Worker& worker, TaskId id);
  /// The same for who wants to know why. Gives: the task's reason where checkpoint() gives cancelled; else none.
  [[nodiscard]] Reason acknowledged(Worker& worker, TaskId id);

  /// A number that changes with every request and every walk (K2). Who reads it, finds no walk running and no request, and
  /// reads the same number later, need not look again.
  /// It is a real atomic with one worker too, so that who looks need not know which kernel it is; that costs a reader nothing.
  using Stamp =
      typename std::conditional_t<Atomics::shared, Atomics, lockfree::RealAtomics>::template Atomic<std::uint64_t>;
  [[nodiscard]] const Stamp& cancel_stamp() const noexcept { return stamp_; }
  /// Gives: true while a cancel walks the tree: what it has not come to is not marked yet.
  [[nodiscard]] bool is_walking() const noexcept { return walking_.load(std::memory_order_acquire) != 0; }  // [K1]

  /// Defers observation, to a depth of 64 and for 1000 polls; beyond that the mask is taken off and reported (CAN-12).
  /// Needs: the task's own poll. Fails: stale_handle; leave_mask: invalid_transition without a mask.
  Status enter_mask(Worker& worker, TaskId id);
  Status leave_mask(Worker& worker, TaskId id);

  /// Gives: true under a mask, and in a finalizer.
  [[nodiscard]] bool is_masked(TaskId id) const noexcept;

  /// Uses up cost. Needs: the task's own poll. Fails: stale_handle; budget_exhausted, nothing is used up and CostBudget is
  ///        requested (BUD-4, BUD-5). Clean-up is not limited in cost.
  Status spend(Worker& worker, TaskId id, std::uint64_t cost);

  /// The host's answer to watch(): requests Deadline, or forces what has overrun its clean-up deadline (CAN-8).
  /// Fails: stale_handle.
  Status deadline_reached(Worker& worker, TaskId id);
  /// The same for watch_all().
  Status deadline_reached(Worker& worker, RegionId id);

  /// Asks for a wake of `waiter` when the task has ended. Gives: ok when it has ended already; would_block when the wake
  /// will come. Fails: stale_handle for either, as a task without a handle is when it has ended; busy when another task waits.
  Status await_end(Worker& worker, TaskId id, TaskId waiter);
  /// Takes the wish back. Gives: false when the wake has come or is under way.
  bool forget_end(Worker& worker, TaskId id);

  /// Nobody will ask for this task any more (TSK-3: it stays its region's). Fails: stale_handle, also the second time.
  Status release(Worker& worker, TaskId id);

  /// Gives: the state; Completed for a life that is over.
  [[nodiscard]] TaskState state(TaskId id) const noexcept;
  /// Gives: how it ended, once it has; nothing before, or for a stale id.
  [[nodiscard]] std::optional<OutcomeKind> outcome_of(TaskId id) const noexcept;
  /// Gives: what is left of the budget it was admitted with, under cancellation with the deadline and priority of clean-up;
  ///        nothing for a stale id.
  [[nodiscard]] std::optional<Budget> budget_of(TaskId id) const noexcept;
  /// Gives: reason, epoch and what is left for clean-up; nothing when no cancel was requested, or for a stale id.
  [[nodiscard]] std::optional<Cancellation> cancellation_of(Worker& worker, TaskId id);
  /// Gives: how far the cancellation has come; nothing when it was not requested, or when the task completed before it
  ///        acknowledged (CAN-9).
  [[nodiscard]] std::optional<Witness> witness_of(Worker& worker, TaskId id);
  /// Gives: the record while the id is good, else nullptr; for the host, who knows which fields are its own.
  [[nodiscard]] Task* find(TaskId id) const noexcept;
  /// The same of a region.
  [[nodiscard]] Region* find_region(RegionId id) const noexcept;
  /// Gives: the record of its region; `parent`, `creation` and what else is fixed may be read. Needs: not completed.
  [[nodiscard]] const Region& around(const Task& task) const noexcept { return region_of(task); }

  // --- obligations (promise_steps.hpp, obligation_steps.hpp; counted ones in hot_steps.hpp) ---

  /// Gives: a promise with a record. Needs: a holder task is in its own poll.
  /// Fails: stale_handle; region_not_open; admission_limit; resource_exhausted; invalid_argument for a kind that is only
  ///        counted, a holder that is not being polled, and a service that works for a task elsewhere.
  [[gnu::always_inline]] Made<ObligationId> reserve(Worker& worker, RegionId region_id, const ObligationSpec& spec);

  /// Fails: stale_handle; obligation_already_resolved; obligation_leaked (OBL-1).
  Status commit(Worker& worker, ObligationId id);
  Status abort(Worker& worker, ObligationId id);

  /// The same, and the token is gone with it: the slot is used again at once.
  [[gnu::always_inline]] Status commit_and_drop(Worker& worker, ObligationId id);
  Status abort_and_drop(Worker& worker, ObligationId id);

  /// The token has moved to another holder. Fails: as commit; stale_handle when the new holder has ended; invalid_argument
  ///        for a service that works for a task elsewhere, and for a finalizer that waits for the promise's region.
  Status hand_over(Worker& worker, ObligationId id, Holder to);

  /// The token is gone; a promise still open is aborted, counted and traced and reported, as one that must fail the run where tokens are strict (OBL-4).
  /// Fails: stale_handle.
  Status drop_token(Worker& worker, ObligationId id);

  /// Promises without a record (OBL-2). Needs: for count() the holder's own poll; for uncount() the poll of `by`, and by is
  /// the holder unless its token went elsewhere.
  /// Fails: stale_handle; resource_exhausted at 65535 of a kind; obligation_already_resolved when none is open;
  ///        invalid_argument for a kind that has records.
  Status count(Worker& worker, TaskId id, ObligationKind kind) noexcept;
  /// With `untold` the poll of the holder that goes on elsewhere may have made it, of which count() tells when that is over: then it is
  /// settled ahead.
  Status uncount(Worker& worker, TaskId id, ObligationKind kind, TaskId by, bool untold = false);

  /// Gives: the state; nothing for a stale id.
  [[nodiscard]] std::optional<ObligationState> state(Worker& worker, ObligationId id);
  /// Gives: how many promises were forgotten in this kernel, recovered ones included, and how many tokens were dropped
  ///        while Reserved.
  [[nodiscard]] std::uint64_t leaks(Worker& worker);
  [[nodiscard]] std::uint64_t dropped_tokens(Worker& worker);

  // --- looking in (snapshot_steps.hpp) ---

  /// Gives: where its records lie, for a debugger.
  [[nodiscard]] Anatomy anatomy() const noexcept {
    return {.root = regions_.find(root_.index()), .obligation_directory = obligations_.directory()};
  }
  /// Passes on what someone above the kernel noticed.
  void report(Worker& worker, const Finding& finding) noexcept { host_.report(worker, finding); }

  /// Fails: std::bad_alloc.
  [[nodiscard]] Snapshot snapshot(Worker& worker);
  [[nodiscard]] std::uint64_t digest(Worker& worker) { return state_digest(snapshot(worker)); }
  /// Gives: what these tasks and their regions still have to do before they are quiet; takes no memory. Needs: at most
  ///        holdings_tasks_max of them, alive for as long as the call: they are in a queue of this worker.
  [[nodiscard]] Holdings holdings(Worker& worker, std::span<Task* const> tasks);
  /// Gives: what the shards were waited for and held so far; nothing without lock metrics (SHD-4). Takes no lock.
  /// Fails: std::bad_alloc.
  [[nodiscard]] std::vector<LockRow> lock_metrics() const { return shards_.lock_metrics(); }

  /// As Shards::keep_among(): only members of this company call, each of them in it. Needs: nothing else is called meanwhile.
  void keep_among(lockfree::Company<Atomics>& company) noexcept {
    shards_.keep_among(company);
    if constexpr (std::same_as<Atomics, lockfree::RealAtomics>) sequence_.keep_among(company);
  }
  /// Gives: the events of all workers that their rings still hold. Fails: std::bad_alloc.
  [[nodiscard]] Outcome<trace::Trace> trace() const;

 private:
  template <Operation operation>
  using Locked = Guard<operation, Atomics>;

  /// What is done when the locks are gone: the objects of closed regions are ended, in the order in which those closed;
  /// what a child region made may borrow from its parent's memory.
  class Afterwards {
   public:
    Afterwards() noexcept = default;
    Afterwards(const Afterwards&) = delete;
    Afterwards& operator=(const Afterwards&) = delete;
    ~Afterwards() {
      if (first_ != nullptr) [[unlikely]]
        free_all();
    }
    void end(std::unique_ptr<RegionHeap> heap) noexcept;

   private:
    [[gnu::noinline]] void free_all() noexcept;

    RegionHeap* first_ = nullptr;
    RegionHeap* last_ = nullptr;
  };

  BasicKernel(const Config& config, HostType& host) noexcept;
  Status init(const LockObserver& observer) noexcept;
  Status open_root() noexcept;

  /// 0 for an id that names nothing; no slot that is in use has that.
  template <IdType type>
  static std::uint32_t generation_of(Id<type> id) noexcept {
    return static_cast<std::uint32_t>(id.bits() >> 32) & Generation::last;
  }

  // What an id names now. Exact for a region under its gate's bit or a shard, for a task as long as it cannot end.
  [[nodiscard]] Obligation* find_obligation(ObligationsHeld, ObligationId id) const noexcept;
  [[nodiscard]] Region& region_of(const Task& task) const noexcept { return regions_.at(task.region.get()); }

  // An event; note_write() for one that writes a resource, which must name something, write_event() when the recorder has
  // room; `alone` in a guard of who is alone. With LocalAtomics there is one ring.
  [[gnu::always_inline]] static void write_event(Worker& worker, const trace::Event& event) noexcept {
    worker.recorder().template write<Atomics::shared>(event);
  }
  [[gnu::always_inline]] static void note(Worker& worker, trace::EventKind kind, TaskId task, RegionId region,
                                          std::uint64_t argument, std::uint64_t cause = 0, bool alone = false) noexcept;
  [[gnu::always_inline]] static void note_write(Worker& worker, trace::EventKind kind, TaskId task, RegionId region,
                                                trace::ResourceId resource, std::uint64_t argument,
                                                std::uint64_t cause = 0, bool alone = false) noexcept;
  /// Gives: true when nobody else is at work, nor comes before the guard of this worker ends: words of tasks change in plain
  ///        steps. Needs: a guard. Where atomics are plain it does not matter.
  [[nodiscard]] bool is_alone_in_guard(Worker& worker) const noexcept {
    if constexpr (!Atomics::shared) return false;
    auto* const company = shards_.company(worker.order());
    return company != nullptr && company->is_alone_in(lockfree::AloneIn::guard);
  }
  static trace::CancelArgument argument_of(const Reason& reason) noexcept { return {reason.kind(), reason.severity()}; }

  // Tasks.
  static bool budget_used_up(const Task& task, Time now) noexcept;
  static bool being_polled(TaskLife life) noexcept;
  static void prepare(Task& task, RegionId region, const TaskSpec& spec, const Worker& worker) noexcept;
  [[gnu::noinline]] Made<TaskId> refuse_spawn(Worker& worker, Region& region, RegionId id, GateTurn<Atomics>& turn,
                                              Task* task);
  [[gnu::noinline]] Made<TaskId> schedule_watched(Worker& worker, Task& task, TaskId id, Deadline deadline);
  Made<TaskId> spawn_cleanup(Worker& worker, RegionId id, const TaskSpec& spec);
  template <bool in_budget>
  [[gnu::always_inline]] PollStart claim(Worker& worker, Task& task, TaskId id, std::uint64_t cause);
  [[gnu::noinline]] PollStart claim_used_up(Worker& worker, Task& task, TaskId id, std::uint64_t cause);
  [[gnu::noinline]] PollStart begin_poll_slowly(Worker& worker, Task& task, TaskLife now, std::uint64_t cause);
  PollStart begin_cleanup_poll(Worker& worker, Task& task, TaskLife now, std::uint64_t cause);
  static void count_poll(Task& task) noexcept;
  void count_mask_poll(Worker& worker, Task& task, TaskId id);
  [[gnu::always_inline]] void acknowledge(Worker& worker, TaskHeld, Task& task, std::uint32_t generation) noexcept;
  PollStart force(Worker& worker, Task& task, TaskId id);
  [[gnu::noinline]] Status complete_slowly(Worker& worker, Task& task, TaskId id, ChildEnd end);
  [[gnu::noinline]] Status complete_slowly(Worker& worker, Task& task, TaskId id, Ok<Unit> end);
  [[gnu::always_inline]] void leave_region_held(Worker& worker, AllHeld held, Task& task, TaskId id, TaskLife done,
                                                const ChildEnd& end, Afterwards& afterwards, bool alone) noexcept;
  ChildEnd final_end(AllHeld, const Task& task, TaskLife life, const Region& region, ChildEnd end) const noexcept;
  [[gnu::always_inline]] static bool may_end_plainly(const Task& task, TaskLife was) noexcept;
  [[gnu::always_inline]] bool end_plainly(Task& task, TaskId id, OutcomeKind kind, const ChildEnd* end,
                                          TaskLife& done) noexcept;
  [[gnu::always_inline]] Status leave_region(Worker& worker, Task& task, TaskId id, TaskLife done, const ChildEnd* end);
  [[gnu::noinline]] Status tell_of_leaving(Worker& worker, std::uint64_t waiter, RegionId region, bool last);
  void let_go(Worker& worker, Task& task, TaskLife life);
  void recycle(Worker& worker, Task& task, TaskLife life);
  [[gnu::always_inline]] void reuse(Worker& worker, Task& task, TaskLife life) noexcept;
  [[gnu::always_inline]] void reuse_plain(Worker& worker, Task& task, TaskLife life) noexcept;
  [[nodiscard]] std::uint64_t leave_to_others(Worker& worker, Task& task, TaskLife was) noexcept;
  [[gnu::noinline]] static void retire() noexcept { CALM_PROBE("task slot: its generations are used up"); }
  void schedule_if(Worker& worker, Task& task, bool enqueue) noexcept;
  void wake_waiter(Worker& worker, std::uint64_t waiter) noexcept;
  bool ancestor_cancelled(const Task& task) const noexcept;

  // Regions.
  void move(Worker& worker, RegionsHeld, Region& region, RegionState to) noexcept;
  void start_closing(Worker& worker, AllHeld, Region& region) noexcept;
  void let_advance(RegionsHeld, Region& region) noexcept;
  void advance_all(Worker& worker, AllHeld held, Afterwards& afterwards) noexcept {
    if (advance_first_ != nullptr) advance_those(worker, held, afterwards);
  }
  [[gnu::noinline]] void advance_those(Worker& worker, AllHeld held, Afterwards& afterwards) noexcept;
  void advance_one(Worker& worker, AllHeld held, Region& region, Afterwards& afterwards) noexcept;
  [[gnu::noinline]] void advance_after_last(Worker& worker, RegionId id) noexcept;
  void start_finalizer(Worker& worker, AllHeld, Region& region) noexcept;
  void finish_closing(Worker& worker, AllHeld held, Region& region, Afterwards& afterwards) noexcept;
  void leave_parent(Worker& worker, AllHeld held, Region& region) noexcept;
  void leave_body(RegionsHeld held, Region& region, const ChildEnd& end) noexcept;
  void recycle(Worker& worker, AllHeld, Region& region) noexcept;

  // Cancellation.
  Reason make_reason(RegionsHeld, Region& region, const ReasonSpec& spec) noexcept;
  ReasonSpec spec_of(const CancelSpec& spec, const Region& region, Time now) const noexcept;
  static bool strengthen_into(Reason& reason, const Reason& with) noexcept;
  void request(Worker& worker, AllHeld, Task& task, std::uint32_t generation, const Reason& reason,
               const Budget& cleanup, bool wake, Deadline watched = Deadline::none()) noexcept;
  void request_own(Worker& worker, Task& task, TaskId id, CancelKind kind);
  void raise_stamp() noexcept {
    if constexpr (Atomics::shared) {
      (void)stamp_.fetch_add(1, std::memory_order_release);  // [K2]
    } else {
      stamp_.store(stamp_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // relaxed: one thread
    }
  }
  static Budget cleanup_of(const ReasonSpec& spec) noexcept;
  void cancel_with(Worker& worker, AllHeld held, Region& region, const CancelSpec& spec) noexcept;
  void cancel_tree(Worker& worker, AllHeld held, Region& top, const Reason& reason, const Budget& cleanup) noexcept;
  bool cancel_region(Worker& worker, AllHeld held, Region& region, const Reason& reason,
                     const Budget& cleanup) noexcept;
  void cancel_tasks(Worker& worker, AllHeld held, Region& region) noexcept;
  template <class Visit>
  void visit_tasks(AllHeld, Region& region, Visit visit) noexcept;
  void overrun(Worker& worker, AllHeld, Task& task, TaskLife life) noexcept;
  const Reason& reason_for_children(Worker& worker, RegionsHeld, Region& region, Region& child) noexcept;
  [[gnu::noinline]] Status see_cancel(Worker& worker, Task& task, TaskLife life);
  [[gnu::always_inline]] bool sees_request(Worker& worker, const Task& task, TaskLife& life);
  [[gnu::noinline]] bool sees_walk(Worker& worker, const Task& task, TaskLife& life);
  void cancel_owned_regions(Worker& worker, AllHeld held, Region& region, TaskId owner, const Reason& reason) noexcept;
  /// What keeps the frame of a task from being destroyed as a whole.
  enum class FrameUse : std::uint8_t { none, bodies, borrowers };
  FrameUse use_of_frame(AllHeld held, const Region& region, TaskId owner) const noexcept;
  static const Region* owned_from(const Region* region, TaskId owner) noexcept;

  // Obligations.
  [[gnu::noinline]] Status uncount_away(Worker& worker, Task& task, TaskId id, std::uint8_t kind, bool untold);
  [[gnu::always_inline]] Status resolve(Worker& worker, ObligationId id, ObligationState to, bool drop);
  void advance_settled(Worker& worker, RegionId id);
  bool serves(const Region& region, const Holder& holder) const noexcept;
  bool would_wait_for_itself(const Region& region, const Task& holder) const noexcept;
  [[gnu::always_inline]] void link(ObligationsHeld, Obligation& obligation, ObligationId id, Task* holder) noexcept;
  [[gnu::always_inline]] void unlink(ObligationsHeld, Obligation& obligation) noexcept;
  [[gnu::always_inline]] void settle_one(Worker& worker, ObligationsHeld, Obligation& obligation, ObligationId id,
                                         ObligationState to) noexcept;
  ObligationState response_to_leak(ObligationsHeld, std::uint64_t count, bool& must_fail) noexcept;
  void settle_held(Worker& worker, AllHeld held, Task& task, TaskId id, bool cancelled) noexcept;
  void settle_counted(Worker& worker, AllHeld held, Task& task, TaskId id, bool cancelled) noexcept;
  bool audit(Worker& worker, AllHeld held, Region& region) noexcept;
  bool buffer_in_use(ObligationsHeld, const Region& region, TaskId task) const noexcept;
  [[gnu::always_inline]] void recycle(Worker& worker, ObligationsHeld, Obligation& obligation) noexcept;
  static Obligation* sorted(Obligation* list) noexcept;

  // Looking in.
  void view_region(AllHeld, Region& region, Snapshot& snapshot) const;
  TaskView view_of(const Task& task, const Region& region) const;

  Config config_;
  HostType& host_;
  trace::SequenceSource sequence_;
  std::unique_ptr<std::unique_ptr<Worker>[]> workers_;
  Shards<Atomics> shards_;
  typename Region::SlabType regions_;
  typename Task::SlabType tasks_;
  typename Obligation::SlabType obligations_;
  RegionId root_;

  /// 1 while a walk runs. [K1] cancel_tree() releases 1 before it sets the first flag, and 0 after its last request ->
  /// checkpoint() acquires: who reads 0 after a walk sees its own task's word, who reads 1 looks at the flags.
  alignas(128) typename Atomics::template Atomic<std::uint32_t> walking_{0};
  /// [K2] A walk adds to it when it has raised walking_ and when it has lowered it, a lone request when the task's word has it
  /// and before the task is woken, all with release -> who reads it acquires. Whoever read a number, then found walking_ low
  /// and its word without a request, was either before the request, so that the number changes, or after none.
  Stamp stamp_{1};

  EpochCounter epochs_;              // B
  Region* advance_first_ = nullptr;  // B: regions that may move
  Region* advance_last_ = nullptr;   // B
  ChildLink cursor_;                 // B, and the gate bit of the region it stands in
  /// What a request says when there is no memory at all, by kind and effective severity. Fixed.
  Reason last_resort_[cancel_kind_count][severity_max + 1];
  std::exception_ptr forced_panic_;   // fixed
  std::uint64_t leaks_ = 0;           // C
  std::uint64_t dropped_tokens_ = 0;  // C
};

using Kernel = BasicKernel<lockfree::RealAtomics>;
using LocalKernel = BasicKernel<lockfree::LocalAtomics>;

template <lockfree::AtomicsPolicy Atomics>
template <class T, class... Arguments>
Outcome<T*> BasicKernel<Atomics>::make_in(Worker& worker, RegionId region, Arguments&&... arguments) {
  static_assert(std::is_nothrow_destructible_v<T>, "a region ends its objects without exceptions");
  using Layout = RegionHeap::Layout<T>;
  void* memory = nullptr;
  if (const Status status = begin_making(worker, region, Layout::bytes, Layout::align, memory); !status)
    return err(status.error());
  T* object = nullptr;
  try {
    object = ::new (static_cast<std::byte*>(memory) + Layout::offset) T(std::forward<Arguments>(arguments)...);
  } catch (...) {
    end_making(worker, region, nullptr);
    throw;
  }
  auto* const ending = ::new (memory) RegionHeap::Ending{
      nullptr, [](RegionHeap::Ending& place) noexcept {
        std::launder(reinterpret_cast<T*>(reinterpret_cast<std::byte*>(&place) + Layout::offset))->~T();
      }};
  end_making(worker, region, ending);
  return ok(object);
}

}  // namespace calm::kernel
