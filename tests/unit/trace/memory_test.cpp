// What the trace does when there is no memory.
#include <gtest/gtest.h>

#include <new>

#include "calm/trace/recorder.hpp"
#include "tests/no_memory.hpp"

namespace calm::trace {
namespace {

// HND-3
TEST(TraceWithoutMemory, a_ring_that_cannot_be_made_says_resource_exhausted) {
  bool refused = false;
  {
    const NoMemory gone;
    const auto ring = Ring::make({.capacity = 1024});
    refused = ring.is_err() && ring.error().code() == Errc::resource_exhausted;
  }
  EXPECT_TRUE(refused);
}

TEST(TraceWithoutMemory, recording_goes_on) {
  Ring ring = Ring::make({.capacity = 4}).value();
  Recorder recorder(ring);
  int recorded = 0;
  {
    const NoMemory gone;
    for (int i = 0; i < 10; ++i) recorded += recorder.record({.kind = EventKind::poll}) ? 1 : 0;
  }
  EXPECT_EQ(recorded, 10);
  EXPECT_EQ(ring.snapshot().overwritten, 6U);
}

TEST(TraceWithoutMemory, a_snapshot_that_cannot_be_taken_leaves_the_ring_as_it_was) {
  Ring ring = Ring::make({.capacity = 4}).value();
  EXPECT_TRUE(ring.push({.kind = EventKind::poll, .sequence = 1}));
  bool thrown = false;
  {
    const NoMemory gone;
    try {
      static_cast<void>(ring.snapshot());
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
  }
  EXPECT_TRUE(thrown);
  EXPECT_EQ(ring.snapshot().events.size(), 1U);
}

}  // namespace
}  // namespace calm::trace
