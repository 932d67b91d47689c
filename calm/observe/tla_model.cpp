#include <string_view>

#include "calm/model/obligation_state.hpp"
#include "calm/model/region_state.hpp"
#include "calm/model/task_state.hpp"
#include "calm/observe/tla.hpp"

namespace calm::observe {
namespace {

template <class State, std::size_t count>
std::string set_of_states(const State (&states)[count]) {
  std::string text;
  for (const State state : states) {
    text.append(text.empty() ? "{" : ", ").append("\"").append(to_string(state)).append("\"");
  }
  return text.append("}");
}

template <class State, std::size_t count>
std::string set_of_moves(const Move<State> (&moves)[count]) {
  std::string text;
  for (const Move<State>& move : moves) {
    text.append(text.empty() ? "{ " : ",\n    ").append("<<\"").append(to_string(move.from));
    text.append("\", \"").append(to_string(move.to)).append("\">>");
  }
  return text.append(" }");
}

constexpr std::string_view head = R"tla(----------------------------- MODULE CalmKernel -----------------------------
(* The state machines of calm's kernel. Written by `calm trace tla-model` from *)
(* the tables that the kernel itself obeys. Names such as REG-4 are laws.      *)

CONSTANTS
  Regions,      \* ids of all regions that can come to be, Root among them
  Tasks,        \* ids of all tasks
  Obligations,  \* ids of all promises
  Root          \* the region that is there from the start

VARIABLES
  regionState, regionParent,           \* of each region: its state, and the region it was opened below
  taskState, taskRegion,               \* of each task: its state, and the region that owns it
  obligationState, obligationRegion    \* of each promise: its state, and the region that waits for it

regionVars == <<regionState, regionParent>>
taskVars == <<taskState, taskRegion>>
obligationVars == <<obligationState, obligationRegion>>
vars == <<regionState, regionParent, taskState, taskRegion, obligationState, obligationRegion>>

)tla";

constexpr std::string_view tail = R"tla(
TypeOK ==
  /\ regionState \in [Regions -> RegionStates \cup {"absent"}]
  /\ regionParent \in [Regions -> Regions \cup {"none"}]
  /\ taskState \in [Tasks -> TaskStates \cup {"absent"}]
  /\ taskRegion \in [Tasks -> Regions \cup {"none"}]
  /\ obligationState \in [Obligations -> ObligationStates \cup {"absent"}]
  /\ obligationRegion \in [Obligations -> Regions \cup {"none"}]

(* Nothing of the region is alive: no task, no child region. *)
Quiet(r) ==
  /\ \A t \in Tasks : taskRegion[t] = r => taskState[t] \in {"absent", "Completed"}
  /\ \A c \in Regions : regionParent[c] = r => regionState[c] \in {"absent", "Closed"}

(* No promise to the region is open. *)
Settled(r) == \A o \in Obligations : obligationRegion[o] = r => obligationState[o] # "Reserved"

Init ==
  /\ regionState = [r \in Regions |-> IF r = Root THEN "Open" ELSE "absent"]
  /\ regionParent = [r \in Regions |-> "none"]
  /\ taskState = [t \in Tasks |-> "absent"]
  /\ taskRegion = [t \in Tasks |-> "none"]
  /\ obligationState = [o \in Obligations |-> "absent"]
  /\ obligationRegion = [o \in Obligations |-> "none"]

(* --- regions --- *)

OpenRegion(r, p) ==  \* REG-6
  /\ regionState[r] = "absent"
  /\ regionState[p] = "Open"
  /\ regionState' = [regionState EXCEPT ![r] = "Open"]
  /\ regionParent' = [regionParent EXCEPT ![r] = p]
  /\ UNCHANGED taskVars
  /\ UNCHANGED obligationVars

MoveRegion(r, from, to) ==  \* REG-1, REG-4, I2
  /\ regionState[r] = from
  /\ <<from, to>> \in RegionMoves
  /\ to \in {"Finalizing", "Closed"} => Quiet(r)
  /\ to = "Closed" => Settled(r)
  /\ regionState' = [regionState EXCEPT ![r] = to]
  /\ UNCHANGED regionParent
  /\ UNCHANGED taskVars
  /\ UNCHANGED obligationVars

CancelRegion(r) ==  \* CAN-6: the moves that it leads to are steps of their own
  /\ regionState[r] \in RegionStates \ {"Closed"}
  /\ UNCHANGED vars

(* --- tasks --- *)

MoveTask(t, to) ==  \* TSK-1
  /\ <<taskState[t], to>> \in TaskMoves
  /\ taskState' = [taskState EXCEPT ![t] = to]
  /\ UNCHANGED taskRegion
  /\ UNCHANGED regionVars
  /\ UNCHANGED obligationVars

BeginTask(t, r, state) ==
  /\ taskState[t] = "absent"
  /\ taskState' = [taskState EXCEPT ![t] = state]
  /\ taskRegion' = [taskRegion EXCEPT ![t] = r]
  /\ UNCHANGED regionVars
  /\ UNCHANGED obligationVars

SpawnTask(t, r) ==  \* REG-6: while the region is Finalizing only clean-up tasks
  /\ regionState[r] \in {"Open", "Finalizing"}
  /\ BeginTask(t, r, "Created")

StartFinalizer(t, r, state) ==  \* REG-5: it was registered before, and may have been cancelled since
  /\ regionState[r] = "Finalizing"
  /\ state \in {"Created", "CancelRequested"}
  /\ BeginTask(t, r, state)

CancelDeferred(t) == taskState[t] = "absent" /\ UNCHANGED vars  \* a finalizer that has not started

Poll(t) ==  \* the first one starts the task; TSK-8: unless it was cancelled before
  IF taskState[t] = "Created"
  THEN MoveTask(t, "Running")
  ELSE /\ taskState[t] \in TaskStates \ {"Completed"}
       /\ UNCHANGED vars

Complete(t, outcome) ==  \* TSK-2: what was never polled has no value to give
  /\ taskState[t] = "Created" => outcome # "Ok"
  /\ MoveTask(t, "Completed")

RequestCancel(t) ==  \* CAN-3, CAN-4: a further request strengthens
  MoveTask(t, IF taskState[t] \in {"Cancelling", "Finalizing"} THEN taskState[t] ELSE "CancelRequested")

Acknowledge(t) == taskState[t] = "CancelRequested" /\ MoveTask(t, "Cancelling")  \* CAN-7

BeginFinalizing(t) == MoveTask(t, "Finalizing")  \* TSK-8

Force(t) ==  \* CAN-8: what did not acknowledge is dropped all the same
  IF taskState[t] = "CancelRequested"
  THEN MoveTask(t, "Cancelling")
  ELSE /\ taskState[t] \in {"Cancelling", "Finalizing"}
       /\ UNCHANGED vars

CancelDone(t) == taskState[t] = "Completed" /\ UNCHANGED vars  \* CAN-10

(* --- promises --- *)

Reserve(o, r) ==  \* REG-6
  /\ obligationState[o] = "absent"
  /\ regionState[r] \in {"Open", "Finalizing"}
  /\ obligationState' = [obligationState EXCEPT ![o] = "Reserved"]
  /\ obligationRegion' = [obligationRegion EXCEPT ![o] = r]
  /\ UNCHANGED regionVars
  /\ UNCHANGED taskVars

Resolve(o, to) ==  \* OBL-1
  /\ <<obligationState[o], to>> \in ObligationMoves
  /\ obligationState' = [obligationState EXCEPT ![o] = to]
  /\ UNCHANGED obligationRegion
  /\ UNCHANGED regionVars
  /\ UNCHANGED taskVars

(* --- all of it --- *)

Next ==
  \/ \E r \in Regions : \E p \in Regions : OpenRegion(r, p)
  \/ \E r \in Regions : \E to \in RegionStates : MoveRegion(r, regionState[r], to)
  \/ \E t \in Tasks : \E r \in Regions : SpawnTask(t, r)
  \/ \E t \in Tasks : \E r \in Regions : \E state \in TaskStates : StartFinalizer(t, r, state)
  \/ \E t \in Tasks : Poll(t) \/ RequestCancel(t) \/ Acknowledge(t) \/ BeginFinalizing(t) \/ Force(t)
  \/ \E t \in Tasks : \E outcome \in {"Ok", "Err", "Cancelled", "Panicked"} : Complete(t, outcome)
  \/ \E o \in Obligations : \E r \in Regions : Reserve(o, r)
  \/ \E o \in Obligations : \E to \in ObligationStates : Resolve(o, to)

Spec == Init /\ [][Next]_vars

(* I2: a region is Closed only when all below it is quiet and every promise is settled. *)
ClosedIsQuiet == \A r \in Regions : regionState[r] = "Closed" => (Quiet(r) /\ Settled(r))

(* I1: what is alive has an owner that is not Closed. *)
LiveIsOwned ==
  /\ \A t \in Tasks : taskState[t] \in {"absent", "Completed"} \/ regionState[taskRegion[t]] # "Closed"
  /\ \A r \in Regions : regionState[r] \in {"absent", "Closed"} \/ regionParent[r] = "none"
                        \/ regionState[regionParent[r]] # "Closed"
=============================================================================
)tla";

}  // namespace

std::string tla_model() {
  std::string text(head);
  text.append("RegionStates == ").append(set_of_states(region_states));
  text.append("\nTaskStates == ").append(set_of_states(task_states));
  text.append("\nObligationStates == ").append(set_of_states(obligation_states));
  text.append("\n\nRegionMoves ==  \\* REG-1\n  ").append(set_of_moves(region_moves));
  text.append("\n\nTaskMoves ==  \\* TSK-1\n  ").append(set_of_moves(task_moves));
  text.append("\n\nObligationMoves ==  \\* OBL-1\n  ").append(set_of_moves(obligation_moves));
  return text.append("\n").append(tail);
}

}  // namespace calm::observe
