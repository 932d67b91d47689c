// task_path.hpp — a name for a task that is the same in every run which did the same things in the same order.
// Laws:    SCH-9
// Threads: by who polls the task, or has it between two polls
// Cancel:  not applicable
//
// Ids name slots, which depend on workers and on who was quicker. The path says whose child it is: for each region from the
// root on its place among the children of the one around it, and last the place of the task, `2.0.1`. The main task is `0`.
#pragma once

#include <cstdint>
#include <string>

#include "calm/kernel/kernel.hpp"

namespace calm::sched {

/// Gives: its path. Needs: a task that is not completed.
template <lockfree::AtomicsPolicy Atomics>
std::string task_path(const kernel::BasicKernel<Atomics>& kernel, const kernel::TaskRecord<Atomics>& task) {
  std::string path = std::to_string(task.creation);
  for (const auto* region = &kernel.around(task); region->parent != nullptr; region = region->parent) {
    path.insert(0, 1, '.').insert(0, std::to_string(region->creation));
  }
  return path;
}

}  // namespace calm::sched
