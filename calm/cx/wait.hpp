// wait.hpp — how a frame parks: the one suspension that every wait of calm is made of, and the simplest of them.
// Laws:    CAN-7, CAN-13, CTX-1, CTX-3, QUI-4, SCH-10
// Threads: by the task itself, in its own poll
// Cancel:  each says what a cancel does to it; a cancelled wait has left its line and consumed nothing
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/frame.hpp"
#include "calm/cx/rare_call.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/model/outcome.hpp"

namespace calm::cx {

/// A wait that only lets others run first, and parks the frame that it is made in.
template <class W>
concept ParksItself = requires { typename W::CalmParksItself; };

/// A wait as it is, which can be made: only those that derive from a wait can end it.
template <class Base>
class WaitItself final : public Base {
 public:
  using Base::Base;
};

/// What a co_await on a wait is: the wait is asked at once, so one that is ready costs no dispatch.
/// `Base` is a Wait with `Value result()`, called when it said ready. One that can often be had at once has a
/// `bool at_once(TaskRoot&)` too, asked before the frame suspends: false changes nothing, and step() is asked as always. One
/// with a `bool joins_line(TaskRoot&, ChildEnd&)` may be asked by the frame that has suspended: true means pending; false means
/// nothing, and step() is asked as always.
template <class Base>
class Parking final : public Base {
 public:
  /// It lives in this frame, which it need not remember: a million frames are parked at one of these.
  template <class... Arguments>
  explicit Parking(Frame& /*frame*/, Arguments&&... arguments) : Base(std::forward<Arguments>(arguments)...) {}
  template <class... Arguments>
  explicit Parking(Frame& frame, GivenContext context, Arguments&&... arguments)
      : Base(context.in(*frame.root()), std::forward<Arguments>(arguments)...) {}

  [[nodiscard, gnu::always_inline]] bool await_ready() noexcept {
    if constexpr (requires(Base& base, TaskRoot& root) { base.at_once(root); }) {
      const Context& context = *this->context();
      TaskRoot& root = *context.root();
      // The same questions in the same order as where a wait is asked: who watches, and cancellation (CAN-7).
      if (!root.is_running() || !root.may_pass() || root.port().is_watched()) return false;
      if (!root.is_quiet() && context.acknowledge()) return false;
      if (!Base::at_once(root)) return false;
      root.pass();
      return true;
    } else {
      return false;
    }
  }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> coroutine) noexcept {
    park_in(coroutine.promise());
  }
  /// The same where what the wait is for is hardly there: it is asked here, where its kind is known, and the root need not.
  void await_suspend_in_line(Frame& frame) noexcept {
    park_in(frame);
    if constexpr (requires(Base& base, TaskRoot& root, ChildEnd& end) { base.joins_line(root, end); }) {
      TaskRoot& root = *frame.root();
      if (root.may_ask_now() && Base::joins_line(root, root.end_of_wait())) [[likely]]
        root.stands_in_line(*this, Base::resource());
    }
  }
  /// The same in a turn, which ends.
  void await_suspend_in_turn(Frame& frame) noexcept {
    park_in(frame);
    TaskRoot& root = *frame.root();
    if (!root.may_ask_now()) [[unlikely]]
      return Base::end_turn();
    Base::join_and_end_turn(root);
    root.stands_in_line(*this, Base::resource());
  }
  decltype(auto) await_resume() noexcept(noexcept(std::declval<Base&>().result())) { return Base::result(); }
  /// The same for a ShortWay.
  auto await_settle() noexcept
    requires requires(Base& base) { base.settle(); }
  {
    return Base::settle();
  }

 private:
  void park_in(Frame& frame) noexcept {
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a suspended frame has its root
    frame.root()->park(frame, *this);
  }
};

/// The same for one that parks itself. In a task that has nothing to see it is not even made: the task knows what it is to do.
template <ParksItself Base>
class Parking<Base> {
 public:
  [[gnu::always_inline]] Parking(Frame& frame, std::source_location where, GivenContext context) noexcept {
    if (!context.is_that_of(frame) || !gives_way(frame, where, TaskRoot::around(*context.given()))) [[unlikely]]
      park_otherwise(frame, where, context);
  }
  Parking(const Parking&) = delete;
  Parking& operator=(const Parking&) = delete;
  ~Parking() {}  // NOLINT(modernize-use-equals-default): of the wait nothing is left by then

  static constexpr bool await_ready() noexcept { return false; }
  static constexpr void await_suspend(std::coroutine_handle<> /*frame*/) noexcept {}
  static decltype(auto) await_resume() noexcept { return Base::result(); }

 private:
  [[gnu::always_inline]] static bool gives_way(Frame& frame, std::source_location where, TaskRoot& root) noexcept {
    root.stands_at(where);
    if (!root.is_quiet()) [[unlikely]]
      return false;
    root.give_way(frame);
    return true;
  }
  /// Out of the way, with nothing to do after it.
  CALM_RARE_CALL void park_otherwise(Frame& frame, std::source_location where, GivenContext context) noexcept {
    TaskRoot& root = *frame.root();
    root.stands_at(where);
    const Context& acts = *context.in(root);
    if (&acts == &root.context() && root.is_quiet()) return root.give_way(frame);
    std::construct_at(std::addressof(wait_), &acts);
    if (root.is_quiet()) return root.give_way_inside(frame, wait_);
    root.park(frame, wait_);
  }

  static_assert(std::is_trivially_destructible_v<WaitItself<Base>>);
  // NOLINTBEGIN(readability-identifier-naming): private as the others
  union {
    WaitItself<Base> wait_;  // when it is needed
  };
  // NOLINTEND(readability-identifier-naming)
};

/// What came of a look on a short way.
enum class Found : std::uint8_t {
  it,
  nothing_in_turn,  ///< it is not there, and the turn in which that was seen goes on; for a Shortcut that KeepsTurn
  unknown,          ///< it is not there, or others may come
};

/// A shortcut that looks in a turn may keep that until the wait stands in line, so that nobody need look again. The wait is
/// made with InTurn() behind its arguments then, which must not throw nor begin a turn, and join_and_end_turn(root) or
/// end_turn() is the next that is asked of it.
struct InTurn {};
template <class W>
concept KeepsTurn = requires { typename W::Shortcut::CalmKeepsTurn; };

/// A wait for something that is often there may have a short way, `W::Shortcut`, on which no wait is made:
///   is_at_hand(...)       only looks. True: it is there, and nobody else can come before the task that looks
///   Shortcut(root, ...)   gets it. Needs: is_at_hand(), and nothing was done since
///   result()              gives what the wait's would, after that
/// with what the wait would be made of beside its context, which stays until the co_await is over. It is for a task that has
/// nothing to see at a checkpoint, where nobody follows what tasks look at. Where looking and getting are one step there are
///   get(root, ...)        true: it is the task's
///   Shortcut(...)         knows it. Needs: get()
/// instead of the first two; or, where what is got is kept in it,
///   get_into(place, root, ...)   gives a Found; `it`: it is the task's, and a Shortcut that has it is made there
/// A `Shortcut settle()` of the wait is called instead of its result(), and the shortcut's is given:
/// what the frame gets need not have an address then.
template <class W, class... Arguments>
concept GetsInto = requires(typename W::Shortcut* place, TaskRoot& root, Arguments&... arguments) {
  W::Shortcut::get_into(place, root, arguments...);
};
template <class W, class... Arguments>
inline constexpr bool has_shortcut = false;
template <class W, class... Arguments>
  requires requires { typename W::Shortcut; }
inline constexpr bool has_shortcut<W, GivenContext, Arguments...> =
    std::is_trivially_copyable_v<typename W::Shortcut> &&
    (std::is_nothrow_constructible_v<typename W::Shortcut, TaskRoot&, Arguments&...> ||
     std::is_nothrow_constructible_v<typename W::Shortcut, Arguments&...> || GetsInto<W, Arguments...>);

/// What a co_await on such a wait is: the wait is made when it is needed.
template <class W>
class ShortWay {
  using Shortcut = typename W::Shortcut;

 public:
  template <class... Arguments>
  [[gnu::always_inline]] ShortWay(Frame& frame, TaskRoot& root, GivenContext context, Arguments&... arguments) {
    // A quiet task has nothing to acknowledge (CAN-7, CAN-13), and is of a host that follows nobody.
    if (context.is_of(root) && root.is_quiet() && root.may_pass()) [[likely]] {
      const Found found = get(root, arguments...);
      if (found == Found::it) [[likely]] {
        root.pass();
        way_ = Way::short_one;
        return;
      }
      if constexpr (keeps_turn) {
        if (found == Found::nothing_in_turn) {
          way_ = Way::wait_in_turn;
          prepare_in_turn<Arguments...>(frame, context, static_cast<Passed<Arguments>>(arguments)...);
          return;
        }
      }
      // Where no other thread polls it was the thing itself that was not there: to ask for it before the frame suspends is in
      // vain.
      way_ = root.port().looks_alone() ? Way::wait : Way::unknown;
    } else {
      way_ = Way::unknown;
    }
    prepare<Arguments...>(frame, context, static_cast<Passed<Arguments>>(arguments)...);
  }
  ShortWay(const ShortWay&) = delete;
  ShortWay& operator=(const ShortWay&) = delete;
  [[gnu::always_inline]] ~ShortWay() {
    if (way_ != Way::short_one) [[unlikely]]
      parking_.~Parking();
  }

  [[nodiscard, gnu::always_inline]] bool await_ready() noexcept {
    if (way_ == Way::short_one) [[likely]]
      return true;
    return way_ == Way::unknown && parking_.await_ready();
  }
  template <std::derived_from<Frame> Promise>
  void await_suspend(std::coroutine_handle<Promise> coroutine) noexcept {
    if constexpr (keeps_turn) {
      if (way_ == Way::wait_in_turn) return suspend_in_turn(coroutine.promise());
    }
    suspend_in_line(coroutine.promise());
  }
  [[gnu::always_inline]] decltype(auto) await_resume() {
    if constexpr (requires { parking_.settle(); }) {
      return (way_ == Way::short_one ? shortcut_ : settle_wait()).result();
    } else {
      if (way_ == Way::short_one) [[likely]]
        return shortcut_.result();
      return resume_from_wait();
    }
  }

 private:
  enum class Way : std::uint8_t {
    short_one,
    unknown,       ///< the wait may be ready at once: somebody has to be asked or told, or others may have come
    wait,          ///< what it is for was not there
    wait_in_turn,  ///< the same, and the turn goes on in which that was seen
  };
  static constexpr bool keeps_turn = KeepsTurn<W>;

  /// What fits into a register is passed in one: it need not have an address then, nor a place in the frame.
  template <class Argument>
  using Passed = std::conditional_t<std::is_scalar_v<Argument>, Argument, Argument&&>;

  template <class... Arguments>
  [[nodiscard, gnu::always_inline]] Found get(TaskRoot& root, Arguments&... arguments) noexcept {
    if constexpr (GetsInto<W, Arguments...>) {
      return Shortcut::get_into(std::addressof(shortcut_), root, arguments...);
    } else if constexpr (requires { Shortcut::get(root, arguments...); }) {
      if (!Shortcut::get(root, arguments...)) return Found::unknown;
      std::construct_at(std::addressof(shortcut_), arguments...);
    } else {
      if (!Shortcut::is_at_hand(arguments...)) return Found::unknown;
      std::construct_at(std::addressof(shortcut_), root, arguments...);
    }
    return Found::it;
  }

  // Out of the way, so that the short one stays short.

  template <class... Arguments>
  [[gnu::noinline]] void prepare(Frame& frame, GivenContext context, Passed<Arguments>... arguments) {
    std::construct_at(std::addressof(parking_), frame, context, std::forward<Passed<Arguments>>(arguments)...);
  }
  /// The turn goes on, so nothing may throw.
  template <class... Arguments>
  [[gnu::noinline]] void prepare_in_turn(Frame& frame, GivenContext context, Passed<Arguments>... arguments) noexcept {
    std::construct_at(std::addressof(parking_), frame, context, std::forward<Passed<Arguments>>(arguments)...,
                      InTurn());
  }
  [[gnu::noinline]] void suspend_in_line(Frame& frame) noexcept { parking_.await_suspend_in_line(frame); }
  [[gnu::noinline]] void suspend_in_turn(Frame& frame) noexcept { parking_.await_suspend_in_turn(frame); }
  [[gnu::noinline]] decltype(auto) resume_from_wait() { return parking_.await_resume(); }
  [[gnu::noinline]] Shortcut settle_wait() { return parking_.await_settle(); }

  // NOLINTBEGIN(readability-identifier-naming): private as the others
  union {
    Shortcut shortcut_;
    Parking<W> parking_;  // unless it goes the short way
  };
  // NOLINTEND(readability-identifier-naming)
  Way way_;
};

/// The awaitable that makes a wait of type W, in the frame that awaits it.
template <class W, class... Arguments>
class [[nodiscard("a wait does nothing before it is awaited")]] WaitFor {
 public:
  using CalmAwait = void;
  using Awaited = W;

  static constexpr bool moves_quietly = (std::is_nothrow_move_constructible_v<Arguments> && ...);

  explicit WaitFor(Arguments... arguments) noexcept(moves_quietly) : arguments_(std::move(arguments)...) {}
  /// Needs: this stays until the co_await is over; a frame that runs in the task with this root.
  [[nodiscard, gnu::always_inline]] auto awaiter(Frame& frame, TaskRoot& root) && {
    if constexpr (has_shortcut<W, Arguments...>) {
      return short_way(frame, root, std::index_sequence_for<Arguments...>());
    } else {
      return std::move(*this).template make<Parking<W>>(frame);
    }
  }
  /// The same for one that parks itself, and says where.
  [[nodiscard, gnu::always_inline]] auto awaiter(Frame& frame, std::source_location where) &&
    requires ParksItself<W>
  {
    return std::move(*this).template make<Parking<W>>(frame, where);
  }
  /// Gives: a `Shell`, which is a W, made in place from these and what the wait was given.
  template <class Shell, class... First>
  [[nodiscard]] Shell make(First&... first) && noexcept(moves_quietly) {
    return std::apply([&](Arguments&... arguments) { return Shell(first..., std::move(arguments)...); }, arguments_);
  }

 private:
  template <std::size_t... numbers>
  [[nodiscard, gnu::always_inline]] ShortWay<W> short_way(Frame& frame, TaskRoot& root,
                                                          std::index_sequence<numbers...> /*all*/) {
    return ShortWay<W>(frame, root, std::get<numbers>(arguments_)...);
  }

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
  using CalmParksItself = void;

  explicit YieldWait(const Context* context) noexcept : Wait(context) {}
  void gave_way() noexcept override { yielded_ = true; }
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
inline cx::WaitFor<cx::YieldWait, cx::GivenContext> yield(CxOf<> cx) noexcept {
  return cx::WaitFor<cx::YieldWait, cx::GivenContext>(cx::GivenContext(cx));
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
