#include "calm/cx/wait.hpp"

#include "calm/cx/port.hpp"

namespace calm::cx {

WaitState YieldWait::step(TaskRoot& root, ChildEnd& /*end*/) noexcept {
  if (yielded_) return WaitState::ready;
  yielded_ = true;
  (void)root.port().wake(root.worker(), root.id());
  return WaitState::pending;
}

WaitState SleepWait::step(TaskRoot& root, ChildEnd& /*end*/) noexcept {
  if (root.port().now(root.worker()) >= until_) return WaitState::ready;
  if (!alarm_.armed) {
    alarm_.at = until_;
    alarm_.task = root.id();
    root.port().arm(root.worker(), alarm_);
  }
  return WaitState::pending;
}

SleepWait::~SleepWait() {
  if (alarm_.armed) context()->root->port().disarm(context()->root->worker(), alarm_);
}

}  // namespace calm::cx
