// lane_tasks.hpp — task records for lanes, without a kernel: each says what a lane looks at.
#pragma once

#include <cstdint>

#include "calm/check/require.hpp"
#include "calm/kernel/task_record.hpp"
#include "calm/lockfree/local_atomics.hpp"
#include "calm/sched/lanes.hpp"

namespace calm::sched {

using LaneTask = kernel::TaskRecord<lockfree::LocalAtomics>;
using LocalLanes = Lanes<lockfree::LocalAtomics>;

/// Records that stay where they are; `creation` numbers them.
class LaneTasks {
 public:
  LaneTasks() { CALM_REQUIRE(HND_3, tasks_.reserve()); }
  LaneTask& make(TaskState state, Deadline deadline, std::uint8_t priority) {
    LaneTask& task = *tasks_.take(0);
    task.creation = tasks_.made();
    task.frame = &task;  // it is known by that, too
    const Budget budget{.deadline = deadline, .priority = priority};
    task.word.renew(kernel::TaskLife(1, state, lockfree::WakeState::queued).with(budget));
    task.terms().set_budget(budget);
    return task;
  }
  LaneTask& cancelled(std::uint8_t priority = 0) {
    return make(TaskState::cancel_requested, Deadline::none(), priority);
  }
  LaneTask& timed(std::uint64_t deadline_ns, std::uint8_t priority = 0) {
    return make(TaskState::running, Time::at_ns(deadline_ns), priority);
  }
  LaneTask& ready(std::uint8_t priority = 0) { return make(TaskState::running, Deadline::none(), priority); }

 private:
  LaneTask::SlabType tasks_{1, 1'000'000};
};

}  // namespace calm::sched
