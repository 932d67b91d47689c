// The tree of regions and tasks, and the way of each through its states.
#include <algorithm>

#include "calm/trace/argument.hpp"
#include "calm/trace/check_parts.hpp"
#include "calm/trace/check_records.hpp"

namespace calm::trace {
namespace {

class Walk {
 public:
  Walk(const Trace& trace, Findings& findings, Checked& result) noexcept
      : trace_(trace), findings_(findings), result_(result) {}

  void look() {
    for (at_ = 0; at_ < trace_.events.size(); ++at_) {
      const Event& event = trace_.events[at_];
      several_ = several_ || event.worker != 0;
      settle(event);
      see(event);
    }
  }

 private:
  // --- what an event leaves for the next one of its worker ---

  /// A witness follows the end at once; a region that is cancelled while Open is Closing at once; at the end of a step
  /// nobody in a cancelled region is left untold.
  void settle(const Event& event) {
    const bool jump = event.kind == EventKind::timer && !event.task;  // the clock goes on without anybody
    if (result_.closed && !jump) {
      say(Clause::regions, "QUI-3 nothing is alive after it", "the root is Closed and more happens");
    }
    Due& due = due_of(event);
    if (due.witness && (event.kind != EventKind::cancel_done || event.task != due.witness)) {
      say(Clause::witness, "CAN-10 the end of a cancelled task records its witness",
          to_string(due.witness) + " has ended and its witness does not follow");
      due.witness = {};
    }
    if (due.closing) {
      if (event.kind != EventKind::region_move || event.region != due.closing) {
        say(Clause::regions, "CAN-6 a cancel closes in one step",
            to_string(due.closing) + " was cancelled and is Open");
      }
      due.closing = {};
    }
    const bool step =
        event.kind == EventKind::poll || event.kind == EventKind::choice || event.kind == EventKind::timer;
    if (!step) return;
    if (closing_ != 0 && !several_) {
      say(Clause::regions, "REG-3 Closing goes on at once", std::to_string(closing_) + " regions stay in Closing");
    }
    for (const RegionId id : due.told) {
      const RegionLife* const told = regions_.find(id);
      if (told == nullptr || told->untold == 0 || told->state == RegionState::closed) continue;
      say(Clause::witness, "CAN-5 a cancellation reaches everything below",
          to_string(id) + " was cancelled and " + std::to_string(told->untold) + " in it were not told");
    }
    due.told.clear();
  }

  void see(const Event& event) {
    switch (event.kind) {
      case EventKind::spawn:
        event.resource == ResourceId(event.region) ? admitted(event, false) : opened(event);
        break;
      case EventKind::finalize:
        finalizer_began(event);
        break;
      case EventKind::poll:
        polled(event);
        break;
      case EventKind::complete:
        completed(event);
        break;
      case EventKind::cancel_request:
        event.task ? requested(event) : region_requested(event);
        break;
      case EventKind::cancel_ack:
        acknowledged(event);
        break;
      case EventKind::cancel_done:
        witnessed(event);
        break;
      case EventKind::forced:
        forced(event);
        break;
      case EventKind::reserve:
        reserved(event);
        break;
      case EventKind::region_move:
        moved(event);
        break;
      case EventKind::resolve:
      case EventKind::mark:
        if (event.region) (void)known(event.region);
        break;
      case EventKind::timer:
      case EventKind::channel:
      case EventKind::io:
      case EventKind::choice:
      case EventKind::access:
        break;
    }
  }

  // --- records ---

  void say(Clause clause, std::string_view law, std::string text) { findings_.say(clause, at_, law, std::move(text)); }

  /// Gives: what is known of the task, or nullptr after saying that it never began.
  TaskLife* known(TaskId id) {
    TaskLife* const found = tasks_.find(id);
    if (found != nullptr && !found->deferred) return found;
    say(Clause::ownership, "I1 every task has a region", to_string(id) + " acts and never began");
    return nullptr;
  }
  /// The root has no event of its own: the first region that is met is the root.
  RegionLife* known(RegionId id) {
    if (RegionLife* const found = regions_.find(id)) return found;
    if (!root_ && id) {
      root_ = id;
      ++result_.regions;
      return &regions_.put({.id = id});
    }
    say(Clause::ownership, "I1 regions form one rooted tree", to_string(id) + " is used and was never opened");
    return nullptr;
  }
  /// Gives: what is known of the task. Who is met before it began is a finalizer that was deferred.
  TaskLife& known_or_deferred(TaskId id, RegionId home) {
    if (TaskLife* const found = tasks_.find(id)) return *found;
    return tasks_.put({.id = id, .region = home, .cleanup = true, .deferred = true});
  }
  [[nodiscard]] bool has_ended(TaskId id) noexcept {
    const TaskLife* const task = tasks_.find(id);
    return task != nullptr && task->state == TaskState::completed;
  }

  // --- admission ---

  /// Children are numbered in the order of their admission; finalizers took their numbers when they were deferred.
  void numbered(RegionLife& home, const Event& event) {
    if (event.argument < home.next_creation) {
      say(Clause::ownership, "OUT-4 children have one creation sequence",
          "a child of " + to_string(home.id) + " has number " + std::to_string(event.argument) + " after " +
              std::to_string(home.next_creation - 1));
    }
    home.next_creation = std::max(home.next_creation, event.argument + 1);
    ++home.children;
    if (event.argument == 0) home.has_body = false;
  }

  void opened(const Event& event) {
    const RegionId parent = RegionId::from_bits(event.resource.bits());
    RegionLife* const above = known(parent);
    if (event.region == root_ || regions_.find(event.region) != nullptr) {
      return say(Clause::ownership, "I1 regions form one rooted tree", to_string(event.region) + " is opened twice");
    }
    if (has_ended(event.task)) {
      say(Clause::ownership, "I1 what is owned has a live owner",
          to_string(event.region) + " belongs to " + to_string(event.task) + ", which has ended");
    }
    if (above != nullptr) {
      if (above->state != RegionState::open) refuse(*above, to_string(event.region));
      numbered(*above, event);
      ++above->regions;
      ++above->untold;
    }
    regions_.put({.id = event.region, .parent = parent});
    ++result_.regions;
  }

  void refuse(const RegionLife& home, const std::string& what) {
    say(Clause::ownership, "REG-6 admission only while Open",
        what + " was admitted to " + to_string(home.id) + ", which is " + std::string(to_string(home.state)));
  }

  void admitted(const Event& event, bool finalizer) {
    RegionLife* const home = known(event.region);
    const TaskLife* const before = tasks_.find(event.task);
    const bool deferred = before != nullptr && before->deferred && finalizer;
    if (before != nullptr && !deferred) {
      return say(finalizer ? Clause::finalizers : Clause::tasks, "TSK-1 a task begins once",
                 to_string(event.task) + " began twice");
    }
    TaskLife life{.id = event.task, .region = event.region, .creation = event.argument, .cleanup = finalizer};
    if (deferred) {
      life = *before;
      life.deferred = false;
    }
    TaskLife& task = tasks_.put(life);
    ++result_.tasks;
    if (home == nullptr) return;
    if (finalizer) {
      ++home->cleanups;
      return;
    }
    numbered(*home, event);
    // In Finalizing only what a finalizer starts, while one is alive.
    if (home->state == RegionState::finalizing && home->cleanups != 0) {
      task.cleanup = true;
      ++home->cleanups;
      return;
    }
    if (home->state != RegionState::open) refuse(*home, to_string(event.task));
    ++home->tasks;
    ++home->untold;
  }

  void finalizer_began(const Event& event) {
    RegionLife* const home = known(event.region);
    if (home == nullptr) return;
    const std::string what = "finalizer " + std::to_string(event.argument) + " of " + to_string(event.region);
    if (home->state != RegionState::finalizing) {
      say(Clause::finalizers, "REG-5 Finalizing runs finalizers",
          what + " began while it is " + std::string(to_string(home->state)));
    }
    if (home->cleanups != 0) {
      say(Clause::finalizers, "REG-5 finalizers run one by one", what + " began before the one before it had ended");
    }
    if (event.argument >= home->last_finalizer) {
      say(Clause::finalizers, "REG-5 newest first, exactly once",
          what + " began after number " + std::to_string(home->last_finalizer));
    }
    home->last_finalizer = event.argument;
    home->next_creation = std::max(home->next_creation, event.argument + 1);
    ++home->children;
    admitted(event, true);
  }

  void reserved(const Event& event) {
    const RegionLife* const home = known(event.region);
    if (home == nullptr) return;
    if (has_ended(event.task)) {
      say(Clause::ownership, "OBL-11 a holder is alive",
          to_string(event.resource) + " is reserved for " + to_string(event.task) + ", which has ended");
    }
    const TaskLife* const holder = tasks_.find(event.task);
    const bool by_cleanup = home->state == RegionState::finalizing && holder != nullptr && holder->cleanup;
    if (home->state != RegionState::open && !by_cleanup) refuse(*home, to_string(event.resource));
  }

  // --- tasks ---

  /// Goes to a state by the table of TSK-1.
  void go(TaskLife& task, TaskState to) {
    if (!check_move(task.state, to)) {
      say(Clause::tasks, "TSK-1 the moves of a task",
          to_string(task.id) + " goes from " + std::string(to_string(task.state)) + " to " +
              std::string(to_string(to)));
    }
    task.state = to;
  }

  void polled(const Event& event) {
    TaskLife* const task = known(event.task);
    if (task == nullptr) return;
    if (task->state == TaskState::completed) {
      return say(Clause::tasks, "TSK-1 Completed is final", to_string(event.task) + " was polled after its end");
    }
    task->polled = true;
    if (task->state == TaskState::created) task->state = TaskState::running;
  }

  void completed(const Event& event) {
    TaskLife* const task = known(event.task);
    if (task == nullptr) return;
    if (task->state == TaskState::completed) {
      return say(task->cleanup ? Clause::finalizers : Clause::tasks, "TSK-1 a task ends once",
                 to_string(event.task) + " ended twice");
    }
    const auto outcome = outcome_in(event.argument);
    if (!outcome) say(Clause::tasks, "OUT-1 four kinds", to_string(event.task) + " ended in no way that there is");
    if (task->state == TaskState::created && outcome && !check_completion(task->state, *outcome)) {
      say(Clause::tasks, "TSK-2 who was never polled has no value",
          to_string(event.task) + " ended well and never ran");
    }
    if (task->state == TaskState::cancelling) {
      if (outcome && *outcome < OutcomeKind::cancelled) {
        say(Clause::witness, "CAN-9 after the acknowledgement it is Cancelled",
            to_string(event.task) + " acknowledged and ended otherwise");
      }
      due_of(event).witness = event.task;
    }
    home_is(*task, event);
    go(*task, TaskState::completed);
    RegionLife* const home = regions_.find(task->region);
    if (home == nullptr) return;
    --(task->cleanup ? home->cleanups : home->tasks);
    if (!task->cleanup && !task->cancelled) --home->untold;
    if (task->race_lost) --home->losers;
  }

  void home_is(const TaskLife& task, const Event& event) {
    if (!event.region || event.region == task.region) return;
    say(Clause::witness, "CAN-10 witness_region_mismatch",
        to_string(task.id) + " is of " + to_string(task.region) + ", and the event of " + to_string(event.region));
  }

  // --- cancellation ---

  /// Gives: the reason, which is not weaker than before (CAN-10).
  void weigh(const Event& event, std::uint8_t& severity) {
    const auto reason = cancel_in(event.argument);
    if (!reason) return say(Clause::witness, "CAN-1 the kinds", "the event has no reason that there is");
    if (reason->severity < severity || reason->severity < describe(reason->kind).severity) {
      say(Clause::witness, "CAN-10 witness_reason_weakened",
          "severity " + std::to_string(reason->severity) + " of " + std::string(to_string(reason->kind)) + " after " +
              std::to_string(severity));
    }
    severity = std::max(severity, reason->severity);
  }

  void requested(const Event& event) {
    TaskLife* const task = &known_or_deferred(event.task, event.region);
    if (task->state == TaskState::completed) {
      return say(Clause::tasks, "CAN-3 a request changes nothing after the end",
                 to_string(event.task) + " has ended and takes a request");
    }
    home_is(*task, event);
    weigh(event, task->severity);
    RegionLife* const home = regions_.find(task->region);
    if (!task->cancelled && !task->cleanup && home != nullptr) told(*task, *home);
    const auto reason = cancel_in(event.argument);
    if (reason && reason->kind == CancelKind::race_lost && !task->race_lost && home != nullptr) {
      task->race_lost = true;
      ++home->losers;
    }
    if (!task->cancelled) go(*task, TaskState::cancel_requested);
    task->cancelled = true;
  }

  /// CAN-5: the first request of a task in a cancelled region comes from the walk, which goes in spawn order.
  void told(const TaskLife& task, RegionLife& home) {
    --home.untold;
    if (!home.cancelled) return;
    if (task.creation < home.next_told) {
      say(Clause::witness, "CAN-5 tasks in spawn order",
          to_string(task.id) + " is told after one that was spawned later");
    }
    home.next_told = task.creation + 1;
  }

  void region_requested(const Event& event) {
    RegionLife* const home = known(event.region);
    if (home == nullptr) return;
    if (home->state == RegionState::closed) {
      return say(Clause::regions, "CAN-3 a request changes nothing after the end",
                 to_string(event.region) + " is Closed and takes a request");
    }
    weigh(event, home->severity);
    if (home->state == RegionState::closing && !several_) {
      say(Clause::regions, "REG-3 Closing goes on at once", to_string(event.region) + " is cancelled while Closing");
    }
    if (!home->cancelled) {
      if (RegionLife* const above = regions_.find(home->parent)) --above->untold;
    }
    home->cancelled = true;
    if (home->state == RegionState::open) due_of(event).closing = event.region;
    due_of(event).told.push_back(event.region);
  }

  void acknowledged(const Event& event) {
    TaskLife* const task = known(event.task);
    if (task == nullptr) return;
    home_is(*task, event);
    weigh(event, task->severity);
    if (!task->cancelled) {
      return say(Clause::witness, "CAN-7 a request comes first",
                 to_string(event.task) + " answered a cancellation that nobody requested");
    }
    if (task->state == TaskState::cancelling) {
      return say(Clause::witness, "CAN-7 once", to_string(event.task) + " acknowledged its cancellation twice");
    }
    if (task->state == TaskState::completed) {
      return say(Clause::witness, "CAN-10 witness_phase_regression",
                 to_string(event.task) + " acknowledged after its end");
    }
    go(*task, TaskState::cancelling);
  }

  void forced(const Event& event) {
    TaskLife* const task = known(event.task);
    if (task == nullptr) return;
    home_is(*task, event);
    weigh(event, task->severity);
    if (!task->cancelled || task->forced || task->state == TaskState::completed) {
      return say(Clause::witness, "CAN-8 who was cancelled is forced, once",
                 to_string(event.task) + " is forced " + (task->forced ? "twice" : "and was not to end"));
    }
    task->forced = true;
    task->state = TaskState::cancelling;
  }

  void witnessed(const Event& event) {
    TaskLife* const task = known(event.task);
    if (task == nullptr) return;
    home_is(*task, event);
    weigh(event, task->severity);
    if (due_of(event).witness != event.task) {
      say(Clause::witness, "CAN-10 a witness is recorded at the end",
          to_string(event.task) + " has one without an end that was acknowledged");
    }
    due_of(event).witness = {};
  }

  // --- regions ---

  void moved(const Event& event) {
    RegionLife* const home = known(event.region);
    if (home == nullptr) return;
    const auto move = region_move_in(event.argument);
    if (!move || !check_move(move->from, move->to)) {
      return say(Clause::regions, "REG-1 the moves of a region",
                 to_string(event.region) + " makes a move that there is not");
    }
    if (move->from != home->state) {
      say(Clause::regions, "REG-1 the moves of a region",
          to_string(event.region) + " goes from " + std::string(to_string(move->from)) + " and is " +
              std::string(to_string(home->state)));
    }
    if (home->state == RegionState::closing) --closing_;
    home->state = move->to;
    if (home->state == RegionState::closing) ++closing_;
    if (move->to == RegionState::finalizing && home->tasks + home->regions != 0) {
      say(Clause::regions, "REG-4 Finalizing when nothing below is live",
          to_string(event.region) + " is Finalizing over " + std::to_string(home->tasks) + " tasks and " +
              std::to_string(home->regions) + " regions");
    }
    if (move->to == RegionState::closed) closed(*home);
  }

  void closed(RegionLife& home) {
    const std::string name = to_string(home.id);
    if (home.losers != 0) {
      say(Clause::losers, "I5 losers drain",
          name + " is Closed and " + std::to_string(home.losers) + " losers of a race in it have not ended");
    } else if (home.tasks + home.cleanups + home.regions != 0) {
      say(Clause::regions, "I2 close is quiet",
          name + " is Closed and " + std::to_string(home.tasks + home.cleanups) + " of its tasks and " +
              std::to_string(home.regions) + " of its regions have not ended");
    }
    // Children are numbered without a gap. What is missing was deferred and never began.
    const std::uint64_t made = home.children == 0 ? 0 : home.next_creation - (home.has_body ? 1 : 0);
    if (made > home.children) {
      say(Clause::finalizers, "REG-5 finalizers run exactly once",
          name + " is Closed and " + std::to_string(made - home.children) + " of its finalizers never began");
    }
    if (home.id == root_) result_.closed = true;
    if (RegionLife* const above = regions_.find(home.parent)) {
      --above->regions;
      if (!home.cancelled) --above->untold;
    }
  }

  /// What a worker has begun and must go on with. Events of others may come in between.
  struct Due {
    TaskId witness{};              ///< of this task, at once
    RegionId closing{};            ///< of this region, at once
    std::vector<RegionId> told{};  ///< everything in these, before its next step
  };
  Due& due_of(const Event& event) {
    if (event.worker >= dues_.size()) dues_.resize(std::size_t{event.worker} + 1);
    return dues_[event.worker];
  }

  const Trace& trace_;
  Findings& findings_;
  Checked& result_;
  std::size_t at_ = 0;
  RegionId root_{};
  Lives<TaskLife, TaskId> tasks_;
  Lives<RegionLife, RegionId> regions_;
  std::uint64_t closing_ = 0;  // regions that are
  bool several_ = false;       // workers, whose events come between those of one step
  std::vector<Due> dues_;      // of each worker
};

}  // namespace

void check_lives(const Trace& trace, Findings& findings, Checked& result) { Walk(trace, findings, result).look(); }

}  // namespace calm::trace
