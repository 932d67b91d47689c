// wait_outcome.hpp — `co_await outcome(wait)`: how a wait ended, for code that wants to see it and stay.
// Laws:    OUT-5, CAN-7
// Threads: by the task itself, in its own poll
// Cancel:  shown as Cancelled instead of leaving the coroutine; the wait has left its line
#pragma once

#include <coroutine>
#include <type_traits>
#include <utility>

#include "calm/cx/frame.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/outcome.hpp"

namespace calm::cx {

/// A wait whose failure is given to the frame.
template <class Base>
class ParkingOutcome final : public Base {
 public:
  using Value = decltype(std::declval<Base&>().result());

  template <class... Arguments>
  explicit ParkingOutcome(Frame& frame, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), frame_(frame) {}

  static constexpr bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> /*frame*/) noexcept { frame_.root()->park(frame_, *this); }
  Outcome<Value> await_resume() noexcept {
    if (!failure_.is_ok()) return failure_as<Value>(failure_);
    // What the wait has to say beside its value belongs to this outcome, not to the next one (OUT-5).
    const Notes before = frame_.root()->exchange_notes({});
    Outcome<Value> end = take();
    return std::move(end).with_notes(frame_.root()->exchange_notes(before));
  }
  bool deliver(ChildEnd& end) noexcept override {
    failure_ = std::move(end);
    return true;
  }

 private:
  Outcome<Value> take() noexcept {
    try {
      if constexpr (std::is_void_v<Value>) {
        Base::result();
        return ok();
      } else {
        return ok(Base::result());
      }
    } catch (...) {
      return panicked();
    }
  }

  Frame& frame_;
  ChildEnd failure_ = ok();
};

template <class W, class... Arguments>
class [[nodiscard("a wait does nothing before it is awaited")]] OutcomeOfWait {
 public:
  using CalmAwait = void;

  explicit OutcomeOfWait(WaitFor<W, Arguments...> wait) noexcept(WaitFor<W, Arguments...>::moves_quietly)
      : wait_(std::move(wait)) {}
  [[nodiscard]] ParkingOutcome<W> awaiter(Frame& frame) && noexcept(WaitFor<W, Arguments...>::moves_quietly) {
    return std::move(wait_).template make<ParkingOutcome<W>>(frame);
  }

 private:
  WaitFor<W, Arguments...> wait_;
};

}  // namespace calm::cx

namespace calm {

/// `co_await outcome(wait)` gives the Outcome of a wait instead of its value; a C++ exception shows as Panicked.
template <class W, class... Arguments>
cx::OutcomeOfWait<W, Arguments...> outcome(cx::WaitFor<W, Arguments...> wait) noexcept(
    cx::WaitFor<W, Arguments...>::moves_quietly) {
  return cx::OutcomeOfWait<W, Arguments...>(std::move(wait));
}

}  // namespace calm
