// spawned.hpp — a task of its own: its shell, its result, and the handle that joins it once.
// Laws:    TSK-3, TSK-5, OUT-5, CAN-13
// Threads: the shell is touched by whoever polls the task; the handle by its owner; the last of them ends it
// Cancel:  a cancelled join stops waiting; the task goes on, it is its region's
#pragma once

#include <exception>
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
class Shell final : public RootOf<T> {
 public:
  using RootOf<T>::RootOf;

  static void* operator new(std::size_t bytes) { return mem::FramePool::take(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { mem::FramePool::give_back(block, bytes); }
  // For mem::Ref.
  void retain() noexcept { owners_.retain(); }
  [[nodiscard]] bool release() noexcept { return owners_.release(); }
  [[gnu::noinline]] static void destroy(const Shell* shell) noexcept { delete shell; }

  /// Takes over the frame of the task.
  void begin(Task<T> task) noexcept { this->start_with(task.leave().promise()); }

  [[nodiscard]] bool about_to_end() noexcept override { return owners_.several(); }
  void let_go() noexcept override {
    if (release()) destroy(this);
  }

  // --- for who joins ---

  /// Gives: true when the task has ended and the kernel has let it go, a moment later. Needs: a handle.
  [[nodiscard]] bool is_over() const noexcept { return !owners_.several(); }

  // The rest needs: it has ended.

  /// Gives: true when it ended with its value.
  [[nodiscard]] bool has_value() const noexcept {
    return (!has_end() || stored_end().is_ok()) && gave_ == TaskRoot::Gave::value;
  }
  /// Needs: has_value(). Once.
  [[nodiscard]] T value() noexcept(std::is_nothrow_move_constructible_v<T> || std::is_void_v<T>) {
    if constexpr (!std::is_void_v<T>) return std::move(this->given());
  }
  /// Gives: how it ended, without its value; nullptr when it did so with nothing to say beside that.
  [[nodiscard]] const ChildEnd* ending() const noexcept { return has_end() ? &stored_end() : nullptr; }
  /// Once.
  [[nodiscard]] Outcome<T> take() noexcept {
    CALM_REQUIRE(TSK_3, gave_ != TaskRoot::Gave::taken && (has_value() || (has_end() && !stored_end().is_ok())));
    Outcome<T> end = has_value() ? given_outcome() : failure_as<T>(stored_end());
    this->clear();
    gave_ = TaskRoot::Gave::taken;
    return end;
  }

 private:
  using TaskRoot::gave_;
  using TaskRoot::has_end;
  using TaskRoot::owners_;
  using TaskRoot::stored_end;

  [[nodiscard]] Outcome<T> given_outcome() noexcept {
    Outcome<T> end = as_ok();
    return has_end() ? std::move(end).with_notes(stored_end().notes()) : std::move(end);
  }
  [[nodiscard]] Outcome<T> as_ok() noexcept {
    if constexpr (std::is_void_v<T>) {
      return ok();
    } else {
      return ok(std::move(this->given()));
    }
  }
};

/// Gives: what is said when a task was not admitted.
[[nodiscard]] Error refusal(Status why);

/// Waits for the end of a task.
class EndWait : public Wait {
 public:
  EndWait(const Context* context, TaskId task) noexcept : Wait(context), task_(task) {}
  WaitState step(TaskRoot& root, ChildEnd& end) noexcept override;
  WaitState cancel(TaskRoot& root, Reason& reason, ChildEnd& end) noexcept override;
  [[nodiscard]] trace::ResourceId resource() const noexcept override { return task_; }
  static void result() noexcept {}

 protected:
  ~EndWait() = default;

  /// Once, and before the first step() or in it. Needs: a host that follows nobody.
  void poll_in_place(TaskRoot& root) noexcept;

 private:
  TaskId task_;
  bool tried_in_place_ = false;
  bool registered_ = false;
};

}  // namespace calm::cx

namespace calm {

template <class T>
class Handle;
template <class T>
class Spawned;

namespace cx {

/// Waits for the end of a task and takes it.
template <class T>
class JoinWait : public EndWait {
 public:
  JoinWait(const Context* context, Handle<T> handle) noexcept
      : EndWait(context, handle.id()), handle_(std::move(handle)) {}

  /// It may have ended, or be polled here and now: then the frame goes on with its value.
  [[nodiscard]] bool at_once(TaskRoot& root) noexcept {
    const Shell<T>& task = *handle_.shell_;
    if (!root.port().is_quick()) return false;  // who follows the run sees the kernel asked
    if (!task.is_over()) poll_in_place(root);
    return task.is_over() && task.has_value();
  }

  WaitState step(TaskRoot& root, ChildEnd& end) noexcept override {
    const Shell<T>& task = *handle_.shell_;
    if (!root.port().is_quick() || !task.is_over()) {
      if (const WaitState state = EndWait::step(root, end); state != WaitState::ready) return state;
    }
    if (task.has_value() || task.ending()->is_panicked()) [[likely]]
      return WaitState::ready;
    end = *task.ending();
    return WaitState::failed;
  }
  T result() {
    Shell<T>& task = *handle_.shell_;
    if (const ChildEnd* const end = task.ending()) [[unlikely]] {
      context()->root->add_notes(end->notes());
      if (!end->is_ok()) std::rethrow_exception(end->panic().exception());
    }
    return task.value();
  }

 protected:
  ~JoinWait() = default;

 private:
  Handle<T> handle_;
};

}  // namespace cx

/// A task that was spawned. Dropping the handle changes nothing for the task: its region owns it (TSK-3). A handle may
/// outlive the scope of its task, and go to other tasks; it may not outlive the runtime.
template <class T>
class [[nodiscard]] Handle {
 public:
  /// Of no task.
  Handle() noexcept = default;
  /// Needs: a task that was made with a handle, this one.
  Handle(mem::Ref<cx::Shell<T>> shell, TaskId task) noexcept : shell_(std::move(shell)), task_(task) {}
  Handle(Handle&& other) noexcept : shell_(std::move(other.shell_)), task_(std::exchange(other.task_, {})) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(shell_, other.shell_);
    std::swap(task_, other.task_);
    return *this;
  }
  ~Handle() {
    if (task_ && !port().is_quick()) (void)port().release(port().here(), task_);
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

namespace cx {

/// Takes the handle out of what spawn() gave; why there is none leaves the coroutine.
template <class T>
class AwaitSpawned final : public Wait {
 public:
  /// Needs: both stay until the co_await is over.
  AwaitSpawned(Spawned<T>& spawned, Frame& frame) noexcept : Wait(nullptr), spawned_(spawned), frame_(frame) {}

  [[nodiscard]] bool await_ready() const noexcept { return spawned_.is_ok(); }
  void await_suspend(std::coroutine_handle<> /*frame*/) noexcept { frame_.root()->park(frame_, *this); }
  Handle<T> await_resume() noexcept { return std::move(spawned_).value(); }

  WaitState step(TaskRoot& /*root*/, ChildEnd& end) noexcept override {
    end = err(spawned_.error());
    return WaitState::failed;
  }

 private:
  Spawned<T>& spawned_;
  Frame& frame_;
};

}  // namespace cx

/// What spawn() and fiber() give: the handle of a task, or why there is none. `co_await` takes the handle, or ends the
/// coroutine with the error; who wants to see it makes an Outcome of it.
template <class T>
class [[nodiscard("a task that was refused does not run")]] Spawned {
 public:
  using CalmAwait = void;

  explicit Spawned(Handle<T> handle) noexcept : handle_(std::move(handle)) {}
  explicit Spawned(Status refused) noexcept : refused_(refused) {}

  [[nodiscard]] bool is_ok() const noexcept { return refused_.is_ok(); }
  explicit operator bool() const noexcept { return is_ok(); }
  /// Gives: why there is no task. Needs: !is_ok().
  [[nodiscard]] Error error() const { return cx::refusal(refused_); }
  /// Gives: the handle. Needs: is_ok().
  [[nodiscard]] Handle<T> value() && noexcept {
    CALM_REQUIRE(TSK_3, is_ok());
    return std::move(handle_);
  }
  operator Outcome<Handle<T>>() && {  // NOLINT(google-explicit-constructor): it is one, told shorter
    if (!is_ok()) return err(error());
    return ok(std::move(handle_));
  }

  [[nodiscard]] cx::AwaitSpawned<T> awaiter(cx::Frame& frame) && noexcept { return {*this, frame}; }

 private:
  Handle<T> handle_;
  Status refused_;
};

}  // namespace calm
