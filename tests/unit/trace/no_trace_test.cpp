// Compiled without trace whatever the build says; the recorder of this file has another name than that of the others.
#undef CALM_NO_TRACE
#define CALM_NO_TRACE 1
#include <gtest/gtest.h>

#include <type_traits>

#include "calm/trace/recorder.hpp"

namespace calm::trace {
namespace {

TEST(NoTrace, a_recorder_takes_no_space_and_records_nothing) {
  static_assert(std::is_empty_v<Recorder>);
  Ring ring = Ring::make({.capacity = 1, .when_full = WhenFull::refuse}).value();
  SequenceSource sequence;
  Recorder recorder(ring, &sequence);
  recorder.set_time(Time::at_ns(1));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(recorder.record({.kind = EventKind::spawn}));
    EXPECT_TRUE(recorder.touch(ResourceId::registered(1), Access::write, TaskId()));
  }
  EXPECT_TRUE(recorder.room(100));
  EXPECT_EQ(recorder.last(), 0U);
  EXPECT_TRUE(ring.snapshot().events.empty());
  EXPECT_EQ(sequence.next(), 1U);
}

}  // namespace
}  // namespace calm::trace
