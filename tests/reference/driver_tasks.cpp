// The operations on tasks.
#include <fmt/format.h>

#include "driver.hpp"
#include "specs.hpp"

namespace calm::reference {

using kernel::PollStart;

void Driver::spawn(const Operation& operation) {
  const RegionId region = operation.b % 8 == 0 ? a_region(operation.a) : an_open_region(operation.a);
  kernel::TaskSpec spec{.budget = budget_of(operation.d, now_), .handle = operation.c % 3 == 0};
  const bool finalizing = kernel_->state(region) == RegionState::finalizing;
  spec.cleanup = finalizing ? operation.c % 4 != 0 : operation.c % 32 == 1;
  if (operation.c / 32 % 4 == 0) spec.spawner = a_running_task(operation.b);
  const auto made = kernel_->spawn(worker_, region, spec);
  same(operation.what, made.status, model_.spawn(made.id, region, spec));
  if (made) tasks_.add(task_ = made.id);
}

void Driver::wake(const Operation& operation) {
  const TaskId id = a_live_task(operation.a);
  same(operation.what, kernel_->wake(worker_, id), model_.wake(id));
}

void Driver::poll(TaskId id) {
  task_ = id;
  const PollStart start = kernel_->begin_poll(worker_, id);
  const PollStart expected = model_.begin_poll(id);
  if (start != expected) {
    text_ += fmt::format("  begin_poll: kernel {}, model {} (run, drop, unwind, later, stale)\n",
                         static_cast<int>(start), static_cast<int>(expected));
  }
  ++coverage_.polls[static_cast<std::size_t>(start)];
}

void Driver::poll_next(const Operation& operation) {
  if (queue_.empty()) return;
  const TaskId id = queue_.front();
  queue_.pop_front();
  poll(id);
  same(operation.what, {}, {});
}

void Driver::begin_poll(const Operation& operation) {
  poll(a_live_task(operation.a));
  same(operation.what, {}, {});
}

void Driver::end_poll(const Operation& operation) {
  const TaskId id = operation.b % 4 == 0 ? a_live_task(operation.a) : a_running_task(operation.a);
  if (dropped(id)) return;
  same(operation.what, kernel_->end_poll(worker_, id), model_.end_poll(id));
}

void Driver::complete(const Operation& operation) {
  const TaskId id = operation.b % 4 == 0 ? a_task(operation.a) : a_polled_task(operation.a);
  if (unwinding(id)) return;
  const TaskRow* const row = model_.find(id);
  const ChildOrigin origin{row == nullptr ? RegionId() : row->region, id};
  const auto cancellation = kernel_->cancellation_of(worker_, id);
  const Reason own = cancellation ? cancellation->reason : Reason();
  const bool spares_root = origin.region == kernel_->root() && operation.d % 8 != 0;
  const ChildEnd end = end_of(spares_root ? 0 : operation.c, operation.d, own, origin, now_);
  same(operation.what, kernel_->complete(worker_, id, end), model_.complete(id, end));
}

void Driver::begin_finalizing(const Operation& operation) {
  const TaskId id = operation.b % 4 == 0 ? a_live_task(operation.a) : a_polled_task(operation.a);
  if (unwinding(id)) return;
  same(operation.what, kernel_->begin_finalizing(worker_, id), model_.begin_finalizing(id));
}

/// Mostly one of the innermost regions of a task that is to be unwound, in any order: only a host knows its frames.
void Driver::unwound(const Operation& operation) {
  if (operation.b % 8 == 0) {
    const TaskId any = a_task(operation.a);
    if (dropped(any)) return;
    const RegionId region = a_region(operation.c);
    same(operation.what, kernel_->unwound(worker_, any, region), model_.unwound(any, region));
    return;
  }
  task_ = tasks_.pick(operation.a, [&](TaskId id) { return unwinding(id); });
  const std::vector<RegionId> innermost = model_.innermost_of(task_);
  if (!unwinding(task_)) return;
  region_ = innermost[operation.c % innermost.size()];
  same(operation.what, kernel_->unwound(worker_, task_, region_), model_.unwound(task_, region_));
}

void Driver::request_cancel(const Operation& operation) {
  const TaskId id = a_task(operation.a);
  const kernel::CancelSpec spec = cancel_spec(operation.c, operation.d);
  same(operation.what, kernel_->request_cancel(worker_, id, spec), model_.request_cancel(id, spec));
}

void Driver::checkpoint(const Operation& operation) {
  const TaskId id = a_running_task(operation.a);
  const TaskRow* const row = model_.find(id);
  const bool own_poll =
      row != nullptr && (row->wake == lockfree::WakeState::running || row->wake == lockfree::WakeState::running_woken);
  if (row != nullptr && !own_poll) return;
  same(operation.what, kernel_->checkpoint(worker_, id), model_.checkpoint(id));
}

void Driver::enter_mask(const Operation& operation) {
  const TaskId id = a_running_task(operation.a);
  const int times = operation.c % 16 == 0 ? 70 : 1;
  for (int i = 0; i < times; ++i) same(operation.what, kernel_->enter_mask(worker_, id), model_.enter_mask(id));
}

void Driver::leave_mask(const Operation& operation) {
  const TaskId id = a_running_task(operation.a);
  same(operation.what, kernel_->leave_mask(worker_, id), model_.leave_mask(id));
}

void Driver::spend(const Operation& operation) {
  const TaskId id = a_running_task(operation.a);
  const std::uint64_t cost = operation.c % 7;
  same(operation.what, kernel_->spend(worker_, id, cost), model_.spend(id, cost));
}

/// The watch that is due, or any task: a host may come late, and for tasks that have ended.
void Driver::deadline_reached(const Operation& operation) {
  const auto due = std::find_if(watched_.begin(), watched_.end(), [&](const auto& w) { return w.second <= now_; });
  if (due != watched_.end() && operation.c % 8 != 0) {
    task_ = due->first;
    watched_.erase(due);
  } else {
    (void)a_live_task(operation.a);
  }
  same(operation.what, kernel_->deadline_reached(worker_, task_), model_.deadline_reached(task_));
}

void Driver::await_end(const Operation& operation) {
  const TaskId waiter = a_live_task(operation.b);
  const TaskId id = a_task(operation.a);
  same(operation.what, kernel_->await_end(worker_, id, waiter), model_.await_end(id, waiter));
}

void Driver::forget_end(const Operation& operation) {
  const TaskId id = a_task(operation.a);
  same_value("forget_end", kernel_->forget_end(worker_, id), model_.forget_end(id));
  same(operation.what, {}, {});
}

void Driver::release_task(const Operation& operation) {
  const TaskId id = a_task(operation.a);
  same(operation.what, kernel_->release(worker_, id), model_.release(id));
}

void Driver::call(const Operation& operation) {
  const TaskId id = a_live_task(operation.a);
  if (model_.find(id) == nullptr) return;
  if (host_.in_calls.contains(id)) return end_call(id);
  host_.in_calls.insert(id);
  model_.begin_call(id);
  same(operation.what, {}, {});
}

/// A host wakes the task then.
void Driver::end_call(TaskId id) {
  host_.in_calls.erase(id);
  same(Do::call, kernel_->wake(worker_, id), model_.end_call(id));
}

void Driver::spin(const Operation& operation) {
  static constexpr int rounds[] = {3, 60, 320, 1100};
  const TaskId id = operation.b % 2 == 0 ? a_live_task(operation.a) : a_running_task(operation.a);
  for (int i = 0; i < rounds[operation.c % 4] && text_.empty() && !refused_ && !dropped(id); ++i) {
    same(operation.what, kernel_->wake(worker_, id), model_.wake(id));
    poll(id);
    if (!dropped(id)) same(operation.what, kernel_->end_poll(worker_, id), model_.end_poll(id));
  }
  refused_ = false;  // only the last of many steps was
}

}  // namespace calm::reference
