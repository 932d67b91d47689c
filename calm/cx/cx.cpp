#include "calm/cx/cx.hpp"

#include "calm/cx/port.hpp"

namespace calm::cx {

Reason Context::acknowledge() const {
  Port& port = root->port();
  kernel::Worker& worker = root->worker();
  if (port.checkpoint(worker, root->id()) == Errc::cancelled) return port.reason_of(worker, root->id());
  if (port.is_masked(root->id())) return {};
  for (const Context* context = this; context->outer != nullptr; context = context->outer) {
    if (port.is_cancelled(context->region)) return port.reason_of(worker, context->region);
  }
  return {};
}

bool Context::is_cancelled() const noexcept {
  const Port& port = root->port();
  if (port.is_cancel_requested(root->id())) return true;
  for (const Context* context = this; context->outer != nullptr; context = context->outer) {
    if (port.is_cancelled(context->region)) return true;
  }
  return false;
}

WaitState Port::step(TaskRoot& root, Wait& wait, ChildEnd& end) noexcept {
  const Reason reason = wait.context() == nullptr ? Reason() : wait.context()->acknowledge();
  return reason ? wait.cancel(root, reason, end) : wait.step(root, end);
}

}  // namespace calm::cx
