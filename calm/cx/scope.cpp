#include "calm/cx/scope.hpp"

#include <utility>

#include "calm/cx/port.hpp"

namespace calm {
namespace cx {

WaitState ClosedWait::step(TaskRoot& root, ChildEnd& /*end*/) noexcept {
  Port& port = root.port();
  if (port.is_closed(region_)) return WaitState::ready;
  if (!registered_) {
    const Status status = port.await_close(root.worker(), region_, root.id());
    registered_ = true;
    if (status.is_ok()) return WaitState::ready;  // another worker has closed it since
  }
  return WaitState::pending;
}

namespace {

/// A task that is cancelled cancels the scope whose end it waits for.
void pass_on(TaskRoot& root, RegionId region, const Reason& reason) {
  (void)root.port().cancel(
      root.worker(), region,
      {.kind = CancelKind::parent_cancelled, .region = root.region(), .task = root.id(), .cause = &reason});
}

}  // namespace

WaitState ClosedWait::cancel(TaskRoot& root, Reason& reason, ChildEnd& end) noexcept {
  if (!std::exchange(passed_on_, true)) pass_on(root, region_, reason);
  return step(root, end);
}

WaitState LingerWait::step(TaskRoot& root, ChildEnd& /*end*/) noexcept {
  return crew_.linger() || root.port().is_cancelled(region_) ? WaitState::ready : WaitState::pending;
}

WaitState LingerWait::cancel(TaskRoot& root, Reason& reason, ChildEnd& /*end*/) noexcept {
  pass_on(root, region_, reason);
  return WaitState::ready;
}

ScopeBase::~ScopeBase() {
  if (open_.frame != nullptr) context_.root()->take_down(open_);  // an exception has left scope() itself
  if (has_fibers_) context_.root()->unpin();
}

/// TSK-4: the fiber stays where the owner is, and the owner too, from the first of them on.
void ScopeBase::become_home(TaskRoot& shell) noexcept {
  const std::uint16_t here = worker().index();
  if (!std::exchange(has_fibers_, true)) context_.root()->pin(here);
  shell.become_fiber(here);
}

void ScopeBase::cancel(std::string_view message) const {
  (void)port().cancel(worker(), context_.opened, {.task = context_.root()->id(), .message = message});
}

Status ScopeBase::open(const ScopeOptions& options) {
  if (options.budget != Budget::infinite()) {
    try {
      limit_.emplace(context_, *context_.root(), context_.around->region(), options.budget);
    } catch (const std::bad_alloc&) {
      return Errc::resource_exhausted;
    }
  }
  const auto made = port().create_region(worker(), context_.around->region(),
                                         {.budget = meet(options.budget, context_.around->narrowed()),
                                          .limits = options.limits,
                                          .policy = options.policy,
                                          .cleanup_mode = options.cleanup_mode,
                                          .escalation = options.escalation,
                                          .cleanup_time = options.cleanup_time,
                                          .reports_to = kernel::ReportsTo::owner,
                                          .body = true,
                                          .owner = context_.root()->id()});
  context_.opened = made.id;
  if (made) {
    open_.region = made.id;
    open_.crew = &crew_;
    crew_.set_region(port().place_of(made.id));
    context_.root()->enter_scope(open_);
  }
  return made.status;
}

WaitFor<LingerWait, const Context*, RegionId, Crew*> ScopeBase::end_body(const ChildEnd& body) {
  context_.root()->leave_scope(open_);
  (void)port().end_body(worker(), context_.opened, body);
  return WaitFor<LingerWait, const Context*, RegionId, Crew*>(context_.around, context_.opened, &crew_);
}

WaitFor<ClosedWait, const Context*, RegionId> ScopeBase::close() {
  (void)port().close(worker(), context_.opened);
  return WaitFor<ClosedWait, const Context*, RegionId>(context_.around, context_.opened);
}

ChildEnd ScopeBase::take_end() {
  ChildEnd end = port().end_of(worker(), context_.opened).value_or(ok());
  port().release(worker(), context_.opened);
  return end;
}

Status ScopeBase::admit_finalizer(TaskRoot& shell) {
  const auto made = port().defer(worker(), context_.opened, shell);
  if (!made) shell.drop(worker(), {});
  return made.status;
}

}  // namespace cx
}  // namespace calm
