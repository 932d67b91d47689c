#include "calm/lab/follow.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "calm/cx/blocking.hpp"
#include "calm/lab/inputs.hpp"
#include "calm/lab/names.hpp"
#include "calm/lab/world.hpp"
#include "calm/model/split_mix.hpp"
#include "calm/sched/task_path.hpp"
#include "calm/sched/victim_order.hpp"

namespace calm::lab {
namespace {

using sched::InputKind;
using sched::RecordedStep;
using sched::StepKind;

constexpr std::size_t runnable_shown = 8;
constexpr std::chrono::seconds patience_for_threads{10};

LabConfig config_of(const sched::RecordedRun& run) {
  LabConfig config{.seed = run.seed, .program = run.program};
  const std::uint64_t trace_capacity = config.kernel.trace_capacity;
  config.kernel = run.kernel;
  config.kernel.workers = 1;
  config.kernel.trace_capacity = trace_capacity;
  return config;
}

/// Threads of the program come here; the lab waits for them when the recording says that one came.
class Threshold {
 public:
  Threshold() : gateway_(mem::Ref<cx::Gateway>::adopt(new cx::Gateway(&Threshold::ring, this))) {}
  Threshold(const Threshold&) = delete;
  Threshold& operator=(const Threshold&) = delete;
  ~Threshold() { gateway_->close(); }

  [[nodiscard]] const mem::Ref<cx::Gateway>& gateway() const noexcept { return gateway_; }
  /// Gives: false when nobody came within a long time.
  [[nodiscard]] bool serve_next(kernel::Worker& worker) {
    std::unique_lock hold(mutex_);
    if (!came_.wait_for(hold, patience_for_threads, [this] { return waiting_ != 0; })) return false;
    --waiting_;
    hold.unlock();
    return gateway_->serve_one(worker);
  }

 private:
  static void ring(void* self) noexcept {
    auto& threshold = *static_cast<Threshold*>(self);
    const std::lock_guard hold(threshold.mutex_);
    ++threshold.waiting_;
    threshold.came_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::uint64_t waiting_ = 0;
  mem::Ref<cx::Gateway> gateway_;
};

class Follower final : public Inputs, private cx::BlockingDoor {
 public:
  explicit Follower(const sched::RecordedRun& run)
      : run_(run), config_(config_of(run)), ground_(config_.kernel), ids_(run.tasks.size()) {
    for (std::uint16_t worker = 0; worker < run.workers; ++worker) {
      wheels_.push_back(std::make_unique<clock::Wheel>());
      entropy_.emplace_back(sched::worker_seed(run.seed, worker));
    }
  }

  LabReport follow(Program& program) {
    World world(config_, ground_, {.inputs = this});
    world_ = &world;
    world.begin(program);
    for (at_ = 0; at_ < run_.steps.size() && divergence_.empty(); ++at_) take(run_.steps[at_]);
    if (divergence_.empty() && !run_.cut) compare_end();
    following_ = false;
    LabReport report = world.finish();
    report.followed = true;
    report.schedule.choices.reset();
    if (divergence_.empty() && !run_.cut && report.end.kind() != run_.end) {
      diverge("the program ends as " + std::string(to_string(run_.end)),
              "it ends as " + std::string(to_string(report.end.kind())));
    }
    if (!divergence_.empty()) {
      report.problems = {{Oracle::determinism, divergence_}};
    } else if (run_.cut) {
      report.problems = {
          {Oracle::steps, "calm: the recording ends after " + std::to_string(run_.steps.size()) +
                              " steps, before its run did; up to there this was the same\n  law:  SCH-9" +
                              "\n  next: look at the trace of the report, or at a debugger in its last poll"}};
    }
    world_ = nullptr;
    return report;
  }

  // --- Inputs ---

  [[nodiscard]] bool several() const noexcept override { return run_.several; }
  [[nodiscard]] Time clock(Time now) noexcept override {
    const auto input = next_input(InputKind::clock, "looks at the clock");
    return input ? Time::at_ns(*input) : now;
  }
  [[nodiscard]] std::uint64_t entropy() noexcept override { return entropy_[worker_].next(); }
  [[nodiscard]] Status arm(clock::Alarm& alarm, Time now, clock::Beyond beyond) noexcept override {
    if (const Status armed = wheels_[worker_]->arm(alarm, now, beyond); !armed) return armed;
    alarm.wheel = worker_;
    return {};
  }
  void disarm(clock::Alarm& alarm) noexcept override { (void)wheels_[alarm.wheel]->disarm(alarm); }
  [[nodiscard]] std::uint64_t armed() const noexcept override {
    std::uint64_t sum = 0;
    for (const auto& wheel : wheels_) sum += wheel->size();
    return sum;
  }
  [[nodiscard]] mem::Ref<cx::Gateway> gateway() noexcept override { return threshold_.gateway(); }
  [[nodiscard]] cx::BlockingDoor* blocking_door() noexcept override { return this; }

 private:
  // --- cx::BlockingDoor ---

  cx::Submitted submit(cx::BlockingJob& job) noexcept override {
    if (is_next(InputKind::refused)) {
      ++input_;
      return cx::Submitted::no_place;  // a recording does not say which refusal it was
    }
    job.retain();
    jobs_.insert_or_assign(job.task().bits(), mem::Ref<cx::BlockingJob>::adopt(&job));
    return cx::Submitted::taken;
  }
  bool withdraw(cx::BlockingJob& job) noexcept override {
    const auto input = next_input(InputKind::withdrawn, "takes a call that blocks back");
    const bool withdrawn = input ? *input != 0 : !job.has_ended();
    if (withdrawn) jobs_.erase(job.task().bits());
    return withdrawn;
  }
  [[nodiscard]] bool tells_ends() const noexcept override { return true; }
  void await_end(cx::BlockingJob& job) noexcept override { job.call_here(); }

  // --- steps ---

  void take(const RecordedStep& step) {
    worker_ = step.worker;
    world_->worker().set_time(std::max(world_->worker().now(), step.at));
    switch (step.kind) {
      case StepKind::poll:
        return poll(step);
      case StepKind::alarm:
        return go_off(step);
      case StepKind::deadline:
        if (const TaskId task = find(step)) world_->reach_deadline(task);
        return;
      case StepKind::blocking:
        return end_call(step);
      case StepKind::outside:
        if (!threshold_.serve_next(world_->worker()))
          diverge("a thread spawns a task from outside", "none has come for 10 s");
        return;
      case StepKind::shutdown:
        return world_->ask_to_stop();
    }
  }

  void poll(const RecordedStep& step) {
    const TaskId task = find(step);
    if (!task) return;
    const auto& ready = world_->ready();
    const auto at = std::find_if(ready.begin(), ready.end(), [&](const Ready& entry) { return entry.task == task; });
    if (at == ready.end()) return diverge(expected(step), "that task " + state_of(task));
    input_ = 0;
    polling_ = true;
    world_->take(static_cast<std::uint32_t>(at - ready.begin()));
    polling_ = false;
    if (!divergence_.empty() || is_cut_short()) return;
    const bool ended = world_->kernel().state(task) == TaskState::completed;
    if (input_ < step.inputs.size()) {
      diverge("in its poll " + name_of(step) + " " + std::string(what_of(step.inputs[input_].kind)),
              "it has done so " + std::to_string(input_) + " times, and not again");
    } else if (ended != step.ended) {
      diverge(name_of(step) + (step.ended ? " ends" : " goes on") + " with its poll",
              ended ? "it has ended" : "it " + state_of(task));
    }
  }

  void go_off(const RecordedStep& step) {
    const TaskId task = find(step);
    if (!task) return;
    const clock::Alarm* const alarm = wheels_[worker_]->take_due(world_->worker().now());
    if (alarm == nullptr || alarm->task != task) return diverge(expected(step), "it has none that is due");
    world_->go_off(task, alarm->at);
  }

  void end_call(const RecordedStep& step) {
    const TaskId task = find(step);
    if (!task) return;
    const auto at = jobs_.find(task.bits());
    if (at == jobs_.end()) return diverge(expected(step), "it waits for none");
    const mem::Ref<cx::BlockingJob> job = std::move(at->second);
    jobs_.erase(at);
    job->call_here();
    if (step.result && !job->set_result(*step.result)) {
      return diverge("a call of " + name_of(step) + " returns " + std::to_string(step.result->size()) + " bytes",
                     "it returns something else");
    }
    job->tell_here(world_->worker());
  }

  void compare_end() {
    const std::size_t left = world_->ready().size();
    if (left == 0) return;
    diverge("nothing more happens", "there are tasks to be polled");
  }

  // --- inputs ---

  /// Gives: true in the last step of a recording that was cut off: how it went on is not known.
  [[nodiscard]] bool is_cut_short() const noexcept { return run_.cut && at_ + 1 == run_.steps.size(); }
  [[nodiscard]] bool is_next(InputKind kind) const noexcept {
    return following_ && polling_ && input_ < run_.steps[at_].inputs.size() &&
           run_.steps[at_].inputs[input_].kind == kind;
  }
  std::optional<std::uint64_t> next_input(InputKind kind, std::string_view doing) noexcept {
    if (is_next(kind)) return run_.steps[at_].inputs[input_++].value;
    if (following_ && polling_ && divergence_.empty() && !is_cut_short()) {
      diverge("the poll of " + name_of(run_.steps[at_]) + " " +
                  (input_ < run_.steps[at_].inputs.size() ? std::string(what_of(run_.steps[at_].inputs[input_].kind))
                                                          : std::string("looks at nothing more outside")),
              "it " + std::string(doing));
    }
    return std::nullopt;
  }
  static std::string_view what_of(InputKind kind) noexcept {
    switch (kind) {
      case InputKind::clock:
        return "looks at the clock";
      case InputKind::refused:
        return "is refused a call that blocks";
      case InputKind::withdrawn:
        return "takes a call that blocks back";
    }
    return {};
  }

  // --- who is who ---

  /// Gives: the task of the step; none, and a divergence, when there is no such task.
  TaskId find(const RecordedStep& step) {
    TaskId& id = ids_[step.task];
    if (!id) {
      learn_names();
      const auto at = known_.find(run_.tasks[step.task]);
      if (at == known_.end()) {
        diverge(expected(step), "there is no such task");
        return {};
      }
      id = at->second;
    }
    return id;
  }
  /// A task is known from the first time on that it is runnable.
  void learn_names() {
    for (const Ready& entry : world_->ready()) {
      if (named_.insert(entry.task.bits()).second) known_.emplace(path_of(entry.task), entry.task);
    }
  }
  [[nodiscard]] std::string path_of(TaskId task) const {
    const auto* const record = world_->kernel().find(task);
    return record == nullptr ? std::string("?") : sched::task_path(world_->kernel(), *record);
  }
  [[nodiscard]] std::string name_of(const RecordedStep& step) const { return "task " + run_.tasks[step.task]; }

  [[nodiscard]] std::string state_of(TaskId task) const {
    const auto* const record = world_->kernel().find(task);
    if (record == nullptr || world_->kernel().state(task) == TaskState::completed) return "has ended";
    const std::string place = place_text(user_site(*static_cast<const cx::TaskRoot*>(record->frame)));
    return place.empty() ? "waits" : "waits at " + place;
  }
  [[nodiscard]] std::string expected(const RecordedStep& step) const {
    const std::string worker = "worker " + std::to_string(step.worker);
    switch (step.kind) {
      case StepKind::poll:
        return worker + " polls " + name_of(step);
      case StepKind::alarm:
        return "an alarm of " + name_of(step) + " goes off on " + worker;
      case StepKind::deadline:
        return "a deadline of " + name_of(step) + " is reached on " + worker;
      case StepKind::blocking:
        return "a call of " + name_of(step) + " that blocks has ended";
      case StepKind::outside:
      case StepKind::shutdown:
        break;
    }
    return worker + ": " + std::string(sched::step_kind_names[static_cast<std::uint8_t>(step.kind)]);
  }
  [[nodiscard]] std::string runnable() const {
    const auto& ready = world_->ready();
    if (ready.empty()) return "nobody";
    std::string text;
    for (std::size_t i = 0; i < std::min(ready.size(), runnable_shown); ++i) {
      const auto* const record = world_->kernel().find(ready[i].task);
      const std::string name =
          record == nullptr ? std::string() : task_name(*static_cast<const cx::TaskRoot*>(record->frame));
      text.append(i == 0 ? "" : ", ").append(path_of(ready[i].task));
      if (!name.empty()) text.append(" (").append(name).append(")");
    }
    if (ready.size() > runnable_shown) text += " and " + std::to_string(ready.size() - runnable_shown) + " more";
    return text;
  }
  /// Keeps the first one.
  void diverge(const std::string& wanted, const std::string& found) {
    if (!divergence_.empty()) return;
    divergence_ = "calm: the run is not the recorded one: step " +
                  std::to_string(std::min(at_ + 1, run_.steps.size())) + " of " + std::to_string(run_.steps.size()) +
                  ", at " + to_string(world_->worker().now()) + "\n  expected: " + wanted + "\n  actual:   " + found +
                  "\n  runnable: " + runnable() +
                  "\n  law:  SCH-9 a replay is exact for programs that communicate only through calm's primitives" +
                  "\n  next: use the program and the version that it was recorded from; else look for what tasks share "
                  "beside calm: variables, files, clocks and random numbers that do not come from the Cx";
  }

  const sched::RecordedRun& run_;
  LabConfig config_;
  std::vector<std::unique_ptr<clock::Wheel>> wheels_;  // of each worker
  std::vector<SplitMix> entropy_;
  Threshold threshold_;
  std::unordered_map<std::uint64_t, mem::Ref<cx::BlockingJob>> jobs_;  // that wait for their end, by their tasks
  Ground ground_;
  World* world_ = nullptr;

  std::vector<TaskId> ids_;  // of the tasks of the recording, as far as they were met
  std::unordered_map<std::string, TaskId> known_;
  std::unordered_set<std::uint64_t> named_;

  std::size_t at_ = 0;        // the step
  std::size_t input_ = 0;     // of it
  std::uint16_t worker_ = 0;  // that makes it
  bool polling_ = false;
  bool following_ = true;
  std::string divergence_;
};

}  // namespace

LabReport follow_program(const sched::RecordedRun& run, Program& program) { return Follower(run).follow(program); }

}  // namespace calm::lab
