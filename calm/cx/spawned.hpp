// spawned.hpp — a task of its own: its shell, its result, and the handle that joins it once.
// Laws:    TSK-3, TSK-5, OUT-5, CAN-13
// Threads: the shell is touched by whoever polls the task; the handle by its owner; the last of them ends it
// Cancel:  a cancelled join stops waiting; the task goes on, it is its region's
#pragma once

#include <concepts>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "calm/mem/frame_pool.hpp"
#include "calm/mem/ref.hpp"

namespace calm::cx {

/// The shell of a task that gives a T. Owned by the kernel's side, until the task has ended, and by its handle.
template <class T>
class Shell final : public TaskRoot, public mem::RefCounted {
 public:
  Shell(Port& port, RegionId region) noexcept : TaskRoot(port, region), context_{this, region, nullptr, nullptr} {}

  static void* operator new(std::size_t bytes) { return mem::FramePool::take(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { mem::FramePool::give_back(block, bytes); }
  static void destroy(const Shell* shell) noexcept { delete shell; }

  [[nodiscard]] const Context& context() const noexcept { return context_; }

  /// Takes over the frame of the task.
  void begin(Task<T> task) noexcept {
    const auto frame = task.leave();
    frame.promise().slot = &slot_;
    start_with(frame.promise());
  }

  [[nodiscard]] ChildEnd end() noexcept override {
    if (slot_.has_exception()) return with_notes(panicked(slot_.exception()));
    return with_notes(slot_.has_value() ? ChildEnd(ok()) : failure());
  }
  void store(const ChildEnd& end) noexcept override {
    if (end.is_ok() && slot_.has_value()) {
      result_.emplace(Outcome<T>(ok(std::move(slot_.value()))).with_notes(end.notes()));
    } else {
      result_.emplace(failure_as<T>(end));
    }
  }
  void let_go() noexcept override {
    if (release()) destroy(this);
  }

  /// Needs: stored, and not taken before.
  [[nodiscard]] Outcome<T> take() noexcept {
    CALM_REQUIRE(TSK_3, result_.has_value());
    Outcome<T> result = std::move(*result_);
    result_.reset();
    return result;
  }

 private:
  Context context_;
  Slot<T> slot_;
  std::optional<Outcome<T>> result_;
};

/// Waits for the end of a task.
class EndWait : public Wait {
 public:
  EndWait(const Context* context, TaskId task) noexcept : Wait(context), task_(task) {}
  WaitState step(TaskRoot& root, ChildEnd& end) noexcept override;
  WaitState cancel(TaskRoot& root, const Reason& reason, ChildEnd& end) noexcept override;
  [[nodiscard]] trace::ResourceId resource() const noexcept override { return task_; }
  static void result() noexcept {}

 protected:
  ~EndWait() = default;

 private:
  TaskId task_;
  bool registered_ = false;
};

}  // namespace calm::cx

namespace calm {

template <class T>
class Handle;

namespace cx {

/// Waits for the end of a task and takes it.
template <class T>
class JoinWait : public EndWait {
 public:
  JoinWait(const Context* context, Handle<T> handle) noexcept
      : EndWait(context, handle.id()), handle_(std::move(handle)) {}

  WaitState step(TaskRoot& root, ChildEnd& end) noexcept override {
    if (!end_) {
      if (const WaitState state = EndWait::step(root, end); state != WaitState::ready) return state;
      end_.emplace(handle_.shell_->take());
    }
    if (end_->is_ok() || end_->is_panicked()) return WaitState::ready;
    end = without_value(*end_);
    return WaitState::failed;
  }
  T result() {
    context()->root->add_notes(end_->notes());
    if (end_->is_panicked()) std::rethrow_exception(end_->panic().exception());
    if constexpr (!std::is_void_v<T>) return std::move(*end_).value();
  }

 protected:
  ~JoinWait() = default;

 private:
  Handle<T> handle_;
  std::optional<Outcome<T>> end_;
};

}  // namespace cx

/// A task that was spawned. Dropping the handle changes nothing for the task: its region owns it (TSK-3). A handle may
/// outlive the scope of its task, and go to other tasks; it may not outlive the runtime.
template <class T>
class [[nodiscard]] Handle {
 public:
  /// Needs: a task that was made with a handle, this one.
  Handle(mem::Ref<cx::Shell<T>> shell, TaskId task) noexcept : shell_(std::move(shell)), task_(task) {}
  Handle(Handle&& other) noexcept : shell_(std::move(other.shell_)), task_(std::exchange(other.task_, {})) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(shell_, other.shell_);
    std::swap(task_, other.task_);
    return *this;
  }
  ~Handle() {
    if (task_) (void)port().release(port().here(), task_);
  }

  [[nodiscard]] TaskId id() const noexcept { return task_; }

  /// Gives: the task's value; its failure leaves the awaiting coroutine, its exception is thrown. Once.
  /// Cancel: stops waiting; the task goes on.
  cx::WaitFor<cx::JoinWait<T>, const cx::Context*, Handle> join(CxOf<> cx) && noexcept {
    return cx::WaitFor<cx::JoinWait<T>, const cx::Context*, Handle>(&cx::context_of(cx), std::move(*this));
  }

  /// Gives: how the task ended, without a wait. Needs: it has ended, as everything in a closed scope has. Once.
  [[nodiscard]] Outcome<T> end() && { return shell_->take(); }

  /// Asks the task to stop.
  void cancel(std::string_view message = {}) const {
    (void)port().request_cancel(port().here(), task_, {.message = message});
  }

 private:
  friend class cx::JoinWait<T>;
  [[nodiscard]] cx::Port& port() const noexcept { return shell_->port(); }

  mem::Ref<cx::Shell<T>> shell_;
  TaskId task_;
};

}  // namespace calm
