// wait.hpp — how a frame parks: the one suspension that every wait of calm is made of, and the simplest of them.
// Laws:    CAN-7, CAN-13, CTX-1, CTX-3, QUI-4, SCH-10
// Threads: by the task itself, in its own poll
// Cancel:  each says what a cancel does to it; a cancelled wait has left its line and consumed nothing
#pragma once

#include <coroutine>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/frame.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/model/outcome.hpp"

namespace calm::cx {

/// What a co_await on a wait is: the wait is asked at once, so one that is ready costs no dispatch.
/// `Base` is a Wait with `Value result()`, called when it said ready. One that can often be had at once has a
/// `bool at_once(TaskRoot&)` too, asked before the frame suspends: false changes nothing, and step() is asked as always.
template <class Base>
class Parking final : public Base {
 public:
  template <class... Arguments>
  explicit Parking(Frame& frame, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), frame_(frame) {}

  [[nodiscard, gnu::always_inline]] bool await_ready() noexcept {
    if constexpr (requires(Base& base, TaskRoot& root) { base.at_once(root); }) {
      // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): a frame that runs has its root
      TaskRoot& root = *frame_.root;
      // The same questions in the same order as where a wait is asked: who watches, and cancellation (CAN-7).
      if (!root.may_pass() || root.port().is_watched()) return false;
      const Context* const context = this->context();
      if (context != nullptr && !root.is_quiet() && context->acknowledge()) return false;
      if (!Base::at_once(root)) return false;
      root.pass(frame_);
      return true;
    } else {
      return false;
    }
  }
  void await_suspend(std::coroutine_handle<> /*frame*/) noexcept {
    frame_.awaiting = this;
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a suspended frame has its root
    frame_.root->park(frame_, *this);
  }
  decltype(auto) await_resume() noexcept(noexcept(std::declval<Base&>().result())) {
    frame_.awaiting = nullptr;
    return Base::result();
  }

 private:
  Frame& frame_;
};

/// The awaitable that makes a wait of type W, in the frame that awaits it.
template <class W, class... Arguments>
class [[nodiscard("a wait does nothing before it is awaited")]] WaitFor {
 public:
  using CalmAwait = void;
  using Awaited = W;

  static constexpr bool moves_quietly = (std::is_nothrow_move_constructible_v<Arguments> && ...);

  explicit WaitFor(Arguments... arguments) noexcept(moves_quietly) : arguments_(std::move(arguments)...) {}
  [[nodiscard]] Parking<W> awaiter(Frame& frame) && noexcept(moves_quietly) {
    return std::move(*this).template make<Parking<W>>(frame);
  }
  /// Gives: a `Shell`, which is a W, made in place from these and what the wait was given.
  template <class Shell, class... First>
  [[nodiscard]] Shell make(First&... first) && noexcept(moves_quietly) {
    return std::apply([&](Arguments&... arguments) { return Shell(first..., std::move(arguments)...); }, arguments_);
  }

 private:
  std::tuple<Arguments...> arguments_;
};

/// Ends at once, unless the task is cancelled.
class CheckpointWait : public Wait {
 public:
  explicit CheckpointWait(const Context* context) noexcept : Wait(context) {}
  WaitState step(TaskRoot& /*root*/, ChildEnd& /*end*/) noexcept override { return WaitState::ready; }
  static void result() noexcept {}

 protected:
  ~CheckpointWait() = default;
};

/// Lets others run first.
class YieldWait : public Wait {
 public:
  explicit YieldWait(const Context* context) noexcept : Wait(context) {}
  WaitState step(TaskRoot& root, ChildEnd& end) noexcept override;
  static void result() noexcept {}

 protected:
  ~YieldWait() = default;

 private:
  bool yielded_ = false;
};

/// Ends at a time; cancelled it takes its alarm back. Fails with duration_exceeded beyond clock::max_timer (TMR-2).
class SleepWait : public Wait {
 public:
  using CalmSelectable = void;

  SleepWait(const Context* context, Time until, clock::Beyond beyond) noexcept
      : Wait(context), until_(until), beyond_(beyond) {}
  /// For a debugger, as TaskRoot::offsets().
  static consteval std::size_t until_offset() noexcept;
  WaitState step(TaskRoot& root, ChildEnd& end) noexcept override;
  static void result() noexcept {}

 protected:
  ~SleepWait();

 private:
  Time until_;
  clock::Alarm alarm_;
  clock::Beyond beyond_;
};

}  // namespace calm::cx

namespace calm {

/// Acknowledges a cancellation and ends the coroutine with it, if there is one.
inline cx::WaitFor<cx::CheckpointWait, const cx::Context*> checkpoint(CxOf<> cx) noexcept {
  return cx::WaitFor<cx::CheckpointWait, const cx::Context*>(&cx::context_of(cx));
}

/// Lets other tasks run first. A checkpoint.
inline cx::WaitFor<cx::YieldWait, const cx::Context*> yield(CxOf<> cx) noexcept {
  return cx::WaitFor<cx::YieldWait, const cx::Context*>(&cx::context_of(cx));
}

using Sleeping = cx::WaitFor<cx::SleepWait, const cx::Context*, Time, clock::Beyond>;

/// Parks until the clock says so; a time that has passed is a checkpoint. On cancel the alarm is taken back.
/// Fails: duration_exceeded, for more than 7 days (TMR-2); with Beyond::clamp it ends after 7 days instead.
inline Sleeping sleep_until(CxOf<cap::time> cx, Time until, clock::Beyond beyond = clock::Beyond::refuse) noexcept {
  return Sleeping(&cx::context_of(cx), until, beyond);
}
inline Sleeping sleep(CxOf<cap::time> cx, Duration duration, clock::Beyond beyond = clock::Beyond::refuse) noexcept {
  return sleep_until(cx, cx.now() + duration, beyond);
}

/// Ends the coroutine with this error: `co_await fail(Errc::full)`, where co_return has nothing to take it.
inline cx::WaitFor<cx::FailWait, ChildEnd> fail(Error error) noexcept {
  return cx::WaitFor<cx::FailWait, ChildEnd>(err(std::move(error)));
}
/// The same with an end of any kind. Needs: not Ok and not Panicked.
inline cx::WaitFor<cx::FailWait, ChildEnd> fail_with(ChildEnd end) noexcept {
  CALM_REQUIRE(OUT_5, end.is_err() || end.is_cancelled());
  return cx::WaitFor<cx::FailWait, ChildEnd>(std::move(end));
}

}  // namespace calm
