// broadcast.hpp — every receiver gets every value, the last `capacity` of them; one that lags learns how many it missed.
// Laws:    CHN-11, CHN-4
// Threads: the tasks of one runtime, on any of its workers; see sync/line.hpp
// Cancel:  sending never waits; a cancelled recv() has taken nothing: the value is still the next one
//
// Values are copied to each receiver. The oldest gives way to a new one whether everybody had it or not, so a slow receiver
// holds nobody up; what it missed it is told with the next value. Whoever copies a value keeps it alive meanwhile.
#pragma once

#include <concepts>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "calm/channel/hold.hpp"
#include "calm/channel/news.hpp"
#include "calm/channel/shared_value.hpp"
#include "calm/channel/unsent.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/wait.hpp"
#include "calm/lockfree/relaxed.hpp"
#include "calm/mem/ref.hpp"
#include "calm/model/outcome.hpp"

namespace calm::channel {

/// A value, and how many this receiver missed before it.
template <class T>
struct Heard {
  T value;
  std::uint64_t missed = 0;
};

/// The insides of a broadcast: values have numbers, from 0; number n stands at n modulo capacity.
template <class T>
class Air : public News<Air<T>> {
 public:
  Air(CxOf<> cx, std::uint32_t capacity) : News<Air>(cx), values_(capacity) {}

  /// In a turn.
  [[nodiscard]] bool has_ended() const noexcept { return senders_ == 0; }
  /// Anywhere: what was sent stays sent.
  [[nodiscard]] bool has_news(std::uint64_t next) const noexcept { return next < sent_.get(); }

  /// Gives: the value back when there is nobody to send it to, or no memory.
  [[nodiscard]] Sent<T> send(T&& value) noexcept {
    if (!looks_received()) return unsent(Errc::disconnected, std::move(value));
    mem::Ref<SharedValue<T>> fresh = SharedValue<T>::make(std::move(value));
    if (!fresh) return unsent(Errc::resource_exhausted, std::move(value));
    const sync::Line::Turn turn(this->line());
    std::swap(values_[sent_.get() % values_.size()], fresh);  // what gives way ends after the turn
    sent_.set(sent_.get() + 1);
    this->wake_all();
    return ok();
  }
  /// Gives: the next value of who stands at `next`, which moves on. Needs: there is one. Fails: what the copy of T throws,
  ///        and nothing has moved.
  [[nodiscard]] Heard<T> hear(std::uint64_t& next) const {
    std::uint64_t number = next;
    const mem::Ref<SharedValue<T>> value = find(number);
    Heard<T> heard{value->get(), number - next};
    next = number + 1;
    return heard;
  }
  /// Gives: Ok when there is a value for who stands at `next`. Fails: empty; disconnected.
  [[nodiscard]] Status can_hear(std::uint64_t next) const noexcept {
    const sync::Line::Turn turn(this->line());
    this->line().reads();
    if (has_news(next)) return {};
    return has_ended() ? Errc::disconnected : Errc::empty;
  }

  void add_sender() noexcept {
    const sync::Line::Turn turn(this->line());
    this->line().writes();
    ++senders_;
  }
  void leave_sender() noexcept {
    const sync::Line::Turn turn(this->line());
    this->line().writes();
    if (--senders_ == 0) this->wake_all();
  }
  void add_receiver() noexcept {
    const sync::Line::Turn turn(this->line());
    this->line().writes();
    ++receivers_;
  }
  /// Gives: where it stands, for what is sent from now on.
  [[nodiscard]] std::uint64_t subscribe() noexcept {
    const sync::Line::Turn turn(this->line());
    this->line().writes();
    ++receivers_;
    return sent_.get();
  }
  void leave_receiver() noexcept {
    const sync::Line::Turn turn(this->line());
    this->line().writes();
    --receivers_;
  }

 private:
  [[nodiscard]] bool looks_received() const noexcept {
    const sync::Line::Turn turn(this->line());
    this->line().reads();
    return receivers_ != 0;
  }
  /// Gives: the value of that number, or the oldest one there is, and `number` says which. Needs: it was sent.
  [[nodiscard]] mem::Ref<SharedValue<T>> find(std::uint64_t& number) const noexcept {
    const sync::Line::Turn turn(this->line());
    this->line().reads();
    const std::uint64_t sent = sent_.get();
    const std::uint64_t oldest = sent > values_.size() ? sent - values_.size() : 0;
    if (number < oldest) number = oldest;
    return values_[number % values_.size()];
  }

  std::vector<mem::Ref<SharedValue<T>>> values_;
  lockfree::Relaxed<std::uint64_t> sent_{0};
  std::uint32_t senders_ = 1;
  std::uint32_t receivers_ = 1;
};

template <class T>
class HearWait : public NewsWait<Air<T>> {
 public:
  using NewsWait<Air<T>>::NewsWait;
  Heard<T> result() {
    this->use_grant();
    return this->state().hear(this->at());
  }

 protected:
  ~HearWait() = default;
};

/// A copy stands where the original stands.
template <class T>
class BroadcastReceiver {
 public:
  /// Needs: the insides count this receiver already.
  BroadcastReceiver(Hold<Air<T>> air, std::uint64_t next) noexcept : air_(std::move(air)), next_(next) {}
  BroadcastReceiver(const BroadcastReceiver& other) noexcept : air_(other.air_), next_(other.next_) {
    if (air_) air_->add_receiver();
  }
  BroadcastReceiver(BroadcastReceiver&&) noexcept = default;
  BroadcastReceiver& operator=(BroadcastReceiver other) noexcept {
    std::swap(air_, other.air_);
    std::swap(next_, other.next_);
    return *this;
  }
  ~BroadcastReceiver() {
    if (air_) air_->leave_receiver();
  }

  /// Waits for the next value. Gives: it, and how many were missed before it. Fails: disconnected when all senders are gone
  /// and nothing is left; what the copy of T throws. Needs: the receiver stays where it is until then.
  [[nodiscard]] cx::WaitFor<HearWait<T>, const cx::Context*, Hold<Air<T>>, std::uint64_t*> recv(CxOf<> cx) noexcept {
    return cx::WaitFor<HearWait<T>, const cx::Context*, Hold<Air<T>>, std::uint64_t*>(&cx::context_of(cx), air_,
                                                                                      &next_);
  }
  /// Without waiting. Fails: empty; disconnected.
  [[nodiscard]] Outcome<Heard<T>> try_recv() {
    if (const Status status = air_->can_hear(next_); !status) return err(status.error());
    return ok(air_->hear(next_));
  }

 private:
  Hold<Air<T>> air_;
  std::uint64_t next_;
};

/// A copy is one more sender.
template <class T>
class BroadcastSender {
 public:
  explicit BroadcastSender(Hold<Air<T>> air) noexcept : air_(std::move(air)) {}
  BroadcastSender(const BroadcastSender& other) noexcept : air_(other.air_) {
    if (air_) air_->add_sender();
  }
  BroadcastSender(BroadcastSender&&) noexcept = default;
  BroadcastSender& operator=(BroadcastSender other) noexcept {
    std::swap(air_, other.air_);
    return *this;
  }
  ~BroadcastSender() {
    if (air_) air_->leave_sender();
  }

  /// Sends to all receivers there are. Fails: disconnected when there is none; resource_exhausted; the value comes back.
  Sent<T> send(T value) const noexcept { return air_->send(std::move(value)); }
  /// Gives: one more receiver, for what is sent from now on.
  [[nodiscard]] BroadcastReceiver<T> subscribe() const noexcept {
    return BroadcastReceiver<T>(air_, air_->subscribe());
  }

 private:
  Hold<Air<T>> air_;
};

/// Both ends of a broadcast.
template <class T>
struct Broadcast {
  BroadcastSender<T> sender;
  BroadcastReceiver<T> receiver;
};

/// Makes a broadcast that keeps the last `capacity` values. Fails: invalid_argument for 0; resource_exhausted.
template <std::copy_constructible T>
[[nodiscard]] Outcome<Broadcast<T>> broadcast(CxOf<> cx, std::uint32_t capacity) noexcept {
  static_assert(
      std::is_nothrow_move_constructible_v<T>,
      "calm: a broadcast puts a value in the place of an older one, and a move that throws would leave a gap; "
      "send a std::shared_ptr to it (CHN-11)");
  if (capacity == 0) return err(Errc::invalid_argument, "a broadcast keeps at least one value");
  try {
    const Hold<Air<T>> air(new Air<T>(cx, capacity));
    return ok(Broadcast<T>{BroadcastSender<T>(air), BroadcastReceiver<T>(air, 0)});
  } catch (const std::bad_alloc&) {
    return err(Errc::resource_exhausted, "no memory for a broadcast");
  }
}

}  // namespace calm::channel
