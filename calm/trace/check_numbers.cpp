#include <utility>
#include <vector>

#include "calm/trace/check_parts.hpp"

namespace calm::trace {
namespace {

class Numbers {
 public:
  Numbers(const Trace& trace, Findings& findings) noexcept : trace_(trace), findings_(findings) {}

  void look() {
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      sequence(i);
      cause(i);
      worker(i);
      timer(i);
    }
  }

 private:
  static constexpr std::string_view order = "LAB-2 an event has its place in one order";

  void sequence(std::size_t i) {
    const std::uint64_t number = trace_.events[i].sequence;
    const std::uint64_t before = i == 0 ? 0 : trace_.events[i - 1].sequence;
    if (number <= before) {
      findings_.say(Clause::numbers, i, order,
                    "#" + std::to_string(number) + " stands after #" + std::to_string(before));
    } else if (number != before + 1 && trace_.overwritten == 0) {
      findings_.say(Clause::numbers, i, order,
                    std::to_string(number - before - 1) + " events are missing before #" + std::to_string(number));
    }
  }

  void cause(std::size_t i) {
    const Event& event = trace_.events[i];
    if (event.cause < event.sequence) return;
    findings_.say(Clause::numbers, i, "LAB-2 a cause comes first",
                  "#" + std::to_string(event.sequence) + " names #" + std::to_string(event.cause) + " as its cause");
  }

  void worker(std::size_t i) {
    const Event& event = trace_.events[i];
    if (event.worker >= last_.size()) last_.resize(std::size_t{event.worker} + 1);
    const Event* const before = std::exchange(last_[event.worker], &event);
    if (before == nullptr) return;
    if (event.position != before->position + 1) {
      findings_.say(Clause::numbers, i, order,
                    "worker " + std::to_string(event.worker) + " goes on at position " +
                        std::to_string(event.position) + " after " + std::to_string(before->position));
    }
    if (event.time < before->time) {
      findings_.say(Clause::numbers, i, "LAB-1 time goes on",
                    "it is " + to_string(event.time) + " after " + to_string(before->time));
    }
  }

  /// The argument of a timer with a task says what it was armed for; 0 in traces that do not keep it.
  void timer(std::size_t i) {
    const Event& event = trace_.events[i];
    if (event.kind != EventKind::timer || !event.task) return;
    if (event.argument > event.time.ns()) {
      findings_.say(Clause::timers, i, "TMR-3 never early",
                    "a timer for " + std::to_string(event.argument) + " ns fires at " + to_string(event.time));
    }
    const Event* const before = i == 0 ? nullptr : &trace_.events[i - 1];
    const bool together = before != nullptr && before->kind == EventKind::timer && before->task &&
                          before->worker == event.worker && before->time == event.time;
    if (together && event.argument < before->argument) {
      findings_.say(Clause::timers, i, "TMR-3 a batch goes by time",
                    "a timer for " + std::to_string(event.argument) + " ns fires after one for " +
                        std::to_string(before->argument) + " ns");
    }
  }

  const Trace& trace_;
  Findings& findings_;
  std::vector<const Event*> last_;  // of each worker, nullptr before its first
};

}  // namespace

void check_numbers(const Trace& trace, Findings& findings) { Numbers(trace, findings).look(); }

}  // namespace calm::trace
