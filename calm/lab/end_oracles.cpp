#include <set>
#include <string_view>

#include "calm/kernel/futurelock.hpp"
#include "calm/kernel/ownership.hpp"
#include "calm/kernel/quiescence.hpp"
#include "calm/kernel/snapshot_index.hpp"
#include "calm/lab/oracles.hpp"

namespace calm::lab {
namespace {

Oracle oracle_of(kernel::FindingKind kind) noexcept {
  switch (kind) {
    case kernel::FindingKind::leak:
    case kernel::FindingKind::dropped_token:
    case kernel::FindingKind::unresolved:
      return Oracle::obligations;
    case kernel::FindingKind::mask_too_deep:
    case kernel::FindingKind::mask_too_long:
      return Oracle::masks;
    case kernel::FindingKind::forced:
    case kernel::FindingKind::stalled:
      return Oracle::deadlines;
    case kernel::FindingKind::wrong_thread:
    case kernel::FindingKind::borrow_conflict:
    case kernel::FindingKind::borrow_across_await:
      return Oracle::ghosts;
  }
  return Oracle::obligations;
}

std::string_view next_of(kernel::FindingKind kind) noexcept {
  switch (kind) {
    case kernel::FindingKind::leak:
    case kernel::FindingKind::unresolved:
      return "commit or abort the promise on every path, or hand it to a task that does";
    case kernel::FindingKind::dropped_token:
      return "commit or abort the token before it goes out of scope";
    case kernel::FindingKind::mask_too_deep:
    case kernel::FindingKind::mask_too_long:
      return "mask less: only what must happen as a whole";
    case kernel::FindingKind::forced:
    case kernel::FindingKind::stalled:
      return "let clean-up end sooner, or ask for a longer clean-up time";
    case kernel::FindingKind::wrong_thread:
      return "leave it on the thread that it belongs to, or hand it over";
    case kernel::FindingKind::borrow_conflict:
    case kernel::FindingKind::borrow_across_await:
      return "let the borrow go before the next one, and before the next await";
  }
  return {};
}

}  // namespace

void ask_leaks(const Evidence& evidence, Problems& problems) {
  if (evidence.quiet) return;
  const kernel::Snapshot& snapshot = evidence.snapshot;
  std::string tasks;
  for (const kernel::TaskView& task : snapshot.tasks) {
    if (!kernel::is_alive(task) || kernel::is_waiting_finalizer(task)) continue;
    tasks.append("\n  live: ").append(evidence.names.of(task.id)).append(" in ").append(snapshot.path_of(task.region));
    tasks.append(": ").append(to_string(task.state));
    if (const std::string place = place_text(task.await_site); !place.empty()) tasks.append(" at ").append(place);
    if (task.waits_for) tasks.append(", waits for ").append(to_string(task.waits_for));
  }
  if (!tasks.empty()) {
    problems.push_back({Oracle::task_leak, "calm: the program is over and tasks are alive" + tasks +
                                               "\n  law:  I1 every live task has a region that waits for it" +
                                               "\n  next: see why they wait; the reports below say more"});
  }
  problems.push_back({Oracle::region_quiet, kernel::diagnose(snapshot)});
}

void ask_findings(const Evidence& evidence, Problems& problems) {
  for (const kernel::Finding& finding : evidence.findings) {
    std::string text = to_string(finding);
    if (finding.task) text.append("\n  who:  ").append(evidence.names.of(finding.task));
    if (const std::string place = place_text(finding.site); !place.empty()) text.append("\n  at:   ").append(place);
    text.append("\n  next: ").append(next_of(finding.kind));
    problems.push_back({oracle_of(finding.kind), std::move(text)});
  }
  for (const std::string& broken : kernel::broken_invariants(evidence.snapshot)) {
    problems.push_back({Oracle::region_quiet, "calm: the kernel contradicts itself: " + broken +
                                                  "\n  next: this is a bug of calm; report it with the schedule"});
  }
}

void ask_lost_wakes(const Evidence& evidence, Problems& problems) {
  for (const TaskId id : evidence.lost_wakes) {
    const kernel::TaskView* const task = evidence.snapshot.find(id);
    std::string text = "calm: a wake was lost: " + evidence.names.of(id) + " sleeps at a wait that is over";
    if (task != nullptr) {
      if (const std::string place = place_text(task->await_site); !place.empty())
        text.append("\n  at:   ").append(place);
      if (task->waits_for) text.append("\n  wait: for ").append(to_string(task->waits_for));
    }
    text.append("\n  law:  TSK-6 no wake is lost");
    text.append("\n  next: whoever ends the wait must wake the task that it registered");
    problems.push_back({Oracle::lost_wake, std::move(text)});
  }
}

void ask_futurelocks(const Evidence& evidence, Problems& problems) {
  const auto say = [&](const kernel::Futurelock& lock) {
    problems.push_back({Oracle::futurelock, to_string(lock) + "\n  who:  " + evidence.names.of(lock.task)});
  };
  std::set<TaskId> known;
  for (const kernel::Futurelock& lock : evidence.futurelocks) {
    known.insert(lock.task);
    say(lock);
  }
  // Nothing will be polled any more when the run is stuck, however short it was.
  const std::uint32_t rounds = evidence.stuck ? 0 : kernel::futurelock_rounds;
  for (const kernel::Futurelock& lock : kernel::find_futurelocks(evidence.snapshot, rounds)) {
    if (!known.contains(lock.task)) say(lock);
  }
}

Problems ask_oracles(const Evidence& evidence) {
  Problems problems;
  if (evidence.trace.overwritten == 0) {
    ask_trace(evidence, problems);
    ask_deadlines(evidence, problems);
  } else {
    problems.push_back({Oracle::trace, "calm: the trace lost " + std::to_string(evidence.trace.overwritten) +
                                           " events: one step made more of them than it has room for"
                                           "\n  law:  LAB-2 every run yields a trace"
                                           "\n  next: raise LabConfig::kernel.trace_capacity"});
  }
  ask_alarms(evidence, problems);
  ask_findings(evidence, problems);
  ask_lost_wakes(evidence, problems);
  if (evidence.stuck) ask_deadlocks(evidence, problems);
  ask_futurelocks(evidence, problems);
  ask_fairness(evidence, problems);
  ask_leaks(evidence, problems);
  return problems;
}

}  // namespace calm::lab
