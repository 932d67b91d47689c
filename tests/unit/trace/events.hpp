// events.hpp — events for the tests of the trace: made by hand, made at random, and shown when a test fails.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <ostream>
#include <vector>

#include "calm/trace/event.hpp"
#include "calm/trace/reader.hpp"
#include "calm/trace/text.hpp"

namespace calm::trace {

inline std::ostream& operator<<(std::ostream& out, const Event& event) {
  return out << to_string(event) << " (time " << event.time.ns() << ", worker " << event.worker << ", position "
             << event.position << ")";
}

inline TaskId task(std::uint32_t index) { return TaskId(index, Generation()); }
inline RegionId region(std::uint32_t index) { return RegionId(index, Generation()); }

/// An event whose every field follows from one number: a mixture of two of them is found out.
inline Event patterned(std::uint64_t number) {
  const auto small = static_cast<std::uint32_t>(number);
  return {.kind = static_cast<EventKind>(1 + number % event_kind_count),
          .access = static_cast<Access>(number % 3),
          .sequence = number + 1,
          .time = Time::at_ns(number * 3),
          .task = task(small),
          .region = region(small),
          .resource = ResourceId::registered(small & ResourceId::object_max, small),
          .cause = number,
          .argument = ~number};
}

/// Gives: true when this is patterned(number) as a ring has taken it.
inline bool is_patterned(const Event& event, std::uint64_t number, std::uint16_t worker = 0) {
  Event expected = patterned(number);
  expected.worker = worker;
  expected.position = static_cast<std::uint32_t>(number);
  return event == expected;
}

/// Any trace that a runtime could have recorded: ascending sequences with gaps, causes before their events.
inline rc::Gen<Trace> any_trace() {
  return rc::gen::exec([] {
    Trace trace;
    trace.overwritten = *rc::gen::arbitrary<std::uint64_t>();
    const auto count = *rc::gen::inRange<std::size_t>(0, 12);
    std::uint64_t sequence = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sequence += *rc::gen::inRange<std::uint64_t>(1, 5);
      const auto number = *rc::gen::arbitrary<std::uint32_t>();
      const Generation generation(*rc::gen::inRange<std::uint32_t>(Generation::first, Generation::last));
      trace.events.push_back({.kind = static_cast<EventKind>(*rc::gen::inRange(1, event_kind_count + 1)),
                              .access = static_cast<Access>(*rc::gen::inRange(0, 3)),
                              .worker = *rc::gen::arbitrary<std::uint16_t>(),
                              .position = *rc::gen::arbitrary<std::uint32_t>(),
                              .sequence = sequence,
                              .time = Time::at_ns(*rc::gen::arbitrary<std::uint32_t>()),
                              .task = number % 2 == 0 ? TaskId() : TaskId(number, generation),
                              .region = number % 3 == 0 ? RegionId() : RegionId(number, generation),
                              .resource = number % 5 == 0 ? ResourceId() : ResourceId(ChannelId(number, generation)),
                              .cause = *rc::gen::inRange<std::uint64_t>(0, sequence),
                              .argument = *rc::gen::arbitrary<std::uint64_t>()});
    }
    return trace;
  });
}

inline std::ostream& operator<<(std::ostream& out, const Trace& trace) {
  out << trace.overwritten << " overwritten";
  for (const Event& event : trace.events) out << "\n  " << event;
  return out;
}

}  // namespace calm::trace
