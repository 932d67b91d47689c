// spawned.hpp — a task of its own: its shell, its result, and the handle that joins it once.
// Laws:    TSK-3, TSK-5, OUT-5, CAN-13
// Threads: the shell is touched by whoever polls the task; the handle by its owner; the last of them ends it
// Cancel:  a cancelled join stops waiting; the task goes on, it is its region's
#pragma once

#include <atomic>
#include <cstdint>
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

/// How many own a shell: one, or the kernel's side, until the task has ended, and the handle.
class ShellOwners {
 public:
  /// Needs: whether several workers may have it; asked once, for the shell of a whole program outlives its runtime.
  explicit ShellOwners(bool shared) noexcept : shared_(shared) {}

  /// One more. Needs: before the shell is the kernel's.
  void retain() noexcept { owners_.store(2, std::memory_order_relaxed); }
  /// Gives: false when the other has left; what it did is seen then.
  [[nodiscard]] bool several() const noexcept { return owners_.load(std::memory_order_acquire) > 1; }  // [S1]
  /// Gives: true for the last one, who ends the shell and sees all that the other did to it.
  [[nodiscard]] bool release() noexcept {
    if (!shared_) {  // one worker has both: no step of another comes between these two
      const auto left = static_cast<std::uint8_t>(owners_.load(std::memory_order_relaxed) - 1);
      owners_.store(left, std::memory_order_relaxed);
      return left == 0;
    }
    // [S1] acquire: whoever finds itself alone sees what the other did before it left with the release below.
    return owners_.load(std::memory_order_acquire) == 1 || owners_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

 private:
  std::atomic<std::uint8_t> owners_{1};
  bool shared_;
};

/// The shell of a task that gives a T. Owned by the kernel's side, until the task has ended, and by its handle.
template <class T>
class Shell final : public RootOf<T> {
 public:
  Shell(Port& port, RegionId region) noexcept : RootOf<T>(port, region), owners_(port.is_shared()) {}

  static void* operator new(std::size_t bytes) { return mem::FramePool::take(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { mem::FramePool::give_back(block, bytes); }
  // For mem::Ref.
  void retain() noexcept { owners_.retain(); }
  [[nodiscard]] bool release() noexcept { return owners_.release(); }
  [[gnu::noinline]] static void destroy(const Shell* shell) noexcept { delete shell; }

  /// Takes over the frame of the task.
  void begin(Task<T> task) noexcept { this->start_with(task.leave().promise()); }

  [[nodiscard]] ChildEnd end() noexcept override {
    if (slot_.has_exception()) return with_notes(panicked(slot_.exception()));
    return slot_.has_value() ? with_notes(ok()) : stored_end();
  }
  [[nodiscard]] bool about_to_end() noexcept override { return owners_.several(); }
  void let_go() noexcept override {
    if (release()) destroy(this);
  }

  // --- for who joins ---

  /// Gives: true when the task has ended and the kernel has let it go, a moment later. Needs: a handle.
  [[nodiscard]] bool is_over() const noexcept { return !owners_.several(); }

  // The rest needs: it has ended.

  /// Gives: true when it ended with its value.
  [[nodiscard]] bool has_value() const noexcept { return (!has_end() || stored_end().is_ok()) && slot_.has_value(); }
  /// Needs: has_value(). Once.
  [[nodiscard]] Slot<T>::Value& value() noexcept { return slot_.value(); }
  /// Gives: how it ended, without its value; nullptr when it did so with nothing to say beside that.
  [[nodiscard]] const ChildEnd* ending() const noexcept { return has_end() ? &stored_end() : nullptr; }
  /// Once.
  [[nodiscard]] Outcome<T> take() noexcept {
    const bool taken = std::exchange(taken_, true);
    CALM_REQUIRE(TSK_3, !taken && (has_value() || (has_end() && !stored_end().is_ok())));
    if (!has_value()) return failure_as<T>(stored_end());
    if (!has_end()) return ok(std::move(slot_.value()));
    return Outcome<T>(ok(std::move(slot_.value()))).with_notes(stored_end().notes());
  }

 private:
  using TaskRoot::has_end;
  using TaskRoot::stored_end;
  using TaskRoot::with_notes;
  using RootOf<T>::slot_;

  [[no_unique_address]] ShellOwners owners_;
  bool taken_ = false;
};

/// Gives: what is said when a task was not admitted.
[[nodiscard]] Error refusal(Status why);

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
    if constexpr (!std::is_void_v<T>) return std::move(task.value());
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
  void await_suspend(std::coroutine_handle<> /*frame*/) noexcept { frame_.root->park(frame_, *this); }
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
