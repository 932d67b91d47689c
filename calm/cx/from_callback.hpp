// from_callback.hpp — awaits an operation that ends with a call: the start function is given the token to call.
// Laws:    CAN-7, CAN-13, I4 (a result that nobody waits for any more goes where the caller said)
// Threads: the token is called, copied and dropped on threads of the runtime, whichever polls the task then
// Cancel:  waits_on: it is waited for; stops_with(f): f asks it to end, and it is waited for; leaves_with(f): f is called, and
//          the wait ends at once. A result that has come is given, and the next checkpoint sees the cancel
//
//   const int bytes = co_await from_callback<int>(cx, start, stops_with([&] { socket.stop(); }), drops_late);
//   where start is   [&](Completion<int> done) { socket.read(buffer, [done](int bytes) { done(bytes); }); }
//
// The token is called once, at once or later. It is called
//   never: the wait goes on until it is cancelled; when the last copy of the token is dropped, it fails with disconnected
//   twice, or when nobody waits any more: the call says false, and its result goes to the hook of late results
// What the hook gets is every result that the awaiting code does not: none disappears in between. A call after the end of the
// run does no harm; in the lab, where every step is recorded, tokens are gone by then.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "calm/cx/adapt.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/cx/wait.hpp"
#include "calm/lockfree/lock.hpp"
#include "calm/lockfree/turn.hpp"
#include "calm/mem/ref.hpp"
#include "calm/model/outcome.hpp"
#include "calm/trace/resource.hpp"

// As in scope.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

namespace calm {

/// A cancel calls this, once, and the wait has ended: the operation is left to itself. It does not throw.
template <class F>
struct LeavesWith {
  F stop;
  void operator()() noexcept { stop(); }
};
template <class F>
LeavesWith<F> leaves_with(F stop) {
  return {std::move(stop)};
}

/// A result that nobody waits for is destroyed.
struct DropsLate {
  template <class... T>
  void operator()(T&&... /*result*/) const noexcept {}
};
inline constexpr DropsLate drops_late{};

/// A result that nobody waits for is given to this: `late_to([&](Connection c) { pool.put(std::move(c)); })`. It does not
/// throw; it is called by the call that comes too late, on its thread, or at the end of the frame that waited.
template <class F>
struct LateTo {
  F take;
  template <class... T>
  void operator()(T&&... result) noexcept {
    take(std::forward<T>(result)...);
  }
};
template <class F>
LateTo<F> late_to(F take) {
  return {std::move(take)};
}

namespace cx {

/// What the tokens and the wait share. It ends when both have. The value is the caller's while it is `calling`, then of who
/// waits, or of who found in a turn that nobody does; no move of it runs in a turn.
template <class T>
class CallbackEnd : public mem::RefCounted {
 public:
  using Value = detail::Held<T>;
  enum class State : std::uint8_t { open, calling, called, dropped };

  explicit CallbackEnd(Port& port) noexcept : port_(&port), resource_(port.new_object()), shared_(port.is_shared()) {}

  // --- the tokens ---

  void add_token() noexcept {
    const lockfree::Turn turn(shared_, lock_);
    ++tokens_;
  }
  void drop_token() noexcept {
    const lockfree::Turn turn(shared_, lock_);
    if (--tokens_ != 0 || state_ != State::open) return;
    touch(trace::Access::write);
    end(State::dropped);
  }
  /// Gives: true when the result is kept for who waits. Fails: what the move of T throws; then it was not called.
  bool call(Value&& value) {
    touch(trace::Access::write);
    if (!begin_call()) {
      late(std::move(value));
      return false;
    }
    try {
      value_.emplace(std::move(value));
    } catch (...) {
      const lockfree::Turn turn(shared_, lock_);
      state_ = State::open;
      throw;
    }
    if (end_call()) return true;
    give_late();
    return false;
  }

  // --- the wait ---

  /// Gives: how it stands; a call that is under way has not been made yet, and wakes who waits.
  [[nodiscard]] State look() const noexcept {
    touch(trace::Access::read);
    const lockfree::Turn turn(shared_, lock_);
    return state_ == State::calling ? State::open : state_;
  }
  [[nodiscard]] trace::ResourceId resource() const noexcept { return resource_; }
  void wait_as(TaskId task) noexcept {
    const lockfree::Turn turn(shared_, lock_);
    waiting_ = task;
  }
  /// Nobody waits from now on; a result that was not taken is late.
  void leave() noexcept {
    {
      const lockfree::Turn turn(shared_, lock_);
      if (std::exchange(left_, true)) return;
      touch(trace::Access::write);
      waiting_ = {};
      if (state_ == State::calling) return;  // who calls finds that nobody waits
    }
    if (value_) give_late();
  }
  /// Needs: called. Fails: what the move of T throws; then the result is late.
  T take() {
    if constexpr (std::is_void_v<T>) {
      value_.reset();
    } else {
      T value = std::move(*value_);  // NOLINT(bugprone-unchecked-optional-access): called
      value_.reset();
      return value;
    }
  }

  static void destroy(const CallbackEnd* end) noexcept { end->destroy_this(); }

 protected:
  ~CallbackEnd() = default;

 private:
  virtual void late(Value&& value) noexcept = 0;
  virtual void destroy_this() const noexcept = 0;

  [[nodiscard]] bool begin_call() noexcept {
    const lockfree::Turn turn(shared_, lock_);
    if (state_ != State::open || left_) return false;
    state_ = State::calling;
    return true;
  }
  /// Gives: false when nobody waits any more, and the value is the caller's.
  [[nodiscard]] bool end_call() noexcept {
    const lockfree::Turn turn(shared_, lock_);
    end(State::called);
    return !left_;
  }
  void give_late() noexcept {
    late(std::move(*value_));  // NOLINT(bugprone-unchecked-optional-access): called
    value_.reset();
  }
  /// Needs: a turn.
  void end(State state) noexcept {
    state_ = state;
    if (waiting_) (void)port_->wake(port_->here(), waiting_);
  }
  void touch(trace::Access access) const noexcept {
    if (resource_) (void)port_->here().recorder().touch(resource_, access, port_->here().running());
  }

  Port* port_;  // which may be gone before the tokens are: only for who waits, and where steps are recorded
  trace::ResourceId resource_;
  bool shared_;
  mutable lockfree::Lock<> lock_;
  TaskId waiting_{};
  std::optional<Value> value_;
  std::uint32_t tokens_ = 0;
  State state_ = State::open;
  bool left_ = false;
};

template <class T, class OnLate>
class CallbackEndWith final : public CallbackEnd<T> {
 public:
  CallbackEndWith(Port& port, OnLate on_late) : CallbackEnd<T>(port), on_late_(std::move(on_late)) {}

 private:
  void late(detail::Held<T>&& value) noexcept override {
    if constexpr (std::is_void_v<T>) {
      on_late_();
    } else {
      on_late_(std::move(value));
    }
  }
  void destroy_this() const noexcept override { delete this; }

  OnLate on_late_;
};

}  // namespace cx

/// What the start function is given, and calls when the operation has ended. Copies are the same token.
template <class T>
class Completion {
 public:
  /// For from_callback().
  explicit Completion(mem::Ref<cx::CallbackEnd<T>> end) noexcept : end_(std::move(end)) { end_->add_token(); }
  Completion(const Completion& other) noexcept : end_(other.end_) {
    if (end_) end_->add_token();
  }
  Completion(Completion&& other) noexcept = default;
  Completion& operator=(Completion other) noexcept {
    std::swap(end_, other.end_);
    return *this;
  }
  ~Completion() {
    if (end_) end_->drop_token();
  }

  /// The operation has ended with this. Needs: not moved from. Gives: true when who waits gets it; false for a second call
  /// and when nobody waits: the hook of late results has it. Fails: what the move of T throws; it was not called then.
  template <class U = T>
    requires(!std::is_void_v<T>)
  bool operator()(std::type_identity_t<U> result) const {
    return end_->call(std::move(result));
  }
  bool operator()() const
    requires(std::is_void_v<T>)
  {
    return end_->call({});
  }

 private:
  mem::Ref<cx::CallbackEnd<T>> end_;
};

namespace cx {

template <class F>
inline constexpr bool leaves_at_once = false;
template <class F>
inline constexpr bool leaves_at_once<LeavesWith<F>> = true;

template <class T, class Start, class OnCancel>
class CallbackWait : public Wait {
 public:
  using End = CallbackEnd<T>;

  CallbackWait(const Context* context, Start start, OnCancel on_cancel, mem::Ref<End> end)
      : Wait(context), start_(std::move(start)), on_cancel_(std::move(on_cancel)), end_(std::move(end)) {}

  WaitState step(TaskRoot& root, ChildEnd& end) noexcept override {
    start(root);
    if (exception_) return WaitState::ready;
    switch (end_->look()) {
      case End::State::open:
      case End::State::calling:
        return WaitState::pending;
      case End::State::called:
        return WaitState::ready;
      case End::State::dropped:
        break;
    }
    end = err(
        Error(Errc::disconnected,
              "a callback will not be called: all its tokens are gone [I4]; next: keep a copy of the Completion until "
              "the operation has ended"));
    return WaitState::failed;
  }
  WaitState cancel(TaskRoot& root, Reason& reason, ChildEnd& end) noexcept override {
    if (start_) return Wait::cancel(root, reason, end);  // it never began
    if (exception_) return WaitState::ready;
    if (end_->look() == End::State::open && !std::exchange(stopped_, true)) on_cancel_();
    const typename End::State state = end_->look();
    if (state == End::State::called) return WaitState::ready;
    if (state == End::State::open && !leaves_at_once<OnCancel>) return WaitState::pending;
    end_->leave();
    return Wait::cancel(root, reason, end);
  }
  [[nodiscard]] trace::ResourceId resource() const noexcept override { return end_->resource(); }

  T result() {
    if (exception_) std::rethrow_exception(exception_);
    return end_->take();
  }

 protected:
  ~CallbackWait() { end_->leave(); }

 private:
  void start(TaskRoot& root) noexcept {
    if (!start_) return;
    try {
      Start start = std::move(*start_);
      start_.reset();
      std::move(start)(Completion<T>(end_));
      end_->wait_as(root.id());
    } catch (...) {
      exception_ = std::current_exception();
      end_->leave();
    }
  }

  std::optional<Start> start_;
  OnCancel on_cancel_;
  mem::Ref<End> end_;
  std::exception_ptr exception_;
  bool stopped_ = false;
};

}  // namespace cx

/// Awaits an operation that ends with a call. `start(Completion<T>)` begins it, when this is awaited and not before; a start
/// that throws ends the wait with the exception.
/// Gives: what the token was called with. Fails: disconnected when the token was dropped; std::bad_alloc.
template <class T, class Start, class OnCancel, class OnLate>
auto from_callback(CxOf<> cx, Start start, OnCancel on_cancel, OnLate on_late) {
  static_assert(std::is_invocable_v<Start, Completion<T>>,
                "calm: a start function takes the Completion<T> to be called");
  static_assert(std::is_nothrow_invocable_v<OnCancel&>, "calm: say waits_on, stops_with(f) or leaves_with(f) (CAN-7)");
  static_assert(std::is_nothrow_invocable_v<OnLate&> || std::is_nothrow_invocable_v<OnLate&, detail::Held<T>>,
                "calm: say drops_late or late_to(f): where a result goes that nobody waits for (I4)");
  using End = cx::CallbackEnd<T>;
  cx::Port& port = cx::context_of(cx).root()->port();
  return cx::WaitFor<cx::CallbackWait<T, Start, OnCancel>, const cx::Context*, Start, OnCancel, mem::Ref<End>>(
      &cx::context_of(cx), std::move(start), std::move(on_cancel),
      mem::Ref<End>::adopt(new cx::CallbackEndWith<T, OnLate>(port, std::move(on_late))));
}

}  // namespace calm

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
