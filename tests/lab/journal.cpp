#include "journal.hpp"

#include <fmt/format.h>

#include <utility>

#include "calm/trace/hash.hpp"

namespace calm::programs {

ScopeNote& Journal::new_scope(const ScopeNote* outer) {
  const OwnMemory own;
  return scopes_.emplace_back(ScopeNote{.number = next_number(), .outer = outer});
}

TaskNote& Journal::new_task(ScopeNote& home, bool finalizer) {
  const OwnMemory own;
  return tasks_.emplace_back(TaskNote{.number = next_number(), .home = &home, .finalizer = finalizer});
}

void Journal::broken(std::string_view law, std::string text) {
  const OwnMemory own;
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
  unforced_problems_.push_back(fmt::format("{} {} [{}]", text, who, law));
}

void Journal::step(TaskNote& task, Time now, Do what, std::uint64_t result) {
  const OwnMemory own;
  log_.push_back(task.number);
  log_.push_back(now.ns());
  log_.push_back(static_cast<std::uint64_t>(what));
  log_.push_back(result);
  expect(!task.callable_gone, "TSK-5", "its callable is gone while it runs: task", task.number);
  for (const ScopeNote* scope = task.home; scope != nullptr; scope = scope->outer) {
    if (!scope->returned) continue;
    broken("I2", fmt::format("task {} runs after scope {} has returned", task.number, scope->number));
  }
}

void Journal::finish(bool forced) {
  if (!forced) problems_.insert(problems_.end(), unforced_problems_.begin(), unforced_problems_.end());
  for (const TaskNote& task : tasks_) {
    expect(task.frames.empty(), "TSK-5", "frames were never destroyed, of task", task.number);
    expect(task.callable_gone, "TSK-5", "its callable was never destroyed: task", task.number);
    expect(task.masks == 0, "CAN-12", "still masked: task", task.number);
  }
  for (const ScopeNote& scope : scopes_) expect(scope.returned, "I2", "never returned: scope", scope.number);
  expect(reserved_ == resolved_, "OBL-3", "promises made and not resolved, in all", reserved_ - resolved_);
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
  ++(task.finalizer ? task.home->live_finalizers : task.home->live_tasks);
}

Captured::Captured(Captured&& other) noexcept : journal_(other.journal_), task_(std::exchange(other.task_, nullptr)) {}

Captured::~Captured() {
  if (task_ == nullptr) return;
  --(task_->finalizer ? task_->home->live_finalizers : task_->home->live_tasks);
  journal_->expect(task_->frames.empty(), "TSK-5", "the callable ends before the frames that use it: task",
                   task_->number);
  journal_->expect(!task_->home->returned, "I2", "is alive after its scope has returned: task", task_->number);
  task_->callable_gone = true;
}

ScopeMark::~ScopeMark() {
  const std::uint32_t number = scope_.number;
  journal_.expect(!scope_.body_live, "I2", "returned before its body ended: scope", number);
  journal_.expect(scope_.live_tasks == 0, "I2", "returned before its tasks ended: scope", number);
  journal_.expect(scope_.live_finalizers == 0, "I2", "returned before its finalizers ended: scope", number);
  journal_.expect(scope_.deferred.empty(), "CTX-4", "a finalizer never ran, of scope", number);
  journal_.expect(scope_.resources == 0, "CTX-4", "a resource was not released, of scope", number);
  scope_.returned = true;
}

void note_end(ScopeNote& scope, OutcomeKind end) noexcept {
  if (end == OutcomeKind::panicked) scope.panicked = true;
  if (end == OutcomeKind::err) scope.failed = true;
}

void check_end(Journal& journal, const ScopeNote& scope, bool opened, OutcomeKind end) {
  if (!opened) return;
  if (scope.panicked) {
    journal.expect(end == OutcomeKind::panicked, "OUT-2", "a child panicked and the scope did not: scope",
                   scope.number);
  }
  if (end == OutcomeKind::err) {
    journal.expect(scope.failed, "OUT-4", "ended with an error that no child had: scope", scope.number);
  }
}

}  // namespace calm::programs
