// pipe.hpp — the insides of a bounded channel: its room, those who wait for a place, those who wait for a value.
// Laws:    CHN-1..8, CHN-10, LAB-4
// Threads: the tasks of one runtime, on any of its workers: all that is decided is decided in a turn of the lines
// Cancel:  what was granted and not used goes to the next in line, see take_back()
//
// Who waits for a place is granted one, promised to it from then on. Who waits for a value is granted that there is one,
// and takes the oldest when it runs: until then the value is queued, and may be evicted for a newer one. So
//   nobody waits for a place while there is room;
//   nobody waits for a value while one is queued that is granted to nobody: granted_ <= queued.
// A permit counts as a sender, and a place that is granted as a permit.
//
// Who waits for it to be drained is granted that once no place is given away and no value is queued, promised or handed out.
//
// A value is moved and destroyed outside any turn (CHN-7): before its place is queued, that is its sender's, and once it is
// taken, its receiver's. A small one that is moved by copying its bytes is moved in the turn: there is no code of the user's in
// that, and one turn is enough for it. A send that began before the last receiver left has sent; its value ends as what was
// queued.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "calm/channel/hold.hpp"
#include "calm/channel/slots.hpp"
#include "calm/channel/unsent.hpp"
#include "calm/check/require.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/wait.hpp"
#include "calm/lockfree/relaxed.hpp"
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
    const Counts now = pipe_.slots().counts();
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

/// Where those wait who want it drained.
template <class T>
class Drain {
 public:
  Drain(Pipe<T>& pipe, const sync::Line& intake) noexcept : pipe_(pipe), line_(sync::Line::Beside{intake}) {}

  [[nodiscard]] sync::Line& line() noexcept { return line_; }
  [[nodiscard]] const sync::Line& line() const noexcept { return line_; }

  [[nodiscard]] bool try_admit(const sync::Waiter& /*waiter*/, TaskId /*task*/) noexcept { return pipe_.is_drained(); }
  [[nodiscard]] static bool refuses(const sync::Waiter& /*waiter*/, TaskId /*task*/, ChildEnd& /*end*/) noexcept {
    return false;
  }
  // A grant takes nothing, so there is nothing to pass on.
  static void left(const sync::Waiter& /*waiter*/) noexcept {}
  static void take_back(const sync::Waiter& /*waiter*/) noexcept {}

  void serve() noexcept {
    while (!line_.empty() && pipe_.is_drained()) line_.grant(*line_.first());
  }

 private:
  Pipe<T>& pipe_;
  sync::Line line_;
};

template <class T>
class Pipe : public Held {
 public:
  using Place = typename Slots<T>::Place;

  /// True for values that may be moved in a turn.
  static constexpr bool moves_in_turn =
      std::is_trivially_move_constructible_v<T> && std::is_trivially_destructible_v<T> && sizeof(T) <= 64;

  /// With one sender and one receiver. Fails: std::bad_alloc.
  Pipe(CxOf<> cx, std::uint32_t capacity)
      : Held(cx::context_of(cx).root()->port().is_shared()),
        slots_(capacity),
        intake_(*this, cx),
        outlet_(*this, intake_.line()),
        drain_(*this, intake_.line()) {}

  using Turn = sync::Line::Turn;

  /// Needs: a turn, or a place that is the caller's.
  [[nodiscard]] Slots<T>& slots() noexcept { return slots_; }
  [[nodiscard]] Intake<T>& intake() noexcept { return intake_; }
  [[nodiscard]] Outlet<T>& outlet() noexcept { return outlet_; }
  [[nodiscard]] Drain<T>& drain() noexcept { return drain_; }
  [[nodiscard]] Counts counts() const noexcept {
    const Turn turn(intake_.line());
    intake_.line().reads();
    return slots_.counts();
  }
  /// Gives: true when no place is given away any more.
  [[nodiscard]] bool looks_closed() const noexcept {
    const Turn turn(intake_.line());
    intake_.line().reads();
    return closed_;
  }

  // --- for the lines, in a turn ---

  [[nodiscard]] bool is_closed() const noexcept { return closed_; }
  /// Gives: true when nobody will take a value any more. Outside a turn it may be a moment late.
  [[nodiscard]] bool is_abandoned() const noexcept { return abandoned_.get(); }
  /// Gives: true when no value can come any more.
  [[nodiscard]] bool is_finished() const noexcept {
    return slots_.counts().reserved == 0 && (senders_ == 0 || closed_);
  }
  /// Gives: true when no value is there, and none can come.
  [[nodiscard]] bool is_drained() const noexcept {
    const Counts now = slots_.counts();
    return closed_ && now.queued == 0 && now.reserved == 0 && now.unacked == 0;
  }
  void abort_in_turn(Place place) noexcept {
    slots_.abort(place);
    changed();
  }

  // --- for the short way of the waits, where nobody else can come before the caller, and nobody follows it ---

  /// Gives: true when reserve_at_hand() follows.
  [[nodiscard]] bool has_place_at_hand() const noexcept {
    const sync::Line& line = intake_.line();
    return line.begin_short_turn() && line.keep_short_turn_if(!closed_ && line.empty() && slots_.has_room());
  }
  [[nodiscard]] Place reserve_at_hand() noexcept {
    const Place place = slots_.reserve_seen();
    intake_.line().end_short_turn();
    return place;
  }
  /// Gives: true when take_at_hand() follows.
  [[nodiscard]] bool has_value_at_hand() const noexcept {
    const sync::Line& line = intake_.line();
    return line.begin_short_turn() && line.keep_short_turn_if(outlet_.has_value());
  }
  [[nodiscard]] Place take_at_hand() noexcept {
    const Place place = slots_.take();
    intake_.line().end_short_turn();
    return place;
  }

  /// Sends, if there is room at hand and nobody waits for it.
  [[nodiscard, gnu::always_inline]] bool send_at_hand(T& value) noexcept
    requires(moves_in_turn)
  {
    const sync::Line& line = intake_.line();
    if (!line.begin_short_turn()) return false;
    if (closed_ || !line.empty() || !slots_.has_room()) {
      line.end_short_turn();
      return false;
    }
    slots_.append(std::move(value));
    if (!outlet_.line().empty()) outlet_.serve();
    verify();
    line.end_short_turn();
    return true;
  }
  /// Receives, if there is a value that nobody was granted; then `into` has it. Where there is none yet the turn goes on for a wait
  /// that comes to stand in line, or ends it.
  template <class Made>
  [[nodiscard, gnu::always_inline]] cx::Found receive_at_hand(Made* into) noexcept
    requires(moves_in_turn)
  {
    const sync::Line& line = intake_.line();
    if (!line.begin_short_turn()) return cx::Found::unknown;
    if (!outlet_.has_value()) {
      if (!outlet_.is_over()) return cx::Found::nothing_in_turn;
      line.end_short_turn();
      return cx::Found::unknown;
    }
    ::new (static_cast<void*>(into)) Made(slots_.remove());
    if (!line.empty() && !closed_) intake_.serve();
    if (closed_) [[unlikely]]
      drain_.serve();
    verify();
    line.end_short_turn();
    return cx::Found::it;
  }

  // --- those who send ---

  /// One more. Needs: there is one.
  void add_sender() noexcept {
    const Turn turn(intake_.line());
    CALM_INVARIANT(CHN_7, senders_ != 0);
    ++senders_;
    intake_.line().writes();
  }
  void leave_sender() noexcept {
    const Turn turn(intake_.line());
    --senders_;
    changed();
  }
  /// Gives: a place, or the code of the one that try_reserve() fails with.
  [[nodiscard]] std::optional<Place> try_reserve(Errc& why) noexcept {
    const Turn turn(intake_.line());
    if (closed_ || !intake_.line().empty() || !slots_.has_room()) {
      why = closed_ ? Errc::disconnected : Errc::full;
      intake_.line().reads();
      return std::nullopt;
    }
    intake_.line().writes();
    return slots_.reserve();
  }
  void abort(Place place) noexcept {
    const Turn turn(intake_.line());
    abort_in_turn(place);
  }
  /// Gives: the value back when nobody is there to take it; the place is free then. Fails: what the move of T throws; the
  ///        place is free then, too.
  [[nodiscard]] Sent<T> commit(Place place, T&& value) {
    if (is_abandoned()) {
      abort(place);
      return unsent(Errc::disconnected, std::move(value));
    }
    try {
      slots_.put(place, std::move(value));
    } catch (...) {
      abort(place);
      throw;
    }
    if (!intake_.line().begin_short_turn()) {
      commit_among_others(place);
    } else {
      slots_.commit(place);
      changed();
      intake_.line().end_short_turn();
    }
    if (is_abandoned()) [[unlikely]]
      clear();
    return ok();
  }
  /// CHN-5. Gives: what was evicted, if anything was.
  [[nodiscard]] Outcome<std::optional<T>, Unsent<T>> send_evict_oldest(T&& value) noexcept {
    std::optional<T> evicted;
    const Turn turn(intake_.line());
    const bool room = intake_.line().empty() && slots_.has_room();
    if (closed_ || (!room && slots_.is_empty())) {
      intake_.line().reads();
      return unsent(closed_ ? Errc::disconnected : Errc::full, std::move(value));
    }
    // Both moves in one turn: a receiver may have been granted the value that goes, and must find another in its stead.
    if (!room) {
      const Place oldest = slots_.take();
      evicted.emplace(std::move(slots_.value(oldest)));
      slots_.destroy(oldest);
      slots_.finish(oldest);
    }
    const Place place = slots_.reserve();
    slots_.put(place, std::move(value));
    slots_.commit(place);
    changed();
    return ok(std::move(evicted));
  }

  // --- those who receive ---

  void add_receiver() noexcept {
    const Turn turn(intake_.line());
    CALM_INVARIANT(CHN_7, receivers_ != 0);
    ++receivers_;
    intake_.line().writes();
  }
  void leave_receiver() noexcept {
    {
      const Turn turn(intake_.line());
      --receivers_;
      intake_.line().writes();
      if (receivers_ != 0) return;
      abandoned_.set(true);
      close_in_turn();
    }
    clear();
  }
  /// No place is given away any more; what is queued or promised is still received.
  void close() noexcept {
    const Turn turn(intake_.line());
    close_in_turn();
  }
  /// Takes the oldest value, for who was granted one: its place is the caller's until finish() or put_back().
  [[nodiscard]] Place take_granted() noexcept {
    const Turn turn(intake_.line());
    outlet_.forget_grant();
    return slots_.take();
  }
  /// Gives: the oldest value, for who was granted one, whose hold this is and may be gone then. Fails: as receive().
  [[nodiscard, gnu::always_inline]] static T receive_granted(Hold<Pipe>& hold) {
    Pipe& pipe = *hold;
    if constexpr (moves_in_turn) {
      const sync::Line& line = pipe.intake_.line();
      if (line.begin_short_turn()) [[likely]] {
        pipe.outlet_.forget_grant();
        T value = pipe.slots_.remove();
        pipe.changed();
        Pipe* const over = hold.let_go_in_turn();
        line.end_short_turn();
        if (over != nullptr) [[unlikely]]
          Hold<Pipe>::end(over);
        return value;
      }
    }
    return pipe.receive(pipe.take_granted());
  }
  /// The same for a value that nobody was granted. Gives: nothing when there is none, and `why` says what that means.
  [[nodiscard]] std::optional<Place> try_take(Errc& why) noexcept {
    const Turn turn(intake_.line());
    if (outlet_.has_value()) return slots_.take();
    intake_.line().reads();
    why = outlet_.is_over() ? Errc::disconnected : Errc::empty;
    return std::nullopt;
  }
  /// Gives: the value. Needs: its place was taken. Fails: what the move of T throws; the value is the oldest again.
  [[nodiscard, gnu::always_inline]] T receive(Place place) {
    const Returning returning(*this, place);
    return T(std::move(slots_.value(place)));
  }
  /// The same, to the end of `into`. Needs: room there, which an exception would come too late for.
  void receive_into(std::vector<T>& into, Place place) {
    const Returning returning(*this, place);
    into.emplace_back(std::move(slots_.value(place)));
  }
  /// Hands the oldest value out to who was granted one; finish() or put_back() follows.
  [[nodiscard]] Place hand_out() noexcept {
    const Turn turn(intake_.line());
    outlet_.forget_grant();
    intake_.line().writes();
    return slots_.take();
  }
  void finish(Place place) noexcept {
    slots_.destroy(place);
    if (!intake_.line().begin_short_turn()) return finish_among_others(place);
    slots_.finish(place);
    changed();
    intake_.line().end_short_turn();
  }
  void put_back(Place place) noexcept {
    {
      const Turn turn(intake_.line());
      slots_.put_back(place);
      if (!is_abandoned()) return changed();
    }
    clear();
  }
  /// Destroys what is queued and was granted to nobody, oldest first (CHN-7). Needs: abandoned.
  [[gnu::noinline]] void clear() noexcept {
    while (const std::optional<Place> place = take_abandoned()) {
      slots_.destroy(*place);
      const Turn turn(intake_.line());
      slots_.finish(*place);
    }
    const Turn turn(intake_.line());
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

  // What is done most often, where others may be there.

  [[gnu::noinline]] void commit_among_others(Place place) noexcept {
    const Turn turn(intake_.line());
    slots_.commit(place);
    changed();
  }
  [[gnu::noinline]] void finish_among_others(Place place) noexcept {
    const Turn turn(intake_.line());
    slots_.finish(place);
    changed();
  }

  void close_in_turn() noexcept {
    closed_ = true;
    intake_.refuse_all();
    changed();
  }
  [[nodiscard]] std::optional<Place> take_abandoned() noexcept {
    const Turn turn(intake_.line());
    if (!outlet_.has_value()) return std::nullopt;
    return slots_.take();
  }

  /// Something has changed: whoever waits for it is served. Every public change ends here.
  [[gnu::always_inline]] void changed() noexcept {
    intake_.line().writes();
    if (!intake_.line().empty() && !closed_) intake_.serve();
    if (!outlet_.line().empty()) outlet_.serve();
    if (closed_) [[unlikely]]
      drain_.serve();
    verify();
  }
  // CHN-1, CHN-10: the room is never overdrawn. CHN-2, CHN-6: nobody waits for what is there.
  void verify() const noexcept {
    const Counts now = slots_.counts();
    CALM_SLOW(CHN_10, std::uint64_t{now.queued} + now.reserved + now.unacked <= now.capacity, now.queued, now.reserved,
              now.unacked, now.capacity);
    CALM_SLOW(CHN_2, intake_.line().empty() || (!slots_.has_room() && !closed_), now.queued, now.reserved);
    CALM_SLOW(QUI_1, drain_.line().empty() || !is_drained(), now.queued, now.reserved, now.unacked);
    CALM_SLOW(CHN_6, outlet_.line().empty() || outlet_.granted() == now.queued, now.queued, outlet_.granted());
  }

  Slots<T> slots_;
  Intake<T> intake_;
  Outlet<T> outlet_;
  Drain<T> drain_;
  std::uint32_t senders_ = 1;
  std::uint32_t receivers_ = 1;
  bool closed_ = false;
  lockfree::Relaxed<bool> abandoned_{false};
};

}  // namespace calm::channel
