// watch.hpp — the latest value, for all who want to know when it changes: configuration, progress, state.
// Laws:    CHN-11, CHN-4
// Threads: the tasks of one runtime, on any of its workers; see sync/line.hpp
// Cancel:  sending never waits; a cancelled changed() has seen nothing: the change is still new
//
// A slow reader misses values in between and never the last one. Nothing can be lost, so there is no permit. Who looks at a
// value keeps it alive: a newer one takes its place, and does not change it.
#pragma once

#include <concepts>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

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

/// The insides of a watch.
template <class T>
class Watched : public News<Watched<T>> {
 public:
  Watched(CxOf<> cx, mem::Ref<SharedValue<T>> value) noexcept : News<Watched>(cx), value_(std::move(value)) {}

  /// Gives: the value; `kept` keeps it, where another worker may let it go.
  [[nodiscard]] const T& value(mem::Ref<SharedValue<T>>& kept) const noexcept {
    if (!this->line().port().is_shared()) [[likely]] {
      this->line().reads();
      return value_->get();
    }
    mem::Ref<SharedValue<T>> latest;
    {
      const sync::Line::Turn turn(this->line());
      latest = value_;
    }
    kept = std::move(latest);
    return kept->get();
  }
  /// In a turn.
  [[nodiscard]] bool has_ended() const noexcept { return ended_; }
  /// Anywhere: a moment late, and a change that was seen stays one.
  [[nodiscard]] bool has_news(std::uint64_t seen) const noexcept { return version_.get() != seen; }
  [[nodiscard]] std::uint64_t version() const noexcept { return version_.get(); }
  [[nodiscard]] bool looks_changed(std::uint64_t seen) const noexcept {
    const sync::Line::Turn turn(this->line());
    this->line().reads();
    return has_news(seen);
  }
  /// Gives: the value back when nobody is there to see it, or without memory.
  [[nodiscard]] Sent<T> replace(T&& value) noexcept {
    if (!looks_read()) return unsent(Errc::disconnected, std::move(value));
    mem::Ref<SharedValue<T>> fresh = SharedValue<T>::make(std::move(value));
    if (!fresh) return unsent(Errc::resource_exhausted, std::move(value));
    const sync::Line::Turn turn(this->line());
    std::swap(value_, fresh);  // the old one ends after the turn
    version_.set(version_.get() + 1);
    this->wake_all();
    return ok();
  }
  void add_reader() noexcept {
    const sync::Line::Turn turn(this->line());
    this->line().writes();
    ++readers_;
  }
  void leave_reader() noexcept {
    const sync::Line::Turn turn(this->line());
    this->line().writes();
    --readers_;
  }
  void end() noexcept {
    const sync::Line::Turn turn(this->line());
    ended_ = true;
    this->wake_all();
  }

 private:
  [[nodiscard]] bool looks_read() const noexcept {
    const sync::Line::Turn turn(this->line());
    this->line().reads();
    return readers_ != 0;
  }

  mem::Ref<SharedValue<T>> value_;
  lockfree::Relaxed<std::uint64_t> version_{0};
  std::uint32_t readers_ = 1;
  bool ended_ = false;
};

/// Waits for a version that was not seen.
template <class T>
class ChangedWait : public NewsWait<Watched<T>> {
 public:
  using NewsWait<Watched<T>>::NewsWait;
  void result() noexcept {
    this->use_grant();
    this->at() = this->state().version();
  }

 protected:
  ~ChangedWait() = default;
};

template <class T>
class WatchSender {
 public:
  explicit WatchSender(Hold<Watched<T>> watched) noexcept : watched_(std::move(watched)) {}
  WatchSender(WatchSender&&) noexcept = default;
  WatchSender& operator=(WatchSender&& other) noexcept {
    std::swap(watched_, other.watched_);
    std::swap(looked_at_, other.looked_at_);
    return *this;
  }
  /// Who waits for a change learns that none will come.
  ~WatchSender() {
    if (watched_) watched_->end();
  }

  /// This is the value now. Fails: disconnected when nobody reads it any more; resource_exhausted; the value comes back.
  Sent<T> send(T value) const noexcept { return watched_->replace(std::move(value)); }
  /// As WatchReceiver::latest().
  [[nodiscard]] const T& latest() const noexcept { return watched_->value(looked_at_); }

 private:
  Hold<Watched<T>> watched_;
  mutable mem::Ref<SharedValue<T>> looked_at_;
};

/// A copy has seen what the original has seen.
template <class T>
class WatchReceiver {
 public:
  explicit WatchReceiver(Hold<Watched<T>> watched) noexcept : watched_(std::move(watched)) {}
  WatchReceiver(const WatchReceiver& other) noexcept : watched_(other.watched_), seen_(other.seen_) {
    if (watched_) watched_->add_reader();
  }
  WatchReceiver(WatchReceiver&&) noexcept = default;
  WatchReceiver& operator=(WatchReceiver other) noexcept {
    std::swap(watched_, other.watched_);
    std::swap(looked_at_, other.looked_at_);
    std::swap(seen_, other.seen_);
    return *this;
  }
  ~WatchReceiver() {
    if (watched_) watched_->leave_reader();
  }

  /// Waits for a value that this receiver has not seen; the first one counts as seen. Fails: disconnected when the sender is
  /// gone and there is none. Needs: the receiver stays where it is until then.
  [[nodiscard]] cx::WaitFor<ChangedWait<T>, const cx::Context*, Hold<Watched<T>>, std::uint64_t*> changed(
      CxOf<> cx) noexcept {
    return cx::WaitFor<ChangedWait<T>, const cx::Context*, Hold<Watched<T>>, std::uint64_t*>(&cx::context_of(cx),
                                                                                             watched_, &seen_);
  }
  /// Gives: true when changed() would not wait.
  [[nodiscard]] bool has_changed() const noexcept { return watched_->looks_changed(seen_); }
  /// Gives: the value, good until this task suspends, this receiver is asked again, or ends; it does not count as seen.
  [[nodiscard]] const T& latest() const noexcept { return watched_->value(looked_at_); }

 private:
  Hold<Watched<T>> watched_;
  mutable mem::Ref<SharedValue<T>> looked_at_;
  std::uint64_t seen_ = 0;
};

/// Both ends of a watch.
template <class T>
struct Watch {
  WatchSender<T> sender;
  WatchReceiver<T> receiver;
};

/// Makes a watch with its first value. Fails: resource_exhausted.
template <class T>
[[nodiscard]] Outcome<Watch<T>> watch(CxOf<> cx, T value) noexcept {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>,
                "calm: a watch keeps its value in one place, and a move that throws would leave none there; watch a "
                "std::shared_ptr to it (CHN-11)");
  try {
    mem::Ref<SharedValue<T>> first = SharedValue<T>::make(std::move(value));
    if (!first) return err(Errc::resource_exhausted, "no memory for a watch");
    const Hold<Watched<T>> watched(new Watched<T>(cx, std::move(first)));
    return ok(Watch<T>{WatchSender<T>(watched), WatchReceiver<T>(watched)});
  } catch (const std::bad_alloc&) {
    return err(Errc::resource_exhausted, "no memory for a watch");
  }
}

}  // namespace calm::channel
