#include "calm/cx/spawned.hpp"

#include "calm/cx/port.hpp"

namespace calm::cx {

WaitState EndWait::step(TaskRoot& root, ChildEnd& /*end*/) noexcept {
  Port& port = root.port();
  if (registered_) return port.has_ended(task_) ? WaitState::ready : WaitState::pending;
  const Status status = port.await_end(root.worker(), task_, root.id());
  registered_ = status == Errc::would_block;
  return registered_ ? WaitState::pending : WaitState::ready;
}

WaitState EndWait::cancel(TaskRoot& root, const Reason& reason, ChildEnd& end) noexcept {
  if (registered_) (void)root.port().forget_end(root.worker(), task_);
  return Wait::cancel(root, reason, end);
}

}  // namespace calm::cx
