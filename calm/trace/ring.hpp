// ring.hpp — the flight recorder of one worker: the newest events in memory taken once, readable while it is written.
// Laws:    HND-3 (trace capacity: overwrite the oldest and count, or refuse), LAB-2
// Threads: push and clear on one thread, the writer; snapshot anywhere at any time
// Cancel:  not applicable
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include "calm/check/probe.hpp"
#include "calm/check/require.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/outcome.hpp"
#include "calm/trace/event.hpp"

namespace calm::trace {

/// What a full ring does with one more event.
enum class WhenFull : std::uint8_t {
  overwrite,  ///< the oldest one goes and is counted
  refuse,     ///< the strict profile: the new one is not taken
};

struct RingOptions {
  std::uint64_t capacity = std::uint64_t{1} << 12;  ///< events; a power of two, at most ring_capacity_max
  std::uint16_t worker = 0;                         ///< goes into every event
  WhenFull when_full = WhenFull::overwrite;
};

inline constexpr std::uint64_t ring_capacity_max = std::uint64_t{1} << 30;

/// What a ring held at one moment: the newest events, without a hole, and how many older ones are gone. Their sum is the
/// number of events recorded since the ring was made or cleared.
struct Snapshot {
  std::uint64_t overwritten = 0;
  std::vector<Event> events;  // oldest first
};

/// May be moved until a second thread knows it; what was moved from is only good to be destroyed.
template <lockfree::AtomicsPolicy Atomics = lockfree::RealAtomics>
class alignas(128) BasicRing {
 public:
  /// Gives: an empty ring that has all the memory it will ever use.
  /// Fails: invalid_argument for the capacity; resource_exhausted without memory.
  static Outcome<BasicRing> make(const RingOptions& options) noexcept;

  BasicRing(BasicRing&& other) noexcept;
  BasicRing& operator=(BasicRing&&) = delete;
  ~BasicRing() = default;

  /// Takes one event, its worker and position filled in, for a few plain stores: no lock, no memory, no read of a clock.
  /// Fails: resource_exhausted when full and strict; then nothing has changed.
  [[gnu::always_inline]] Status push(const Event& event) noexcept { return push(to_words(event)); }

  /// The same for an event that is in registers already: through memory it would cost three times as much.
  [[gnu::always_inline]] Status push(EventWords words) noexcept {
    if (const Status status = room(1); !status) [[unlikely]] {
      CALM_PROBE("trace ring: a strict one is full");
      return status;
    }
    write(next_position(), words);
    return {};
  }

  /// Needs: room(1); the position is next_position(). With `counts` the sequence is position + 1, whatever words[1] says.
  template <bool counts = false>
  [[gnu::always_inline]] void write(std::uint64_t position, const EventWords& words) noexcept;

  /// Gives: ok when the next `count` events will be taken, else resource_exhausted. Who must not fail half-way asks first.
  [[nodiscard]] Status room(std::uint64_t count) const noexcept;

  /// Forgets all events and counts from 0 again; their memory is used for new ones.
  void clear() noexcept;

  /// Lets another thread be the writer. Needs: all that this one did happens before what that one does.
  void hand_over() noexcept { writer_.store(0, std::memory_order_relaxed); }

  /// Gives: the newest events that were complete when it began and still are; never a torn one.
  /// Fails: std::bad_alloc.
  [[nodiscard]] Snapshot snapshot() const;

  /// Appends to `events` what a snapshot has, and clears: for a writer that keeps all of its events elsewhere.
  /// Needs: the writer's thread. Gives: how many were overwritten since the last clear.
  /// Fails: std::bad_alloc; then nothing has changed.
  std::uint64_t take(std::vector<Event>& events);

  /// As new, in the memory that it has. Needs: nobody else knows the ring.
  void start_over() noexcept;

  /// Appends the events from this position on that are still there. Needs: the writer's thread. Fails: std::bad_alloc.
  void copy_since(std::uint64_t position, std::vector<Event>& events) const;

  /// Gives: the position of the next event. Needs: the writer's thread.
  [[nodiscard]] std::uint64_t next_position() const noexcept { return begun_.load(std::memory_order_relaxed); }
  /// Gives: the sequence of the newest event, cleared or not; 0 when there never was one. Needs: the writer's thread.
  [[nodiscard]] std::uint64_t newest_sequence() const noexcept {
    const std::uint64_t next = next_position();
    if (next == 0) return 0;
    const Slot& newest = slot(next - 1);
    const bool counted = (newest.words[0].load(std::memory_order_relaxed) & left_out(1)) != 0;
    return counted ? next : newest.words[1].load(std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t capacity() const noexcept { return mask_ + 1; }
  [[nodiscard]] std::uint16_t worker() const noexcept { return static_cast<std::uint16_t>(worker_bits_ >> 16); }
  [[nodiscard]] WhenFull when_full() const noexcept { return when_full_; }

 private:
  using Word = typename Atomics::template Atomic<std::uint64_t>;
  static constexpr std::size_t words_per_event = std::tuple_size_v<EventWords>;
  static constexpr std::uint64_t no_position = std::uint64_t{UINT32_MAX}
                                               << 32;  // the first word of a slot without event

  struct alignas(64) Slot {  // an event is a cache line
    Word words[words_per_event];
  };

  BasicRing(std::unique_ptr<Slot[]> slots, const RingOptions& options) noexcept
      : slots_(std::move(slots)),
        mask_(options.capacity - 1),
        worker_bits_(std::uint64_t{options.worker} << 16),
        when_full_(options.when_full) {}

  // An event costs what its stores cost, so some words are left out: those that are known to be zero when the program is
  // compiled, and the sequence of a ring that counts by itself. The first word of a slot tells which: its bits 8 and 9 are
  // the Access, the next ones say of words 1 and 4..7 that they are left out; time and task never are.
  static constexpr std::uint64_t left_out(std::size_t word) noexcept {
    if (word == 1) return std::uint64_t{1} << 10;
    return word >= 4 ? std::uint64_t{1} << (word + 7) : 0;
  }
  static constexpr std::uint64_t left_out_any = 0x7C00;
  static constexpr std::uint64_t kind_and_access = 0x03FF;

  // get(): a hardened standard library would look for nullptr at every event.
  [[nodiscard]] Slot& slot(std::uint64_t position) const noexcept { return slots_.get()[position & mask_]; }
  bool complete(std::uint64_t position) const noexcept;
  bool read(std::uint64_t position, Event& event) const noexcept;
  [[nodiscard]] bool written_here() noexcept;
  void verify() const noexcept;

  // Positions count events from 0 for ever; event p lives in slot p & mask_. Only the writer stores, and what it reads of
  // its own is never stale.
  //   [R1] write() releases begun_ = p + 1 -> snapshot() acquires: events below p are complete or overwritten
  //   [R2] write() releases each word of event q, after begun_ = q + 1 -> read() acquires each word, then reads begun_:
  //        whoever saw a word of q sees that q had begun, so a torn event p = q - capacity is always found out
  //   [R3] clear() releases first_ -> snapshot() acquires: begun_, read next, is not below it
  //   [R4] write() releases the first word of p, which has its position, after the others -> complete() acquires it:
  //        whoever finds p there sees the whole of p, or of a later one
  Word begun_{0};   // the newest event is begun_ - 1; it may be incomplete, no other is
  Word first_{0};   // the position that was next when the ring was last cleared
  Word writer_{0};  // CALM_SLOW only: which thread, 0 none yet; stale in a broken program only

  std::unique_ptr<Slot[]> slots_;
  std::uint64_t mask_;
  std::uint64_t worker_bits_;  // of every event's first word
  WhenFull when_full_;
};

using Ring = BasicRing<>;

namespace detail {

/// Gives: a number that no other living thread has, never 0.
inline std::uint64_t thread_mark() noexcept {
  static thread_local const char mark = 0;
  return reinterpret_cast<std::uintptr_t>(&mark);
}

}  // namespace detail

template <lockfree::AtomicsPolicy Atomics>
Outcome<BasicRing<Atomics>> BasicRing<Atomics>::make(const RingOptions& options) noexcept {
  if (!std::has_single_bit(options.capacity) || options.capacity > ring_capacity_max) {
    return err(Errc::invalid_argument, "the capacity of a trace ring is a power of two, at most 2^30 events");
  }
  // Filled with zeros now: the writer meets no page for the first time later.
  std::unique_ptr<Slot[]> slots(new (std::nothrow) Slot[options.capacity]());
  if (slots == nullptr) return err(Errc::resource_exhausted, "no memory for a trace ring");
  slots[0].words[0].store(no_position, std::memory_order_relaxed);  // [R4] zeros would be position 0
  return ok(BasicRing(std::move(slots), options));
}

// Relaxed: nobody else knows either ring.
template <lockfree::AtomicsPolicy Atomics>
BasicRing<Atomics>::BasicRing(BasicRing&& other) noexcept
    : begun_(other.begun_.load(std::memory_order_relaxed)),
      first_(other.first_.load(std::memory_order_relaxed)),
      writer_(other.writer_.load(std::memory_order_relaxed)),
      slots_(std::move(other.slots_)),
      mask_(other.mask_),
      worker_bits_(other.worker_bits_),
      when_full_(other.when_full_) {}

template <lockfree::AtomicsPolicy Atomics>
Status BasicRing<Atomics>::room(std::uint64_t count) const noexcept {
  if (when_full_ == WhenFull::overwrite) [[likely]]
    return {};
  const std::uint64_t held = begun_.load(std::memory_order_relaxed) - first_.load(std::memory_order_relaxed);
  return count <= capacity() - held ? Status() : Status(Errc::resource_exhausted);
}

template <lockfree::AtomicsPolicy Atomics>
template <bool counts>
inline void BasicRing<Atomics>::write(std::uint64_t position, const EventWords& words) noexcept {
  CALM_SLOW(LAB_2, written_here(), worker());
  CALM_SLOW(HND_3, room(1).is_ok(), worker());
  CALM_SLOW(LAB_2, position == next_position(), position, next_position());
  Slot& to = slot(position);
  begun_.store(position + 1, std::memory_order_release);  // [R1]
  std::uint64_t first = (words[0] & kind_and_access) | worker_bits_ | position << 32;
  const auto put = [&](std::size_t i) __attribute__((always_inline)) {
    const std::uint64_t word = words[i];  // of a call clang would not say that it is constant
    const bool known = i == 1 ? counts : __builtin_constant_p(word) && word == 0;
    if (known && left_out(i) != 0) {
      first |= left_out(i);
    } else {
      to.words[i].store(word, std::memory_order_release);  // [R2]
    }
  };
  // Spelled out by the pack: from a loop g++ would send the words through memory.
  [&]<std::size_t... i>(std::index_sequence<i...>)
      __attribute__((always_inline)) { (put(i + 1), ...); }(std::make_index_sequence<words_per_event - 1>());
  to.words[0].store(first, std::memory_order_release);  // [R2] [R4]
  verify();
}

template <lockfree::AtomicsPolicy Atomics>
void BasicRing<Atomics>::clear() noexcept {
  CALM_SLOW(LAB_2, written_here(), worker());
  first_.store(begun_.load(std::memory_order_relaxed), std::memory_order_release);  // [R3]
  verify();
}

// Relaxed: nobody else knows it. Of a slot only its position must go: it would say that an event is complete. [R4]
template <lockfree::AtomicsPolicy Atomics>
void BasicRing<Atomics>::start_over() noexcept {
  const std::uint64_t used = std::min(begun_.load(std::memory_order_relaxed), capacity());
  for (std::uint64_t i = 0; i < used; ++i) slot(i).words[0].store(no_position, std::memory_order_relaxed);
  begun_.store(0, std::memory_order_relaxed);
  first_.store(0, std::memory_order_relaxed);
  writer_.store(0, std::memory_order_relaxed);
}

template <lockfree::AtomicsPolicy Atomics>
Snapshot BasicRing<Atomics>::snapshot() const {
  const std::uint64_t first = first_.load(std::memory_order_acquire);  // [R3]
  std::uint64_t end = begun_.load(std::memory_order_acquire);          // [R1]
  if (end != first && !complete(end - 1)) --end;
  const std::uint64_t held = std::min(end - first, capacity());
  Snapshot snapshot;
  snapshot.events.resize(held);
  // Newest first: those are overwritten last, and once one is gone all older ones are.
  std::uint64_t kept = 0;
  while (kept < held && read(end - 1 - kept, snapshot.events[held - 1 - kept])) ++kept;
  snapshot.events.erase(snapshot.events.begin(), snapshot.events.end() - static_cast<std::ptrdiff_t>(kept));
  snapshot.overwritten = end - first - kept;
  return snapshot;
}

// The writer's own events are complete, and nobody overwrites them meanwhile.
template <lockfree::AtomicsPolicy Atomics>
std::uint64_t BasicRing<Atomics>::take(std::vector<Event>& events) {
  CALM_SLOW(LAB_2, written_here(), worker());
  const std::uint64_t first = first_.load(std::memory_order_relaxed);
  const std::uint64_t end = begun_.load(std::memory_order_relaxed);
  const std::uint64_t held = std::min(end - first, capacity());
  const std::size_t before = events.size();
  events.resize(before + held);
  for (std::uint64_t i = 0; i < held; ++i) (void)read(end - held + i, events[before + i]);
  clear();
  return end - first - held;
}

template <lockfree::AtomicsPolicy Atomics>
void BasicRing<Atomics>::copy_since(std::uint64_t position, std::vector<Event>& events) const {
  const std::uint64_t end = next_position();
  const std::uint64_t oldest = end > capacity() ? end - capacity() : 0;
  for (std::uint64_t next = std::max(position, oldest); next != end; ++next) {
    Event event;
    if (read(next, event)) events.push_back(event);
  }
}

/// Needs: begun_ was position + 1. Gives: false when that event was being written a moment ago.
template <lockfree::AtomicsPolicy Atomics>
bool BasicRing<Atomics>::complete(std::uint64_t position) const noexcept {
  const std::uint64_t word = slot(position).words[0].load(std::memory_order_acquire);  // [R4]
  if (word >> 32 == static_cast<std::uint32_t>(position)) return true;
  return begun_.load(std::memory_order_acquire) != position + 1;  // [R1] the writer has gone on: it was complete
}

/// Gives: false when the event at this position is overwritten already, or is being overwritten.
template <lockfree::AtomicsPolicy Atomics>
bool BasicRing<Atomics>::read(std::uint64_t position, Event& event) const noexcept {
  EventWords words;
  const Slot& from = slot(position);
  for (std::size_t i = 0; i < words_per_event; ++i) words[i] = from.words[i].load(std::memory_order_acquire);  // [R2]
  if (begun_.load(std::memory_order_relaxed) > position + capacity()) {
    CALM_PROBE("trace ring: the writer passed the reader");
    return false;
  }
  if ((words[0] & left_out(1)) != 0) words[1] = position + 1;
  for (std::size_t i = 4; i < words_per_event; ++i) {
    if ((words[0] & left_out(i)) != 0) words[i] = 0;
  }
  words[0] &= ~left_out_any;
  event = from_words(words);
  CALM_SLOW(LAB_2, event.position == static_cast<std::uint32_t>(position), event.position, position);
  return true;
}

/// Gives: true on the thread that writes this ring; the first to write it is that one.
template <lockfree::AtomicsPolicy Atomics>
bool BasicRing<Atomics>::written_here() noexcept {
  const std::uint64_t here = detail::thread_mark();
  if (writer_.load(std::memory_order_relaxed) == 0) writer_.store(here, std::memory_order_relaxed);
  return writer_.load(std::memory_order_relaxed) == here;
}

// HND-3: the writer has finished what it began, and a strict ring never holds more than it has room for.
template <lockfree::AtomicsPolicy Atomics>
void BasicRing<Atomics>::verify() const noexcept {
#if defined(CALM_SLOW_CHECKS) && CALM_SLOW_CHECKS
  const std::uint64_t begun = begun_.load(std::memory_order_relaxed);
  const std::uint64_t first = first_.load(std::memory_order_relaxed);
  CALM_SLOW(HND_3, first <= begun && (begun == 0 || complete(begun - 1)), begun, first);
  CALM_SLOW(HND_3, when_full_ == WhenFull::overwrite || begun - first <= capacity(), begun, first);
#endif
}

}  // namespace calm::trace
