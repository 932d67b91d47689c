// oneshot.hpp — one value, once, from one task to another: an answer.
// Laws:    CHN-11, CHN-3, CHN-4, CHN-8
// Threads: the tasks of one runtime, on any of its workers; see sync/line.hpp
// Cancel:  sending never waits; a waiting recv() leaves and has taken nothing
//
// The sender is its own permit: the place is there from the beginning.
#pragma once

#include <utility>

#include "calm/channel/mpsc.hpp"
#include "calm/channel/pipe.hpp"
#include "calm/channel/receiver.hpp"

namespace calm::channel {

template <class T>
class [[nodiscard("a oneshot sender that is dropped sends nothing")]] OneshotSender {
 public:
  using Place = typename Pipe<T>::Place;

  /// For oneshot(). Needs: a promised place.
  OneshotSender(Hold<Pipe<T>> pipe, Place place) noexcept : pipe_(std::move(pipe)), place_(place) {}
  OneshotSender(OneshotSender&& other) noexcept = default;
  OneshotSender& operator=(OneshotSender&& other) noexcept {
    std::swap(pipe_, other.pipe_);
    std::swap(place_, other.place_);
    return *this;
  }
  /// Without a value: who receives learns that none will come.
  ~OneshotSender() {
    if (pipe_) pipe_->abort(place_);
  }

  /// Sends; the sender is spent with it. Fails: disconnected when the receiver has left; obligation_already_resolved for a
  ///        second time. The value comes back.
  Sent<T> send(T value) && {
    if (!pipe_) return unsent(Errc::obligation_already_resolved, std::move(value));
    const Hold<Pipe<T>> pipe = std::move(pipe_);
    return pipe->commit(place_, std::move(value));
  }
  /// Gives: true when nobody waits for the value any more. Needs: not sent yet.
  [[nodiscard]] bool is_closed() const noexcept { return pipe_->looks_closed(); }

 private:
  Hold<Pipe<T>> pipe_;
  Place place_;
};

/// Both ends of a oneshot.
template <class T>
struct Oneshot {
  OneshotSender<T> sender;
  Receiver<T> receiver;
};

/// Makes a channel for one value. Fails: resource_exhausted.
template <Message T>
[[nodiscard]] Outcome<Oneshot<T>> oneshot(CxOf<> cx) noexcept {
  Outcome<Hold<Pipe<T>>> made = make_pipe<T>(cx, 1);
  if (!made) return err(Error(made.error()));
  const Hold<Pipe<T>>& pipe = made.value();
  Receiver<T> receiver(pipe);
  OneshotSender<T> sender(pipe, pipe->slots().reserve());
  pipe->leave_sender();
  return ok(Oneshot<T>{std::move(sender), std::move(receiver)});
}

}  // namespace calm::channel
