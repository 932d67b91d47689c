// select.hpp — waits for the first of several things: a lock, a permit, a notification, a time.
// Laws:    COM-5, CHN-4, CAN-13
// Threads: as its waits; each is asked, and left, in a turn of its own, never two at a time: what is granted meanwhile to one
//          that was not chosen is passed on by the turn in which that one leaves
// Cancel:  all of the waits leave their lines
//
//   auto first = co_await calm::select(cx, mutex.lock(cx), calm::sleep(cx, limit));
//   if (first.index() == 0) use(std::get<0>(first));
//
// It takes waits, never tasks: a wait that was not chosen has left its line when select() is over, and has consumed nothing;
// what it was granted meanwhile has gone to the next. When several are ready at once, the one that is written first is
// chosen.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

#include "calm/cx/context.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/wait.hpp"
#include "calm/trace/event.hpp"

namespace calm::sync {

/// A wait that can leave at any time, as if it had never come.
template <class W>
concept Selectable = std::derived_from<W, cx::Wait> && requires { typename W::CalmSelectable; };

/// True for what gives such a wait when it is awaited.
template <class A>
inline constexpr bool is_selectable = false;
template <class A>
  requires Selectable<typename A::Awaited>
inline constexpr bool is_selectable<A> = true;

template <class W>
class Part final : public W {
 public:
  template <class... Arguments>
  explicit Part(Arguments&&... arguments) : W(std::forward<Arguments>(arguments)...) {}
};

template <class W>
using SelectedOf = std::conditional_t<std::is_void_v<decltype(std::declval<W&>().result())>, std::monostate,
                                      decltype(std::declval<W&>().result())>;

/// The waits of a select, each made in place.
template <class... Ws>
class Parts;

template <>
class Parts<> {
 public:
  template <class F>
  void each(const F& /*visit*/) noexcept {}
};

template <class W, class... Rest>
class Parts<W, Rest...> {
 public:
  template <class First, class... Others>
  explicit Parts(First first, Others... others)
      : first_(std::move(first).template make<Part<W>>()), rest_(std::move(others)...) {}

  /// Shows each of them to `visit(wait)`, in order, until one says that it is enough.
  template <class F>
  void each(const F& visit) noexcept {
    if (!visit(first_)) rest_.each(visit);
  }

  /// Gives: the result of the one with this number, in `Selected`.
  template <class Selected, std::size_t number = 0>
  Selected result(std::size_t chosen) {
    if constexpr (sizeof...(Rest) != 0) {
      if (chosen != number) return rest_.template result<Selected, number + 1>(chosen);
    }
    if constexpr (std::is_void_v<decltype(first_.result())>) {
      first_.result();
      return Selected(std::in_place_index<number>);
    } else {
      return Selected(std::in_place_index<number>, first_.result());
    }
  }

 private:
  Part<W> first_;
  Parts<Rest...> rest_;
};

template <class... Ws>
class SelectWait : public cx::Wait {
 public:
  template <class... Waits>
  explicit SelectWait(const cx::Context* context, Waits... waits) : Wait(context), parts_(std::move(waits)...) {}

  cx::WaitState step(cx::TaskRoot& root, ChildEnd& end) noexcept override {
    cx::WaitState state = cx::WaitState::pending;
    std::size_t number = 0;
    parts_.each([&](cx::Wait& part) noexcept {
      state = ask(root, part, end);
      if (state == cx::WaitState::ready) chosen_ = number;
      ++number;
      return state != cx::WaitState::pending;
    });
    if (state == cx::WaitState::failed) abandon();
    return state;
  }
  cx::WaitState cancel(cx::TaskRoot& root, Reason& reason, ChildEnd& end) noexcept override {
    abandon();
    return Wait::cancel(root, reason, end);
  }
  void abandon() noexcept override { leave_all_but(none); }
  /// Gives: what the first of them waits for.
  [[nodiscard]] trace::ResourceId resource() const noexcept override { return waits_for_; }

  std::variant<SelectedOf<Ws>...> result() {
    leave_all_but(chosen_);
    return parts_.template result<std::variant<SelectedOf<Ws>...>>(chosen_);
  }

 protected:
  ~SelectWait() = default;

 private:
  static constexpr std::size_t none = sizeof...(Ws);

  /// As Port::step() does for a wait that stands alone: a context of its own may have a tighter budget.
  cx::WaitState ask(cx::TaskRoot& root, cx::Wait& part, ChildEnd& end) noexcept {
    const bool own = part.context() != nullptr && part.context() != context();
    Reason reason = own ? part.context()->acknowledge() : Reason();
    const cx::WaitState state = reason ? part.cancel(root, reason, end) : part.step(root, end);
    const trace::ResourceId resource = state == cx::WaitState::pending ? part.resource() : trace::ResourceId();
    if (resource) {
      (void)root.worker().recorder().touch(resource, trace::Access::read, root.id());
      if (!waits_for_) waits_for_ = resource;
    }
    return state;
  }

  void leave_all_but(std::size_t kept) noexcept {
    std::size_t number = 0;
    parts_.each([&](cx::Wait& part) noexcept {
      if (number++ != kept) part.abandon();
      return false;
    });
  }

  Parts<Ws...> parts_;
  std::size_t chosen_ = none;
  trace::ResourceId waits_for_{};
};

}  // namespace calm::sync

namespace calm {

/// Gives: a std::variant: its index says which wait ended first, its value is that one's result (std::monostate for none).
/// Needs: waits, as lock(), acquire(), wait() and sleep() give them.
/// Fails: with the first that fails; the others have left.
template <class... Waits>
auto select(CxOf<> cx, Waits... waits) {
  static_assert(sizeof...(Waits) != 0, "COM-5: nothing to select from");
  static_assert((sync::is_selectable<Waits> && ...),
                "COM-5: select takes waits, never tasks: spawn the task, and select what it tells");
  if constexpr ((sync::is_selectable<Waits> && ...)) {
    return cx::WaitFor<sync::SelectWait<typename Waits::Awaited...>, const cx::Context*, Waits...>(&cx::context_of(cx),
                                                                                                   std::move(waits)...);
  }
}

}  // namespace calm
