// lane_tasks.hpp — task records for lanes, without a kernel: each says what a lane looks at.
#pragma once

#include <cstdint>
#include <deque>

#include "calm/kernel/task_record.hpp"
#include "calm/lockfree/local_atomics.hpp"
#include "calm/sched/lanes.hpp"

namespace calm::sched {

using LaneTask = kernel::TaskRecord<lockfree::LocalAtomics>;
using LocalLanes = Lanes<lockfree::LocalAtomics>;

/// Records that stay where they are; `creation` numbers them.
class LaneTasks {
 public:
  LaneTask& make(TaskState state, Deadline deadline, std::uint8_t priority) {
    LaneTask& task = tasks_.emplace_back();
    task.creation = tasks_.size();
    task.frame = &task;  // it is known by that, too
    const Budget budget{.deadline = deadline, .priority = priority};
    task.word.renew(kernel::TaskLife(1, state, lockfree::WakeState::queued).with(budget));
    task.deadline_ns.set(deadline.raw());
    task.priority.set(priority);
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
  std::deque<LaneTask> tasks_;
};

}  // namespace calm::sched
