#include "calm/trace/recorder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "calm/trace/reader.hpp"
#include "tests/unit/trace/events.hpp"

namespace calm::trace {
namespace {

Ring make_ring(std::uint64_t capacity, WhenFull when_full = WhenFull::overwrite, std::uint16_t worker = 0) {
  return Ring::make({.capacity = capacity, .worker = worker, .when_full = when_full}).value();
}

// LAB-2
TEST(Recorder, fills_in_sequence_and_time_and_keeps_the_rest) {
  Ring ring = make_ring(8, WhenFull::overwrite, 3);
  Recorder recorder(ring);
  EXPECT_EQ(recorder.last(), 0U);
  recorder.set_time(Time::at_ns(70));
  EXPECT_TRUE(recorder.record({.kind = EventKind::spawn, .task = task(4), .region = region(1)}));
  const std::uint64_t spawned = recorder.last();
  recorder.set_time(Time::at_ns(90));
  EXPECT_TRUE(recorder.record({.kind = EventKind::poll, .task = task(4), .cause = spawned, .argument = 6}));

  const auto events = ring.snapshot().events;
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0], (Event{.kind = EventKind::spawn,
                              .worker = 3,
                              .sequence = 1,
                              .time = Time::at_ns(70),
                              .task = task(4),
                              .region = region(1)}));
  EXPECT_EQ(events[1], (Event{.kind = EventKind::poll,
                              .worker = 3,
                              .position = 1,
                              .sequence = 2,
                              .time = Time::at_ns(90),
                              .task = task(4),
                              .cause = 1,
                              .argument = 6}));
}

// LAB-4
TEST(Recorder, notes_a_footprint_as_accesses) {
  Ring ring = make_ring(8);
  Recorder recorder(ring);
  EXPECT_TRUE(recorder.touch(ResourceId::registered(1), Access::write, task(2)));
  EXPECT_TRUE(recorder.touch(ResourceId::registered(1, 7), Access::read, task(2)));
  const auto events = ring.snapshot().events;
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(to_string(events[0]), "#1 t2 write x1");
  EXPECT_EQ(to_string(events[1]), "#2 t2 read x1/7");
}

// HND-3
TEST(Recorder, refused_by_a_strict_ring_loses_no_number) {
  Ring full = make_ring(2, WhenFull::refuse, 0);
  Ring other = make_ring(2, WhenFull::refuse, 1);
  SequenceSource sequence;
  Recorder recorder(full, &sequence);
  Recorder second(other, &sequence);
  EXPECT_TRUE(recorder.room(2));
  EXPECT_TRUE(recorder.record({.kind = EventKind::choice}));
  EXPECT_TRUE(recorder.record({.kind = EventKind::choice}));
  EXPECT_EQ(recorder.room(1), Status(Errc::resource_exhausted));
  EXPECT_EQ(recorder.record({.kind = EventKind::poll}), Status(Errc::resource_exhausted));
  EXPECT_EQ(recorder.touch(region(1), Access::read, task(1)), Status(Errc::resource_exhausted));
  EXPECT_EQ(recorder.last(), 2U);
  EXPECT_TRUE(second.record({.kind = EventKind::poll}));
  EXPECT_EQ(second.last(), 3U);
}

TEST(Recorder, of_several_workers_number_every_event_once) {
  constexpr std::uint64_t each = 5000;
  std::vector<Ring> rings;
  for (std::uint16_t worker = 0; worker < 4; ++worker) rings.push_back(make_ring(1024, WhenFull::overwrite, worker));
  SequenceSource sequence;
  std::vector<std::thread> workers;
  for (Ring& ring : rings) {
    workers.emplace_back([&ring, &sequence] {
      Recorder recorder(ring, &sequence);
      for (std::uint64_t i = 0; i < each; ++i) {
        if (!recorder.record({.kind = EventKind::poll, .task = task(ring.worker()), .argument = i})) std::abort();
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  const std::array<const Ring*, 4> all{&rings[0], &rings[1], &rings[2], &rings[3]};
  const auto trace = read_rings(all);
  ASSERT_TRUE(trace.is_ok()) << trace.explain();
  EXPECT_EQ(trace.value().events.size(), 4 * 1024U);
  EXPECT_EQ(trace.value().overwritten, 4 * (each - 1024));
  std::uint64_t next[4] = {};
  for (const Event& event : trace.value().events) {
    EXPECT_GE(event.argument, next[event.worker]) << "the order of one worker is kept";
    next[event.worker] = event.argument + 1;
  }
  EXPECT_LE(missing_in(find_gaps(trace.value())), trace.value().overwritten);
}

}  // namespace
}  // namespace calm::trace
