// crew.hpp — the tasks of one scope that are not done yet: a scope stays open until the last of them leaves.
// Laws:    REG-2, REG-6 (children may open scopes and reserve as long as their region is Open)
// Threads: tasks leave on whichever worker polls them
// Cancel:  a cancelled scope does not wait for its crew before it closes
//
// A crew lives in the frame of its scope. A task leaves before the kernel completes it, so the region is not Closed yet and
// the frame is there; it touches nothing of the crew after its count.
#pragma once

#include <atomic>
#include <cstdint>

#include "calm/cx/port.hpp"
#include "calm/kernel/worker.hpp"
#include "calm/model/id.hpp"

namespace calm::cx {

class Crew {
 public:
  explicit Crew(TaskId owner) noexcept : owner_(owner) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Relaxed: who adds a task is the owner, or a task of the crew, which cannot be empty then.
  void add(const Port& port) noexcept {
    if (port.is_shared()) {
      live_.fetch_add(1, std::memory_order_relaxed);
    } else {
      live_.store(live_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
  }

  void leave(Port& port, kernel::Worker& worker) noexcept {
    const TaskId owner = owner_;
    if (!port.is_shared()) {  // one worker takes one step after the other
      const std::uint32_t left = live_.load(std::memory_order_relaxed) - 1;
      live_.store(left, std::memory_order_relaxed);
      if (left == 0 && lingers_.load(std::memory_order_relaxed)) (void)port.wake_lingerer(worker, owner);
      return;
    }
    // [C1] Both sides are seq_cst: of the last one to leave and an owner that begins to linger one sees the other.
    if (live_.fetch_sub(1, std::memory_order_seq_cst) == 1 && lingers_.load(std::memory_order_seq_cst)) {
      (void)port.wake_lingerer(worker, owner);
    }
  }

  /// The owner wants to be woken. Gives: true when nobody is left.
  [[nodiscard]] bool linger() noexcept {
    lingers_.store(true, std::memory_order_seq_cst);  // [C1]
    return live_.load(std::memory_order_seq_cst) == 0;
  }

 private:
  TaskId owner_;
  std::atomic<std::uint32_t> live_{0};
  std::atomic<bool> lingers_{false};
};

}  // namespace calm::cx
