// delivery.hpp — a value that was received and must be acknowledged: committed it is gone, else it is available again.
// Laws:    CHN-10, OBL-2 (an ack has a record), OBL-4
// Threads: the tasks of one runtime, on any of its workers; see Obligation for who must settle it
// Cancel:  none of it waits; a delivery that is dropped, by a cancel too, puts its value back at the front
//
// The value stays in its place in the channel until the acknowledgement: so a nack always finds room, and moves nothing.
#pragma once

#include <source_location>
#include <utility>

#include "calm/channel/pipe_waits.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"

namespace calm::channel {

/// A value that was handed out; unless it is finished, it goes back to the front.
template <class T>
class HandedOut {
 public:
  using Place = typename Pipe<T>::Place;

  HandedOut(Hold<Pipe<T>> pipe, Place place) noexcept : pipe_(std::move(pipe)), place_(place) {}
  HandedOut(HandedOut&& other) noexcept = default;
  HandedOut& operator=(HandedOut&& other) noexcept {
    std::swap(pipe_, other.pipe_);
    std::swap(place_, other.place_);
    return *this;
  }
  ~HandedOut() {
    if (pipe_) pipe_->put_back(place_);
  }

  [[nodiscard]] T& item() const noexcept { return pipe_->slots().value(place_); }
  void finish() noexcept { std::exchange(pipe_, {})->finish(place_); }
  void put_back() noexcept { std::exchange(pipe_, {})->put_back(place_); }

 private:
  Hold<Pipe<T>> pipe_;
  Place place_;
};

template <class T>
class [[nodiscard("a delivery that is dropped is not acknowledged")]] Delivery {
 public:
  Delivery(HandedOut<T> item, Obligation ack) noexcept : item_(std::move(item)), ack_(std::move(ack)) {}
  Delivery(Delivery&& other) noexcept = default;
  Delivery& operator=(Delivery&& other) noexcept = default;
  /// Not acknowledged: as nack().
  ~Delivery() {
    if (ack_.id()) (void)ack_.abort();
  }

  /// Needs: neither commit() nor nack() was called.
  [[nodiscard]] T& item() noexcept { return item_.item(); }
  [[nodiscard]] const T& item() const noexcept { return item_.item(); }

  /// The value has been dealt with: it is destroyed and its place is free.
  /// Fails: obligation_already_resolved, obligation_leaked when the task that received it has ended meanwhile: the value is
  ///        available again.
  Status commit() && { return settle(true); }
  /// The value is the next to be received again. Fails: obligation_already_resolved; obligation_leaked.
  Status nack() && { return settle(false); }

 private:
  Status settle(bool commit) noexcept {
    if (!ack_.id()) return Errc::obligation_already_resolved;
    const Status status = commit ? ack_.commit() : ack_.abort();
    if (commit && status) {
      item_.finish();
    } else {
      item_.put_back();
    }
    return status;
  }

  HandedOut<T> item_;
  Obligation ack_;
};

template <class T>
class HandOutWait : public ValueWait<T> {
 public:
  using ValueWait<T>::ValueWait;
  HandedOut<T> result() noexcept {
    this->use_grant();
    return HandedOut<T>(this->pipe(), this->pipe()->hand_out());
  }

 protected:
  ~HandOutWait() = default;
};

/// What recv_with_ack() does. Nothing suspends between the value and its promise.
template <class T>
Task<Delivery<T>> deliver(CxOf<> cx, Hold<Pipe<T>> pipe, std::source_location site) {
  const trace::ResourceId channel = pipe->intake().line().resource();
  HandedOut<T> item = co_await cx::WaitFor<HandOutWait<T>, const cx::Context*, Pipe<T>*>(&cx::context_of(cx), &*pipe);
  Obligation ack = co_await reserve(cx, ObligationKind::ack, channel, site);
  co_return Delivery<T>(std::move(item), std::move(ack));
}

}  // namespace calm::channel
