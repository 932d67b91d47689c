// kernel_model.hpp — a whole kernel in the instrumented world: a start, threads with a worker each, and the way to quiet.
// Laws:    I1, I2 (after every execution the kernel can be driven to quiet and its parts add up)
// Threads: logical threads; worker(i) is the i-th one's, the checks use worker 0
// Cancel:  not applicable
//
// Every operation on an atomic word of the kernel is a scheduling point: shard locks, gate bits, task words, the slabs. A
// Relaxed value is none, so what is done to one happens together with the atomic operation before it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "calm/kernel/kernel_make.hpp"
#include "calm/kernel/ownership.hpp"
#include "tests/kernel_host.hpp"
#include "tests/model/explored.hpp"
#include "tests/show.hpp"

namespace calm::kernel {

extern template class BasicKernel<explored::ModelAtomics>;

}  // namespace calm::kernel

namespace calm::explored {

using kernel::PollStart;
using kernel::RegionSpec;
using kernel::TaskSpec;
using ModelKernel = kernel::BasicKernel<ModelAtomics>;

/// How a region came to Closed, as its region_move events say.
using Moves = std::vector<RegionState>;
inline const Moves moves_empty{RegionState::closing, RegionState::finalizing, RegionState::closed};
inline const Moves moves_drained{RegionState::closing, RegionState::draining, RegionState::finalizing,
                                 RegionState::closed};

/// A kernel before the threads begin. Each worker has a free record of each kind, so that no thread makes a chunk.
class KernelWorld {
 public:
  explicit KernelWorld(std::uint16_t workers = 2);

  [[nodiscard]] kernel::Worker& worker(std::uint16_t index) { return kernel->worker(index); }
  [[nodiscard]] RegionId root() const { return kernel->root(); }

  RegionId region(RegionId parent, const RegionSpec& spec = {});
  TaskId queued(RegionId region, const TaskSpec& spec = {});
  TaskId running(RegionId region, const TaskSpec& spec = {});
  TaskId parked(RegionId region, const TaskSpec& spec = {});
  ObligationId promise(RegionId region, kernel::Holder holder, ObligationKind kind = ObligationKind::ack);

  /// Gives: how often schedule() was called for the task since it was last polled by poll().
  [[nodiscard]] std::size_t entries(TaskId task) const;
  PollStart poll(std::uint16_t worker, TaskId task);

  [[nodiscard]] Moves moves(RegionId region) const;
  [[nodiscard]] std::size_t events(trace::EventKind kind, TaskId task) const;
  [[nodiscard]] bool requested(TaskId task) const { return kernel->is_cancel_requested(task); }

  /// The laws of every moment: nobody holds a shard, and the parts of a snapshot add up.
  void expect_whole();
  /// Completes what is alive, closes what is open, and expects that every region reaches Closed with nothing left.
  void expect_quiet_end();

  kernel::TestHost<ModelAtomics> host;
  std::unique_ptr<ModelKernel> kernel;

 private:
  void finish_task(TaskId task);
};

/// Runs the threads under every schedule, and checks the laws of every moment after each.
template <class World>
void expect_in_every_schedule(const std::vector<Body<World>>& threads, const Body<World>& check,
                              const Options& options = {}) {
  const Body<World> whole_check = [&check](World& world) {
    world.expect_whole();
    check(world);
    world.expect_quiet_end();
  };
  expect_exhausted(explore<World>(threads, whole_check, options));
}

/// What threads of several tests do.
template <class World>
void complete_task(World& world) {
  world.first = world.kernel->complete(world.worker(0), world.task, ok());
}

}  // namespace calm::explored
