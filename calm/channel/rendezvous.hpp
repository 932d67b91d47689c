// rendezvous.hpp — a channel without room: a send ends when a receiver has taken the value, hand to hand.
// Laws:    CHN-11, CHN-4, CHN-7, CHN-8
// Threads: the tasks of one runtime, on any of its workers; see sync/line.hpp
// Cancel:  a waiting send() gives its value back: nobody has taken it; a waiting recv() has taken nothing
//
// The value stays with the sender until a receiver that runs takes it. A receiver is woken for an offer and takes the oldest
// one there is by then; when that was withdrawn meanwhile, it waits again, at the end of the line. It is taken out of the
// sender's frame in a turn of the channel, so that the frame cannot end meanwhile: the move of T must not use the channel.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#include "calm/channel/hold.hpp"
#include "calm/channel/mpsc.hpp"
#include "calm/channel/unsent.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/outcome.hpp"
#include "calm/sync/line.hpp"

namespace calm::channel {

template <class T>
class OfferWait;

/// The insides of a rendezvous: those who offer a value, and those who want one.
template <class T>
class Meeting : public Held {
 public:
  /// One side, as sync::LineWait wants it. Who offers always waits for a receiver to take it.
  class Side {
   public:
    Side(Meeting& meeting, CxOf<> cx) noexcept : meeting_(meeting), line_(cx) {}
    Side(Meeting& meeting, const sync::Line& first) noexcept : meeting_(meeting), line_(sync::Line::Beside{first}) {}

    [[nodiscard]] sync::Line& line() noexcept { return line_; }
    [[nodiscard]] bool try_admit(const sync::Waiter& /*waiter*/, TaskId /*task*/) noexcept {
      return this == &meeting_.takers_ && meeting_.has_offer();
    }
    [[nodiscard]] bool refuses(const sync::Waiter& /*waiter*/, TaskId /*task*/, ChildEnd& end) const noexcept {
      const bool alone = this == &meeting_.offers_ ? meeting_.receivers_ == 0 : meeting_.is_over();
      if (alone) end = err(Errc::disconnected);
      return alone;
    }
    void left(const sync::Waiter& /*waiter*/) noexcept { meeting_.serve(); }
    void take_back(const sync::Waiter& /*waiter*/) noexcept { meeting_.serve(); }

   private:
    Meeting& meeting_;
    sync::Line line_;
  };

  explicit Meeting(CxOf<> cx) noexcept
      : Held(cx::context_of(cx).root()->port().is_shared()), offers_(*this, cx), takers_(*this, offers_.line()) {}

  // --- in a turn ---

  [[nodiscard]] Side& offers() noexcept { return offers_; }
  [[nodiscard]] Side& takers() noexcept { return takers_; }
  [[nodiscard]] bool has_offer() noexcept { return !offers_.line().empty(); }
  /// Gives: true when who comes now to take would wait for nothing.
  [[nodiscard]] bool is_over() noexcept { return receivers_ == 0 || (senders_ == 0 && !has_offer()); }

  /// Wakes a receiver for an offer, and those who wait for nothing.
  void serve() noexcept {
    sync::Line& line = takers_.line();
    if (!line.empty() && has_offer()) line.grant(*line.first());
    while (!line.empty() && is_over()) line.grant(*line.first());
  }
  /// Gives: the oldest value that is offered; its sender is told. Needs: has_offer().
  /// Fails: what the move of T throws; the offer stands.
  [[nodiscard]] T take();

  // --- outside ---

  /// The same for who did not wait. Fails: empty; disconnected; what the move of T throws.
  [[nodiscard]] Outcome<T> try_take() {
    const sync::Line::Turn turn(offers_.line());
    offers_.line().reads();
    if (has_offer()) return ok(take());
    return err(is_over() ? Errc::disconnected : Errc::empty);
  }
  void add_sender() noexcept {
    const sync::Line::Turn turn(offers_.line());
    offers_.line().writes();
    ++senders_;
  }
  void leave_sender() noexcept {
    const sync::Line::Turn turn(offers_.line());
    offers_.line().writes();
    --senders_;
    serve();
  }
  void add_receiver() noexcept {
    const sync::Line::Turn turn(offers_.line());
    offers_.line().writes();
    ++receivers_;
  }
  void leave_receiver() noexcept;

 private:
  Side offers_;
  Side takers_;
  std::uint32_t senders_ = 1;
  std::uint32_t receivers_ = 1;
};

/// Waits with a value until it is taken. Never fails: what went wrong is in the result, with the value.
template <class T>
class OfferWait : public sync::LineWait<typename Meeting<T>::Side> {
 public:
  using Base = sync::LineWait<typename Meeting<T>::Side>;

  OfferWait(const cx::Context* context, Hold<Meeting<T>> meeting, T value)
      : Base(context, &meeting->offers()), meeting_(std::move(meeting)), value_(std::move(value)) {}

  cx::WaitState step(cx::TaskRoot& root, ChildEnd& end) noexcept override {
    const sync::Line::Turn turn(meeting_->offers().line());
    return offer(root, end);
  }
  cx::WaitState cancel(cx::TaskRoot& root, Reason& reason, ChildEnd& end) noexcept override {
    const sync::Line::Turn turn(meeting_->offers().line());
    if (taken_) return offer(root, end);  // a receiver has it
    this->withdraw_in_turn();
    reason_ = std::move(reason);
    return cx::WaitState::ready;
  }
  Sent<T> result() {
    if (taken_) return ok();
    const Errc why = reason_ ? Errc::cancelled : Errc::disconnected;  // before the reason is moved
    return unsent(why, std::move(value_), std::move(reason_));
  }

  // For the meeting, which decides, in a turn.
  [[nodiscard]] T& value() noexcept { return value_; }
  void take() noexcept { taken_ = true; }

 protected:
  ~OfferWait() { Base::abandon(); }

 private:
  cx::WaitState offer(cx::TaskRoot& root, ChildEnd& end) noexcept {
    const bool came = this->place() == sync::Place::outside;
    const cx::WaitState state = this->step_in_turn(root, end);
    if (state == cx::WaitState::failed) return cx::WaitState::ready;
    if (came) meeting_->serve();
    if (state == cx::WaitState::ready) this->use_grant();
    return state;
  }

  Hold<Meeting<T>> meeting_;
  T value_;
  Reason reason_{};
  bool taken_ = false;
};

template <class T>
class MeetWait : public sync::LineWait<typename Meeting<T>::Side> {
 public:
  using Base = sync::LineWait<typename Meeting<T>::Side>;

  MeetWait(const cx::Context* context, Hold<Meeting<T>> meeting) noexcept
      : Base(context, &meeting->takers()), meeting_(std::move(meeting)) {}

  /// It takes in the same turn: the next moment another receiver may have it.
  [[nodiscard]] bool at_once(cx::TaskRoot& root) noexcept {
    const sync::Line::Turn turn(meeting_->offers().line());
    if (!Base::at_once_in_turn(root)) return false;
    take();
    return true;
  }
  cx::WaitState step(cx::TaskRoot& root, ChildEnd& end) noexcept override {
    if (has_value_ || exception_) return cx::WaitState::ready;
    const sync::Line::Turn turn(meeting_->offers().line());
    cx::WaitState state = this->step_in_turn(root, end);
    if (state == cx::WaitState::ready && !meeting_->has_offer()) {
      this->use_grant();  // the offer was withdrawn, or there will be none
      state = this->step_in_turn(root, end);
    }
    if (state == cx::WaitState::ready) take();
    return state;
  }
  T result() {
    if (exception_) std::rethrow_exception(exception_);
    return std::move(value_);
  }

 protected:
  ~MeetWait() {
    Base::abandon();
    if (has_value_) value_.~T();
  }

 private:
  /// One move, straight into its place: when that throws, the offer stands.
  void take() noexcept {
    this->use_grant();
    try {
      ::new (static_cast<void*>(&value_)) T(meeting_->take());
      has_value_ = true;
    } catch (...) {
      exception_ = std::current_exception();
    }
  }

  Hold<Meeting<T>> meeting_;
  union {
    T value_;  // NOLINT(readability-identifier-naming): private as the others; there when it has one
  };
  std::exception_ptr exception_;
  bool has_value_ = false;
};

template <class T>
T Meeting<T>::take() {
  auto& offer = static_cast<OfferWait<T>&>(*offers_.line().first());
  /// When the value has moved, the offer has ended and the next receiver is served; a value that could not move stays.
  class Taking {
   public:
    Taking(Meeting& meeting, OfferWait<T>& taken) noexcept
        : meeting_(meeting), taken_(taken), exceptions_(std::uncaught_exceptions()) {}
    Taking(const Taking&) = delete;
    Taking& operator=(const Taking&) = delete;
    ~Taking() {
      if (std::uncaught_exceptions() == exceptions_) {
        taken_.take();
        meeting_.offers_.line().grant(taken_);
      }
      meeting_.serve();
    }

   private:
    Meeting& meeting_;
    OfferWait<T>& taken_;
    int exceptions_;
  };
  const Taking taking(*this, offer);
  return T(std::move(offer.value()));
}

template <class T>
void Meeting<T>::leave_receiver() noexcept {
  const sync::Line::Turn turn(offers_.line());
  offers_.line().writes();
  if (--receivers_ != 0) return;
  while (has_offer()) offers_.line().grant(*offers_.line().first());
  serve();
}

/// A copy is one more sender.
template <class T>
class MeetingSender {
 public:
  explicit MeetingSender(Hold<Meeting<T>> meeting) noexcept : meeting_(std::move(meeting)) {}
  MeetingSender(const MeetingSender& other) noexcept : meeting_(other.meeting_) {
    if (meeting_) meeting_->add_sender();
  }
  MeetingSender(MeetingSender&&) noexcept = default;
  MeetingSender& operator=(MeetingSender other) noexcept {
    std::swap(meeting_, other.meeting_);
    return *this;
  }
  ~MeetingSender() {
    if (meeting_) meeting_->leave_sender();
  }

  /// Offers a value until a receiver has taken it. Gives: Sent, with the value in it when nobody did: disconnected or
  /// cancelled. Fails: what the move of T throws.
  [[nodiscard]] cx::WaitFor<OfferWait<T>, const cx::Context*, Hold<Meeting<T>>, T> send(CxOf<> cx, T value) const {
    return cx::WaitFor<OfferWait<T>, const cx::Context*, Hold<Meeting<T>>, T>(&cx::context_of(cx), meeting_,
                                                                              std::move(value));
  }

 private:
  Hold<Meeting<T>> meeting_;
};

/// A copy is one more receiver.
template <class T>
class MeetingReceiver {
 public:
  explicit MeetingReceiver(Hold<Meeting<T>> meeting) noexcept : meeting_(std::move(meeting)) {}
  MeetingReceiver(const MeetingReceiver& other) noexcept : meeting_(other.meeting_) {
    if (meeting_) meeting_->add_receiver();
  }
  MeetingReceiver(MeetingReceiver&&) noexcept = default;
  MeetingReceiver& operator=(MeetingReceiver other) noexcept {
    std::swap(meeting_, other.meeting_);
    return *this;
  }
  ~MeetingReceiver() {
    if (meeting_) meeting_->leave_receiver();
  }

  /// Waits for an offer and takes it. Fails: disconnected when all senders are gone; what the move of T throws.
  [[nodiscard]] cx::WaitFor<MeetWait<T>, const cx::Context*, Hold<Meeting<T>>> recv(CxOf<> cx) const noexcept {
    return cx::WaitFor<MeetWait<T>, const cx::Context*, Hold<Meeting<T>>>(&cx::context_of(cx), meeting_);
  }
  /// Takes an offer that is there. Fails: empty; disconnected.
  [[nodiscard]] Outcome<T> try_recv() const { return meeting_->try_take(); }

 private:
  Hold<Meeting<T>> meeting_;
};

/// Both ends of a rendezvous.
template <class T>
struct Rendezvous {
  MeetingSender<T> sender;
  MeetingReceiver<T> receiver;
};

/// Makes a channel without room. Fails: resource_exhausted.
template <Message T>
[[nodiscard]] Outcome<Rendezvous<T>> rendezvous(CxOf<> cx) noexcept {
  try {
    const Hold<Meeting<T>> meeting(new Meeting<T>(cx));
    return ok(Rendezvous<T>{MeetingSender<T>(meeting), MeetingReceiver<T>(meeting)});
  } catch (const std::bad_alloc&) {
    return err(Errc::resource_exhausted, "no memory for a channel");
  }
}

}  // namespace calm::channel
