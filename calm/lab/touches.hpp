// touches.hpp — what a step of the lab does to things that other tasks can see, told by port, host and clock as it happens.
// Laws:    LAB-4 (what a step read and wrote, and whom it can enable)
// Threads: one
// Cancel:  not applicable
//
// The trace says what happened; a step that looked and found nothing to do leaves no event there, and yet its order makes a
// difference. Who explores needs both.
#pragma once

#include "calm/kernel/config.hpp"
#include "calm/model/id.hpp"
#include "calm/trace/resource.hpp"

namespace calm::lab {

class Touches {
 public:
  /// A task was admitted to the region, or a finalizer registered there.
  virtual void spawned(TaskId task, RegionId region, bool finalizer) = 0;
  /// One was not admitted. It was counted for a moment, and who waits for the last to leave may be woken for nothing.
  virtual void refused(RegionId region) = 0;
  virtual void opened(RegionId region, RegionId parent, const kernel::RegionSpec& spec) = 0;
  virtual void released(RegionId region) = 0;
  virtual void reserved(ObligationId promise, RegionId region) = 0;
  virtual void handed_over(ObligationId promise, TaskId to) = 0;
  /// A name was given to an object that the program shares between tasks.
  virtual void made(trace::ResourceId object) = 0;
  /// Memory of the region holds an object that ends with it.
  virtual void kept_in(RegionId region) = 0;

  /// Asked whether the region admits, or is cancelled.
  virtual void looked_at(RegionId region) = 0;
  virtual void cancelled(RegionId region) = 0;
  virtual void cancelled(TaskId task) = 0;
  virtual void woken(TaskId task) = 0;
  /// Asked whether the task has ended; with a waiter, that one is told when it does; without, nobody is.
  virtual void looked_at_end(TaskId task) = 0;
  virtual void awaits_end(TaskId task, TaskId waiter) = 0;
  virtual void forgets_end(TaskId task) = 0;

  /// Asked what the task may still use.
  virtual void looked_at_budget(TaskId task) = 0;

  virtual void looked_at_time() = 0;
  virtual void took_entropy() = 0;

 protected:
  ~Touches() = default;
};

}  // namespace calm::lab
