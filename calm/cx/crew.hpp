// crew.hpp — the tasks of one scope that are not done yet: a scope stays open until the last of them leaves.
// Laws:    REG-2, REG-6 (children may open scopes and reserve as long as their region is Open)
// Threads: tasks leave on whichever worker polls them
// Cancel:  a cancelled scope does not wait for its crew before it closes
//
// A crew lives in the frame of its scope. A task leaves before the kernel completes it, so the region is not Closed yet and
// the frame is there; it touches nothing of the crew after its count. Who works alone counts without an atomic step.
#pragma once

#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/context.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/kernel/worker.hpp"
#include "calm/lockfree/crew_count.hpp"
#include "calm/model/id.hpp"

namespace calm::cx {

class Crew : public Fixture {
 public:
  static constexpr Kind kind = Kind::crew;

  explicit Crew(TaskId owner) noexcept : Fixture(kind), owner_(owner) {}

  /// Where its region is, as the port of this runtime knows it: while the crew is there the region is.
  [[nodiscard]] void* region() const noexcept { return region_; }
  void set_region(void* region) noexcept { region_ = region; }

  /// For the owner, before it lingers, and for tasks of the crew. Others keep the region from closing themselves.
  void add(Port& port) noexcept { live_.add(port.company()); }
  /// The same. Needs: nobody else is at work.
  void add_alone() noexcept { live_.add_alone(); }

  void leave(Port& port, kernel::Worker& worker) noexcept {
    const TaskId owner = owner_;
    if (live_.leave(port.company())) (void)port.wake_lingerer(worker, owner);
  }

  // The same for who leaves in one step with more. Needs: nobody else is at work.

  /// Gives: true when nobody is to be woken. Needs: it has not left yet.
  [[nodiscard]] bool may_leave_alone() const noexcept { return live_.may_leave_alone(); }
  /// Counts it, and wakes nobody.
  void leave_alone() noexcept { live_.leave_alone(); }

  /// The owner wants to be woken. Gives: true when nobody is left.
  [[nodiscard]] bool linger() noexcept { return live_.linger(); }

 private:
  TaskId owner_;
  void* region_ = nullptr;
  lockfree::CrewCount<> live_;
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
