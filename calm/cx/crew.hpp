// crew.hpp — the tasks of one scope that are not done yet: a scope stays open until the last of them leaves.
// Laws:    REG-2, REG-6 (children may open scopes and reserve as long as their region is Open)
// Threads: tasks leave on whichever worker polls them
// Cancel:  a cancelled scope does not wait for its crew before it closes
//
// A crew lives in the frame of its scope. A task leaves before the kernel completes it, so the region is not Closed yet and
// the frame is there; it touches nothing of the crew after its count. Who works alone counts without an atomic step.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "calm/cx/port.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/kernel/worker.hpp"
#include "calm/lockfree/company.hpp"
#include "calm/model/id.hpp"

namespace calm::cx {

class Crew {
 public:
  explicit Crew(TaskId owner) noexcept : owner_(owner) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Relaxed: who adds a task is the owner, or a task of the crew, which cannot be empty then.
  void add(Port& port) noexcept {
    lockfree::Company<>* const company = port.company();
    if (company != nullptr && !company->begin_alone()) {
      live_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    live_.store(live_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (company != nullptr) company->end_alone();
  }

  void leave(Port& port, kernel::Worker& worker) noexcept {
    const TaskId owner = owner_;
    if (is_last_to_leave(port.company())) (void)port.wake_lingerer(worker, owner);
  }

  /// The owner wants to be woken. Gives: true when nobody is left.
  [[nodiscard]] bool linger() noexcept {
    lingers_.store(true, std::memory_order_seq_cst);  // [C1]
    return live_.load(std::memory_order_seq_cst) == 0;
  }

 private:
  /// Counts one who leaves. Gives: true for the last one, when the owner lingers.
  [[nodiscard]] bool is_last_to_leave(lockfree::Company<>* company) noexcept {
    if (company != nullptr && !company->begin_alone()) {
      // [C1] Both sides are seq_cst: of the last one to leave and an owner that begins to linger one sees the other.
      return live_.fetch_sub(1, std::memory_order_seq_cst) == 1 && lingers_.load(std::memory_order_seq_cst);
    }
    // Relaxed: nobody else is there, and who comes later has seen all of this.
    const std::uint32_t left = live_.load(std::memory_order_relaxed) - 1;
    live_.store(left, std::memory_order_relaxed);
    const bool last = left == 0 && lingers_.load(std::memory_order_relaxed);
    if (company != nullptr) company->end_alone();
    return last;
  }

  TaskId owner_;
  std::atomic<std::uint32_t> live_{0};
  std::atomic<bool> lingers_{false};
};

inline void TaskRoot::leave_crew(kernel::Worker& worker) noexcept {
  if (crew_ != nullptr) std::exchange(crew_, nullptr)->leave(port_, worker);
}

}  // namespace calm::cx
