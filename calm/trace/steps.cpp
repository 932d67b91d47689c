#include "calm/trace/steps.hpp"

#include <algorithm>

#include "calm/trace/argument.hpp"

namespace calm::trace {
namespace {

/// A resource of its own: the time.
constexpr std::uint64_t clock_resource = ResourceId::registered(ResourceId::object_max, 0).bits();

/// A task that has used up its polls is cancelled when it is dispatched, just before its poll.
bool belongs_to_next(const Trace& trace, std::size_t i) noexcept {
  const Event& event = trace.events[i];
  if (event.kind != EventKind::cancel_request || !event.task || i + 1 == trace.events.size()) return false;
  const auto reason = cancel_in(event.argument);
  const Event& next = trace.events[i + 1];
  return reason && reason->kind == CancelKind::poll_quota && next.kind == EventKind::poll && next.task == event.task;
}

class Splitter {
 public:
  explicit Splitter(const Trace& trace) : trace_(trace), step_of_(trace.events.size(), 0) {}

  TraceSteps split() {
    for (std::size_t i = 0; i < trace_.events.size(); ++i) see(i);
    return std::move(result_);
  }

 private:
  void see(std::size_t i) {
    const Event& event = trace_.events[i];
    if (event.kind == EventKind::choice) {
      between_ = true;
      step_of_[i] = result_.steps.size();  // nothing was enabled by it
      return;
    }
    if (belongs_to_next(trace_, i)) {
      begin(event.task);
      begun_ahead_ = true;
    } else if (event.kind == EventKind::poll) {
      if (!begun_ahead_) begin(event.task);
      begun_ahead_ = false;
    } else if (event.kind == EventKind::timer) {
      if (between_ || result_.steps.empty() || result_.steps.back().process != 0) begin({});
    } else if (between_ || result_.steps.empty()) {
      begin({});
    }
    between_ = false;
    add(i);
  }

  void begin(TaskId task) {
    Step step{.process = task.bits()};
    touch(step, clock_resource, !task);
    if (task) touch(step, ResourceId(task).bits(), false);
    result_.steps.push_back(std::move(step));
    result_.events.emplace_back();
  }

  static void touch(Step& step, std::uint64_t resource, bool write) {
    for (StepTouch& known : step.touched) {
      if (known.resource != resource) continue;
      known.write = known.write || write;
      return;
    }
    step.touched.push_back({resource, write});
  }

  void add(std::size_t i) {
    const Event& event = trace_.events[i];
    Step& step = result_.steps.back();
    const std::size_t number = result_.steps.size() - 1;
    step_of_[i] = number;
    result_.events.back().push_back(i);
    if (event.resource && event.access != Access::none)
      touch(step, event.resource.bits(), event.access == Access::write);
    if (event.kind == EventKind::poll && event.cause != 0) {
      const auto cause = std::lower_bound(trace_.events.begin(), trace_.events.begin() + static_cast<std::ptrdiff_t>(i),
                                          event.cause, [](const Event& a, std::uint64_t b) { return a.sequence < b; });
      const std::size_t by = step_of_[static_cast<std::size_t>(cause - trace_.events.begin())];
      if (by < number) step.enabled_by.push_back(by);
    }
    step.says.insert(step.says.end(), {std::uint64_t{static_cast<std::uint8_t>(event.kind)} |
                                           std::uint64_t{static_cast<std::uint8_t>(event.access)} << 8U,
                                       event.task.bits(), event.region.bits(), event.resource.bits(), event.argument});
  }

  const Trace& trace_;
  std::vector<std::size_t> step_of_;
  TraceSteps result_;
  bool between_ = false;      // a choice was made, and nobody runs
  bool begun_ahead_ = false;  // the step of the next poll has begun
};

}  // namespace

Outcome<TraceSteps> steps_of(const Trace& trace) {
  if (trace.overwritten != 0) return err(Errc::unsupported, "the beginning of the trace is missing");
  for (const Event& event : trace.events) {
    if (event.worker != 0) return err(Errc::unsupported, "the trace is of several workers");
  }
  return ok(Splitter(trace).split());
}

}  // namespace calm::trace
