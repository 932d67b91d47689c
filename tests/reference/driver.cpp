// The driver: dispatch, choosing, comparing.
#include "driver.hpp"

#include <fmt/format.h>

#include <tuple>

#include "differences.hpp"
#include "specs.hpp"

namespace calm::reference {

using kernel::Holder;
using kernel::LocalKernel;
using kernel::Service;
using lockfree::WakeState;

namespace {

bool is_live(const TaskRow* task) { return task != nullptr && task->state != TaskState::completed; }

/// Gives: true for what only a task that is being polled can do, unless a stale id is asked for.
bool needs_a_poll(const Operation& operation) {
  static constexpr Do own[] = {Do::end_poll,   Do::complete,   Do::begin_finalizing,
                               Do::checkpoint, Do::enter_mask, Do::leave_mask,
                               Do::spend,      Do::count,      Do::uncount};
  return operation.a % 16 != 15 && std::find(std::begin(own), std::end(own), operation.what) != std::end(own);
}

bool is_polled(const TaskRow* task) {
  return task != nullptr && (task->wake == WakeState::running || task->wake == WakeState::running_woken);
}

}  // namespace

const Driver::Handler Driver::handlers[do_count] = {
    &Driver::create_region,
    &Driver::close,
    &Driver::cancel,
    &Driver::end_body,
    &Driver::advance,
    &Driver::defer,
    &Driver::await_close,
    &Driver::forget_close,
    &Driver::use_heap,
    &Driver::release_region,
    &Driver::spawn,
    &Driver::wake,
    &Driver::poll_next,
    &Driver::begin_poll,
    &Driver::end_poll,
    &Driver::complete,
    &Driver::begin_finalizing,
    &Driver::unwound,
    &Driver::request_cancel,
    &Driver::checkpoint,
    &Driver::enter_mask,
    &Driver::leave_mask,
    &Driver::spend,
    &Driver::deadline_reached,
    &Driver::await_end,
    &Driver::forget_end,
    &Driver::release_task,
    &Driver::reserve,
    &Driver::commit,
    &Driver::abort,
    &Driver::hand_over,
    &Driver::drop_token,
    &Driver::count,
    &Driver::uncount,
    &Driver::pass_time,
    &Driver::call,
    &Driver::spin,
};

Driver::Driver(const Setup& setup, Coverage& coverage, Fault fault)
    : config_(config_of(setup)),
      kernel_(std::move(LocalKernel::make(config_, host_)).value()),
      worker_(kernel_->worker(0)),
      model_(config_, kernel_->root(), fault),
      coverage_(coverage),
      before_(kernel_->snapshot(worker_)),
      stubborn_(setup.stubborn != 0) {
  regions_.add(kernel_->root());
}

std::string Driver::step(const Operation& operation) {
  text_.clear();
  refused_ = false;
  region_ = {};
  task_ = {};
  obligation_ = {};
  const bool waits = needs_a_poll(operation) && a_polled_task(0) == TaskId();
  const Do what = waits ? Do::poll_next : operation.what;
  (this->*handlers[static_cast<std::size_t>(what)])(operation);
  for (const TaskId id : host_.told.scheduled) queue_.push_back(id);
  for (const auto& watch : host_.told.watched) watched_.push_back(watch);
  compare();
  return std::move(text_);
}

void Driver::pass_time(const Operation& operation) {
  now_ = now_ + step_of(operation.c);
  worker_.set_time(now_);
  model_.set_time(now_);
  same(operation.what, {}, {});
}

// --- choosing ---

RegionId Driver::a_region(std::uint16_t choice) {
  return region_ = regions_.pick(choice, [&](RegionId id) { return model_.find(id) != nullptr; });
}

/// One that admits, as far as there is one, and mostly not the root: a failure there would end everything.
RegionId Driver::an_open_region(std::uint16_t choice) {
  const RegionId root = kernel_->root();
  if (choice % 16 > 12) return a_region(choice);
  region_ = regions_.pick(
      choice, [&](RegionId id) { return kernel_->state(id) == RegionState::open && (id != root || choice % 16 < 3); });
  return region_ ? region_ : region_ = root;
}

/// The root is closed only when a program insists: nothing new can happen afterwards.
RegionId Driver::a_region_to_close(const Operation& operation) {
  const RegionId chosen = a_region(operation.a);
  const RegionId root = kernel_->root();
  if (chosen != root || operation.b % 16 == 0) return chosen;
  return region_ = regions_.pick(operation.a, [&](RegionId id) { return model_.find(id) != nullptr && id != root; });
}

TaskId Driver::a_task(std::uint16_t choice) {
  return task_ = tasks_.pick(choice, [&](TaskId id) { return model_.find(id) != nullptr; });
}

TaskId Driver::a_live_task(std::uint16_t choice) {
  return task_ = tasks_.pick(choice, [&](TaskId id) { return is_live(model_.find(id)); });
}

/// One of the region's, or the one that owns it.
TaskId Driver::a_task_near(RegionId region, std::uint16_t choice) {
  const RegionRow* const home = model_.find(region);
  const TaskId owner = home == nullptr ? TaskId() : home->spec.owner;
  return task_ = tasks_.pick(choice, [&](TaskId id) {
    const TaskRow* const row = model_.find(id);
    return is_live(row) && (row->region == region || id == owner);
  });
}

/// One that runs its body now, so that it may do what only its own poll may. No id when the choice fell on one that waits
/// to be dropped.
TaskId Driver::a_running_task(std::uint16_t choice) {
  task_ = tasks_.pick(choice, [&](TaskId id) { return is_polled(model_.find(id)) && !dropped(id); });
  return dropped(task_) ? task_ = TaskId() : task_;
}

TaskId Driver::a_polled_task(std::uint16_t choice) {
  return task_ = tasks_.pick(choice, [&](TaskId id) { return is_polled(model_.find(id)); });
}

ObligationId Driver::an_obligation(std::uint16_t choice) {
  return obligation_ = obligations_.pick(choice, [&](ObligationId id) { return model_.find(id) != nullptr; });
}

Holder Driver::a_holder(RegionId region, std::uint16_t choice, std::uint16_t task, bool own_poll) {
  switch (choice % 8) {
    case 0:
      return {};
    case 1:
      return Service::lease_keeper;
    case 2:
    case 3:
      return {Service::reactor, a_task_near(region, task)};
    default:
      return own_poll ? a_running_task(task) : a_live_task(task);
  }
}

bool Driver::dropped(TaskId id) const {
  const TaskRow* const row = model_.find(id);
  return is_live(row) && (row->dropping || row->unwinding);
}

bool Driver::unwinding(TaskId id) const {
  const TaskRow* const row = model_.find(id);
  return row != nullptr && row->unwinding;
}

// --- comparing ---

void Driver::same(Do what, Status kernel, Status model) {
  if (kernel != model) text_ += fmt::format("  answer: kernel {}, model {}\n", to_string(kernel), to_string(model));
  if (kernel) {
    ++coverage_.done[static_cast<std::size_t>(what)];
    return;
  }
  ++coverage_.refused[{what, kernel.error()}];
  const Errc code = kernel.error();
  refused_ = code != Errc::would_block && code != Errc::cancelled && code != Errc::budget_exhausted;
}

void Driver::compare() {
  text_ += differences(host_.told, model_.told);
  for (const kernel::Finding& finding : host_.told.found) ++coverage_.findings[static_cast<std::size_t>(finding.kind)];
  host_.told = {};
  model_.told = {};
  kernel::Snapshot after = kernel_->snapshot(worker_);
  text_ += differences(after, model_.snapshot());
  std::optional<std::uint64_t> digest;
  if (refused_) {
    digest = state_digest(after);
    if (digest != (digest_ ? *digest_ : state_digest(before_))) {
      text_ += "  it was refused, and the state digest is another one\n";
    }
  }
  digest_ = digest;
  before_ = std::move(after);
  same_value("leaks", kernel_->leaks(worker_), model_.leaks());
  same_value("dropped_tokens", kernel_->dropped_tokens(worker_), model_.dropped_tokens());
  compare_region();
  compare_task();
  compare_obligation();
}

void Driver::compare_region() {
  same_value("state of the region", kernel_->state(region_), model_.state(region_));
  same_value("check_heap", kernel_->check_heap(region_), model_.check_heap(region_));
  same_value("reason_of", kernel_->reason_of(worker_, region_), model_.reason_of(region_));
  const RegionRow* const region = model_.find(region_);
  same_value("is_cancelled", kernel_->is_cancelled(region_), region != nullptr && bool(region->reason));
  const auto end = kernel_->end_of(worker_, region_);
  const auto expected = model_.end_of(region_);
  same_value("end_of", end.has_value(), expected.has_value());
  if (end && expected) same_value("end_of", same_end(*end, *expected), true);
}

void Driver::compare_task() {
  const TaskRow* const task = model_.find(task_);
  const bool there = task != nullptr;
  same_value("state of the task", kernel_->state(task_), there ? task->state : TaskState::completed);
  same_value("outcome_of", kernel_->outcome_of(task_), there ? task->outcome : std::nullopt);
  same_value("is_cancel_requested", kernel_->is_cancel_requested(task_), is_live(task) && bool(task->reason));
  if (is_live(task)) same_value("is_masked", kernel_->is_masked(task_), task->mask_depth > 0 || task->cleanup);
  same_value("budget_of", kernel_->budget_of(task_), there ? std::optional(task->left) : std::nullopt);

  const auto witness = kernel_->witness_of(worker_, task_);
  const auto expected = model_.witness_of(task_);
  same_value("witness_of", witness.has_value(), expected.has_value());
  if (witness && expected) {
    same_value("witness", std::tie(witness->task, witness->region, witness->epoch, witness->phase, witness->reason),
               std::tie(expected->task, expected->region, expected->epoch, expected->phase, expected->reason));
  }
  const auto cancellation = kernel_->cancellation_of(worker_, task_);
  same_value("cancellation_of", cancellation.has_value(), there && bool(task->reason));
  if (cancellation && there && task->reason) {
    same_value("left for clean-up", cancellation->cleanup, model_.cleanup_left(task_));
  }
}

void Driver::compare_obligation() {
  const ObligationRow* const obligation = model_.find(obligation_);
  same_value("state of the obligation", kernel_->state(worker_, obligation_),
             obligation == nullptr ? std::nullopt : std::optional(obligation->state));
}

}  // namespace calm::reference
