#include "calm/trace/ring.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "tests/model/interleave.hpp"
#include "tests/unit/trace/events.hpp"

namespace calm::interleave {
namespace {

using trace::is_patterned;
using trace::patterned;

struct Flight {
  trace::BasicRing<ModelAtomics> ring = trace::BasicRing<ModelAtomics>::make({.capacity = 2}).value();
};

template <std::uint64_t count>
void push(Flight& flight) {
  for (std::uint64_t i = 0; i < count; ++i) EXPECT_TRUE(flight.ring.push(patterned(i)));
}

void take_a_snapshot(Flight& flight) {
  const trace::Snapshot seen = flight.ring.snapshot();
  for (std::size_t i = 0; i < seen.events.size(); ++i) {
    EXPECT_TRUE(is_patterned(seen.events[i], seen.overwritten + i)) << seen.events[i];
  }
}

void nothing_more(Flight& /*flight*/) {}

TEST(RingModel, a_snapshot_while_the_ring_is_overwritten_shows_no_torn_event) {
  const Report report = explore<Flight>({push<4>, take_a_snapshot}, nothing_more, {.max_preemptions = 3});
  EXPECT_TRUE(report.ok()) << report;
}

TEST(RingModel, two_snapshots_at_once_disturb_neither_the_writer_nor_each_other) {
  const Report report =
      explore<Flight>({push<3>, take_a_snapshot, take_a_snapshot}, nothing_more, {.max_preemptions = 2});
  EXPECT_TRUE(report.ok()) << report;
}

}  // namespace
}  // namespace calm::interleave
