// adapt.hpp — awaits what was not made for calm: the caller says what a cancel does to it.
// Laws:    CAN-7, CAN-13, I3
// Threads: the foreign awaitable resumes on a thread of the runtime, whichever polls the task then
// Cancel:  waits_on: it is waited for; stops_with(f): f asks it to end, and it is waited for. A value that comes is given,
//          and the next checkpoint sees the cancel; an exception that comes after the cancel is the end of a stopped wait
//
// The foreign awaitable runs in a small coroutine of its own, which a forced end of the task leaves behind: it goes on by
// itself, and its result is dropped. So nothing foreign ever holds the handle of a frame that calm may destroy.
// Operations that end with a call instead: from_callback.hpp.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/cx/wait.hpp"
#include "calm/lockfree/lock.hpp"
#include "calm/lockfree/turn.hpp"
#include "calm/mem/ref.hpp"
#include "calm/model/outcome.hpp"

// As in scope.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

namespace calm {

/// A cancel lets it go on: the wait ends when it does.
struct WaitsOn {
  void operator()() const noexcept {}
};
inline constexpr WaitsOn waits_on{};

/// A cancel calls this, once, and waits for the end that it brings about. It does not throw.
template <class F>
struct StopsWith {
  F stop;
  void operator()() noexcept { stop(); }
};
template <class F>
StopsWith<F> stops_with(F stop) {
  return {std::move(stop)};
}

namespace cx {

template <class A>
decltype(auto) awaiter_of(A&& awaitable) {
  if constexpr (requires { std::forward<A>(awaitable).operator co_await(); }) {
    return std::forward<A>(awaitable).operator co_await();
  } else if constexpr (requires { operator co_await(std::forward<A>(awaitable)); }) {
    return operator co_await(std::forward<A>(awaitable));
  } else {
    return std::forward<A>(awaitable);
  }
}
/// What a co_await on it gives, as a value.
template <class A>
using AwaitedValue = std::remove_cvref_t<decltype(awaiter_of(std::declval<A>()).await_resume())>;

/// What the foreign coroutine and the task share.
template <class T>
struct ForeignEnd final : mem::RefCounted {
  explicit ForeignEnd(Port& runtime) noexcept : port(runtime), shared(runtime.is_shared()) {}

  // Of the foreign coroutine until it has ended, then of the task.
  std::optional<detail::Held<T>> value;
  std::exception_ptr exception;

  /// The coroutine has ended: who waits is woken.
  void finish() noexcept {
    const lockfree::Turn turn(shared, lock);
    ended = true;
    if (waiting) (void)port.wake(port.here(), waiting);
  }
  /// Who is to be woken; none when nobody waits any more, and the runtime may be gone then.
  void wait_as(TaskId task) noexcept {
    const lockfree::Turn turn(shared, lock);
    waiting = task;
  }
  [[nodiscard]] bool has_ended() noexcept {
    const lockfree::Turn turn(shared, lock);
    return ended;
  }

  Port& port;
  bool shared;
  lockfree::Lock<> lock;
  TaskId waiting{};    ///< in a turn
  bool ended = false;  ///< in a turn

  static void destroy(const ForeignEnd* end) noexcept { delete end; }
};

/// A coroutine that nobody owns: it ends itself.
struct Unowned {
  struct promise_type {
    static Unowned get_return_object() noexcept { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    [[noreturn]] static void unhandled_exception() noexcept { std::terminate(); }
  };
};

template <class T, class A>
Unowned await_foreign(A awaitable, mem::Ref<ForeignEnd<T>> end) {
  try {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(awaitable);
      end->value.emplace();
    } else {
      end->value.emplace(co_await std::move(awaitable));
    }
  } catch (...) {
    end->exception = std::current_exception();
  }
  end->finish();
}

template <class A, class OnCancel>
class ForeignWait : public Wait {
 public:
  using T = AwaitedValue<A>;

  ForeignWait(const Context* context, A awaitable, OnCancel on_cancel, mem::Ref<ForeignEnd<T>> end)
      : Wait(context), awaitable_(std::move(awaitable)), on_cancel_(std::move(on_cancel)), foreign_(std::move(end)) {}

  WaitState step(TaskRoot& root, ChildEnd& /*end*/) noexcept override {
    start(root);
    return foreign_->has_ended() ? WaitState::ready : WaitState::pending;
  }
  WaitState cancel(TaskRoot& root, Reason& reason, ChildEnd& end) noexcept override {
    if (awaitable_) return Wait::cancel(root, reason, end);  // it never began
    if (!std::exchange(stopped_, true)) on_cancel_();
    if (!foreign_->has_ended()) return WaitState::pending;
    return foreign_->exception ? Wait::cancel(root, reason, end) : WaitState::ready;
  }
  T result() {
    if (foreign_->exception) std::rethrow_exception(foreign_->exception);
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it has ended without an exception
    if constexpr (!std::is_void_v<T>) return std::move(*foreign_->value);
  }

 protected:
  ~ForeignWait() { foreign_->wait_as({}); }

 private:
  void start(TaskRoot& root) noexcept {
    if (!awaitable_) return;
    try {
      A awaitable = std::move(*awaitable_);
      awaitable_.reset();
      await_foreign<T>(std::move(awaitable), foreign_);
    } catch (...) {  // its move, or the memory of its coroutine
      foreign_->exception = std::current_exception();
      foreign_->finish();
    }
    foreign_->wait_as(
        root.id());  // before step() asks: of an end that comes meanwhile it sees the flag or has the wake
  }

  std::optional<A> awaitable_;
  OnCancel on_cancel_;
  mem::Ref<ForeignEnd<T>> foreign_;
  bool stopped_ = false;
};

}  // namespace cx

/// Awaits a foreign awaitable in a Task: `co_await adapt(cx, timer.async_wait(), stops_with([&] { timer.cancel(); }))`.
/// Needs: it resumes on a thread of the runtime. Fails: std::bad_alloc.
template <class A, class OnCancel>
auto adapt(CxOf<> cx, A awaitable, OnCancel on_cancel) {
  static_assert(std::is_nothrow_invocable_v<OnCancel&>, "calm: say waits_on or stops_with(f) (CAN-7)");
  using End = cx::ForeignEnd<cx::AwaitedValue<A>>;
  return cx::WaitFor<cx::ForeignWait<A, OnCancel>, const cx::Context*, A, OnCancel, mem::Ref<End>>(
      &cx::context_of(cx), std::move(awaitable), std::move(on_cancel),
      mem::Ref<End>::adopt(new End(cx::context_of(cx).root()->port())));
}

}  // namespace calm

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
