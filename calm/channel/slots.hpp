// slots.hpp — the room of a bounded channel: so many places, each of them free, promised, full or handed out.
// Laws:    CHN-1 (queued + reserved <= capacity), CHN-3, CHN-5, CHN-10 (what is handed out keeps its place)
// Threads: one at a time, and the channel around it sees to that; but put(), value() and destroy() are of the one who has the
//          place, beside all others
// Cancel:  not applicable: nothing here waits
//
// A value is made in its place and stays there until it is destroyed, whatever happens to the place: so it may be move-only,
// its move may throw, and what is handed out can go back to the front without being moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "calm/check/require.hpp"

namespace calm::channel {

/// How full a channel is.
struct Counts {
  std::uint32_t queued = 0;    ///< values that wait for a receiver
  std::uint32_t reserved = 0;  ///< promised to those who hold a permit
  std::uint32_t unacked = 0;   ///< handed out and not acknowledged
  std::uint32_t capacity = 0;

  friend constexpr bool operator==(const Counts&, const Counts&) noexcept = default;
};

template <class T>
class Slots {
 public:
  using Place = std::uint32_t;
  static constexpr Place nowhere = UINT32_MAX;

  /// Needs: capacity > 0. Fails: std::bad_alloc.
  explicit Slots(std::uint32_t capacity) : nodes_(new Node[capacity]), capacity_(capacity) {
    CALM_REQUIRE(CHN_1, capacity > 0 && capacity < nowhere, capacity);
  }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
  /// Needs: nothing is promised or handed out.
  ~Slots() {
    while (!is_empty()) {
      const Place place = take();
      destroy(place);
      finish(place);
    }
  }

  [[nodiscard]] Counts counts() const noexcept {
    return {.queued = queued_, .reserved = reserved_, .unacked = unacked_, .capacity = capacity_};
  }
  [[nodiscard]] bool has_room() const noexcept { return queued_ + reserved_ + unacked_ < capacity_; }
  [[nodiscard]] bool is_empty() const noexcept { return queued_ == 0; }

  /// A place is promised. Needs: has_room().
  [[nodiscard, gnu::always_inline]] Place reserve() noexcept {
    CALM_INVARIANT(CHN_1, has_room(), queued_, reserved_, unacked_, capacity_);
    return reserve_seen();
  }
  /// The same for one who has just seen that there is room, and need not look twice.
  [[nodiscard, gnu::always_inline]] Place reserve_seen() noexcept {
    CALM_SLOW(CHN_1, has_room(), queued_, reserved_, unacked_, capacity_);
    Place place = free_;
    if (place == nowhere) {
      place = fresh_++;  // memory that was never used is not touched before it is needed
    } else {
      free_ = nodes_[place].next;
    }
    ++reserved_;
    return place;
  }
  /// The promise is taken back. Needs: a promised place.
  void abort(Place place) noexcept {
    --reserved_;
    free_up(place);
  }
  /// The value is made in its place; commit() or destroy() and abort() follow. Needs: a promised place.
  /// Fails: what the move of T throws; the place is promised still.
  void put(Place place, T&& value) { ::new (static_cast<void*>(nodes_[place].bytes)) T(std::move(value)); }
  /// The promise is kept: the value is the newest. Needs: a promised place, and the value is there.
  void commit(Place place) noexcept {
    --reserved_;
    ++queued_;
    nodes_[place].next = nowhere;
    if (first_ == nowhere) {
      first_ = place;
    } else {
      nodes_[last_].next = place;
    }
    last_ = place;
  }

  /// The three in one, for a value whose move is no code of the user's. Needs: has_room().
  [[gnu::always_inline]] void append(T&& value) noexcept {
    const Place place = reserve_seen();
    put(place, std::move(value));
    commit(place);
  }
  /// Gives: the oldest value; its place is free. Needs: as append(); it is not empty.
  [[nodiscard, gnu::always_inline]] T remove() noexcept {
    const Place place = take();
    T oldest(std::move(value(place)));
    finish(place);
    return oldest;
  }

  /// Hands out the oldest value. Needs: it is not empty. Gives: its place; finish() or put_back() follows.
  [[nodiscard]] Place take() noexcept {
    CALM_INVARIANT(CHN_6, first_ != nowhere, queued_);
    const Place place = first_;
    first_ = nodes_[place].next;
    --queued_;
    ++unacked_;
    return place;
  }
  /// Needs: a place that is handed out, or promised with its value there.
  [[nodiscard]] T& value(Place place) noexcept {
    return *std::launder(reinterpret_cast<T*>(nodes_[place].bytes));  // NOLINT(*-reinterpret-cast): made by put()
  }
  /// The value is gone; finish() follows. Needs: as value().
  void destroy(Place place) noexcept { value(place).~T(); }
  /// The place is free. Needs: a place that is handed out, its value destroyed.
  void finish(Place place) noexcept {
    --unacked_;
    free_up(place);
  }
  /// The value is the oldest again. Needs: a place that is handed out.
  void put_back(Place place) noexcept {
    --unacked_;
    ++queued_;
    nodes_[place].next = first_;
    if (first_ == nowhere) last_ = place;
    first_ = place;
  }

 private:
  struct Node {
    alignas(T) std::byte bytes[sizeof(T)];  // NOLINT(*-avoid-c-arrays): room for a T
    Place next;
  };

  void free_up(Place place) noexcept {
    nodes_[place].next = free_;
    free_ = place;
  }

  std::unique_ptr<Node[]> nodes_;  // NOLINT(*-avoid-c-arrays)
  // Those that change together do not stand together: a compiler would change both with one wide load, which has to wait for
  // the narrow store of the one that was changed a moment ago.
  std::uint32_t queued_ = 0;
  std::uint32_t capacity_;
  std::uint32_t reserved_ = 0;
  std::uint32_t unacked_ = 0;
  Place first_ = nowhere;
  Place last_ = nowhere;  // when there is a first
  Place free_ = nowhere;
  Place fresh_ = 0;  // from here on no place was ever used
};

}  // namespace calm::channel
