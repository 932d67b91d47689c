#include "tests/model/kernel_model.hpp"

#include <algorithm>

namespace calm::kernel {

template class BasicKernel<explored::ModelAtomics>;

}  // namespace calm::kernel

namespace calm::explored {

KernelWorld::KernelWorld(std::uint16_t workers)
    : kernel(
          ModelKernel::make(
              {.workers = workers, .ceilings = {.regions = 16, .tasks = 64, .obligations = 16}, .trace_capacity = 128},
              host)
              .value()) {
  for (std::uint16_t i = 0; i < workers; ++i) {
    const RegionId region = kernel->create_region(worker(i), root(), {.reports_to = kernel::ReportsTo::owner}).id;
    const TaskId task = kernel->spawn(worker(i), region, {.handle = false}).id;
    EXPECT_EQ(poll(i, task), PollStart::run);
    const ObligationId promise = kernel->reserve(worker(i), region, {.kind = ObligationKind::ack, .holder = task}).id;
    EXPECT_TRUE(kernel->commit(worker(i), promise));
    EXPECT_TRUE(kernel->drop_token(worker(i), promise));
    EXPECT_TRUE(kernel->complete(worker(i), task, ok()));
    EXPECT_TRUE(kernel->close(worker(i), region));
    EXPECT_TRUE(kernel->release(worker(i), region));
  }
}

RegionId KernelWorld::region(RegionId parent, const RegionSpec& spec) {
  const auto made = kernel->create_region(worker(0), parent, spec);
  EXPECT_TRUE(made);
  return made.id;
}

TaskId KernelWorld::queued(RegionId region, const TaskSpec& spec) {
  const auto made = kernel->spawn(worker(0), region, spec);
  EXPECT_TRUE(made);
  return made.id;
}

TaskId KernelWorld::running(RegionId region, const TaskSpec& spec) {
  const TaskId task = queued(region, spec);
  EXPECT_EQ(poll(0, task), PollStart::run);
  return task;
}

TaskId KernelWorld::parked(RegionId region, const TaskSpec& spec) {
  const TaskId task = running(region, spec);
  EXPECT_TRUE(kernel->end_poll(worker(0), task));
  return task;
}

ObligationId KernelWorld::promise(RegionId region, kernel::Holder holder, ObligationKind kind) {
  const auto made = kernel->reserve(worker(0), region, {.kind = kind, .holder = holder});
  EXPECT_TRUE(made);
  return made.id;
}

std::size_t KernelWorld::entries(TaskId task) const {
  return static_cast<std::size_t>(std::count(host.queue.begin(), host.queue.end(), task));
}

PollStart KernelWorld::poll(std::uint16_t index, TaskId task) {
  std::erase(host.queue, task);
  return kernel->begin_poll(worker(index), task);
}

Moves KernelWorld::moves(RegionId region) const {
  Moves moves;
  const auto trace = kernel->trace().value();
  EXPECT_EQ(trace.overwritten, 0U);
  for (const trace::Event& event : trace.events) {
    if (event.kind != trace::EventKind::region_move || event.region != region) continue;
    const auto move = trace::region_move_in(event.argument);
    EXPECT_EQ(move.value().from, moves.empty() ? RegionState::open : moves.back()) << "REG-9: one move follows another";
    moves.push_back(move.value().to);
  }
  return moves;
}

std::size_t KernelWorld::events(trace::EventKind kind, TaskId task) const {
  const auto trace = kernel->trace().value();
  return static_cast<std::size_t>(std::count_if(trace.events.begin(), trace.events.end(), [&](const auto& event) {
    return event.kind == kind && event.task == task;
  }));
}

void KernelWorld::expect_whole() {
  for (std::uint16_t i = 0; i < kernel->config().workers; ++i) {
    if constexpr (kernel::LockOrder::active) {
      EXPECT_TRUE(worker(i).order().nothing()) << "worker " << i;
    }
  }
  for (const std::string& broken : kernel::broken_invariants(kernel->snapshot(worker(0)))) ADD_FAILURE() << broken;
}

void KernelWorld::finish_task(TaskId task) {
  switch (kernel->find(task)->word.look().wake()) {
    case lockfree::WakeState::idle:
      EXPECT_TRUE(kernel->wake(worker(0), task));
      [[fallthrough]];
    case lockfree::WakeState::queued:
      EXPECT_NE(poll(0, task), PollStart::stale) << "TSK-6: it is queued";
      [[fallthrough]];
    case lockfree::WakeState::running:
    case lockfree::WakeState::running_woken:
      EXPECT_TRUE(kernel->complete(worker(0), task, ok()));
      return;
    case lockfree::WakeState::done:
      return;  // a finalizer that waits for its turn
  }
}

void KernelWorld::expect_quiet_end() {
  constexpr int rounds_max = 8;  // finalizers come one after another
  for (int round = 0; round < rounds_max; ++round) {
    const kernel::Snapshot now = kernel->snapshot(worker(0));
    for (const kernel::TaskView& task : now.tasks) {
      if (task.state != TaskState::completed) finish_task(task.id);
    }
    for (const kernel::RegionView& region : now.regions) {
      EXPECT_TRUE(kernel->close(worker(0), region.id));
      const bool closed = kernel->state(region.id) == RegionState::closed;
      EXPECT_EQ(kernel->advance(worker(0), region.id), closed ? Status() : Status(Errc::incomplete_children));
    }
  }
  const kernel::Snapshot end = kernel->snapshot(worker(0));
  for (const kernel::RegionView& region : end.regions) {
    EXPECT_EQ(region.state, RegionState::closed) << to_string(region.id) << " is stuck (REG-9)";
    EXPECT_TRUE(region.ledger.is_zero());
  }
  for (const kernel::TaskView& task : end.tasks) EXPECT_EQ(task.state, TaskState::completed) << to_string(task.id);
  expect_whole();
}

}  // namespace calm::explored
