// sender.hpp — the end of a channel that values go in at: reserve and send, or both in one call.
// Laws:    CHN-2..5, CHN-7, CHN-8
// Threads: the tasks of one runtime, on any of its workers; see sync/line.hpp
// Cancel:  a waiting reserve() or send() leaves the line and has taken no place; send() gives its value back
//
//   auto permit = co_await sender.reserve(cx);             // may wait; cancelled here, nothing has been made yet
//   auto sent = std::move(permit).send(make_order());      // cannot wait and cannot be cancelled
//
//   auto sent = co_await sender.send(cx, std::move(order));
//   if (!sent) keep(std::move(sent).error().value);        // full, disconnected or cancelled: the value is back
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include "calm/channel/permit.hpp"
#include "calm/channel/pipe_waits.hpp"
#include "calm/channel/unsent.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/wait.hpp"

namespace calm::channel {

template <class T>
class ReserveWait : public PlaceWait<T> {
 public:
  using PlaceWait<T>::PlaceWait;
  [[gnu::always_inline]] Permit<T> result() noexcept { return Permit<T>(this->pipe(), this->take_place()); }

  class Shortcut : public PlaceShortcut<T> {
   public:
    Shortcut(const cx::TaskRoot& /*root*/, Pipe<T>* pipe) noexcept : PlaceShortcut<T>(pipe) {}
    [[gnu::always_inline]] Permit<T> result() noexcept { return Permit<T>(Hold<Pipe<T>>(this->pipe_), this->place_); }
  };

 protected:
  ~ReserveWait() = default;
};

/// A value is sent into a place that is free, without a wait.
template <class T>
class SendShortcut : public PlaceShortcut<T> {
 public:
  SendShortcut(const cx::TaskRoot& /*root*/, Pipe<T>* pipe, T& value) noexcept
      : PlaceShortcut<T>(pipe), value_(&value) {}
  [[gnu::always_inline]] Sent<T> result() { return this->pipe_->commit(this->place_, std::move(*value_)); }

 private:
  T* value_;
};

/// The same for a value that is moved in the turn: it is sent when there is a place.
template <class T>
class SentShortcut {
 public:
  explicit SentShortcut(const Pipe<T>* /*pipe*/, const T& /*value*/) noexcept {}
  [[nodiscard, gnu::always_inline]] static bool get(const cx::TaskRoot& /*root*/, Pipe<T>* pipe, T& value) noexcept {
    return pipe->send_at_hand(value);
  }
  [[gnu::always_inline]] static Sent<T> result() noexcept { return ok(); }
};

/// Never fails: what went wrong is in the result, with the value.
template <class T>
class SendWait : public PlaceWait<T> {
 public:
  SendWait(const cx::Context* context, Pipe<T>* pipe, T value)
      : PlaceWait<T>(context, pipe), value_(std::move(value)) {}

  cx::WaitState step(cx::TaskRoot& root, ChildEnd& end) noexcept override {
    const cx::WaitState state = PlaceWait<T>::step(root, end);
    if (state != cx::WaitState::failed) return state;
    refused_ = true;
    return cx::WaitState::ready;
  }
  cx::WaitState cancel(cx::TaskRoot& root, Reason& reason, ChildEnd& end) noexcept override {
    reason_ = reason;
    (void)PlaceWait<T>::cancel(root, reason, end);
    return cx::WaitState::ready;
  }
  Sent<T> result() {
    if (reason_) return unsent(Errc::cancelled, std::move(value_), std::move(reason_));
    if (refused_) return unsent(Errc::disconnected, std::move(value_));
    return this->pipe()->commit(this->take_place(), std::move(value_));
  }

  using Shortcut = std::conditional_t<Pipe<T>::moves_in_turn, SentShortcut<T>, SendShortcut<T>>;

 protected:
  ~SendWait() = default;

 private:
  T value_;
  Reason reason_{};
  bool refused_ = false;
};

template <class T>
class Sender {
 public:
  /// For who makes channels. Needs: the pipe counts this sender already.
  explicit Sender(Hold<Pipe<T>> pipe) noexcept : pipe_(std::move(pipe)) {}
  /// One more sender of the same channel.
  Sender(const Sender& other) noexcept : pipe_(other.pipe_) {
    if (pipe_) pipe_->add_sender();
  }
  Sender(Sender&& other) noexcept = default;
  Sender& operator=(Sender other) noexcept {
    std::swap(pipe_, other.pipe_);
    return *this;
  }
  /// Without senders and permits the channel has ended: who receives learns it when the queue is empty.
  ~Sender() {
    if (pipe_) pipe_->leave_sender();
  }

  /// Waits for a place. Gives: a Permit. Fails: disconnected when nobody receives any more.
  /// What it gives is awaited while this end is there, as that of send(); from then on the wait keeps the channel.
  [[nodiscard]] cx::WaitFor<ReserveWait<T>, cx::GivenContext, Pipe<T>*> reserve(CxOf<> cx) const noexcept CALM_OF_THIS {
    return cx::WaitFor<ReserveWait<T>, cx::GivenContext, Pipe<T>*>(cx::GivenContext(cx), &*pipe_);
  }
  /// The same without waiting. Fails: disconnected; full, also while others wait.
  [[nodiscard]] Outcome<Permit<T>> try_reserve() const noexcept {
    Errc why{};
    const auto place = pipe_->try_reserve(why);
    if (!place) return err(why);
    return ok(Permit<T>(pipe_, *place));
  }
  /// Waits for a place and sends. Gives: Sent, with the value in it when it was not sent: disconnected or cancelled.
  /// Fails: what the move of T throws.
  [[nodiscard]] cx::WaitFor<SendWait<T>, cx::GivenContext, Pipe<T>*, T> send(CxOf<> cx, T value) const
      noexcept(std::is_nothrow_move_constructible_v<T>) CALM_OF_THIS {
    return cx::WaitFor<SendWait<T>, cx::GivenContext, Pipe<T>*, T>(cx::GivenContext(cx), &*pipe_, std::move(value));
  }
  /// Sends without waiting. Fails: full, also while others wait; disconnected; the value comes back.
  Sent<T> try_send(T value) const {
    Errc why{};
    const auto place = pipe_->try_reserve(why);
    if (!place) return unsent(why, std::move(value));
    return pipe_->commit(*place, std::move(value));
  }
  /// Sends at once, in the place of the oldest value when there is no room or others wait. Gives: that value, if one had
  /// to go. Fails: full when all places are promised or handed out; disconnected; the value comes back.
  [[nodiscard]] Outcome<std::optional<T>, Unsent<T>> send_evict_oldest(T value) const noexcept {
    static_assert(
        std::is_nothrow_move_constructible_v<T>,
        "calm: an eviction moves two values, and if the second move could throw the first value would be lost "
        "(CHN-5); send a std::unique_ptr of it");
    return pipe_->send_evict_oldest(std::move(value));
  }

  [[nodiscard]] bool is_closed() const noexcept { return pipe_->looks_closed(); }
  [[nodiscard]] Counts counts() const noexcept { return pipe_->counts(); }

 private:
  Hold<Pipe<T>> pipe_;
};

}  // namespace calm::channel
