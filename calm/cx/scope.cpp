#include "calm/cx/scope.hpp"

#include "calm/cx/port.hpp"

namespace calm {
namespace cx {

WaitState ClosedWait::step(TaskRoot& root, ChildEnd& /*end*/) noexcept {
  Port& port = root.port();
  if (port.is_closed(region_)) return WaitState::ready;
  if (!registered_) {
    (void)port.await_close(root.worker(), region_, root.id());
    registered_ = true;
  }
  return WaitState::pending;
}

WaitState ClosedWait::cancel(TaskRoot& root, const Reason& reason, ChildEnd& end) noexcept {
  if (!passed_on_) {
    passed_on_ = true;
    (void)root.port().cancel(
        root.worker(), region_,
        {.kind = CancelKind::parent_cancelled, .region = root.region(), .task = root.id(), .cause = &reason});
  }
  return step(root, end);
}

}  // namespace cx

Status Scope::open(const ScopeOptions& options) {
  const auto made = port().create_region(worker(), context_.outer->region,
                                         {.budget = options.budget,
                                          .limits = options.limits,
                                          .policy = options.policy,
                                          .cleanup_mode = options.cleanup_mode,
                                          .escalation = options.escalation,
                                          .cleanup_time = options.cleanup_time,
                                          .reports_to = kernel::ReportsTo::owner,
                                          .body = true,
                                          .owner = context_.root->id()});
  context_.region = made.id;
  return made.status;
}

cx::WaitFor<cx::ClosedWait, const cx::Context*, RegionId> Scope::close(const ChildEnd& body) {
  (void)port().end_body(worker(), context_.region, body);
  (void)port().close(worker(), context_.region);
  return cx::WaitFor<cx::ClosedWait, const cx::Context*, RegionId>(context_.outer, context_.region);
}

ChildEnd Scope::take_end() {
  ChildEnd end = port().end_of(worker(), context_.region).value_or(ok());
  port().release(worker(), context_.region);
  return end;
}

}  // namespace calm
