// spawned.hpp — a task of its own: its shell, its result, and the handle that joins it once.
// Laws:    TSK-3, TSK-5, OUT-5, CAN-13
// Threads: the shell is touched by whoever polls the task; the handle by its owner; the last of them ends it
// Cancel:  a cancelled join stops waiting; the task goes on, it is its region's
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "calm/mem/frame_pool.hpp"
#include "calm/mem/ref.hpp"

namespace calm::cx {

/// The shell of a task that gives a T. Owned by the kernel's side, until the task has ended, and by its handle. One that derives from
/// this has more in it.
template <class T>
class Shell : public RootOf<T> {
 public:
  using RootOf<T>::RootOf;

  static void* operator new(std::size_t bytes) { return mem::FramePool::take(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { mem::FramePool::give_back(block, bytes); }
  /// The same as `new` for one that may have a name. Fails: std::bad_alloc, and what making it throws.
  template <class S, class... Given>
  static S* make(std::string_view name, Port& port, Given&&... given) {
    static_assert(std::derived_from<S, Shell>);
    static_assert(alignof(S) <= alignof(Name), "calm: a task gives no value that is aligned to more than 16 bytes");
    if (name.empty()) [[likely]]
      return make_behind<S, 0>(port, std::forward<Given>(given)...);
    auto* const shell = make_behind<S, sizeof(Name)>(port, std::forward<Given>(given)...);
    ::new (static_cast<void*>(reinterpret_cast<Name*>(shell) - 1)) Name{name};
    shell->owners_.set_named();
    return shell;
  }
  // For mem::Ref.
  void retain() noexcept { owners_.retain(); }
  [[nodiscard]] bool release() noexcept { return owners_.release(); }
  [[gnu::noinline]] static void destroy(const Shell* const_shell) noexcept {
    auto* const shell =
        const_cast<Shell*>(const_shell);  // NOLINT(cppcoreguidelines-pro-type-const-cast): nobody has it
    if (shell->owners_.has_plain_block()) return destroy_plain(*shell);
    destroy_other(*shell);
  }
  /// The handle goes. Gives: false when there is more to that, and nothing is done.
  [[nodiscard, gnu::always_inline]] bool drop_plainly() noexcept {
    if (!owners_.are_plain()) return false;
    if (owners_.release_alone()) destroy_plain(*this);
    return true;
  }
  /// The handle goes, and the kernel's side has gone. Gives: false when it is not so, or there is more to it, and nothing is done.
  [[nodiscard]] bool end_if_left_plainly() noexcept {
    if (!owners_.are_plain_beside_others() || owners_.several()) return false;
    destroy_plain(*this);
    return true;
  }
  [[nodiscard]] bool is_followed() const noexcept { return owners_.are_followed(); }

  /// Takes over the frame of the task.
  void begin(Task<T> task) noexcept { this->start_with(task.leave().promise()); }

  [[nodiscard]] bool about_to_end() noexcept override { return owners_.several(); }

  // --- for who joins ---

  /// Gives: true when the task has ended and the kernel has let it go, a moment later. Needs: a handle.
  [[nodiscard]] bool is_over() const noexcept { return !owners_.several(); }

  // The rest needs: it has ended.

  /// Gives: true when it ended with its value.
  [[nodiscard]] bool has_value() const noexcept {
    return (!has_end() || stored_end().is_ok()) && gave() == TaskRoot::Gave::value;
  }
  /// Gives: true when it did so and has nothing to say beside it.
  [[nodiscard]] bool has_nothing_but_value() const noexcept { return !has_end() && gave() == TaskRoot::Gave::value; }
  /// Needs: has_value(). Once.
  [[nodiscard]] T value() noexcept(std::is_nothrow_move_constructible_v<T> || std::is_void_v<T>) {
    if constexpr (!std::is_void_v<T>) return std::move(this->given());
  }
  /// Gives: how it ended, without its value; nullptr when it did so with nothing to say beside that.
  [[nodiscard]] const ChildEnd* ending() const noexcept { return has_end() ? &stored_end() : nullptr; }
  /// Once.
  [[nodiscard]] Outcome<T> take() noexcept {
    CALM_REQUIRE(TSK_3, gave() != TaskRoot::Gave::taken && (has_value() || (has_end() && !stored_end().is_ok())));
    Outcome<T> end = has_value() ? given_outcome() : failure_as<T>(stored_end());
    this->clear();
    this->set_gave(TaskRoot::Gave::taken);
    return end;
  }

 protected:
  ~Shell() = default;

  /// Ends it. Gives: how many bytes it had.
  virtual std::size_t end_here() noexcept {
    this->Shell::~Shell();
    return sizeof(Shell);
  }
  using TaskRoot::owners_;

 private:
  void end_shell() noexcept override { destroy(this); }

  using Kept = std::conditional_t<std::is_void_v<T>, Status, T>;
  using Name = TaskRoot::Name;
  using TaskRoot::gave;
  using TaskRoot::has_end;
  using TaskRoot::stored_end;

  /// Makes one in a block that has so many bytes more, before it.
  template <class S, std::size_t before, class... Given>
  static S* make_behind(Port& port, Given&&... given) {
    auto* const block = static_cast<std::byte*>(mem::FramePool::take(before + sizeof(S)));
    try {
      return ::new (static_cast<void*>(block + before)) S(port, std::forward<Given>(given)...);
    } catch (...) {
      mem::FramePool::give_back(block, before + sizeof(S));
      throw;
    }
  }
  /// Needs: nothing else is in its block.
  [[gnu::noinline]] static void destroy_plain(Shell& shell) noexcept {
    // The usual one has nothing in it by now that would have to be ended.
    if (!std::is_trivially_destructible_v<Kept> || shell.has_end()) shell.Shell::~Shell();
    mem::FramePool::give_back(&shell, sizeof(Shell));
  }
  [[gnu::noinline]] static void destroy_other(Shell& shell) noexcept {
    const std::size_t before = shell.owners_.has_name() ? sizeof(Name) : 0;
    auto* const block = reinterpret_cast<std::byte*>(&shell) - before;
    const std::size_t bytes = before + shell.end_here();
    mem::FramePool::give_back(block, bytes);
  }

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
  /// Needs: the task was admitted; somebody keeps its shell.
  EndWait(const Context* context, TaskRoot& task) noexcept : Wait(context), task_(task) {}
  WaitState step(TaskRoot& root, ChildEnd& end) noexcept override;
  WaitState cancel(TaskRoot& root, Reason& reason, ChildEnd& end) noexcept override;
  [[nodiscard]] trace::ResourceId resource() const noexcept override { return task_.id(); }
  static void result() noexcept {}

 protected:
  ~EndWait() = default;

  /// Once, and before the first step() or in it. Needs: a host that follows nobody.
  void poll_in_place(TaskRoot& root) noexcept;

 private:
  TaskRoot& task_;
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

template <class T>
class AwaitSpawned;

/// Waits for the end of a task and takes it.
template <class T>
class JoinWait : public EndWait {
 public:
  /// The way of a join whose task has ended with a value, or does so when it is polled here and now.
  class Shortcut {
   public:
    [[nodiscard, gnu::always_inline]] static bool get(TaskRoot& root, const Handle<T>& handle) noexcept {
      Shell<T>& task = *handle.shell_;
      if (!task.is_over()) return root.port().poll_in_place(root.own_worker(), task);
      return task.has_nothing_but_value();
    }
    explicit Shortcut(const Handle<T>& handle) noexcept : task_(handle.shell_.get()) {}
    [[gnu::always_inline]] T result() { return task_->value(); }

   private:
    Shell<T>* task_;  // the handle stays until the co_await is over
  };

  JoinWait(const Context* context, Handle<T> handle) noexcept
      : EndWait(context, *handle.shell_), handle_(std::move(handle)) {}

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
      context()->root()->add_notes(end->notes());
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
  /// Needs: a task that was admitted with a handle, this one.
  explicit Handle(mem::Ref<cx::Shell<T>> shell) noexcept : shell_(std::move(shell)) {}
  Handle(Handle&&) noexcept = default;
  Handle& operator=(Handle&& other) noexcept {
    std::swap(shell_, other.shell_);
    return *this;
  }
  [[gnu::always_inline]] ~Handle() {
    if (shell_ && !shell_->drop_plainly()) [[unlikely]]
      drop();
    (void)shell_.leak();
  }

  [[nodiscard]] TaskId id() const noexcept { return shell_ ? shell_->id() : TaskId(); }

  /// Gives: the task's value; its failure leaves the awaiting coroutine, its exception is thrown. Once.
  /// Cancel: stops waiting; the task goes on.
  cx::WaitFor<cx::JoinWait<T>, cx::GivenContext, Handle> join(CxOf<> cx) && noexcept {
    return cx::WaitFor<cx::JoinWait<T>, cx::GivenContext, Handle>(cx::GivenContext(cx), std::move(*this));
  }

  /// Gives: how the task ended, without a wait. Needs: it has ended, as everything in a closed scope has. Once.
  [[nodiscard]] Outcome<T> end() && { return shell_->take(); }

  /// Asks the task to stop.
  void cancel(std::string_view message = {}) const {
    (void)port().request_cancel(port().here(), id(), {.message = message});
  }

 private:
  friend class cx::JoinWait<T>;
  friend class Spawned<T>;
  [[nodiscard]] cx::Port& port() const noexcept { return shell_->port(); }
  [[nodiscard]] cx::Shell<T>* give_away() && noexcept { return shell_.leak(); }
  [[gnu::noinline]] void drop() noexcept {
    if (shell_->end_if_left_plainly()) [[likely]]
      return (void)shell_.leak();
    if (shell_->is_followed()) (void)port().release(port().here(), id());
    const mem::Ref<cx::Shell<T>> last = std::move(shell_);
  }

  mem::Ref<cx::Shell<T>> shell_;
};

/// What spawn() and fiber() give: the handle of a task, or why there is none. `co_await` takes the handle, or ends the
/// coroutine with the error; who wants to see it makes an Outcome of it.
template <class T>
class CALM_IN_REGISTER [[nodiscard("a task that was refused does not run")]] Spawned {
 public:
  using CalmAwait = void;

  explicit Spawned(Handle<T> handle) noexcept
      : word_(reinterpret_cast<std::uintptr_t>(std::move(handle).give_away())) {}
  /// Needs: an error.
  explicit Spawned(Status refused) noexcept
      : word_(std::uintptr_t{static_cast<std::uint16_t>(refused.error())} << 1 | refused_bit) {}
  Spawned(Spawned&& other) noexcept : word_(std::exchange(other.word_, refused_bit)) {}
  Spawned& operator=(Spawned&& other) noexcept {
    std::swap(word_, other.word_);
    return *this;
  }
  ~Spawned() {
    if (is_ok()) [[unlikely]]
      (void)take();
  }

  [[nodiscard]] bool is_ok() const noexcept { return (word_ & refused_bit) == 0; }
  explicit operator bool() const noexcept { return is_ok(); }
  /// Gives: why there is no task. Needs: !is_ok().
  [[nodiscard]] Error error() const { return cx::refusal(refused()); }
  [[nodiscard]] Status refused() const noexcept { return Status(static_cast<Errc>(word_ >> 1)); }
  /// Gives: the handle, once. Needs: is_ok().
  [[nodiscard]] Handle<T> value() && noexcept {
    CALM_REQUIRE(TSK_3, is_ok());
    return take();
  }
  operator Outcome<Handle<T>>() && {  // NOLINT(google-explicit-constructor): it is one, told shorter
    if (!is_ok()) return err(error());
    return ok(take());
  }

  [[nodiscard]] cx::AwaitSpawned<T> awaiter(cx::Frame& /*frame*/) && noexcept {
    return cx::AwaitSpawned<T>(std::move(*this));
  }

 private:
  friend class cx::AwaitSpawned<T>;
  static constexpr std::uintptr_t refused_bit = 1;  // that no address has

  /// Needs: is_ok().
  [[nodiscard]] Handle<T> take() noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it was made from one
    return Handle<T>(mem::Ref<cx::Shell<T>>::adopt(reinterpret_cast<cx::Shell<T>*>(std::exchange(word_, refused_bit))));
  }

  std::uintptr_t word_;  // the shell that the handle is of, or why there is none; no reason when it was taken
};

namespace cx {

/// Ends the coroutine with why there is no task.
class RefusedWait final : public Wait {
 public:
  explicit RefusedWait(Status why) noexcept : Wait(nullptr), why_(why) {}
  WaitState step(TaskRoot& root, ChildEnd& end) noexcept override;

 private:
  Status why_;
};

/// Takes the handle out of what spawn() gave; why there is none leaves the coroutine. Only then a wait is made.
template <class T>
class AwaitSpawned {
 public:
  explicit AwaitSpawned(Spawned<T>&& spawned) noexcept : spawned_(std::move(spawned)) {}
  AwaitSpawned(const AwaitSpawned&) = delete;
  AwaitSpawned& operator=(const AwaitSpawned&) = delete;
  ~AwaitSpawned() = default;

  [[nodiscard]] bool await_ready() const noexcept { return spawned_.is_ok(); }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> coroutine) noexcept {
    std::construct_at(std::addressof(refused_), spawned_.refused());
    Frame& frame = coroutine.promise();
    frame.root()->park(frame, refused_);
  }
  Handle<T> await_resume() noexcept { return spawned_.take(); }

 private:
  Spawned<T> spawned_;
  // NOLINTBEGIN(readability-identifier-naming): private as the others
  union {
    RefusedWait refused_;  // from await_suspend() on
  };
  // NOLINTEND(readability-identifier-naming)
};

}  // namespace cx

}  // namespace calm
