// Who is polled, and because of what. Asked of traces in which every poll names the event after which its task was put into
// the queue: those of one worker that goes through a queue, as the lab's does. The queue is never told of, and known all
// the same: an entry is there from its cause to its poll.
#include <algorithm>

#include "calm/trace/check_parts.hpp"
#include "calm/trace/check_records.hpp"

namespace calm::trace {
namespace {

struct Dispatched {
  TaskId id{};
  std::uint64_t born = 0;    ///< the event that admitted it, and put it into the queue
  std::uint64_t polled = 0;  ///< the last poll
  std::uint64_t woken = 0;   ///< the first event after that poll which wakes it
  bool ended = false;
};

class Dispatch {
 public:
  Dispatch(const Trace& trace, Findings& findings, bool whole) noexcept
      : trace_(trace), findings_(findings), whole_(whole) {}

  void look() {
    collect_entries();
    for (at_ = 0; at_ < trace_.events.size(); ++at_) see(trace_.events[at_]);
  }

 private:
  void say(std::string_view law, std::string text) { findings_.say(Clause::dispatch, at_, law, std::move(text)); }

  static std::string number(std::uint64_t sequence) { return "#" + std::to_string(sequence); }

  void collect_entries() {
    for (const Event& event : trace_.events) {
      if (event.kind == EventKind::poll) entries_.push_back(event.cause);
    }
    std::sort(entries_.begin(), entries_.end());
  }

  void see(const Event& event) {
    if (chosen_ && event.kind != EventKind::poll && event.kind != EventKind::cancel_request) {
      say("SCH-7 a choice is of who runs next", "the choice before it chose nobody");
      chosen_ = false;
    }
    switch (event.kind) {
      case EventKind::spawn:
        if (event.resource == ResourceId(event.region)) {
          tasks_.put({.id = event.task, .born = event.sequence});
        } else if (event.task) {
          acts(event);
        }
        break;
      case EventKind::finalize:
        tasks_.put({.id = event.task, .born = event.sequence});
        break;
      case EventKind::choice:
        chose(event);
        break;
      case EventKind::poll:
        polled(event);
        break;
      case EventKind::timer:
        running_ = {};
        if (event.task) woke(event);
        break;
      case EventKind::cancel_request:
        if (event.task && event.task != running_) woke(event);
        break;
      case EventKind::complete:
        ended(event);
        break;
      case EventKind::cancel_ack:
      case EventKind::cancel_done:
      case EventKind::forced:
      case EventKind::access:
      case EventKind::mark:
        if (event.task) acts(event);
        break;
      case EventKind::reserve:
      case EventKind::resolve:
      case EventKind::region_move:
      case EventKind::channel:
      case EventKind::io:
        break;
    }
  }

  void acts(const Event& event) {
    if (event.task == running_) return;
    say("TSK-6 who acts is being polled",
        to_string(event.task) + " acts while " + (running_ ? to_string(running_) + " is polled" : "nobody is polled"));
  }

  void ended(const Event& event) {
    Dispatched* const task = tasks_.find(event.task);
    if (task == nullptr) return;
    if (task->polled != 0) acts(event);
    task->ended = true;
  }

  void woke(const Event& event) {
    Dispatched* const task = tasks_.find(event.task);
    if (task == nullptr || task->ended) return;
    if (event.kind == EventKind::timer && task->polled == 0) {
      say("TMR-3 a timer wakes who armed it", to_string(event.task) + " has not run and a timer of it fires");
    }
    if (task->woken == 0) task->woken = event.sequence;
  }

  /// Gives: how many are in the queue now.
  std::size_t enter_up_to(std::uint64_t sequence) {
    while (next_entry_ < entries_.size() && entries_[next_entry_] < sequence) queue_.push_back(entries_[next_entry_++]);
    return queue_.size();
  }

  void chose(const Event& event) {
    running_ = {};
    chosen_ = true;
    choice_ = event.argument;
    clock_ = event.access == Access::read ? 1 : 0;
    const std::size_t runnable = enter_up_to(event.sequence);
    if (clock_ != 0 && choice_ == runnable) {
      chosen_ = false;  // what the clock does need not be an event
      clock_ = 0;
    } else if (whole_ && choice_ >= runnable) {
      say("SCH-7 a choice is among those that can run",
          "entry " + std::to_string(choice_) + " of " + std::to_string(runnable) + " is chosen");
    }
  }

  void polled(const Event& event) {
    if (Dispatched* const task = tasks_.find(event.task)) because(event, *task);
    running_ = event.task;
    const std::size_t runnable = enter_up_to(event.sequence);
    const auto first = std::lower_bound(queue_.begin(), queue_.end(), event.cause);
    const auto last = std::upper_bound(first, queue_.end(), event.cause);
    if (whole_)
      chosen_rightly(event, runnable, static_cast<std::size_t>(first - queue_.begin()),
                     static_cast<std::size_t>(last - queue_.begin()));
    if (first != last) queue_.erase(first);
    chosen_ = false;
    clock_ = 0;
  }

  /// TSK-6: a task is in the queue once, from the first wake after its last poll.
  void because(const Event& event, Dispatched& task) {
    if (task.polled == 0 && event.cause != task.born) {
      say("TSK-6 a new task is queued at once", to_string(event.task) + " is polled first because of " +
                                                    number(event.cause) + " and began at " + number(task.born));
    } else if (task.polled != 0 && event.cause < task.polled) {
      say("TSK-6 one wake, one poll", to_string(event.task) + " is polled because of " + number(event.cause) +
                                          ", which led to the poll " + number(task.polled));
    } else if (task.woken != 0 && event.cause > task.woken) {
      say("TSK-6 no wake is lost", to_string(event.task) + " is polled because of " + number(event.cause) +
                                       " and was woken by " + number(task.woken));
    }
    task.polled = event.sequence;
    task.woken = 0;
  }

  void chosen_rightly(const Event& event, std::size_t runnable, std::size_t first, std::size_t last) {
    if (chosen_ && (choice_ < first || choice_ >= last)) {
      say("SCH-7 the chosen one runs",
          "entry " + std::to_string(choice_) + " was chosen, and " + to_string(event.task) + " is not that one");
    }
    if (chosen_ != (runnable + clock_ > 1)) {
      say("SCH-7 a choice is recorded where there is one",
          std::to_string(runnable) + " can run, and " + (chosen_ ? "one was chosen" : "none was chosen"));
    }
  }

  const Trace& trace_;
  Findings& findings_;
  bool whole_;  // the run came to its end: every entry was taken
  std::size_t at_ = 0;
  Lives<Dispatched, TaskId> tasks_;
  TaskId running_{};
  bool chosen_ = false;
  std::uint64_t choice_ = 0;
  std::size_t clock_ = 0;               // 1 when the last choice had one more to choose from: to let time pass
  std::vector<std::uint64_t> entries_;  // causes of all polls, ascending: the order in which they were queued
  std::size_t next_entry_ = 0;
  std::vector<std::uint64_t> queue_;  // those that are there now, ascending
};

bool tells_of_dispatches(const Trace& trace) noexcept {
  bool polls = false;
  for (const Event& event : trace.events) {
    if (event.worker != 0) return false;
    if (event.kind != EventKind::poll) continue;
    if (event.cause == 0) return false;
    polls = true;
  }
  return polls;
}

}  // namespace

void check_dispatch(const Trace& trace, Findings& findings, Checked& result) {
  result.dispatched = tells_of_dispatches(trace);
  if (result.dispatched) Dispatch(trace, findings, result.closed).look();
}

}  // namespace calm::trace
