#include "calm/lab/lab.hpp"

#include <algorithm>

#include "calm/check/require.hpp"
#include "calm/clock/alarm.hpp"
#include "calm/clock/deadlines.hpp"
#include "calm/cx/drive.hpp"
#include "calm/kernel/finding.hpp"
#include "calm/kernel/futurelock.hpp"
#include "calm/kernel/ownership.hpp"
#include "calm/kernel/quiescence.hpp"

namespace calm::lab {
namespace {

/// SCH-7: the generator of every choice.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
    return z ^ (z >> 31U);
  }

 private:
  std::uint64_t state_;
};

struct Ready {
  TaskId task;
  std::uint64_t cause;
};

class LabHost final : public kernel::Host<lockfree::LocalAtomics> {
 public:
  using Task = kernel::TaskRecord<lockfree::LocalAtomics>;

  void schedule(kernel::Worker& worker, Task& task) noexcept override {
    ready.push_back({task.id(), worker.recorder().last()});
  }
  void watch(kernel::Worker& /*worker*/, TaskId task, Time deadline) noexcept override {
    CALM_REQUIRE(HND_3, watches.add(task, deadline));
  }
  void report(kernel::Worker& /*worker*/, const kernel::Finding& finding) noexcept override {
    if (finding.kind == kernel::FindingKind::forced) return;  // lawful in a bounded region; the trace has it
    problems.push_back(to_string(finding));
  }
  [[nodiscard]] kernel::AwaitPoint await_point(const Task& task) const noexcept override {
    const auto* const root = static_cast<const cx::TaskRoot*>(task.frame);
    return root == nullptr ? kernel::AwaitPoint() : root->await_point();
  }
  [[nodiscard]] std::uint64_t pending_timers() const noexcept override { return alarms.size(); }
  [[nodiscard]] std::uint64_t undrained_channels() const noexcept override { return 0; }

  std::vector<Ready> ready;
  clock::Deadlines watches;
  clock::AlarmQueue alarms;
  std::vector<std::string> problems;
};

class LabPort final : public cx::KernelPort<lockfree::LocalAtomics> {
 public:
  LabPort(kernel::LocalKernel& kernel, LabHost& host, SplitMix& numbers) noexcept
      : KernelPort(kernel), host_(host), numbers_(numbers) {}

  void arm(Worker& /*worker*/, clock::Alarm& alarm) noexcept override { host_.alarms.arm(alarm); }
  void disarm(Worker& /*worker*/, clock::Alarm& alarm) noexcept override { (void)host_.alarms.disarm(alarm); }
  std::uint64_t entropy(Worker& /*worker*/) noexcept override { return numbers_.next(); }

 private:
  LabHost& host_;
  SplitMix& numbers_;
};

class Run {
 public:
  explicit Run(const LabConfig& config)
      : config_(config),
        choices_(config.seed),
        numbers_(config.seed ^ 0x9E3779B97F4A7C15),
        kernel_(kernel::LocalKernel::make(config.kernel, host_).value()),
        port_(*kernel_, host_, numbers_),
        worker_(kernel_->worker(0)) {}

  LabReport run(detail::Program& program) {
    LabReport report{.seed = config_.seed};
    cx::TaskRoot& main = program.make(port_, kernel_->root());
    const auto made = kernel_->spawn(worker_, kernel_->root(), {.frame = &main, .handle = false});
    CALM_REQUIRE(REG_6, made.status.is_ok());
    main_ = made.id;
    while (report.steps < config_.max_steps && step()) ++report.steps;
    finish(report);
    return report;
  }

 private:
  /// Gives: false when nothing can happen any more.
  bool step() {
    if (host_.ready.empty()) return advance_time();
    const std::size_t choice = choose(host_.ready.size());
    const Ready entry = host_.ready[choice];
    host_.ready.erase(host_.ready.begin() + static_cast<std::ptrdiff_t>(choice));
    worker_.set_round(worker_.round() + 1);
    (void)cx::drive(*kernel_, worker_, entry.task, entry.cause);
    if (kernel_->state(main_) == TaskState::completed) (void)kernel_->close(worker_, kernel_->root());
    return true;
  }

  std::size_t choose(std::size_t count) noexcept {
    if (count == 1) return 0;
    const std::size_t choice = choices_.next() % count;
    worker_.record({.kind = trace::EventKind::choice, .argument = choice});
    return choice;
  }

  /// Time is virtual: it goes on to the next alarm or deadline when nothing is runnable.
  bool advance_time() {
    if (host_.alarms.empty() && (host_.watches.empty() || kernel_->state(kernel_->root()) == RegionState::closed)) {
      return false;
    }
    Time next = Time::max();
    if (!host_.alarms.empty()) next = host_.alarms.next();
    if (!host_.watches.empty()) next = std::min(next, host_.watches.next());
    worker_.set_time(std::max(worker_.now(), next));
    while (const clock::Alarm* const alarm = host_.alarms.take_due(worker_.now())) {
      worker_.record({.kind = trace::EventKind::timer, .task = alarm->task});
      (void)kernel_->wake(worker_, alarm->task);
    }
    while (const auto task = host_.watches.take_due(worker_.now())) (void)kernel_->deadline_reached(worker_, *task);
    return true;
  }

  /// The oracles (LAB-6).
  void finish(LabReport& report) {
    const kernel::Snapshot snapshot = kernel_->snapshot(worker_);
    report.problems = host_.problems;
    if (report.steps == config_.max_steps) {
      report.problems.push_back("calm: stopped after " + std::to_string(report.steps) + " steps; is there a livelock?");
    }
    if (!kernel::quiescent(snapshot)) report.problems.push_back(kernel::diagnose(snapshot));
    for (std::string& broken : kernel::broken_invariants(snapshot)) report.problems.push_back(std::move(broken));
    for (const kernel::Futurelock& lock : kernel::find_futurelocks(snapshot)) {
      report.problems.push_back(to_string(lock));
    }
    report.end_time = worker_.now();
    report.end = kernel_->end_of(worker_, kernel_->root()).value_or(ok());
    report.state_digest = kernel::state_digest(snapshot);
    report.trace = kernel_->trace().value();
    report.trace_digest = trace::trace_digest(report.trace);
  }

  LabConfig config_;
  SplitMix choices_;
  SplitMix numbers_;
  LabHost host_;
  std::unique_ptr<kernel::LocalKernel> kernel_;
  LabPort port_;
  kernel::Worker& worker_;
  TaskId main_;
};

}  // namespace

namespace detail {

LabReport run(const LabConfig& config, Program& program) {
  Run run(config);
  return run.run(program);
}

}  // namespace detail

std::string to_string(const LabReport& report) {
  std::string text = "calm lab: seed " + std::to_string(report.seed) + ", " + std::to_string(report.steps) +
                     " steps, " + to_string(report.end_time) + ": " + std::string(to_string(report.end.kind()));
  for (const std::string& problem : report.problems) text += "\n" + problem;
  return text;
}

}  // namespace calm::lab
