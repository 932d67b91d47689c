// wait_base.hpp — what a task can park at, as its root sees it: it is asked until it says something else than pending.
// Laws:    CAN-7, CAN-13, QUI-4, SCH-10
// Threads: by whoever polls the task; resource() and holder() with one worker by who inspects
// Cancel:  each kind says what a cancel does to it; Cancelled is how it ends unless it says otherwise
#pragma once

#include <cstdint>

#include "calm/cx/frame.hpp"
#include "calm/model/fold.hpp"
#include "calm/model/id.hpp"
#include "calm/model/reason.hpp"
#include "calm/trace/resource.hpp"

namespace calm::cx {

struct Context;
class TaskRoot;

/// How a wait stands.
enum class WaitState : std::uint8_t { ready, pending, failed };

/// Something a task can park at: the one kind of suspension there is. It lives in the frame that waits.
class Wait : public Awaiter {
 public:
  /// Needs: the context of the code that waits; with none the wait cannot be cancelled.
  explicit Wait(const Context* context) noexcept : context_(context) {}

  [[nodiscard]] const Context* context() const noexcept { return context_; }

  /// Called when the frame suspends and at every poll after that, until it says something else than pending.
  /// Gives: ready: the frame goes on; pending: who can end the wait knows the task; failed: `end` says how.
  virtual WaitState step(TaskRoot& root, ChildEnd& end) noexcept = 0;

  /// The task was cancelled: leave the line. The reason is the wait's to take.
  /// Gives: failed: the wait ends as `end` says, Cancelled unless it is overridden; ready or pending, as step(), when the
  ///        wait is not to be cancelled.
  virtual WaitState cancel(TaskRoot& root, Reason& reason, ChildEnd& end) noexcept;

  /// The task is to end by force, and the wait with its frame (CAN-8). Gives: false when somebody on another thread uses what is
  ///        in the frame and cannot be stopped; the task is woken when that is over. True: the wait may be destroyed at once.
  [[nodiscard]] virtual bool take_back() noexcept { return true; }

  /// The frame gave way here (TaskRoot::give_way()), and now there is something to see: it is asked from now on.
  virtual void gave_way() noexcept {}

  /// Gives: what must happen to something else before this ends: a task that ends, a region that closes, a channel, …
  ///        Nothing when only time ends it, or nothing has to.
  [[nodiscard]] virtual trace::ResourceId resource() const noexcept { return {}; }

  /// Gives: who has that, when it is one task and known: a lock. For who inspects; a wait is not slower for it.
  [[nodiscard]] virtual TaskId holder() const noexcept { return {}; }

 protected:
  ~Wait() = default;

 private:
  const Context* context_;
};

}  // namespace calm::cx
