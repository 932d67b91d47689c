#include "calm/trace/ring.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "tests/unit/trace/events.hpp"

namespace calm::trace {
namespace {

template <class Atomics = lockfree::RealAtomics>
BasicRing<Atomics> make_ring(std::uint64_t capacity, WhenFull when_full = WhenFull::overwrite,
                             std::uint16_t worker = 0) {
  return BasicRing<Atomics>::make({.capacity = capacity, .worker = worker, .when_full = when_full}).value();
}

template <class Atomics>
void push_from(BasicRing<Atomics>& ring, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_TRUE(ring.push(patterned(first + i)));
}

/// Gives: what is wrong with a snapshot of a ring that takes patterned(0), patterned(1), …; empty when nothing is.
std::string fault_of(const Snapshot& snapshot, std::uint64_t capacity) {
  if (snapshot.events.size() > capacity) return "more events than the ring holds";
  for (std::size_t i = 0; i < snapshot.events.size(); ++i) {
    if (!is_patterned(snapshot.events[i], snapshot.overwritten + i)) {
      return "event " + std::to_string(i) + " after " + std::to_string(snapshot.overwritten) + " is not whole";
    }
  }
  return {};
}

TEST(Ring, takes_its_capacity_as_a_power_of_two_within_the_bound) {
  for (const std::uint64_t capacity : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{100}, ring_capacity_max * 2,
                                       std::uint64_t{1} << 63, UINT64_MAX}) {
    const auto ring = Ring::make({.capacity = capacity});
    ASSERT_TRUE(ring.is_err()) << capacity;
    EXPECT_EQ(ring.error().code(), Errc::invalid_argument);
  }
  EXPECT_EQ(make_ring(1).capacity(), 1U);
  EXPECT_EQ(make_ring(64).capacity(), 64U);
}

TEST(Ring, is_empty_at_first) {
  const Snapshot snapshot = make_ring(8).snapshot();
  EXPECT_TRUE(snapshot.events.empty());
  EXPECT_EQ(snapshot.overwritten, 0U);
}

TEST(Ring, signs_events_with_worker_and_position_and_changes_nothing_else) {
  Ring ring = make_ring(4, WhenFull::overwrite, 513);
  push_from(ring, 0, 6);
  const Snapshot snapshot = ring.snapshot();
  ASSERT_EQ(snapshot.events.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(is_patterned(snapshot.events[i], i + 2, 513)) << snapshot.events[i];
}

// HND-3
TEST(Ring, overwrites_the_oldest_and_counts_what_is_gone) {
  for (const std::uint64_t capacity : {1U, 2U, 8U}) {
    Ring ring = make_ring(capacity);
    for (std::uint64_t pushed = 1; pushed <= 40; ++pushed) {
      push_from(ring, pushed - 1, 1);
      const Snapshot snapshot = ring.snapshot();
      EXPECT_EQ(fault_of(snapshot, capacity), "");
      EXPECT_EQ(snapshot.events.size(), std::min(pushed, capacity)) << "a quiet ring shows all it holds";
      EXPECT_EQ(snapshot.overwritten + snapshot.events.size(), pushed);
    }
  }
}

// HND-3
TEST(Ring, that_is_strict_refuses_when_full_and_nothing_has_changed) {
  Ring ring = make_ring(4, WhenFull::refuse);
  push_from(ring, 0, 4);
  const Snapshot before = ring.snapshot();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ring.push(patterned(99)), Status(Errc::resource_exhausted));
  const Snapshot after = ring.snapshot();
  EXPECT_EQ(after.events, before.events);
  EXPECT_EQ(after.events.size(), 4U);
  EXPECT_EQ(after.overwritten, 0U) << "a refused event is not lost, it was never taken";
  ring.clear();
  push_from(ring, 4, 1);
  EXPECT_EQ(ring.snapshot().events.size(), 1U);
}

TEST(Ring, tells_beforehand_whether_it_has_room) {
  Ring strict = make_ring(4, WhenFull::refuse);
  EXPECT_TRUE(strict.room(4));
  EXPECT_EQ(strict.room(5), Status(Errc::resource_exhausted));
  push_from(strict, 0, 3);
  EXPECT_TRUE(strict.room(1));
  EXPECT_EQ(strict.room(2), Status(Errc::resource_exhausted));
  EXPECT_EQ(strict.room(UINT64_MAX), Status(Errc::resource_exhausted));
  push_from(strict, 3, 1);
  EXPECT_TRUE(strict.room(0));
  EXPECT_EQ(strict.room(1), Status(Errc::resource_exhausted));
  EXPECT_TRUE(make_ring(4).room(UINT64_MAX));
}

TEST(Ring, gives_its_writer_what_it_holds_behind_what_was_taken_before) {
  Ring ring = make_ring(4);
  std::vector<Event> events;
  EXPECT_EQ(ring.take(events), 0U);
  EXPECT_TRUE(events.empty());
  push_from(ring, 0, 3);
  EXPECT_EQ(ring.take(events), 0U);
  push_from(ring, 3, 6);  // two more than it has room for
  EXPECT_EQ(ring.take(events), 2U);
  EXPECT_EQ(ring.take(events), 0U) << "they were taken";
  ASSERT_EQ(events.size(), 7U);
  for (std::size_t i = 0; i < 7; ++i) EXPECT_TRUE(is_patterned(events[i], i < 3 ? i : i + 2)) << events[i];
  EXPECT_EQ(ring.newest_sequence(), events.back().sequence);
}

TEST(Ring, LAB_2_an_event_with_fields_left_empty_shows_nothing_of_the_one_it_overwrites) {
  Ring ring = make_ring(1);
  push_from(ring, 0, 1);  // every field is set
  ASSERT_TRUE(ring.push({.kind = EventKind::poll, .sequence = 2, .task = TaskId(7, Generation())}));
  std::vector<Event> events;
  EXPECT_EQ(ring.take(events), 1U);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0], (Event{.kind = EventKind::poll, .position = 1, .sequence = 2, .task = TaskId(7, Generation())}));
}

TEST(Ring, LAB_2_numbers_its_events_itself_when_it_is_asked_to) {
  Ring ring = make_ring(2);
  push_from(ring, 0, 1);
  for (const std::uint64_t position : {1U, 2U}) ring.write<true>(position, to_words(patterned(40)));
  EXPECT_EQ(ring.newest_sequence(), 3U);
  const Snapshot snapshot = ring.snapshot();
  ASSERT_EQ(snapshot.events.size(), 2U);
  EXPECT_EQ(snapshot.events[0].sequence, 2U);
  EXPECT_EQ(snapshot.events[1].sequence, 3U);
  Event same = patterned(40);
  same.sequence = 3;
  same.position = 2;
  same.worker = 0;
  EXPECT_EQ(snapshot.events[1], same) << "nothing else is changed";
}

TEST(Ring, counts_from_nought_again_after_it_was_cleared) {
  Ring ring = make_ring(4);
  push_from(ring, 0, 7);
  ring.clear();
  EXPECT_TRUE(ring.snapshot().events.empty());
  EXPECT_EQ(ring.snapshot().overwritten, 0U);
  push_from(ring, 7, 5);
  const Snapshot snapshot = ring.snapshot();
  ASSERT_EQ(snapshot.events.size(), 4U);
  EXPECT_EQ(snapshot.overwritten, 1U);
  EXPECT_TRUE(is_patterned(snapshot.events[0], 8)) << "positions go on";
}

TEST(Ring, that_starts_over_is_as_new) {
  Ring ring = make_ring(4);
  push_from(ring, 0, 7);
  ring.clear();
  ring.start_over();
  EXPECT_EQ(ring.next_position(), 0U);
  EXPECT_EQ(ring.newest_sequence(), 0U);
  EXPECT_TRUE(ring.snapshot().events.empty());
  push_from(ring, 0, 3);
  const Snapshot snapshot = ring.snapshot();
  ASSERT_EQ(snapshot.events.size(), 3U);
  EXPECT_EQ(snapshot.overwritten, 0U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(is_patterned(snapshot.events[i], i)) << snapshot.events[i];
}

RC_GTEST_PROP(Ring, behaves_like_a_queue_of_bounded_length, ()) {
  const std::uint64_t capacity = std::uint64_t{1} << *rc::gen::inRange(0, 4);
  const auto when_full = *rc::gen::element(WhenFull::overwrite, WhenFull::refuse);
  Ring ring = make_ring(capacity, when_full);
  std::uint64_t next = 0;
  std::uint64_t first = 0;  // the model: the ring was told [first, next) since it was cleared
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 12))) {
    if (step == 0) {
      ring.clear();
      first = next;
    } else if (when_full == WhenFull::refuse && next - first == capacity) {
      RC_ASSERT(ring.push(patterned(next)) == Status(Errc::resource_exhausted));
    } else {
      RC_ASSERT(bool(ring.push(patterned(next))));
      ++next;
    }
    const Snapshot snapshot = ring.snapshot();
    RC_ASSERT(snapshot.events.size() == std::min(capacity, next - first));
    RC_ASSERT(snapshot.overwritten == next - first - snapshot.events.size());
    for (std::size_t i = 0; i < snapshot.events.size(); ++i) {
      RC_ASSERT(is_patterned(snapshot.events[i], first + snapshot.overwritten + i));
    }
  }
}

/// A world in which a test does something before every access to a word of the ring.
struct SteppedAtomics : lockfree::RealAtomics {
  static inline std::function<void()> before_load;
  static inline std::function<void()> before_store;

  static void step(std::function<void()>& hook) {
    if (!hook) return;
    const auto own = std::exchange(hook, nullptr);  // what the hook does is not stepped itself
    own();
    hook = own;
  }

  template <class T>
  struct Atomic : std::atomic<T> {
    using std::atomic<T>::atomic;
    T load(std::memory_order order) const noexcept {
      step(before_load);
      return std::atomic<T>::load(order);
    }
    void store(T value, std::memory_order order) noexcept {
      step(before_store);
      std::atomic<T>::store(value, order);
    }
  };
};

TEST(Ring, shows_whole_events_to_a_reader_overtaken_at_any_step) {
  constexpr std::uint64_t capacity = 4;
  int overtaken = 0;
  for (const std::uint64_t start : {0U, 2U, 4U, 6U}) {
    for (std::uint64_t burst = 1; burst <= 2 * capacity + 1; ++burst) {
      for (int at = 1; at <= 45; ++at) {
        auto ring = make_ring<SteppedAtomics>(capacity);
        push_from(ring, 0, start);
        int steps = 0;
        SteppedAtomics::before_load = [&] {
          if (++steps == at) push_from(ring, start, burst);
        };
        const Snapshot snapshot = ring.snapshot();
        SteppedAtomics::before_load = nullptr;
        ASSERT_EQ(fault_of(snapshot, capacity), "") << start << " events, " << burst << " more at step " << at;
        const std::uint64_t seen = snapshot.overwritten + snapshot.events.size();
        EXPECT_TRUE(seen == start || seen == start + burst) << "the ring as it was before or after the burst";
        if (seen == start && snapshot.events.size() < std::min(start, capacity)) ++overtaken;
      }
    }
  }
  EXPECT_GT(overtaken, 0) << "the case this test is about";
}

TEST(Ring, hides_an_event_from_readers_at_every_step_of_its_writing) {
  constexpr std::uint64_t capacity = 4;
  for (std::uint64_t pushed = 0; pushed < 3 * capacity; ++pushed) {
    auto ring = make_ring<SteppedAtomics>(capacity);
    push_from(ring, 0, pushed);
    int steps = 0;
    SteppedAtomics::before_store = [&] {
      ++steps;
      const Snapshot snapshot = ring.snapshot();
      EXPECT_EQ(fault_of(snapshot, capacity), "") << "step " << steps;
      EXPECT_EQ(snapshot.overwritten + snapshot.events.size(), pushed) << "not published yet";
      EXPECT_GE(snapshot.events.size() + 1, std::min(pushed, capacity)) << "at most the one being replaced is gone";
    };
    EXPECT_TRUE(ring.push(patterned(pushed)));
    SteppedAtomics::before_store = nullptr;
    EXPECT_GE(steps, 9) << "eight words and a counter";
    EXPECT_EQ(ring.snapshot().overwritten + ring.snapshot().events.size(), pushed + 1);
  }
}

TEST(Ring, gives_consistent_snapshots_while_its_writer_goes_on) {
  constexpr std::uint64_t capacity = 64;
  constexpr std::uint64_t total = 400'000;
  Ring ring = make_ring(capacity);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < total; ++i) {
      if (!ring.push(patterned(i))) std::abort();
      if (i % 1000 == 0) std::this_thread::yield();  // on one core the reader gets its turn, too
    }
    done.store(true, std::memory_order_release);  // pairs with the loop below: the last snapshot sees all
  });
  std::uint64_t last_end = 0;
  for (bool last = false; !last;) {
    last = done.load(std::memory_order_acquire);
    const Snapshot snapshot = ring.snapshot();
    EXPECT_EQ(fault_of(snapshot, capacity), "");
    const std::uint64_t end = snapshot.overwritten + snapshot.events.size();
    EXPECT_GE(end, last_end) << "what was shown once is never taken back";
    last_end = end;
  }
  writer.join();
  EXPECT_EQ(last_end, total);
  EXPECT_EQ(ring.snapshot().events.size(), capacity);
}

TEST(Ring, may_be_cleared_while_others_read) {
  Ring ring = make_ring(16);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      const Snapshot snapshot = ring.snapshot();
      for (std::size_t i = 1; i < snapshot.events.size(); ++i) {
        if (!is_patterned(snapshot.events[i], snapshot.events[i - 1].cause + 1)) std::abort();
      }
    }
  });
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    EXPECT_TRUE(ring.push(patterned(i)));
    if (i % 21 == 0) ring.clear();
  }
  stop.store(true, std::memory_order_relaxed);
  reader.join();
}

TEST(Ring, accepts_a_second_writer_after_a_hand_over) {
  Ring ring = make_ring(4);
  push_from(ring, 0, 2);
  ring.hand_over();
  std::thread([&] { push_from(ring, 2, 2); }).join();
  EXPECT_EQ(fault_of(ring.snapshot(), 4), "");
}

#if defined(CALM_SLOW_CHECKS) && CALM_SLOW_CHECKS
TEST(RingDeathTest, stops_a_second_writer) {
  Ring ring = make_ring(4);
  push_from(ring, 0, 1);
  EXPECT_DEATH(std::thread([&] { static_cast<void>(ring.push(patterned(1))); }).join(), "written_here\\(\\)");
}
#endif

}  // namespace
}  // namespace calm::trace
