// The end of every program: the root is cancelled, and everything must come to rest by itself (I2, I3, REG-9, CAN-8).
#include <fmt/format.h>

#include "driver.hpp"

namespace calm::reference {

using kernel::Service;

namespace {

/// Beyond every clean-up deadline that a program gives.
constexpr Duration long_enough = Duration::seconds(100);
constexpr int steps_max = 5'000;

}  // namespace

/// The host does its duty and nothing more: it polls what is queued, ends what is polled, comes back at deadlines. Bodies end
/// and services finish. Only what a Soft region lets sleep for ever has to be woken. Gives: what is wrong, or nothing.
std::string Driver::drain() {
  text_.clear();
  refused_ = false;
  const kernel::CancelSpec shutdown{.kind = CancelKind::shutdown};
  drain_step(kernel_->cancel(worker_, kernel_->root(), shutdown), model_.cancel(kernel_->root(), shutdown));
  for (int steps = 0; kernel_->state(kernel_->root()) != RegionState::closed; ++steps) {
    if (!text_.empty()) return std::move(text_);
    if (steps == steps_max || !drain_one()) return "  the root does not come to rest\n";
  }
  compare();
  for (const auto& [id, task] : model_.tasks()) {
    if (task.state != TaskState::completed) text_ += fmt::format("  {} lives on after the root\n", to_string(id));
  }
  for (const auto& [id, promise] : model_.obligations()) {
    if (promise.state == ObligationState::reserved) text_ += fmt::format("  {} is still open\n", to_string(id));
  }
  return std::move(text_);
}

void Driver::drain_step(Status kernel, Status model) {
  if (kernel != model) text_ += fmt::format("  drain: kernel {}, model {}\n", to_string(kernel), to_string(model));
  for (const TaskId id : host_.told.scheduled) queue_.push_back(id);
  for (const auto& watch : host_.told.watched) watched_.push_back(watch);
  compare();
}

/// Gives: false when there is nothing left to do.
bool Driver::drain_one() {
  if (const TaskId id = a_polled_task(0)) {
    drain_polled(id);
    return true;
  }
  if (!queue_.empty()) {
    const TaskId id = queue_.front();
    queue_.pop_front();
    poll(id);
    drain_step({}, {});
    return true;
  }
  return drain_bodies() || drain_services() || drain_deadlines() || drain_calls() || drain_sleepers();
}

/// A stubborn task does not end before its frame is dropped; finalizers and those of Soft regions are spared that.
bool Driver::is_stubborn(const TaskRow& task) const {
  return stubborn_ && !task.cleanup && task.state != TaskState::completed &&
         model_.find(task.region)->spec.cleanup_mode == kernel::CleanupMode::bounded;
}

void Driver::drain_polled(TaskId id) {
  const TaskRow& task = *model_.find(id);
  if (task.unwinding) {
    const RegionId region = model_.innermost_of(id).back();
    drain_step(kernel_->unwound(worker_, id, region), model_.unwound(id, region));
  } else if (is_stubborn(task) && !task.dropping) {
    drain_step(kernel_->end_poll(worker_, id), model_.end_poll(id));
  } else {
    drain_step(kernel_->complete(worker_, id, ok()), model_.complete(id, ok()));
  }
}

/// The bodies of a stubborn task end when it is unwound.
bool Driver::drain_bodies() {
  for (const auto& [id, region] : model_.regions()) {
    const TaskRow* const owner = model_.find(region.spec.owner);
    if (!region.body || (owner != nullptr && is_stubborn(*owner))) continue;
    const RegionId body = id;
    drain_step(kernel_->end_body(worker_, body, ok()), model_.end_body(body, ok()));
    return true;
  }
  return false;
}

bool Driver::drain_services() {
  for (const auto& [id, promise] : model_.obligations()) {
    if (promise.state != ObligationState::reserved || promise.holder.service == Service::none) continue;
    const ObligationId kept = id;
    drain_step(kernel_->commit(worker_, kept), model_.commit(kept));
    return true;
  }
  return false;
}

bool Driver::drain_deadlines() {
  if (watched_.empty()) return false;
  now_ = now_ + long_enough;
  worker_.set_time(now_);
  model_.set_time(now_);
  for (const auto& [id, deadline] : std::exchange(watched_, {})) {
    drain_step(kernel_->deadline_reached(worker_, id), model_.deadline_reached(id));
  }
  return true;
}

/// Calls end when nothing else is left to do: those whose tasks are to be forced have been waited for.
bool Driver::drain_calls() {
  if (host_.in_calls.empty()) return false;
  const TaskId id = *host_.in_calls.begin();
  host_.in_calls.erase(id);
  drain_step(kernel_->wake(worker_, id), model_.end_call(id));
  return true;
}

bool Driver::drain_sleepers() {
  for (const auto& [id, task] : model_.tasks()) {
    const bool soft =
        model_.find(task.region) != nullptr && model_.find(task.region)->spec.cleanup_mode == kernel::CleanupMode::soft;
    // A finalizer has no deadline either, only polls: what it waits for must come from outside.
    if (task.wake != lockfree::WakeState::idle || (!soft && !task.cleanup)) continue;
    const TaskId sleeper = id;
    drain_step(kernel_->wake(worker_, sleeper), model_.wake(sleeper));
    return true;
  }
  return false;
}

}  // namespace calm::reference
