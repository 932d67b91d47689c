// pipe_waits.hpp — the two waits of a bounded channel: in line for a place, and in line for a value.
// Laws:    CHN-2, CHN-4, CHN-6, CHN-7, CAN-13
// Threads: by the task itself, in its own poll
// Cancel:  the waiter leaves the line; a grant that it did not use goes to the next
#pragma once

#include <type_traits>
#include <utility>

#include "calm/channel/pipe.hpp"
#include "calm/check/probe.hpp"
#include "calm/cx/task_root.hpp"

namespace calm::channel {

/// Out of the way: what comes before is done often.
[[gnu::noinline]] inline void say_disconnected(ChildEnd& end) noexcept { end = err(Errc::disconnected); }

/// In line for a place. Who derives from it says what comes of it.
template <class T>
class PlaceWait : public sync::LineWait<Intake<T>> {
 public:
  using Place = typename Slots<T>::Place;

  PlaceWait(const cx::Context* context, Pipe<T>* pipe) noexcept
      : sync::LineWait<Intake<T>>(context, &pipe->intake()), pipe_(pipe) {}

  cx::WaitState step(cx::TaskRoot& root, ChildEnd& end) noexcept override {
    const cx::WaitState state = this->step_of_line(root, end);
    if (state != cx::WaitState::ready || (!refused_ && !pipe_->is_abandoned())) return state;
    return fail(end);
  }

  // For the channel, which decides.
  [[nodiscard]] Place place_granted() const noexcept { return place_; }
  void give(Place place) const noexcept { place_ = place; }
  [[nodiscard]] bool is_refused() const noexcept { return refused_; }
  void refuse() noexcept { refused_ = true; }

 protected:
  ~PlaceWait() { sync::LineWait<Intake<T>>::abandon(); }

  [[nodiscard]] const Hold<Pipe<T>>& pipe() const noexcept { return pipe_; }
  /// Gives: the place, in the hands of the task from now on. Needs: ready.
  [[nodiscard]] Place take_place() noexcept {
    this->use_grant();
    return place_;
  }

 private:
  [[gnu::noinline]] cx::WaitState fail(ChildEnd& end) noexcept {
    this->abandon();
    say_disconnected(end);
    return cx::WaitState::failed;
  }

  Hold<Pipe<T>> pipe_;
  mutable Place place_ = Slots<T>::nowhere;  // once it is granted; the channel writes it there
  bool refused_ = false;
};

/// A place that is free is had without a wait. Who derives from it says what comes of it.
template <class T>
class PlaceShortcut {
 public:
  template <class... More>
  [[nodiscard]] static bool is_at_hand(const Pipe<T>* pipe, const More&... /*more*/) noexcept {
    return pipe->has_place_at_hand();
  }

 protected:
  explicit PlaceShortcut(Pipe<T>* pipe) noexcept : pipe_(pipe), place_(pipe->reserve_at_hand()) {}

  Pipe<T>* pipe_;
  typename Slots<T>::Place place_;
};

/// In line for a value.
template <class T>
class ValueWait : public sync::LineWait<Outlet<T>> {
 public:
  ValueWait(const cx::Context* context, Pipe<T>* pipe) noexcept
      : sync::LineWait<Outlet<T>>(context, &pipe->outlet()), pipe_(pipe) {}
  /// The same in a short turn.
  ValueWait(const cx::Context* context, Pipe<T>* pipe, cx::InTurn now) noexcept
      : sync::LineWait<Outlet<T>>(context, &pipe->outlet()), pipe_(pipe, now) {}

  cx::WaitState step(cx::TaskRoot& root, ChildEnd& end) noexcept override {
    if (this->is_plainly_granted() && !pipe_->is_abandoned()) [[likely]]
      return cx::WaitState::ready;  // the value is taken in a turn, by result(), or given back in one
    const cx::WaitState state = this->step_of_line(root, end);
    if (state != cx::WaitState::ready || (!is_refused() && !pipe_->is_abandoned())) return state;
    return fail(end);
  }
  /// A value that it leaves behind in a channel without receivers is nobody's.
  void abandon() noexcept override {
    const bool granted = this->place() == sync::Place::granted;
    sync::LineWait<Outlet<T>>::abandon();
    if (granted && pipe_->is_abandoned()) pipe_->clear();
  }

  // For the channel, which decides.
  [[nodiscard]] bool is_refused() const noexcept { return this->is_other_way(); }
  void refuse() noexcept { this->set_other_way(); }

 protected:
  ~ValueWait() {
    if (this->place() != sync::Place::outside) [[unlikely]]
      ValueWait::abandon();
  }

  [[nodiscard]] const Hold<Pipe<T>>& pipe() const noexcept { return pipe_; }
  /// The grant is used. Gives: the place of the oldest value, this task's from now on. Needs: ready.
  [[nodiscard]] typename Slots<T>::Place take_place() noexcept {
    this->use_grant();
    return pipe_->take_granted();
  }
  /// The same. Gives: the value. Fails: as Pipe::receive().
  [[nodiscard, gnu::always_inline]] T receive() {
    this->use_grant();
    return Pipe<T>::receive_granted(pipe_);
  }

 private:
  [[gnu::noinline]] cx::WaitState fail(ChildEnd& end) noexcept {
    this->abandon();
    say_disconnected(end);
    return cx::WaitState::failed;
  }

  Hold<Pipe<T>> pipe_;
};

/// A value that nobody was granted is had without a wait.
template <class T>
class ValueShortcut {
 public:
  [[nodiscard]] static bool is_at_hand(const Pipe<T>* pipe) noexcept { return pipe->has_value_at_hand(); }
  ValueShortcut(const cx::TaskRoot& /*root*/, Pipe<T>* pipe) noexcept : pipe_(pipe), place_(pipe->take_at_hand()) {}
  [[gnu::always_inline]] T result() { return pipe_->receive(place_); }

 private:
  Pipe<T>* pipe_;
  typename Slots<T>::Place place_;
};

/// The same for a value that is moved in the turn.
template <class T>
class MovedShortcut {
 public:
  using CalmKeepsTurn = void;

  explicit MovedShortcut(T&& value) noexcept : value_(std::move(value)) {}
  [[nodiscard, gnu::always_inline]] static cx::Found get_into(MovedShortcut* into, const cx::TaskRoot& /*root*/,
                                                              Pipe<T>* pipe) noexcept {
    return pipe->receive_at_hand(into);
  }
  [[gnu::always_inline]] T result() noexcept { return std::move(value_); }

 private:
  T value_;
};

template <class T>
using ReceiveShortcut = std::conditional_t<Pipe<T>::moves_in_turn, MovedShortcut<T>, ValueShortcut<T>>;

// --- what the lines decide ---

template <class T>
bool Intake<T>::try_admit(const sync::Waiter& waiter, TaskId /*task*/) noexcept {
  if (pipe_.is_closed() || !line_.empty() || !pipe_.slots().has_room()) return false;
  static_cast<const PlaceWait<T>&>(waiter).give(pipe_.slots().reserve());
  return true;
}

template <class T>
bool Intake<T>::refuses(const sync::Waiter& /*waiter*/, TaskId /*task*/, ChildEnd& end) const noexcept {
  if (!pipe_.is_closed()) [[likely]]
    return false;
  say_disconnected(end);
  return true;
}

template <class T>
void Intake<T>::left(const sync::Waiter& /*waiter*/) noexcept {
  CALM_PROBE("channel: a sender left the line");
}

template <class T>
void Intake<T>::take_back(const sync::Waiter& waiter) noexcept {
  const auto& wait = static_cast<const PlaceWait<T>&>(waiter);
  if (wait.is_refused()) return;
  CALM_PROBE("channel: a place that was granted goes to the next");
  pipe_.abort_in_turn(wait.place_granted());
}

template <class T>
void Intake<T>::serve() noexcept {
  while (!line_.empty() && pipe_.slots().has_room()) {
    auto& wait = static_cast<PlaceWait<T>&>(*line_.first());
    wait.give(pipe_.slots().reserve());
    line_.grant(wait);
  }
}

template <class T>
void Intake<T>::refuse_all() noexcept {
  while (!line_.empty()) {
    auto& wait = static_cast<PlaceWait<T>&>(*line_.first());
    wait.refuse();
    line_.grant(wait);
  }
}

template <class T>
bool Outlet<T>::try_admit(const sync::Waiter& /*waiter*/, TaskId /*task*/) noexcept {
  if (!has_value()) return false;
  ++granted_;
  return true;
}

template <class T>
bool Outlet<T>::refuses(const sync::Waiter& /*waiter*/, TaskId /*task*/, ChildEnd& end) const noexcept {
  if (!is_over()) [[likely]]
    return false;
  say_disconnected(end);
  return true;
}

template <class T>
void Outlet<T>::left(const sync::Waiter& /*waiter*/) noexcept {
  CALM_PROBE("channel: a receiver left the line");
}

template <class T>
void Outlet<T>::take_back(const sync::Waiter& waiter) noexcept {
  if (static_cast<const ValueWait<T>&>(waiter).is_refused()) return;
  CALM_PROBE("channel: a value that was granted goes to the next");
  --granted_;
  serve();
}

template <class T>
void Outlet<T>::serve() noexcept {
  while (!line_.empty() && has_value()) {
    ++granted_;
    line_.grant(*line_.first());
  }
  while (!line_.empty() && is_over()) {
    auto& wait = static_cast<ValueWait<T>&>(*line_.first());
    wait.refuse();
    line_.grant(wait);
  }
}

}  // namespace calm::channel
