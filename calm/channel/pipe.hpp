// pipe.hpp — the insides of a bounded channel: its room, those who wait for a place, those who wait for a value.
// Laws:    CHN-1..8, CHN-10, LAB-4
// Threads: all of it on one worker, as the lines are
// Cancel:  what was granted and not used goes to the next in line, see take_back()
//
// Who waits for a place is granted one, promised to it from then on. Who waits for a value is granted that there is one,
// and takes the oldest when it runs: until then the value is queued, and may be evicted for a newer one. So
//   nobody waits for a place while there is room;
//   nobody waits for a value while one is queued that is granted to nobody: granted_ <= queued.
// A permit counts as a sender, and a place that is granted as a permit.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "calm/channel/hold.hpp"
#include "calm/channel/slots.hpp"
#include "calm/channel/unsent.hpp"
#include "calm/check/require.hpp"
#include "calm/cx/cx.hpp"
#include "calm/model/outcome.hpp"
#include "calm/sync/line.hpp"

namespace calm::channel {

template <class T>
class Pipe;

/// Where senders wait.
template <class T>
class Intake {
 public:
  Intake(Pipe<T>& pipe, CxOf<> cx) noexcept : pipe_(pipe), line_(cx) {}

  [[nodiscard]] sync::Line& line() noexcept { return line_; }
  [[nodiscard]] const sync::Line& line() const noexcept { return line_; }

  // CHN-2 in its order; cancellation was looked at before.
  [[nodiscard]] bool try_admit(const sync::Waiter& waiter, TaskId task) noexcept;
  [[nodiscard]] bool refuses(const sync::Waiter& waiter, TaskId task, ChildEnd& end) const noexcept;
  void left(const sync::Waiter& waiter) noexcept;
  void take_back(const sync::Waiter& waiter) noexcept;

  /// Grants places while there are any.
  void serve() noexcept;
  /// Nobody will get a place any more.
  void refuse_all() noexcept;

 private:
  Pipe<T>& pipe_;
  sync::Line line_;
};

/// Where receivers wait.
template <class T>
class Outlet {
 public:
  Outlet(Pipe<T>& pipe, const sync::Line& intake) noexcept : pipe_(pipe), line_(sync::Line::Beside{intake}) {}

  [[nodiscard]] sync::Line& line() noexcept { return line_; }
  [[nodiscard]] const sync::Line& line() const noexcept { return line_; }

  // CHN-6 in its order; cancellation was looked at before.
  [[nodiscard]] bool try_admit(const sync::Waiter& waiter, TaskId task) noexcept;
  [[nodiscard]] bool refuses(const sync::Waiter& waiter, TaskId task, ChildEnd& end) const noexcept;
  void left(const sync::Waiter& waiter) noexcept;
  void take_back(const sync::Waiter& waiter) noexcept;

  /// Grants values while there are any; when none can come any more, refuses.
  void serve() noexcept;
  /// Gives: true when there is a value that is granted to nobody.
  [[nodiscard]] bool has_value() const noexcept { return pipe_.slots().counts().queued > granted_; }
  /// Gives: true when who comes now would wait for nothing. What is handed out may come back.
  [[nodiscard]] bool is_over() const noexcept {
    const Counts& now = pipe_.slots().counts();
    return pipe_.is_abandoned() || (pipe_.is_finished() && now.queued == 0 && now.unacked == 0);
  }
  /// A grant is used.
  void forget_grant() noexcept { --granted_; }
  [[nodiscard]] std::uint32_t granted() const noexcept { return granted_; }

 private:
  Pipe<T>& pipe_;
  sync::Line line_;
  std::uint32_t granted_ = 0;
};

template <class T>
class Pipe : public Held {
 public:
  using Place = typename Slots<T>::Place;

  /// With one sender and one receiver. Fails: std::bad_alloc.
  Pipe(CxOf<> cx, std::uint32_t capacity) : slots_(capacity), intake_(*this, cx), outlet_(*this, intake_.line()) {}

  [[nodiscard]] Slots<T>& slots() noexcept { return slots_; }
  [[nodiscard]] Intake<T>& intake() noexcept { return intake_; }
  [[nodiscard]] Outlet<T>& outlet() noexcept { return outlet_; }
  [[nodiscard]] Counts counts() const noexcept {
    intake_.line().reads();
    return slots_.counts();
  }

  /// Gives: true when no place is given away any more.
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }
  /// Gives: true when nobody will take a value any more.
  [[nodiscard]] bool is_abandoned() const noexcept { return receivers_ == 0; }
  /// Gives: true when no value can come any more.
  [[nodiscard]] bool is_finished() const noexcept {
    return slots_.counts().reserved == 0 && (senders_ == 0 || closed_);
  }

  // --- those who send ---

  /// One more. Needs: there is one.
  void add_sender() noexcept {
    CALM_INVARIANT(CHN_7, senders_ != 0);
    ++senders_;
    intake_.line().writes();
  }
  void leave_sender() noexcept {
    --senders_;
    changed();
  }
  /// Gives: a place, or the code of the one that try_reserve() fails with.
  [[nodiscard]] std::optional<Place> try_reserve(Errc& why) noexcept {
    if (closed_ || !intake_.line().empty() || !slots_.has_room()) {
      why = closed_ ? Errc::disconnected : Errc::full;
      intake_.line().reads();
      return std::nullopt;
    }
    intake_.line().writes();
    return slots_.reserve();
  }
  void abort(Place place) noexcept {
    slots_.abort(place);
    changed();
  }
  /// Gives: the value back when nobody is there to take it; the place is free then. Fails: what the move of T throws; the
  ///        place is free then, too.
  [[nodiscard]] Sent<T> commit(Place place, T&& value) {
    if (is_abandoned()) {
      abort(place);
      return unsent(Errc::disconnected, std::move(value));
    }
    try {
      slots_.commit(place, std::move(value));
    } catch (...) {
      abort(place);
      throw;
    }
    changed();
    return ok();
  }
  /// CHN-5. Gives: what was evicted, if anything was.
  [[nodiscard]] Outcome<std::optional<T>, Unsent<T>> send_evict_oldest(T&& value) noexcept {
    std::optional<T> evicted;
    const bool room = intake_.line().empty() && slots_.has_room();
    if (closed_ || (!room && slots_.is_empty())) {
      intake_.line().reads();
      return unsent(closed_ ? Errc::disconnected : Errc::full, std::move(value));
    }
    if (!room) {
      const Place place = slots_.take();
      evicted.emplace(std::move(slots_.value(place)));
      slots_.finish(place);
    }
    slots_.commit(slots_.reserve(), std::move(value));
    changed();
    return ok(std::move(evicted));
  }

  // --- those who receive ---

  void add_receiver() noexcept {
    CALM_INVARIANT(CHN_7, receivers_ != 0);
    ++receivers_;
    intake_.line().writes();
  }
  void leave_receiver() noexcept {
    --receivers_;
    intake_.line().writes();
    if (receivers_ != 0) return;
    close();
    slots_.clear();
    changed();
  }
  /// No place is given away any more; what is queued or promised is still received.
  void close() noexcept {
    closed_ = true;
    intake_.refuse_all();
    changed();
  }
  /// Gives: the oldest value, for who was granted one or found one that nobody was granted.
  /// Fails: what the move of T throws; the value is the oldest still.
  [[nodiscard, gnu::always_inline]] T receive() {
    const Place place = slots_.take();
    const Returning returning(*this, place);
    return T(std::move(slots_.value(place)));
  }
  /// The same, to the end of `into`. Fails: std::bad_alloc; what the move of T throws; the value is the oldest still.
  void receive_into(std::vector<T>& into) {
    if (into.size() == into.capacity()) into.reserve(2 * into.capacity() + 1);  // throws before a value is taken
    const Place place = slots_.take();
    const Returning returning(*this, place);
    into.emplace_back(std::move(slots_.value(place)));
  }
  /// Hands the oldest value out; finish() or put_back() follows.
  [[nodiscard]] Place hand_out() noexcept {
    intake_.line().writes();
    return slots_.take();
  }
  void finish(Place place) noexcept {
    slots_.finish(place);
    changed();
  }
  void put_back(Place place) noexcept {
    slots_.put_back(place);
    if (is_abandoned()) slots_.clear();
    changed();
  }

 private:
  /// Ends what receive() took out; a value that could not be moved goes back.
  class Returning {
   public:
    Returning(Pipe& pipe, Place place) noexcept : pipe_(pipe), place_(place), exceptions_(exceptions()) {}
    Returning(const Returning&) = delete;
    Returning& operator=(const Returning&) = delete;
    ~Returning() {
      if (exceptions() > exceptions_) {
        pipe_.put_back(place_);
      } else {
        pipe_.finish(place_);
      }
    }

   private:
    static int exceptions() noexcept {
      if constexpr (std::is_nothrow_move_constructible_v<T>) return 0;
      return std::uncaught_exceptions();
    }

    Pipe& pipe_;
    Place place_;
    int exceptions_;
  };

  /// Something has changed: whoever waits for it is served. Every public change ends here.
  [[gnu::always_inline]] void changed() noexcept {
    intake_.line().writes();
    if (!intake_.line().empty() && !closed_) intake_.serve();
    if (!outlet_.line().empty()) outlet_.serve();
    verify();
  }
  // CHN-1, CHN-10: the room is never overdrawn. CHN-2, CHN-6: nobody waits for what is there.
  void verify() const noexcept {
    const Counts& now = slots_.counts();
    CALM_SLOW(CHN_10, std::uint64_t{now.queued} + now.reserved + now.unacked <= now.capacity, now.queued, now.reserved,
              now.unacked, now.capacity);
    CALM_SLOW(CHN_2, intake_.line().empty() || (!slots_.has_room() && !closed_), now.queued, now.reserved);
    CALM_SLOW(CHN_6, outlet_.line().empty() || outlet_.granted() == now.queued, now.queued, outlet_.granted());
  }

  Slots<T> slots_;
  Intake<T> intake_;
  Outlet<T> outlet_;
  std::uint32_t senders_ = 1;
  std::uint32_t receivers_ = 1;
  bool closed_ = false;
};

}  // namespace calm::channel
