#include "calm/cx/context.hpp"

#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/trace/hash.hpp"

namespace calm::cx {

Limit::Limit(const Context& of, TaskRoot& root, RegionId region, const Budget& budget, CancelKind late)
    : Fixture(kind),
      of_(of),
      root_(root),
      region_(region),
      budget_(budget),
      late_(late),
      reserve_(ReasonReserve::take()) {
  if (!reserve_) throw std::bad_alloc();
  root_.add_limit(*this);
  if (!budget.deadline.is_none() && !budget.deadline.reached(root.port().recent(root.worker()))) arm();
}

void Limit::arm() const noexcept {
  if (budget_.deadline.reached(root_.worker().now())) return;
  root_.port().let_go(root_.worker(), alarm_);
  alarm_.at = budget_.deadline.time();
  alarm_.task = root_.id();
  const Status armed = root_.port().arm(root_.worker(), alarm_, clock::Beyond::clamp);
  CALM_INVARIANT(TMR_2, armed.is_ok());
}

Limit::~Limit() {
  root_.take_limit(*this);
  root_.port().let_go(root_.worker(), alarm_);
}

bool Limit::polls_used_up() const noexcept { return !budget_.polls.covers(polls_); }

Budget Limit::left() const noexcept {
  Budget left = budget_;
  if (!left.polls.take(polls_)) left.polls = Quota(0);
  if (!left.cost.take(cost_)) left.cost = Quota(0);
  return left;
}

bool Limit::is_used_up() const noexcept {
  return bool(reason_) || cost_refused_ || polls_used_up() || budget_.deadline.reached(root_.worker().now());
}

bool Limit::is_observable() const noexcept { return masks_ <= 0; }

const Reason& Limit::reason() const noexcept {
  if (!reason_) {
    const CancelKind why = cost_refused_ ? CancelKind::cost_budget : polls_used_up() ? CancelKind::poll_quota : late_;
    const ReasonSpec spec{.kind = why, .region = region_, .task = root_.id(), .at = root_.worker().now()};
    reason_ = Reason(spec, std::exchange(reserve_, {}));
  }
  return reason_;
}

// --- what a task counts for its limits ---

void TaskRoot::put_up(Fixture& fixture) noexcept {
  fixture.outer_ = live_.fixtures;
  live_.fixtures = &fixture;
}

void TaskRoot::take_down(const Fixture& fixture) noexcept {
  Fixture** place = &live_.fixtures;
  while (*place != &fixture) place = &(*place)->outer_;
  *place = fixture.outer_;
}

void TaskRoot::add_limit(Limit& limit) noexcept {
  put_up(limit);
  limited_ = true;
  live_.quiet_at = 0;
}

void TaskRoot::take_limit(const Limit& limit) noexcept {
  take_down(limit);
  limited_ = innermost_limit() != nullptr;
}

void TaskRoot::count_for_limits() noexcept {
  for (auto* limit = Fixture::first<Limit>(live_.fixtures); limit != nullptr; limit = Fixture::outer(*limit)) {
    ++limit->polls_;
  }
}

void TaskRoot::add_spent(std::uint64_t cost) noexcept {
  for (auto* limit = Fixture::first<Limit>(live_.fixtures); limit != nullptr; limit = Fixture::outer(*limit)) {
    limit->cost_ += cost;
  }
}

void TaskRoot::count_mask(std::int32_t more) noexcept {
  for (auto* limit = Fixture::first<Limit>(live_.fixtures); limit != nullptr; limit = Fixture::outer(*limit)) {
    limit->masks_ += more;
  }
}

namespace {

/// Nothing was seen at a checkpoint: if that is so for the task and every scope that it has open, the next one need not look.
void remember_quiet(TaskRoot& root, std::uint64_t stamp) noexcept {
  const Port& port = root.port();
  if (root.has_limits() || port.is_walking() || port.is_cancel_requested(root.id())) return;
  for (const OpenScope* scope = root.innermost_scope(); scope != nullptr; scope = Fixture::outer(*scope)) {
    if (port.is_cancelled(scope->region)) return;
  }
  root.found_quiet(stamp);
}

/// The limits of a task, for a walk through contexts: found once, for between them in the list stand the scopes of the task, which
/// may be thousands.
class LimitsOfTask {
 public:
  explicit LimitsOfTask(const TaskRoot& root) noexcept : rest_(root.has_limits() ? root.innermost_limit() : nullptr) {
    for (; rest_ != nullptr && count_ < few; rest_ = Fixture::outer(*rest_)) limits_[count_++] = rest_;
  }

  /// Gives: the one of this context; nullptr where it has none.
  [[nodiscard]] const Limit* of(const Context& context) const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      if (&limits_[i]->of() == &context) return limits_[i];
    }
    const Limit* limit = rest_;
    while (limit != nullptr && &limit->of() != &context) limit = Fixture::outer(*limit);
    return limit;
  }

 private:
  static constexpr std::size_t few = 8;
  std::array<const Limit*, few> limits_{};
  std::size_t count_ = 0;
  const Limit* rest_;  // beyond these few
};

/// Gives: the region of the scope whose context it is; none for others. Needs: not the task's own.
RegionId opened_by(const Context& context) noexcept { return static_cast<const InnerContext&>(context).opened; }

}  // namespace

RegionId Context::region() const noexcept {
  for (const Context* context = this; !context->is_in_root(); context = context->outer()) {
    if (const RegionId region = opened_by(*context)) return region;
  }
  return root()->region();
}

Reason Context::acknowledge() const {
  Port& port = root()->port();
  kernel::Worker& worker = root()->worker();
  if (!port.is_quick()) {
    if (Reason reason = port.sees_cancel(worker, root()->id())) return reason;
    return outer() == nullptr ? Reason() : acknowledge_around();
  }
  if (root()->is_quiet()) return {};
  const std::uint64_t stamp = port.cancel_stamp();
  if (Reason reason = port.sees_cancel(worker, root()->id())) return reason;
  if (outer() != nullptr) {
    if (Reason reason = acknowledge_around()) return reason;
  }
  remember_quiet(*root(), stamp);
  return {};
}

Reason Context::acknowledge_around() const {
  Port& port = root()->port();
  kernel::Worker& worker = root()->worker();
  const bool masked = port.is_masked(root()->id());
  const LimitsOfTask limits(*root());
  for (const Context* context = this; context->outer() != nullptr; context = context->outer()) {
    if (const Limit* const limit = limits.of(*context)) {
      if (limit->is_used_up() && (!masked || limit->is_observable())) return limit->reason();
      limit->renew_alarm();
    }
    if (const RegionId scope = opened_by(*context); scope && !masked && port.is_cancelled(scope)) {
      return port.reason_of(worker, scope);
    }
  }
  return {};
}

bool Context::is_cancelled() const noexcept {
  const Port& port = root()->port();
  if (port.is_cancel_requested(root()->id())) return true;
  const LimitsOfTask limits(*root());
  for (const Context* context = this; context->outer() != nullptr; context = context->outer()) {
    if (const Limit* const limit = limits.of(*context); limit != nullptr && limit->is_used_up()) return true;
    if (const RegionId scope = opened_by(*context); scope && port.is_cancelled(scope)) return true;
  }
  return false;
}

Budget Context::narrowed() const noexcept {
  Budget budget;
  if (!root()->has_limits()) return budget;
  const LimitsOfTask limits(*root());
  for (const Context* context = this; context != nullptr; context = context->outer()) {
    if (const Limit* const limit = limits.of(*context)) budget = meet(budget, limit->left());
  }
  return budget;
}

Budget Context::budget() const noexcept {
  return meet(narrowed(), root()->port().budget_of(root()->id()).value_or(Budget::zero()));
}

Status Context::spend(std::uint64_t cost) const {
  const LimitsOfTask limits(*root());
  for (const Context* context = this; context != nullptr; context = context->outer()) {
    const Limit* const limit = limits.of(*context);
    if (limit == nullptr || limit->left().cost.covers(cost)) continue;
    limit->refuse_cost();
    return Errc::budget_exhausted;
  }
  const Status status = root()->port().spend(root()->worker(), root()->id(), cost);
  if (status) root()->add_spent(cost);
  return status;
}

StandIn::StandIn(const Context& own, const Context& made_with) noexcept
    : Fixture(kind), own_(own), made_with_(made_with) {
  CALM_REQUIRE(CTX_1, own.root()->stand_in() == nullptr);
  own.root()->put_up(*this);
}

StandIn::~StandIn() { own_.root()->take_down(*this); }

const Context& Context::in_running_task() const noexcept {
  if (!root()->was_polled()) return *this;
  const TaskId running = root()->port().here().running();
  const TaskRoot* const task = running ? root()->port().find(running) : nullptr;
  if (task == nullptr || task->stand_in() == nullptr) return *this;
  // A branch of a branch was made with the context of a task further out.
  for (const StandIn* place = task->stand_in(); place != nullptr; place = place->made_with().root()->stand_in()) {
    if (place->made_with().root() != root()) continue;
    const Context* around = &place->made_with();
    while (around != nullptr && around != this) around = around->outer();
    // A tighter budget of the task outside does not reach in: give it to the combinator, or make it in the branch.
    CALM_REQUIRE(CTX_1, around == this, root()->id().bits(), running.bits());
    return task->stand_in()->own();
  }
  return *this;
}

trace::ResourceId mark_resource(std::string_view name) noexcept {
  const std::uint64_t hash = trace::xxh64(std::as_bytes(std::span(name)));
  return trace::ResourceId::registered(static_cast<std::uint32_t>(hash) & trace::ResourceId::object_max);
}

void Context::mark(std::string_view name, std::uint64_t value) const noexcept {
  root()->worker().record({.kind = trace::EventKind::mark,
                           .task = root()->id(),
                           .region = region(),
                           .resource = mark_resource(name),
                           .argument = value});
  if (root()->port().is_watched()) root()->port().marked(mark_resource(name), name);
}

WaitState Port::step(TaskRoot& root, Wait& wait, ChildEnd& end) noexcept {
  Reason reason = wait.context() == nullptr ? Reason() : wait.context()->acknowledge();
  const WaitState state = reason ? wait.cancel(root, reason, end) : wait.step(root, end);
  if (const trace::ResourceId resource = quick_ ? trace::ResourceId() : wait.resource()) {
    (void)root.worker().recorder().touch(resource, trace::Access::read, root.id());
  }
  return state;
}

}  // namespace calm::cx
