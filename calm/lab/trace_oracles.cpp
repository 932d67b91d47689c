// What the events of a run must agree with. Every question goes through the trace once; tasks and regions are found by index.
#include <algorithm>
#include <vector>

#include "calm/lab/oracles.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/witness.hpp"
#include "calm/trace/argument.hpp"
#include "calm/trace/ledger_check.hpp"
#include "calm/trace/text.hpp"

namespace calm::lab {
namespace {

using trace::Event;
using trace::EventKind;

struct TaskLife {
  TaskId id{};
  RegionId region{};
  CancelPhase phase = CancelPhase::requested;
  std::uint8_t severity = 0;
  bool cancelled = false;
  bool race_lost = false;
  bool finalizer = false;
  bool ended = false;
};

struct RegionLife {
  RegionId id{};
  std::uint64_t live = 0;      ///< tasks
  std::uint64_t losers = 0;    ///< of them cancelled as losers of a race
  std::uint64_t children = 0;  ///< that the trace tells of
  std::uint64_t first_made = UINT64_MAX;
  std::uint64_t last_made = 0;
  std::uint64_t last_finalizer = UINT64_MAX;  ///< by creation; they run newest first
  TaskId running_finalizer{};
  bool closed = false;
};

class Lives {
 public:
  Lives(const Evidence& evidence, Problems& problems) noexcept : evidence_(evidence), problems_(problems) {}

  void look() {
    for (const Event& event : evidence_.trace.events) see(event);
    for (const TaskLife& task : tasks_) {
      if (task.id && !task.ended && task.race_lost) {
        say(Oracle::losers, evidence_.names.of(task.id) + " lost a race and has not ended", "I5 losers drain",
            "a combinator returns only when its losers have ended");
      }
    }
  }

 private:
  void see(const Event& event) {
    switch (event.kind) {
      case EventKind::spawn:
        spawned(event);
        break;
      case EventKind::poll:
        polled(event);
        break;
      case EventKind::complete:
        completed(event);
        break;
      case EventKind::cancel_request:
        if (event.task) requested(event);
        break;
      case EventKind::cancel_ack:
        stepped(event, CancelPhase::cancelling);
        break;
      case EventKind::cancel_done:
        stepped(event, CancelPhase::completed);
        break;
      case EventKind::finalize:
        finalizer_began(event);
        break;
      case EventKind::region_move:
        moved(event);
        break;
      case EventKind::reserve:
      case EventKind::resolve:
      case EventKind::timer:
      case EventKind::channel:
      case EventKind::io:
      case EventKind::choice:
      case EventKind::access:
      case EventKind::forced:
      case EventKind::mark:
        break;
    }
  }

  TaskLife& task(TaskId id) {
    if (id.index() >= tasks_.size()) tasks_.resize(std::size_t{id.index()} + 1);
    return tasks_[id.index()];
  }
  RegionLife& region(RegionId id) {
    if (id.index() >= regions_.size()) regions_.resize(std::size_t{id.index()} + 1);
    RegionLife& life = regions_[id.index()];
    if (life.id != id) life = {.id = id};
    return life;
  }

  void say(Oracle oracle, const std::string& what, std::string_view law, std::string_view next,
           const Event* event = nullptr) {
    std::string text = "calm: " + what;
    if (event != nullptr) text.append("\n  seen: ").append(to_string(*event));
    text.append("\n  law:  ").append(law).append("\n  next: ").append(next);
    problems_.push_back({oracle, std::move(text)});
  }
  static constexpr std::string_view our_bug = "this is a bug of calm; report it with the schedule";

  void child_made(RegionId in, std::uint64_t creation) {
    RegionLife& life = region(in);
    ++life.children;
    life.first_made = std::min(life.first_made, creation);
    life.last_made = std::max(life.last_made, creation);
  }

  void spawned(const Event& event) {
    if (event.resource != trace::ResourceId(event.region)) {  // a region, in the one that is the resource
      (void)region(event.region);
      child_made(RegionId::from_bits(event.resource.bits()), event.argument);
      return;
    }
    RegionLife& home = region(event.region);
    if (home.closed)
      say(Oracle::region_quiet, to_string(event.task) + " was admitted to a Closed region", "REG-6", our_bug, &event);
    ++home.live;
    child_made(event.region, event.argument);
    task(event.task) = {.id = event.task, .region = event.region};
  }

  void polled(const Event& event) {
    const TaskLife& life = task(event.task);
    if (life.id == event.task && life.ended) {
      say(Oracle::task_leak, to_string(event.task) + " was polled after its end", "TSK-1", our_bug, &event);
    }
  }

  void completed(const Event& event) {
    TaskLife& life = task(event.task);
    if (life.id != event.task || life.ended) {
      say(life.finalizer ? Oracle::finalizers : Oracle::task_leak,
          to_string(event.task) + " ended twice, or never began", "TSK-1", our_bug, &event);
      return;
    }
    life.ended = true;
    RegionLife& home = region(life.region);
    --home.live;
    if (life.race_lost) --home.losers;
    if (home.running_finalizer == event.task) home.running_finalizer = {};
  }

  void requested(const Event& event) {
    TaskLife& life = task(event.task);
    const auto reason = trace::cancel_in(event.argument);
    if (!reason || life.id != event.task) return;
    if (reason->kind == CancelKind::race_lost && !life.race_lost && !life.ended) {
      life.race_lost = true;
      ++region(life.region).losers;
    }
    witness(event, life, life.cancelled ? life.phase : CancelPhase::requested, reason->severity);
    life.cancelled = true;
  }

  void stepped(const Event& event, CancelPhase phase) {
    TaskLife& life = task(event.task);
    const auto reason = trace::cancel_in(event.argument);
    if (!reason || life.id != event.task) return;
    if (!life.cancelled) {
      say(Oracle::witness, to_string(event.task) + " answered a cancellation that nobody requested", "CAN-7", our_bug,
          &event);
      return;
    }
    if (phase == CancelPhase::cancelling && life.phase == phase) {
      say(Oracle::witness, to_string(event.task) + " acknowledged its cancellation twice", "CAN-7", our_bug, &event);
    }
    witness(event, life, phase, reason->severity);
  }

  /// CAN-10, as far as events tell: same task and region, rank and severity not smaller.
  void witness(const Event& event, TaskLife& life, CancelPhase phase, std::uint8_t severity) {
    Status step;
    if (event.region && event.region != life.region) step = Errc::witness_region_mismatch;
    if (step && phase < life.phase) step = Errc::witness_phase_regression;
    if (step && severity < life.severity) step = Errc::witness_reason_weakened;
    if (!step) {
      say(Oracle::witness,
          "the cancellation of " + to_string(event.task) + " went backwards: " + std::string(to_string(step.error())),
          "CAN-10 a witness only goes forward", our_bug, &event);
    }
    life.phase = phase;
    life.severity = severity;
  }

  void finalizer_began(const Event& event) {
    RegionLife& home = region(event.region);
    TaskLife& life = task(event.task);
    if (life.id == event.task && life.finalizer) {
      say(Oracle::finalizers, "a finalizer of " + to_string(event.region) + " began twice: " + to_string(event.task),
          "REG-5 finalizers run exactly once", our_bug, &event);
      return;
    }
    if (home.running_finalizer) {
      say(Oracle::finalizers, "a finalizer of " + to_string(event.region) + " began before the one before it had ended",
          "REG-5 finalizers run one by one", our_bug, &event);
    }
    if (event.argument >= home.last_finalizer) {
      say(Oracle::finalizers, "a finalizer of " + to_string(event.region) + " ran out of order", "REG-5 newest first",
          our_bug, &event);
    }
    home.last_finalizer = event.argument;
    home.running_finalizer = event.task;
    ++home.live;
    child_made(event.region, event.argument);
    life = {.id = event.task, .region = event.region, .finalizer = true};
  }

  void moved(const Event& event) {
    const auto move = trace::region_move_in(event.argument);
    if (!move || move->to != RegionState::closed) return;
    RegionLife& life = region(event.region);
    const std::string name = to_string(event.region);
    if (life.losers != 0) {
      say(Oracle::losers,
          name + " is Closed and " + std::to_string(life.losers) + " losers of a race in it have not ended",
          "I5 losers drain", "a combinator returns only when its losers have ended", &event);
    } else if (life.live != 0) {
      say(Oracle::region_quiet, name + " is Closed and " + std::to_string(life.live) + " of its tasks have not ended",
          "I2 close is quiet", our_bug, &event);
    }
    // Children are numbered without a gap; the body, number 0, has no event. What is missing was deferred and never began.
    const std::uint64_t body = life.first_made == 0 ? 0 : 1;
    const std::uint64_t made = life.children == 0 ? 0 : life.last_made + 1 - body;
    if (made > life.children) {
      say(Oracle::finalizers,
          name + " is Closed and " + std::to_string(made - life.children) + " of its finalizers never began",
          "REG-5 finalizers run exactly once", our_bug, &event);
    }
    life.closed = true;
  }

  const Evidence& evidence_;
  Problems& problems_;
  std::vector<TaskLife> tasks_;
  std::vector<RegionLife> regions_;
};

}  // namespace

void ask_lives(const Evidence& evidence, Problems& problems) { Lives(evidence, problems).look(); }

void ask_ledger(const Evidence& evidence, Problems& problems) {
  for (const trace::LedgerProblem& problem : trace::check_ledger(evidence.trace)) {
    problems.push_back({Oracle::obligations, "calm: the ledger is wrong at #" + std::to_string(problem.sequence) +
                                                 ": " + problem.text + "\n  law:  OBL-10" +
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

}  // namespace calm::lab
