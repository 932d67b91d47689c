#include "journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "calm/trace/hash.hpp"

namespace calm::programs {

Duration Journal::lasting(Duration duration) const noexcept {
  constexpr std::int64_t longest_ns = 20'000'000;
  if (!threads_) return duration;
  return Duration::nanoseconds(std::min(duration.ns() / 100, longest_ns));
}

Budget Journal::within(Budget budget, Time now) const noexcept {
  if (threads_ && !budget.deadline.is_none()) budget.deadline = now + lasting(budget.deadline.time() - now);
  return budget;
}

ScopeNote& Journal::new_scope(const ScopeNote* outer) {
  const OwnMemory own;
  const std::lock_guard hold(mutex_);
  ScopeNote& note = scopes_.emplace_back();
  note.number = next_number();
  note.outer = outer;
  return note;
}

TaskNote& Journal::new_task(ScopeNote& home, bool finalizer) {
  const OwnMemory own;
  const std::lock_guard hold(mutex_);
  return tasks_.emplace_back(TaskNote{.number = next_number(), .home = &home, .finalizer = finalizer});
}

void Journal::broken(std::string_view law, std::string text) {
  const OwnMemory own;
  const std::lock_guard hold(mutex_);
  if (problems_.size() < 20) problems_.push_back(fmt::format("{} [{}]", text, law));
}

void Journal::expect(bool holds, std::string_view law, std::string_view text, std::uint64_t who) {
  if (holds) return;
  const OwnMemory own;
  broken(law, fmt::format("{} {}", text, who));
}

void Journal::expect_unforced(bool holds, std::string_view law, std::string_view text, std::uint64_t who) {
  if (holds) return;
  const OwnMemory own;
  const std::lock_guard hold(mutex_);
  unforced_problems_.push_back(fmt::format("{} {} [{}]", text, who, law));
}

void Journal::step(TaskNote& task, Time now, Do what, std::uint64_t result) {
  const OwnMemory own;
  std::vector<std::uint64_t>& log = threads_ ? task.log : log_;
  log.insert(log.end(), {task.number, now.ns(), static_cast<std::uint64_t>(what), result});
  expect(!task.callable_gone, "TSK-5", "its callable is gone while it runs: task", task.number);
  for (const ScopeNote* scope = task.home; scope != nullptr; scope = scope->outer) {
    if (!scope->returned) continue;
    broken("I2", fmt::format("task {} runs after scope {} has returned", task.number, scope->number));
  }
}

void Journal::finish(bool forced) {
  if (!forced) problems_.insert(problems_.end(), unforced_problems_.begin(), unforced_problems_.end());
  for (const TaskNote& task : tasks_) {
    log_.insert(log_.end(), task.log.begin(), task.log.end());
    expect(task.frames.empty(), "TSK-5", "frames were never destroyed, of task", task.number);
    expect(task.callable_gone, "TSK-5", "its callable was never destroyed: task", task.number);
    expect(task.masks == 0, "CAN-12", "still masked: task", task.number);
  }
  for (const ScopeNote& scope : scopes_) expect(scope.returned, "I2", "never returned: scope", scope.number);
  expect(reserved_.count() == resolved_.count(), "OBL-3", "promises made and not resolved, in all",
         reserved_.count() - resolved_.count());
}

std::uint64_t Journal::digest() const noexcept {
  trace::Hasher hasher;
  for (const std::uint64_t number : log_) hasher.add(number);
  return hasher.digest();
}

FrameMark::FrameMark(Journal& journal, TaskNote& task)
    : journal_(journal), task_(task), number_(journal.next_number()) {
  const OwnMemory own;
  task_.frames.push_back(number_);
}

FrameMark::~FrameMark() {
  const OwnMemory own;
  if (task_.frames.empty() || task_.frames.back() != number_) {
    journal_.broken("OUT-5", fmt::format("task {} destroys a frame that is not its innermost", task_.number));
    std::erase(task_.frames, number_);
    return;
  }
  task_.frames.pop_back();
}

Captured::Captured(Journal& journal, TaskNote& task) noexcept : journal_(&journal), task_(&task) {
  (task.finalizer ? task.home->live_finalizers : task.home->live_tasks).add();
}

Captured::Captured(Captured&& other) noexcept : journal_(other.journal_), task_(std::exchange(other.task_, nullptr)) {}

Captured::~Captured() {
  if (task_ == nullptr) return;
  journal_->expect(task_->frames.empty(), "TSK-5", "the callable ends before the frames that use it: task",
                   task_->number);
  journal_->expect(!task_->home->returned, "I2", "is alive after its scope has returned: task", task_->number);
  task_->callable_gone = true;
  (task_->finalizer ? task_->home->live_finalizers : task_->home->live_tasks).drop();
}

ScopeMark::~ScopeMark() {
  const std::uint32_t number = scope_.number;
  journal_.expect(!scope_.body_live, "I2", "returned before its body ended: scope", number);
  journal_.expect(scope_.live_tasks.count() == 0, "I2", "returned before its tasks ended: scope", number);
  journal_.expect(scope_.live_finalizers.count() == 0, "I2", "returned before its finalizers ended: scope", number);
  journal_.expect(scope_.deferred.empty(), "CTX-4", "a finalizer never ran, of scope", number);
  journal_.expect(scope_.resources == 0, "CTX-4", "a resource was not released, of scope", number);
  scope_.returned = true;
}

void note_end(ScopeNote& scope, OutcomeKind end) noexcept {
  if (end == OutcomeKind::panicked) scope.panicked.add();
  if (end == OutcomeKind::err) scope.failed.add();
}

void check_end(Journal& journal, const ScopeNote& scope, bool opened, OutcomeKind end) {
  if (!opened) return;
  if (scope.panicked.count() != 0) {
    journal.expect(end == OutcomeKind::panicked, "OUT-2", "a child panicked and the scope did not: scope",
                   scope.number);
  }
  if (end == OutcomeKind::err) {
    journal.expect(scope.failed.count() != 0, "OUT-4", "ended with an error that no child had: scope", scope.number);
  }
}

}  // namespace calm::programs
