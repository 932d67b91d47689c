// What the events of a run must agree with.
#include <algorithm>
#include <string>
#include <vector>

#include "calm/check/require.hpp"
#include "calm/lab/oracles.hpp"
#include "calm/trace/check.hpp"
#include "calm/trace/text.hpp"

namespace calm::lab {
namespace {

using trace::Event;
using trace::EventKind;

/// Who of the lab asks this of a trace.
Oracle oracle_of(trace::Clause clause) noexcept {
  switch (clause) {
    case trace::Clause::numbers:
      return Oracle::trace;
    case trace::Clause::ownership:
    case trace::Clause::tasks:
      return Oracle::task_leak;
    case trace::Clause::regions:
      return Oracle::region_quiet;
    case trace::Clause::witness:
      return Oracle::witness;
    case trace::Clause::finalizers:
      return Oracle::finalizers;
    case trace::Clause::ledger:
      return Oracle::obligations;
    case trace::Clause::timers:
      return Oracle::timers;
    case trace::Clause::dispatch:
      return Oracle::lost_wake;
    case trace::Clause::losers:
      return Oracle::losers;
  }
  CALM_INVARIANT(LAB_6, false, static_cast<std::uint8_t>(clause));
  return {};
}

}  // namespace

void ask_trace(const Evidence& evidence, Problems& problems) {
  for (const trace::Violation& found : trace::check_trace(evidence.trace).violations) {
    if (found.clause == trace::Clause::timers) continue;  // ask_alarms() knows more of them
    problems.push_back({oracle_of(found.clause), "calm: " + found.text +
                                                     "\n  seen: " + to_string(evidence.trace.events[found.index]) +
                                                     "\n  law:  " + std::string(found.law) +
                                                     "\n  next: this is a bug of calm; report it with the schedule"});
  }
}

void ask_deadlines(const Evidence& evidence, Problems& problems) {
  const std::vector<Event>& events = evidence.trace.events;
  for (const OverdueTask& overdue : evidence.overdue) {
    auto at = std::upper_bound(events.begin(), events.end(), overdue.before,
                               [](std::uint64_t sequence, const Event& event) { return sequence < event.sequence; });
    while (at != events.end() && at->task != overdue.task) ++at;
    if (at == events.end() || at->kind != EventKind::poll) continue;  // a request came first, or it was not polled
    problems.push_back({Oracle::deadlines, "calm: " + evidence.names.of(overdue.task) + " was polled at " +
                                               to_string(at->time) + " although its deadline was " +
                                               to_string(overdue.deadline) + "\n  seen: " + to_string(*at) +
                                               "\n  law:  BUD-5 a deadline that has passed cancels" +
                                               "\n  next: this is a bug of calm; report it with the schedule"});
  }
}

void ask_alarms(const Evidence& evidence, Problems& problems) {
  const auto say = [&](const FiredAlarm& alarm, const std::string& what) {
    problems.push_back({Oracle::timers, "calm: an alarm of " + evidence.names.of(alarm.task) + " for " +
                                            to_string(alarm.wanted) + " went off at " + to_string(alarm.fired) + ", " +
                                            what + "\n  law:  TMR-3 never early; by time, then by arming" +
                                            "\n  next: look at who changes an alarm that is armed"});
  };
  const FiredAlarm* before = nullptr;
  for (const FiredAlarm& alarm : evidence.alarms) {
    if (alarm.fired < alarm.wanted) say(alarm, "early");
    const bool together = before != nullptr && before->batch == alarm.batch;
    if (together &&
        (alarm.wanted < before->wanted || (alarm.wanted == before->wanted && alarm.armed < before->armed))) {
      say(alarm, "after one that was to go off later");
    }
    before = &alarm;
  }
}

void ask_fairness(const Evidence& evidence, Problems& problems) {
  const auto say = [&](const LaneDispatch& dispatch, const std::string& what) {
    problems.push_back(
        {Oracle::fairness, "calm: " + evidence.names.of(dispatch.task) + " was dispatched " + what +
                               "\n  law:  SCH-4 streaks end while other work waits, ready work is served in "
                               "time\n  next: this is a bug of calm; report it with the schedule"});
  };
  std::uint64_t streak = 0;  // of cancel work that passed over other work
  for (const LaneDispatch& dispatch : evidence.dispatches) {
    streak = dispatch.lane == sched::Lane::cancel && dispatch.others ? streak + 1 : 0;
    if (streak > dispatch.limit) {
      say(dispatch, "as number " + std::to_string(streak) + " of a streak of cancel work, " +
                        std::to_string(dispatch.limit) + " may be");
    }
    if (dispatch.lane == sched::Lane::ready && dispatch.waited > dispatch.bound) {
      say(dispatch,
          "after " + std::to_string(dispatch.waited) + " others, " + std::to_string(dispatch.bound) + " may be");
    }
  }
}

}  // namespace calm::lab
