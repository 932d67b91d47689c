#include "calm/cx/wait.hpp"

#include "calm/cx/port.hpp"

namespace calm::cx {

WaitState YieldWait::step(TaskRoot& root, ChildEnd& /*end*/) noexcept {
  if (yielded_) return WaitState::ready;
  yielded_ = true;
  root.ask_for_another_poll();
  return WaitState::pending;
}

WaitState SleepWait::step(TaskRoot& root, ChildEnd& end) noexcept {
  // What has gone off was due, though this worker may not know yet how late it is.
  if (root.port().recent(root.worker()) >= until_ || alarm_.state.has_fired()) return WaitState::ready;
  if (!alarm_.is_armed()) {
    root.port().let_go(root.worker(), alarm_);
    alarm_.at = until_;
    alarm_.task = root.id();
    if (!root.port().arm(root.worker(), alarm_, beyond_)) {
      end = err(Error(Errc::duration_exceeded, "a sleep is at most 7 days long [TMR-2]"));
      return WaitState::failed;
    }
    until_ = alarm_.at;
  }
  return WaitState::pending;
}

SleepWait::~SleepWait() { context()->root()->port().let_go(context()->root()->worker(), alarm_); }

}  // namespace calm::cx
