#include "calm/trace/ring.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/model/explored.hpp"
#include "tests/model/orders.hpp"
#include "tests/model/weakened.hpp"
#include "tests/unit/trace/events.hpp"

namespace calm::explored {
namespace {

using trace::is_patterned;
using trace::patterned;

struct Flight {
  explicit Flight(std::uint64_t capacity = 2)
      : ring(trace::BasicRing<ModelAtomics>::make({.capacity = capacity}).value()) {}
  trace::BasicRing<ModelAtomics> ring;
};

/// A ring with room for one event, and one in it.
struct FullFlight : Flight {
  FullFlight() : Flight(1) { EXPECT_TRUE(ring.push(patterned(0))); }
};

template <std::uint64_t count, std::uint64_t first = 0>
void push(Flight& flight) {
  for (std::uint64_t i = first; i < first + count; ++i) EXPECT_TRUE(flight.ring.push(patterned(i)));
}

void take_a_snapshot(Flight& flight) {
  const trace::Snapshot seen = flight.ring.snapshot();
  for (std::size_t i = 0; i < seen.events.size(); ++i) {
    EXPECT_TRUE(is_patterned(seen.events[i], seen.overwritten + i)) << seen.events[i];
  }
}

void nothing_more(Flight& /*flight*/) {}

TEST(RingModel, a_snapshot_while_the_ring_is_overwritten_shows_no_torn_event) {
  expect_exhausted(explore<Flight>({push<4>, take_a_snapshot}, nothing_more));
}

// A snapshot decides nothing by what another one does, so what loads may read is looked at above; this is about the steps.
TEST(RingModel, two_snapshots_at_once_disturb_neither_the_writer_nor_each_other) {
  expect_exhausted(explore<FullFlight>({push<1, 1>, take_a_snapshot, take_a_snapshot}, nothing_more,
                                       {.memory = MemoryModel::sequential}));
}

// With three events in two places two snapshots have more executions than there is time for: here up to two preemptions. With three
// there are 334 654 executions, longer ones than elsewhere; without a bound more than 200 000 reduced ones.
TEST(RingModel, two_snapshots_of_a_ring_that_is_being_filled_disturb_nobody) {
  expect_exhausted(explore<Flight>({push<3>, take_a_snapshot, take_a_snapshot}, nothing_more, {.max_preemptions = 2}));
}

// --- what each named order is for ---

/// The n-th release of a thread, from 0, is relaxed. A push releases begun_, words 1 to 7, word 0; a clear releases first_.
template <std::uint64_t first, std::uint64_t last>
struct ReleasesRelaxed : ModelAtomics {
  static inline std::uint64_t releases = 0;

  template <class T>
  class Atomic : public explore::Atomic<T> {
    using Base = explore::Atomic<T>;

   public:
    using Base::Base;
    void store(T value, std::memory_order order) noexcept {
      if (order == std::memory_order_release && releases++ >= first && releases <= last + 1) order = relaxed;
      Base::store(value, order);
    }
  };
};
constexpr std::uint64_t none = UINT64_MAX - 1;

/// A ring of two, of which events are seen that were not pushed, or whose own checks fail.
template <class Atomics, class Write>
Report write_and_look(Write write) {
  struct Weak {
    trace::BasicRing<Atomics> ring = trace::BasicRing<Atomics>::make({.capacity = 2}).value();
    Weak() {
      if constexpr (requires { Atomics::releases; }) Atomics::releases = 0;
    }
  };
  const Body<Weak> look = [](Weak& weak) {
    const trace::Snapshot seen = weak.ring.snapshot();
    EXPECT_LE(seen.overwritten + seen.events.size(), 3U);
    for (const trace::Event& event : seen.events) EXPECT_TRUE(is_patterned(event, event.position)) << event;
  };
  return explore<Weak>({[write](Weak& weak) { write(weak.ring); }, look}, [](Weak&) {});
}

/// A check of the library ends the process where one is compiled in; what the explorer finds ends it here.
template <class Atomics, class Write>
void die_if_found(Write write) {
  const Report report = write_and_look<Atomics>(write);
  if (report.failure.empty()) return;
  std::fprintf(stderr, "found\n");
  std::abort();
}

/// Of words that are known to be zero when it is compiled an event has no stores; these are counted.
std::uint64_t not_known(std::uint64_t number) {
  const volatile std::uint64_t read = number;
  return read;
}
constexpr auto push_three = [](auto& ring) {
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(ring.push(patterned(not_known(i))));
};
constexpr auto push_and_clear = [](auto& ring) {
  EXPECT_TRUE(ring.push(patterned(not_known(0))));
  ring.clear();
};

TEST(RingModelDeathTest, LAB_8_R1_to_R4_each_order_is_needed) {
  expect_exhausted(write_and_look<ReleasesRelaxed<none, none>>(push_three));
  expect_exhausted(write_and_look<ReleasesRelaxed<none, none>>(push_and_clear));
  const std::string found = "LAB-2|found";
  EXPECT_DEATH((die_if_found<ReleasesRelaxed<9, 9>>(push_three)), found) << "R1, of the second event";
  EXPECT_DEATH((die_if_found<ReleasesRelaxed<19, 25>>(push_three)), found) << "R2, of the third event";
  EXPECT_DEATH((die_if_found<ReleasesRelaxed<8, 8>>(push_three)), found) << "R4, of the first event";
  EXPECT_DEATH((die_if_found<ReleasesRelaxed<9, 9>>(push_and_clear)), found) << "R3";
  EXPECT_DEATH((die_if_found<Weakened<Weakening::load_acquire>>(push_three)), found) << "the acquires";
}

}  // namespace
}  // namespace calm::explored
