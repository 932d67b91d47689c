#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "calm/model/task_state.hpp"
#include "calm/observe/story.hpp"
#include "calm/observe/tla.hpp"
#include "calm/trace/argument.hpp"
#include "calm/trace/text.hpp"

namespace calm::observe {
namespace {

using trace::Event;
using trace::EventKind;

/// What an event does in the module CalmKernel; `step` there is chosen by these words.
std::string_view act_of(const Event& event) {
  switch (event.kind) {
    case EventKind::spawn:
      return makes_region(event) ? "open region" : "spawn";
    case EventKind::finalize:
      return "start finalizer";
    case EventKind::poll:
      return "poll";
    case EventKind::complete:
      return "complete";
    case EventKind::cancel_request:
      return event.task ? "cancel request" : "cancel region";
    case EventKind::cancel_ack:
      return "cancel ack";
    case EventKind::cancel_done:
      return "cancel done";
    case EventKind::reserve:
      return "reserve";
    case EventKind::resolve:
      return "resolve";
    case EventKind::region_move:
      return "region move";
    case EventKind::forced:
      return "forced";
    case EventKind::timer:
    case EventKind::channel:
    case EventKind::io:
    case EventKind::choice:
    case EventKind::access:
    case EventKind::mark:
      break;
  }
  return "other";
}

/// A state in which a task that is older than the trace can have been before the first of its events that tells.
TaskState before(EventKind kind) {
  switch (kind) {
    case EventKind::cancel_ack:
    case EventKind::forced:
      return TaskState::cancel_requested;
    case EventKind::cancel_done:
      return TaskState::completed;
    case EventKind::cancel_request:
    case EventKind::complete:
    case EventKind::poll:
    case EventKind::spawn:
    case EventKind::reserve:
    case EventKind::resolve:
    case EventKind::finalize:
    case EventKind::region_move:
    case EventKind::timer:
    case EventKind::channel:
    case EventKind::io:
    case EventKind::choice:
    case EventKind::access:
    case EventKind::mark:
      break;
  }
  return TaskState::running;
}

class TraceModule {
 public:
  explicit TraceModule(const trace::Trace& trace)
      : trace_(trace), story_(story_of(trace)), whole_(trace.overwritten == 0) {
    for (const Event& event : trace.events) meet(event);
    for (const Row& row : story_.rows) {
      if (row.type == Row::Type::region) meet_region(row);
      if (row.type == Row::Type::task) meet_task(row);
    }
  }

  std::string write() {
    std::string out = R"tla(------------------------------ MODULE CalmTrace ------------------------------
(* A run of calm, step by step. Written by `calm trace export --format tla`;   *)
(* `calm trace tla-model` writes the module CalmKernel that belongs to it.     *)
(* To check it with TLC: SPECIFICATION Spec, INVARIANTS TypeOK ClosedIsQuiet.  *)
(* A deadlock shows the first event that the kernel does not allow.            *)
EXTENDS Naturals, Sequences

)tla";
    append_set(out, "Regions", regions_);
    append_set(out, "Tasks", tasks_);
    append_set(out, "Obligations", obligations_);
    out.append("Root == ").append(quote(root_)).append("\n\n");
    out.append("(* What was there before the first event: id, state, owner. *)\n");
    append_older(out, "OlderRegions", older_regions_);
    append_older(out, "OlderTasks", older_tasks_);
    append_older(out, "OlderObligations", older_obligations_);
    append_events(out);
    return out.append(tail);
  }

 private:
  using Older = std::map<std::string, std::pair<std::string, std::string>>;  // by id: state, owner

  static constexpr std::string_view tail = R"tla(
VARIABLES at, regionState, regionParent, taskState, taskRegion, obligationState, obligationRegion

kernelVars == <<regionState, regionParent, taskState, taskRegion, obligationState, obligationRegion>>

K == INSTANCE CalmKernel

(* Of a record: part 2, its state, or part 3, its owner, before the first event. *)
Before(older, id, part, otherwise) ==
  IF \E known \in older : known[1] = id THEN (CHOOSE known \in older : known[1] = id)[part] ELSE otherwise

Init ==
  /\ at = 1
  /\ regionState = [r \in Regions |-> Before(OlderRegions, r, 2, "absent")]
  /\ regionParent = [r \in Regions |-> Before(OlderRegions, r, 3, "none")]
  /\ taskState = [t \in Tasks |-> Before(OlderTasks, t, 2, "absent")]
  /\ taskRegion = [t \in Tasks |-> Before(OlderTasks, t, 3, "none")]
  /\ obligationState = [o \in Obligations |-> Before(OlderObligations, o, 2, "absent")]
  /\ obligationRegion = [o \in Obligations |-> Before(OlderObligations, o, 3, "none")]

Step(e) ==
  CASE e.act = "open region" -> K!OpenRegion(e.region, e.what)
    [] e.act = "spawn" -> K!SpawnTask(e.task, e.region)
    [] e.act = "start finalizer" -> K!StartFinalizer(e.task, e.region, e.to)
    [] e.act = "cancel deferred" -> K!CancelDeferred(e.task)
    [] e.act = "poll" -> K!Poll(e.task)
    [] e.act = "complete" -> K!Complete(e.task, e.to)
    [] e.act = "cancel request" -> K!RequestCancel(e.task)
    [] e.act = "cancel region" -> K!CancelRegion(e.region)
    [] e.act = "cancel ack" -> K!Acknowledge(e.task)
    [] e.act = "cancel done" -> K!CancelDone(e.task)
    [] e.act = "forced" -> K!Force(e.task)
    [] e.act = "reserve" -> K!Reserve(e.what, e.region)
    [] e.act = "resolve" -> K!Resolve(e.what, e.to)
    [] e.act = "region move" -> K!MoveRegion(e.region, e.from, e.to)
    [] OTHER -> UNCHANGED kernelVars

Next ==
  \/ (at <= Len(Events) /\ Step(Events[at]) /\ at' = at + 1)
  \/ (at = Len(Events) + 1 /\ UNCHANGED at /\ UNCHANGED kernelVars)

Spec == Init /\ [][Next]_<<at, kernelVars>>

TypeOK == K!TypeOK
ClosedIsQuiet == K!ClosedIsQuiet
=============================================================================
)tla";

  static std::string quote(std::string_view text) { return std::string("\"").append(text).append("\""); }

  void meet(const Event& event) {
    const auto move = trace::region_move_in(event.argument);
    if (event.kind == EventKind::region_move && event.region && move) {
      first_states_.try_emplace(event.region, move->from);
    }
    const bool tells = act_of(event) != "other" && event.kind != EventKind::poll && event.kind != EventKind::reserve &&
                       event.kind != EventKind::resolve && !makes_region(event);
    if (event.task && tells) first_kinds_.try_emplace(event.task, event.kind);
    if (event.kind != EventKind::reserve && event.kind != EventKind::resolve) return;
    const std::string id = to_string(event.resource);
    if (obligations_.insert(id).second && event.kind == EventKind::resolve && !whole_) {
      older_obligations_[id] = {"Reserved", to_string(event.region)};
    }
  }

  void meet_region(const Row& row) {
    const std::string id = to_string(row.region);
    regions_.insert(id);
    if (row.first != Row::none || (whole_ && root_ != "none")) return;
    const auto state = first_states_.find(row.region);
    older_regions_[id] = {std::string(to_string(state == first_states_.end() ? RegionState::open : state->second)),
                          "none"};
    if (root_ == "none") root_ = id;
  }

  void meet_task(const Row& row) {
    const std::string id = to_string(row.task);
    tasks_.insert(id);
    if (row.first != Row::none || whole_) return;
    const auto kind = first_kinds_.find(row.task);
    const TaskState state = kind == first_kinds_.end() ? TaskState::running : before(kind->second);
    older_tasks_[id] = {std::string(to_string(state)), to_string(row.region)};
  }

  static void append_set(std::string& out, std::string_view name, const std::set<std::string>& ids) {
    out.append(name).append(" == {");
    std::size_t column = name.size() + 5;
    for (const std::string& id : ids) {
      if (out.back() != '{') out.append(", ");
      if (column + id.size() > 100) {
        out.append("\n  ");
        column = 2;
      }
      out.append(quote(id));
      column += id.size() + 4;
    }
    out.append("}\n");
  }

  static void append_older(std::string& out, std::string_view name, const Older& older) {
    out.append(name).append(" == {");
    for (const auto& [id, what] : older) {
      if (out.back() != '{') out.append(",\n  ");
      out.append("<<").append(quote(id)).append(", ").append(quote(what.first));
      out.append(", ").append(quote(what.second)).append(">>");
    }
    out.append("}\n");
  }

  void append_events(std::string& out) const {
    out.append("\nEvents == <<");
    std::set<TaskId> cancelled_early;  // finalizers, before they were started
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const Event& event = trace_.events[i];
      const Row& row = story_.rows[story_.row_of[i]];
      const bool early = event.kind == EventKind::cancel_request && event.task && row.finalizer && i < row.first;
      if (early) cancelled_early.insert(event.task);
      out.append(i == 0 ? "\n  " : ",\n  ");
      append_event(out, event, early ? "cancel deferred" : act_of(event), cancelled_early.contains(event.task));
    }
    out.append(" >>\n");
  }

  static void append_event(std::string& out, const Event& event, std::string_view act, bool cancelled) {
    const auto move = trace::region_move_in(event.argument);
    std::string from;
    std::string to = trace::argument_text(event);
    if (event.kind == EventKind::finalize) to = to_string(cancelled ? TaskState::cancel_requested : TaskState::created);
    if (event.kind == EventKind::region_move && move) {
      from = to_string(move->from);
      to = to_string(move->to);
    }
    out.append("[sequence |-> ").append(quote(std::to_string(event.sequence)));
    out.append(", act |-> ").append(quote(act));
    out.append(", task |-> ").append(quote(to_string(event.task)));
    out.append(", region |-> ").append(quote(to_string(event.region)));
    out.append(", what |-> ").append(quote(to_string(event.resource)));
    out.append(", from |-> ").append(quote(from)).append(", to |-> ").append(quote(to)).append("]");
  }

  const trace::Trace& trace_;
  Story story_;
  bool whole_;  // nothing but the root is older than the trace
  std::set<std::string> regions_;
  std::set<std::string> tasks_;
  std::set<std::string> obligations_;
  std::string root_ = "none";
  Older older_regions_;
  Older older_tasks_;
  Older older_obligations_;
  std::map<RegionId, RegionState> first_states_;
  std::map<TaskId, EventKind> first_kinds_;
};

}  // namespace

std::string tla_of(const trace::Trace& trace) { return TraceModule(trace).write(); }

}  // namespace calm::observe
