#include <fmt/format.h>

#include <deque>
#include <memory>

#include "apps/calm/commands.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/kernel/quiescence.hpp"
#include "calm/trace/text.hpp"

namespace calm::tool {
namespace {

using kernel::LocalKernel;
using kernel::PollStart;
using kernel::Worker;

/// The smallest host: one queue, no timers, no channels.
class TourHost final : public kernel::Host<lockfree::LocalAtomics> {
 public:
  void schedule(Worker& /*worker*/, Task& task) noexcept override { queue.push_back(task.id()); }
  void watch(Worker& /*worker*/, TaskId /*task*/, Time /*deadline*/) noexcept override {}
  void report(Worker& /*worker*/, const kernel::Finding& finding) noexcept override {
    fmt::print("  {}\n", to_string(finding));
  }
  [[nodiscard]] kernel::AwaitPoint await_point(const Task& /*task*/) const noexcept override { return {}; }
  [[nodiscard]] std::uint64_t pending_timers() const noexcept override { return 0; }
  [[nodiscard]] std::uint64_t undrained_channels() const noexcept override { return 0; }

  std::deque<TaskId> queue;
};

/// Polls whatever is queued. A task parks until it is cancelled; then it acknowledges and ends. A finalizer runs once.
void run_until_parked(LocalKernel& kernel, TourHost& host) {
  Worker& worker = kernel.worker(0);
  while (!host.queue.empty()) {
    const TaskId task = host.queue.front();
    host.queue.pop_front();
    const PollStart start = kernel.begin_poll(worker, task);
    if (start == PollStart::stale || start == PollStart::later) continue;
    const bool finalizer = kernel.find(task)->word.look().has(kernel::TaskFlag::cleanup);
    const bool ends = start == PollStart::drop || finalizer || !kernel.checkpoint(worker, task);
    (void)(ends ? kernel.complete(worker, task, ok()) : kernel.end_poll(worker, task));
  }
}

void print_story(const LocalKernel& kernel) {
  const auto trace = kernel.trace();
  if (!trace) return;
  for (const trace::Event& event : trace.value().events) {
    if (event.kind == trace::EventKind::poll) continue;
    fmt::print("  {}\n", to_string(event));
  }
}

}  // namespace

void show_kernel() {
  fmt::print("\n6. A tree of work is cancelled, and goes quiet (I1, I2, I3)\n\n");
  TourHost host;
  auto made = LocalKernel::make({}, host);
  if (!made) {
    fmt::print("{}\n", made.explain());
    return;
  }
  LocalKernel& kernel = *made.value();
  Worker& worker = kernel.worker(0);

  const RegionId server = kernel.create_region(worker, kernel.root(), {}).id;
  const RegionId request = kernel.create_region(worker, server, {}).id;
  (void)kernel.spawn(worker, server, {.handle = false});
  const TaskId handler = kernel.spawn(worker, request, {.handle = false}).id;
  (void)kernel.defer(worker, server, nullptr);
  run_until_parked(kernel, host);
  (void)kernel.wake(worker, handler);
  (void)kernel.begin_poll(worker, handler);
  (void)kernel.reserve(worker, request, {.kind = ObligationKind::ack, .holder = handler});
  (void)kernel.end_poll(worker, handler);
  fmt::print("A server region with a listener, a request region below it, a finalizer. Is it quiet?\n\n{}\n",
             kernel::diagnose(kernel.snapshot(worker)));

  (void)kernel.cancel(worker, kernel.root(), {.kind = CancelKind::shutdown, .message = "SIGTERM"});
  run_until_parked(kernel, host);
  fmt::print("\nAfter one cancel of the root every task has answered, the finalizer has run, and:\n\n{}\n",
             kernel::diagnose(kernel.snapshot(worker)));
  fmt::print("\nWhat happened, as the trace tells it (polls left out):\n\n");
  print_story(kernel);
}

}  // namespace calm::tool
