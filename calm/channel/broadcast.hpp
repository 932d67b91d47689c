// broadcast.hpp — every receiver gets every value, the last `capacity` of them; one that lags learns how many it missed.
// Laws:    CHN-11, CHN-4
// Threads: the tasks of one worker
// Cancel:  sending never waits; a cancelled recv() has taken nothing: the value is still the next one
//
// Values are copied to each receiver. The oldest gives way to a new one whether everybody had it or not, so a slow receiver
// holds nobody up; what it missed it is told with the next value.
#pragma once

#include <concepts>
#include <cstdint>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "calm/channel/hold.hpp"
#include "calm/channel/news.hpp"
#include "calm/channel/unsent.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/wait.hpp"
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

  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  /// Gives: the number of the oldest value there is.
  [[nodiscard]] std::uint64_t oldest() const noexcept { return sent_ > values_.size() ? sent_ - values_.size() : 0; }
  [[nodiscard]] bool has_receivers() const noexcept { return receivers_ != 0; }
  [[nodiscard]] bool has_ended() const noexcept { return senders_ == 0; }
  [[nodiscard]] bool has_news(std::uint64_t next) const noexcept { return next < sent_; }
  void send(T&& value) noexcept {
    values_[sent_ % values_.size()].emplace(std::move(value));
    ++sent_;
    this->wake_all();
  }
  /// Gives: the next value of who stands at `next`, which moves on. Needs: there is one. Fails: what the copy of T throws,
  ///        and nothing has moved.
  [[nodiscard]] Heard<T> hear(std::uint64_t& next) const {
    this->line().reads();
    const std::uint64_t number = next < oldest() ? oldest() : next;
    Heard<T> heard{*values_[number % values_.size()], number - next};  // NOLINT(*-unchecked-optional-access): sent
    next = number + 1;
    return heard;
  }

  void add_sender() noexcept {
    this->line().writes();
    ++senders_;
  }
  void leave_sender() noexcept {
    this->line().writes();
    if (--senders_ == 0) this->wake_all();
  }
  void add_receiver() noexcept {
    this->line().writes();
    ++receivers_;
  }
  void leave_receiver() noexcept {
    this->line().writes();
    --receivers_;
  }

 private:
  std::vector<std::optional<T>> values_;
  std::uint64_t sent_ = 0;
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
    air_->line().reads();
    if (air_->has_news(next_)) return ok(air_->hear(next_));
    return err(air_->has_ended() ? Errc::disconnected : Errc::empty);
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

  /// Sends to all receivers there are. Fails: disconnected when there is none; the value comes back.
  Sent<T> send(T value) const noexcept {
    air_->line().reads();
    if (!air_->has_receivers()) return unsent(Errc::disconnected, std::move(value));
    air_->send(std::move(value));
    return ok();
  }
  /// Gives: one more receiver, for what is sent from now on.
  [[nodiscard]] BroadcastReceiver<T> subscribe() const noexcept {
    air_->add_receiver();
    return BroadcastReceiver<T>(air_, air_->sent());
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
