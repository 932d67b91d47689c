// task.hpp — Task<T>: a coroutine that ends with an Outcome. Lazy: it runs when it is awaited or spawned.
// Laws:    OUT-5, TSK-5, TSK-7, CAN-7
// Threads: a Task is a value; its frame is touched by whoever polls the task it runs in
// Cancel:  Err and Cancelled leave the awaiting coroutines at once, innermost destructors first, without an exception;
//          `co_await outcome(x)` stops that and shows the Outcome
//
//   calm::Task<Page> load(calm::Cx cx, Url url) {
//     auto body = co_await fetch(cx, url);   // Ok gives the value; Err and Cancelled end this coroutine the same way
//     co_return co_await parse(cx, body);
//   }
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <source_location>
#include <type_traits>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/frame.hpp"
#include "calm/cx/slot.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/mem/frame_pool.hpp"
#include "calm/model/outcome.hpp"

// clang warns where a Task would keep a reference to something that is gone; others know no such attributes.
#if defined(__clang__)
// And it hands a Task over in a register, as the pointer that it is.
#define CALM_IN_REGISTER [[clang::trivial_abi]]
#define CALM_CORO_TYPE [[clang::coro_return_type]] [[clang::coro_lifetimebound]] CALM_IN_REGISTER
/// Stands before a function that is no coroutine and returns a Task all the same.
#define CALM_CORO_WRAPPER [[clang::coro_wrapper]]
/// Stands behind a member function that gives an awaitable which is good as long as its object is there.
#define CALM_OF_THIS [[clang::lifetimebound]]
#else
#define CALM_IN_REGISTER
#define CALM_CORO_TYPE
#define CALM_CORO_WRAPPER
#define CALM_OF_THIS
#endif

namespace calm {

template <class T = void>
class Task;

namespace cx {

/// What a Task may await: other Tasks, waits of calm, and what an adapter vouches for.
template <class A>
concept CalmAwaitable = requires { typename std::remove_cvref_t<A>::CalmAwait; };

/// The end of a frame. The outermost one that has given a value does not suspend there: it goes with its last step, and nobody
/// has to find out where it stood to destroy it.
struct FinalAwait {
  bool goes;

  [[nodiscard]] bool await_ready() const noexcept { return goes; }
  template <class Promise>
  auto await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
    Frame& frame = ended.promise();
    return frame.root()->finish(frame);
  }
  static void await_resume() noexcept {}
};

template <class T>
ChildEnd without_value(const Outcome<T>& end) noexcept {
  if (end.is_ok()) return ChildEnd(ok()).with_notes(end.notes());
  if (end.is_err()) return ChildEnd(err(Error(end.error()))).with_notes(end.notes());
  if (end.is_cancelled()) return ChildEnd(cancelled(end.reason())).with_notes(end.notes());
  return ChildEnd(panicked(end.panic().exception())).with_notes(end.notes());
}

/// Gives: the same end as one of another type. Needs: Err or Cancelled or Panicked.
template <class T>
Outcome<T> failure_as(const ChildEnd& end) noexcept {
  if (end.is_err()) return Outcome<T>(err(Error(end.error()))).with_notes(end.notes());
  if (end.is_cancelled()) return Outcome<T>(cancelled(end.reason())).with_notes(end.notes());
  return Outcome<T>(panicked(end.panic().exception())).with_notes(end.notes());
}

/// Ends the coroutine that awaits it with a failure.
class FailWait : public Wait {
 public:
  explicit FailWait(ChildEnd end) noexcept : Wait(nullptr), end_(std::move(end)) {}
  WaitState step(TaskRoot& /*root*/, ChildEnd& end) noexcept override {
    end = std::move(end_);
    return WaitState::failed;
  }
  static void result() noexcept {}

 protected:
  ~FailWait() = default;
  ChildEnd end_;
};

/// Takes the value out of an Outcome; a failure leaves the coroutine.
template <class U>
class AwaitValue final : public FailWait {
 public:
  AwaitValue(Outcome<U> value, Frame& frame) noexcept : FailWait(ok()), value_(std::move(value)), frame_(frame) {}

  [[nodiscard]] bool await_ready() const noexcept { return value_.is_ok() || value_.is_panicked(); }
  void await_suspend(std::coroutine_handle<> /*frame*/) noexcept {
    end_ = without_value(value_);
    frame_.root()->park(frame_, *this);
  }
  U await_resume() {
    frame_.root()->add_notes(value_.notes());
    if constexpr (std::is_void_v<U>) {
      (void)value_.value();
    } else {
      return std::move(value_).value();
    }
  }

 private:
  Outcome<U> value_;
  Frame& frame_;
};

/// A parameter lies in the frame until that ends, if its end does something. What a compiler has seen of its content it would keep a
/// second time, across the first suspension: so it is told that others know the parameter, and may change it there.
template <class Parameter>
[[gnu::always_inline]] inline void keep_once(Parameter& parameter) noexcept {
  if constexpr (requires { sizeof(Parameter); }) {  // a reference may be to what nobody knows yet
    if constexpr (!std::is_trivially_destructible_v<Parameter>) {
      asm volatile("" : : "r"(std::addressof(parameter)) : "memory");  // NOLINT(hicpp-no-assembler): no instruction
    }
  }
}

/// What the promises of all Tasks share.
struct TaskPromise : Frame {
  static void* operator new(std::size_t bytes) { return mem::FramePool::take(mem::FramePool::aligned(bytes)); }
  static void operator delete(void* frame, std::size_t bytes) noexcept {
    mem::FramePool::give_back(frame, mem::FramePool::aligned(bytes));
  }

  static std::suspend_always initial_suspend() noexcept { return {}; }
  FinalAwait final_suspend() noexcept { return {TaskRoot::goes_with(*this)}; }

  /// An Outcome gives its value, or ends the coroutine as it ended itself.
  template <class U>
  AwaitValue<U> await_transform(Outcome<U> value,
                                std::source_location where = std::source_location::current()) noexcept {
    root()->stands_at(where);
    return {std::move(value), *this};
  }
  template <class A>
    requires(!detail::is_outcome<std::remove_cvref_t<A>>)
  [[gnu::always_inline]] decltype(auto) await_transform(A&& awaitable,
                                                        std::source_location where = std::source_location::current()) {
    static_assert(CalmAwaitable<A>,
                  "calm: a Task awaits Tasks and waits of calm only, because others do not say what a cancel does to "
                  "them; wrap this one with calm::adapt");
    if constexpr (requires { std::forward<A>(awaitable).awaiter(*this, where); }) {
      return std::forward<A>(awaitable).awaiter(*this, where);
    } else {
      TaskRoot& task = *root();
      task.stands_at(where);
      if constexpr (requires { std::forward<A>(awaitable).awaiter(*this, task); }) {
        return std::forward<A>(awaitable).awaiter(*this, task);
      } else {
        return std::forward<A>(awaitable).awaiter(*this);
      }
    }
  }
};

/// The root of a task that gives a T, with room for it. An exception that leaves the outermost frame is how the task ends.
template <class T>
class RootOf : public TaskRoot {
 public:
  explicit RootOf(Port& port) noexcept : TaskRoot(port) {}

  /// The outermost frame ends with this.
  template <class... Arguments>
  void give(Arguments&&... arguments) {
    // A coroutine may end a second time, when a destructor throws at the first.
    if (gave() != Gave::nothing) [[unlikely]]
      clear();
    std::construct_at(std::addressof(value_), std::forward<Arguments>(arguments)...);
    set_gave(Gave::value);
  }

 protected:
  [[gnu::always_inline]] ~RootOf() { clear(); }

  /// Needs: it gave one.
  [[nodiscard]] T& given() noexcept {
    CALM_SLOW(OUT_5, gave() == Gave::value);
    return value_;
  }
  void clear() noexcept {
    if (gave() == Gave::value) std::destroy_at(std::addressof(value_));
    set_gave(Gave::nothing);
  }

 private:
  // NOLINTBEGIN(readability-identifier-naming): private as the others
  union {
    T value_;
  };
  // NOLINTEND(readability-identifier-naming)
};

template <>
class RootOf<void> : public TaskRoot {
 public:
  using TaskRoot::TaskRoot;

  void give() noexcept { set_gave(Gave::value); }

 protected:
  ~RootOf() = default;

  void clear() noexcept { set_gave(Gave::nothing); }
};

template <class T>
class AwaitFrame;

/// The frame ends with a value: it is for the one that awaits it, or for the root.
template <class T, class... Arguments>
[[gnu::always_inline]] inline void give_above(Frame& frame, Arguments&&... arguments) {
  if (frame.above->is_in_root()) {
    static_cast<RootOf<T>&>(TaskRoot::around(*frame.above)).give(std::forward<Arguments>(arguments)...);
  } else {
    static_cast<AwaitFrame<T>*>(frame.above)->slot().emplace(std::forward<Arguments>(arguments)...);
  }
}
/// The same for an exception.
template <class T>
void throw_above(Frame& frame, const std::exception_ptr& exception) noexcept {
  if (frame.root()->is_outermost(frame)) {
    frame.root()->fail(panicked(exception));
  } else {
    static_cast<AwaitFrame<T>*>(frame.above)->slot().fail(exception);
  }
}

template <class T>
struct ReturnValue : TaskPromise {
  template <class U>
    requires std::convertible_to<U, T>
  void return_value(U&& value) {
    give_above<T>(*this, std::forward<U>(value));
  }
  void return_value(Ok<T> value) { give_above<T>(*this, std::move(value.value)); }
  template <class E>
    requires std::convertible_to<E, Error>
  void return_value(Err<E> error) noexcept {
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a frame that runs has its root
    root()->fail(err(Error(std::move(error.error))));
  }
  void return_value(Cancelled end) noexcept { root()->fail(std::move(end)); }
  void return_value(Outcome<T> end) {
    if (end.is_ok() || end.is_panicked()) root()->add_notes(end.notes());
    if (end.is_ok()) {
      give_above<T>(*this, std::move(end).value());
    } else if (end.is_panicked()) {
      throw_above<T>(*this, end.panic().exception());
    } else if (end.is_err()) {
      root()->fail(ChildEnd(err(Error(end.error()))).with_notes(end.notes()));
    } else {
      root()->fail(ChildEnd(cancelled(end.reason())).with_notes(end.notes()));
    }
  }
};

template <>
struct ReturnValue<void> : TaskPromise {
  void return_void() noexcept { give_above<void>(*this); }
};

/// A frame that another one has handed over to, in the same task.
template <class T>
class AwaitFrame : public FrameAwaiter {
 public:
  using Promise = typename Task<T>::promise_type;

  AwaitFrame(std::coroutine_handle<Promise> child, Frame& parent, std::source_location where) noexcept
      : FrameAwaiter(parent, where), child_(child) {}

  static constexpr bool await_ready() noexcept { return false; }
  auto await_suspend(std::coroutine_handle<> /*parent*/) noexcept {
    Promise& child = child_.promise();
    child.above = this;
    return root()->begin(child);
  }

  void abandon() noexcept final { child_ = {}; }

  /// Where the child leaves what it ends with.
  [[nodiscard]] Slot<T>& slot() noexcept { return slot_; }

 protected:
  // The child is gone before this: it has ended and end_frame() was called, or frames are destroyed innermost first.
  ~AwaitFrame() { CALM_SLOW(TSK_5, !child_); }

  /// Ends the frame of the child if it is still there; what it gave stands in slot_.
  void end_frame() noexcept {
    root()->stands_at(site);
    if (child_) std::exchange(child_, {}).destroy();
  }

  std::coroutine_handle<Promise> child_;
  Slot<T> slot_;
};

/// Gives the value of a Task, or its exception.
template <class T>
class AwaitEnd : public AwaitFrame<T> {
 public:
  using AwaitFrame<T>::AwaitFrame;

  T await_resume() {
    this->end_frame();
    if (this->slot_.has_exception()) [[unlikely]]
      std::rethrow_exception(this->slot_.exception());
    if constexpr (!std::is_void_v<T>) return std::move(this->slot_.value());
  }

 protected:
  ~AwaitEnd() = default;
};

/// Awaits a Task.
template <class T>
class AwaitTask final : public AwaitEnd<T> {
 public:
  using AwaitEnd<T>::AwaitEnd;
};

/// The same for someone who wants to see how it ended.
template <class T>
class AwaitOutcome final : public AwaitFrame<T> {
 public:
  using AwaitFrame<T>::AwaitFrame;

  auto await_suspend(std::coroutine_handle<> parent) noexcept {
    before_ = this->root()->exchange_notes({});
    return AwaitFrame<T>::await_suspend(parent);
  }
  Outcome<T> await_resume() {
    this->end_frame();
    Notes notes = this->root()->exchange_notes(before_);
    if (notes.empty()) [[likely]]
      return end();
    Outcome<T> seen = end();
    notes.merge(seen.notes());
    return std::move(seen).with_notes(std::move(notes));
  }

  bool deliver(ChildEnd& end) noexcept override {
    failure_ = std::move(end);
    return true;
  }

 private:
  Outcome<T> end() {
    if (this->slot_.has_exception()) return panicked(this->slot_.exception());
    if (this->slot_.has_value()) return ok(std::move(this->slot_.value()));
    return failure_as<T>(failure_);
  }

  ChildEnd failure_ = ok();
  Notes before_;  // of what the task did before this
};

}  // namespace cx

template <class T>
class CALM_CORO_TYPE [[nodiscard("a Task does nothing before it is awaited or spawned")]] Task {
 public:
  struct promise_type : cx::ReturnValue<T> {
    promise_type() noexcept = default;
    template <class... Parameters>
    explicit promise_type(Parameters&... parameters) noexcept {
      (cx::keep_once(parameters), ...);
    }

    Task get_return_object() noexcept {
      static_assert(cx::PromiseOfTask<promise_type>);
      const auto made = std::coroutine_handle<promise_type>::from_promise(*this);
      CALM_SLOW(TSK_5, this->coroutine() == made);
      return Task(made);
    }
    void unhandled_exception() noexcept { cx::throw_above<T>(*this, std::current_exception()); }
  };
  using CalmAwait = void;
  using Value = T;

  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

  [[nodiscard]] cx::AwaitTask<T> awaiter(cx::Frame& parent, std::source_location site) && noexcept {
    return {leave(), parent, site};
  }

  /// For those who run it: the frame is theirs. Needs: a task that was not awaited.
  [[nodiscard]] std::coroutine_handle<promise_type> leave() noexcept {
    CALM_REQUIRE(TSK_5, bool(frame_));
    return std::exchange(frame_, {});
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  std::coroutine_handle<promise_type> frame_;
};

/// What outcome() makes of a Task.
template <class T>
class [[nodiscard]] OutcomeOf {
 public:
  using CalmAwait = void;

  explicit OutcomeOf(Task<T> task) noexcept : task_(std::move(task)) {}
  [[nodiscard]] cx::AwaitOutcome<T> awaiter(cx::Frame& parent, std::source_location site) && noexcept {
    return {task_.leave(), parent, site};
  }

 private:
  Task<T> task_;
};

/// `co_await outcome(x)` gives the Outcome of x instead of its value; a C++ exception shows as Panicked.
template <class T>
OutcomeOf<T> outcome(Task<T> task) noexcept {
  return OutcomeOf<T>(std::move(task));
}

}  // namespace calm
