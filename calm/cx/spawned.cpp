#include "calm/cx/spawned.hpp"

#include <utility>

#include "calm/cx/port.hpp"

namespace calm::cx {

Error refusal(Status why) {
  return {why.error(), why == Errc::resource_exhausted ? "no memory for a task" : "a task was not admitted"};
}

WaitState RefusedWait::step(TaskRoot& /*root*/, ChildEnd& end) noexcept {
  end = err(refusal(why_));
  return WaitState::failed;
}

WaitState EndWait::step(TaskRoot& root, ChildEnd& /*end*/) noexcept {
  Port& port = root.port();
  if (registered_) return port.has_ended(task_.id()) ? WaitState::ready : WaitState::pending;
  if (port.is_quick()) poll_in_place(root);
  const Status status = port.await_end(root.worker(), task_.id(), root.id());
  registered_ = status == Errc::would_block;
  return registered_ ? WaitState::pending : WaitState::ready;
}

void EndWait::poll_in_place(TaskRoot& root) noexcept {
  if (!std::exchange(tried_in_place_, true)) (void)root.port().poll_in_place(root.worker(), task_);
}

WaitState EndWait::cancel(TaskRoot& root, Reason& reason, ChildEnd& end) noexcept {
  if (registered_) (void)root.port().forget_end(root.worker(), task_.id());
  return Wait::cancel(root, reason, end);
}

}  // namespace calm::cx
