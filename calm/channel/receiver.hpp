// receiver.hpp — the end of a channel that values come out of, oldest first.
// Laws:    CHN-4, CHN-6, CHN-7, CHN-8, CHN-10
// Threads: the tasks of one runtime, on any of its workers; see sync/line.hpp
// Cancel:  a waiting receive leaves the line and has taken no value
//
//   while (true) {
//     std::optional<Order> order = co_await receiver.next(cx);   // nothing: all senders are gone and the queue is empty
//     if (!order) break;
//     co_await handle(cx, std::move(*order));
//   }
#pragma once

#include <cstddef>
#include <optional>
#include <source_location>
#include <utility>
#include <vector>

#include "calm/channel/delivery.hpp"
#include "calm/channel/pipe_waits.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/outcome.hpp"

namespace calm::channel {

template <class T>
class ReceiveWait : public ValueWait<T> {
 public:
  using ValueWait<T>::ValueWait;
  using Shortcut = ReceiveShortcut<T>;
  T result() { return this->receive(); }

 protected:
  ~ReceiveWait() = default;
};

/// The same, and the end of the channel is no failure.
template <class T>
class NextWait : public ValueWait<T> {
 public:
  using ValueWait<T>::ValueWait;

  cx::WaitState step(cx::TaskRoot& root, ChildEnd& end) noexcept override {
    const cx::WaitState state = ValueWait<T>::step(root, end);
    if (state != cx::WaitState::failed) return state;
    over_ = true;
    return cx::WaitState::ready;
  }
  std::optional<T> result() {
    if (over_) return std::nullopt;
    return std::optional<T>(this->receive());
  }

  class Shortcut : public ReceiveShortcut<T> {
   public:
    using ReceiveShortcut<T>::ReceiveShortcut;
    [[gnu::always_inline]] std::optional<T> result() { return std::optional<T>(ReceiveShortcut<T>::result()); }
  };

 protected:
  ~NextWait() = default;

 private:
  bool over_ = false;
};

/// Waits for one and takes what else is there.
template <class T>
class ManyWait : public ValueWait<T> {
 public:
  ManyWait(const cx::Context* context, Pipe<T>* pipe, std::vector<T>* into, std::size_t most) noexcept
      : ValueWait<T>(context, pipe), into_(into), most_(most) {}

  std::size_t result() {
    make_room();  // throws before a value is taken
    std::optional<typename Slots<T>::Place> place = this->take_place();
    std::size_t count = 0;
    Errc why{};
    while (place) {
      this->pipe()->receive_into(*into_, *place);
      if (++count == most_) break;
      make_room();
      place = this->pipe()->try_take(why);
    }
    return count;
  }

 protected:
  ~ManyWait() = default;

 private:
  void make_room() {
    if (into_->size() == into_->capacity()) into_->reserve(2 * into_->capacity() + 1);
  }

  std::vector<T>* into_;
  std::size_t most_;
};

/// What all receivers can do.
template <class T>
class ReceiverBase {
 public:
  ReceiverBase& operator=(const ReceiverBase&) = delete;

  // What these give is awaited while this end is there; from then on the wait keeps the channel.

  /// Waits for a value. Fails: disconnected when all senders are gone, or close() was called, and the queue is empty and no
  /// delivery is open: one that is nacked would be the next value.
  [[nodiscard]] cx::WaitFor<ReceiveWait<T>, cx::GivenContext, Pipe<T>*> recv(CxOf<> cx) const noexcept CALM_OF_THIS {
    return cx::WaitFor<ReceiveWait<T>, cx::GivenContext, Pipe<T>*>(cx::GivenContext(cx), &*pipe_);
  }
  /// The same for loops. Gives: nothing where recv() would say disconnected.
  [[nodiscard]] cx::WaitFor<NextWait<T>, cx::GivenContext, Pipe<T>*> next(CxOf<> cx) const noexcept CALM_OF_THIS {
    return cx::WaitFor<NextWait<T>, cx::GivenContext, Pipe<T>*>(cx::GivenContext(cx), &*pipe_);
  }
  /// Waits for a value, then takes up to `most` of those that are there, to the end of `into`.
  /// Needs: most > 0; `into` outlives the wait. Gives: how many. Fails: as recv(); std::bad_alloc and what the move of T
  /// throws: what stands in `into` by then is received, the rest is still queued. (A vector that grows moves what it has:
  /// where that may throw, reserve room in it before.)
  [[nodiscard]] cx::WaitFor<ManyWait<T>, const cx::Context*, Pipe<T>*, std::vector<T>*, std::size_t> recv_many(
      CxOf<> cx, std::vector<T>& into, std::size_t most) const noexcept CALM_OF_THIS {
    CALM_REQUIRE(CHN_6, most > 0);
    return cx::WaitFor<ManyWait<T>, const cx::Context*, Pipe<T>*, std::vector<T>*, std::size_t>(&cx::context_of(cx),
                                                                                                &*pipe_, &into, most);
  }
  /// Waits for a value that must be acknowledged. Gives: a Delivery. Fails: as recv(); as calm::reserve(). A task that has
  /// deliveries open and waits for one more may wait for itself: settle them first.
  [[nodiscard]] CALM_CORO_WRAPPER Task<Delivery<T>> recv_with_ack(
      CxOf<> cx, std::source_location site = std::source_location::current()) const {
    return deliver<T>(cx, pipe_, site);
  }
  /// Without waiting. Fails: empty, also while others wait; disconnected.
  [[nodiscard]] Outcome<T> try_recv() const {
    Errc why{};
    const auto place = pipe_->try_take(why);
    if (!place) return err(why);
    return ok(pipe_->receive(*place));
  }

  /// Nothing new is taken in; what is queued, and what was promised to those who hold permits, can still be received.
  void close() const noexcept { pipe_->close(); }
  [[nodiscard]] Counts counts() const noexcept { return pipe_->counts(); }

 protected:
  explicit ReceiverBase(Hold<Pipe<T>> pipe) noexcept : pipe_(std::move(pipe)) {}
  ReceiverBase(const ReceiverBase& other) noexcept : pipe_(other.pipe_) {
    if (pipe_) pipe_->add_receiver();
  }
  ReceiverBase(ReceiverBase&& other) noexcept = default;
  ReceiverBase& operator=(ReceiverBase&& other) noexcept {
    std::swap(pipe_, other.pipe_);
    return *this;
  }
  /// The last one closes the channel for ever; what is queued is destroyed.
  ~ReceiverBase() {
    if (pipe_) pipe_->leave_receiver();
  }

 private:
  Hold<Pipe<T>> pipe_;
};

/// The only one of its channel.
template <class T>
class Receiver : public ReceiverBase<T> {
 public:
  /// For who makes channels. Needs: the pipe counts this receiver already.
  explicit Receiver(Hold<Pipe<T>> pipe) noexcept : ReceiverBase<T>(std::move(pipe)) {}
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  Receiver(Receiver&&) noexcept = default;
  Receiver& operator=(Receiver&&) noexcept = default;
  ~Receiver() = default;
};

}  // namespace calm::channel
