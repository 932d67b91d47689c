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

#include "calm/check/require.hpp"
#include "calm/cx/context.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/kernel/worker.hpp"
#include "calm/lockfree/company.hpp"
#include "calm/model/id.hpp"

namespace calm::cx {

class Crew : public Fixture {
 public:
  static constexpr Kind kind = Kind::crew;

  explicit Crew(TaskId owner) noexcept : Fixture(kind), owner_(owner) {}

  /// Where its region is, as the port of this runtime knows it: while the crew is there the region is.
  [[nodiscard]] void* region() const noexcept { return region_; }
  void set_region(void* region) noexcept { region_ = region; }

  // Relaxed: who adds a task is the owner, or a task of the crew, which cannot be empty then.
  void add(Port& port) noexcept {
    lockfree::Company<>* const company = port.company();
    if (company != nullptr && !company->begin_alone()) {
      live_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    add_alone();
    if (company != nullptr) company->end_alone();
  }
  /// The same. Needs: nobody else is at work.
  void add_alone() noexcept { live_.store(live_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  void leave(Port& port, kernel::Worker& worker) noexcept {
    const TaskId owner = owner_;
    if (is_last_to_leave(port.company())) (void)port.wake_lingerer(worker, owner);
  }

  // The same for who leaves in one step with more. Needs: nobody else is at work.

  /// Gives: true when nobody is to be woken. Needs: it has not left yet.
  [[nodiscard]] bool may_leave_alone() const noexcept {
    return live_.load(std::memory_order_relaxed) != 1 || !lingers_.load(std::memory_order_relaxed);
  }
  /// Counts it, and wakes nobody.
  void leave_alone() noexcept { live_.store(live_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed); }

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
    const bool last = !may_leave_alone();
    leave_alone();
    if (company != nullptr) company->end_alone();
    return last;
  }

  TaskId owner_;
  void* region_ = nullptr;
  std::atomic<std::uint32_t> live_{0};
  std::atomic<bool> lingers_{false};
};

/// Needs: it has no fixtures yet.
inline void TaskRoot::join_crew(Crew& crew) noexcept {
  CALM_SLOW(REG_6, live_.fixtures == nullptr);
  live_.fixtures = &crew;
}
inline Crew* TaskRoot::crew() const noexcept { return Fixture::first<Crew>(live_.fixtures); }
inline bool TaskRoot::has_fixtures() const noexcept {
  return live_.fixtures != nullptr && !Fixture::is<Crew>(*live_.fixtures);
}
inline Crew* TaskRoot::only_crew() const noexcept {
  CALM_SLOW(REG_6, live_.fixtures == crew(), id().bits());
  return static_cast<Crew*>(live_.fixtures);
}
inline void TaskRoot::leave_crew(kernel::Worker& worker) noexcept {
  if (noted_) [[unlikely]]
    (void)take_notes();            // nobody has asked for them
  Crew* const crew = only_crew();  // the frames are gone, and what was in them
  forget_crew();
  if (crew != nullptr) crew->leave(port(), worker);
}

}  // namespace calm::cx
