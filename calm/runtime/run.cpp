#include "calm/runtime/run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "calm/clock/deadlines.hpp"
#include "calm/clock/wheel.hpp"
#include "calm/cx/drive.hpp"
#include "calm/kernel/finding.hpp"
#include "calm/kernel/quiescence.hpp"

namespace calm::runtime {
namespace {

using Steady = std::chrono::steady_clock;

/// One queue that keeps its order through the records' own links, so that a wake never needs memory (HND-3).
class Queue {
 public:
  using Task = kernel::TaskRecord<lockfree::LocalAtomics>;

  void push(Task& task) noexcept {
    task.queue_link = nullptr;
    (first_ == nullptr ? first_ : last_->queue_link) = &task;
    last_ = &task;
  }
  [[nodiscard]] Task* pop() noexcept {
    Task* const task = first_;
    if (task != nullptr) first_ = task->queue_link;
    return task;
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

 private:
  Task* first_ = nullptr;
  Task* last_ = nullptr;
};

class ThreadHost final : public kernel::Host<lockfree::LocalAtomics> {
 public:
  void schedule(kernel::Worker& /*worker*/, Task& task) noexcept override { ready.push(task); }
  void watch(kernel::Worker& /*worker*/, TaskId task, Time deadline) noexcept override {
    if (!deadlines.add(task, deadline)) std::fputs("calm: no memory to keep a deadline [HND-3]\n", stderr);
  }
  void report(kernel::Worker& /*worker*/, const kernel::Finding& finding) noexcept override {
    std::fprintf(stderr, "%s\n", to_string(finding).c_str());
  }
  [[nodiscard]] kernel::AwaitPoint await_point(const Task& task) const noexcept override {
    const auto* const root = static_cast<const cx::TaskRoot*>(task.frame);
    return root == nullptr ? kernel::AwaitPoint() : root->await_point();
  }
  [[nodiscard]] std::uint64_t pending_timers() const noexcept override { return alarms.size(); }
  [[nodiscard]] std::uint64_t undrained_channels() const noexcept override { return 0; }

  Queue ready;
  clock::Wheel alarms;
  clock::Deadlines deadlines;
};

class ThreadPort final : public cx::KernelPort<lockfree::LocalAtomics> {
 public:
  ThreadPort(kernel::LocalKernel& kernel, ThreadHost& host) noexcept : KernelPort(kernel), host_(host) {}

  Status arm(Worker& worker, clock::Alarm& alarm, clock::Beyond beyond) noexcept override {
    return host_.alarms.arm(alarm, worker.now(), beyond);
  }
  void disarm(Worker& /*worker*/, clock::Alarm& alarm) noexcept override { (void)host_.alarms.disarm(alarm); }
  std::uint64_t entropy(Worker& /*worker*/) noexcept override {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return state_;
  }

 private:
  ThreadHost& host_;
  std::uint64_t state_ = static_cast<std::uint64_t>(Steady::now().time_since_epoch().count()) | 1U;
};

class ThreadRun {
 public:
  explicit ThreadRun(std::unique_ptr<kernel::LocalKernel> kernel, ThreadHost& host)
      : host_(host), kernel_(std::move(kernel)), port_(*kernel_, host), worker_(kernel_->worker(0)) {}

  [[nodiscard]] cx::Port& port() noexcept { return port_; }
  [[nodiscard]] RegionId root() const noexcept { return kernel_->root(); }

  void run(cx::TaskRoot& main) {
    tell_time();
    const TaskId task = kernel_->spawn(worker_, root(), {.frame = &main, .handle = false}).id;
    while (kernel_->state(root()) != RegionState::closed) {
      run_ready();
      if (kernel_->state(task) == TaskState::completed) (void)kernel_->close(worker_, root());
      if (host_.ready.empty() && kernel_->state(root()) != RegionState::closed) wait();
    }
  }

 private:
  void tell_time() {
    const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(Steady::now() - start_);
    worker_.set_time(Time() + Duration::nanoseconds(since.count()));
  }

  void run_ready() {
    while (ThreadHost::Task* const task = host_.ready.pop()) {
      tell_time();
      worker_.set_round(worker_.round() + 1);
      (void)cx::drive(*kernel_, worker_, task->id());
      fire();
    }
  }

  void fire() {
    while (const clock::Alarm* const alarm = host_.alarms.take_due(worker_.now())) {
      (void)kernel_->wake(worker_, alarm->task);
    }
    while (const auto task = host_.deadlines.take_due(worker_.now())) (void)kernel_->deadline_reached(worker_, *task);
    host_.deadlines.sweep([this](TaskId task) { return kernel_->state(task) != TaskState::completed; });
  }

  void wait() {
    if (host_.alarms.empty() && host_.deadlines.empty() && !stuck_) {
      stuck_ = true;
      std::fprintf(stderr, "%s\ncalm: nothing will ever wake it\n",
                   kernel::diagnose(kernel_->snapshot(worker_)).c_str());
    }
    Time next = Time::max();
    if (!host_.alarms.empty()) next = host_.alarms.quiet_until();
    if (!host_.deadlines.empty()) next = std::min(next, host_.deadlines.next());
    const auto left = std::min<std::int64_t>((next - worker_.now()).ns(), std::int64_t{3600} * 1'000'000'000);
    std::this_thread::sleep_for(std::chrono::nanoseconds(left));
    tell_time();
    fire();
  }

  ThreadHost& host_;
  std::unique_ptr<kernel::LocalKernel> kernel_;
  ThreadPort port_;
  kernel::Worker& worker_;
  Steady::time_point start_ = Steady::now();
  bool stuck_ = false;
};

}  // namespace

int exit_status(const ChildEnd& end) {
  if (end.is_ok()) return 0;
  std::fprintf(stderr, "calm: the program ended as %s\n", end.explain().c_str());
  return static_cast<int>(end.kind());
}

Outcome<void> run_here(const RunOptions& options, cx::TaskRoot& (*make)(cx::Port&, RegionId, void*), void* context) {
  ThreadHost host;
  auto kernel = kernel::LocalKernel::make(options.kernel, host);
  if (!kernel) return err(std::move(kernel).error());
  ThreadRun run(std::move(kernel).value(), host);
  run.run(make(run.port(), run.root(), context));
  return ok();
}

}  // namespace calm::runtime
