// story.hpp — a trace put in order for people: rows of a tree of regions and tasks, and what lasts from event to event.
// Laws:    LAB-2, LAB-9 (what every export draws)
// Threads: values, a pure function
// Cancel:  a span from the request to the end of the task, with its acknowledgement inside
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "calm/model/obligation_kind.hpp"
#include "calm/model/region_state.hpp"
#include "calm/trace/names.hpp"

namespace calm::observe {

/// One line of the picture.
struct Row {
  enum class Type : std::uint8_t { runtime, region, task };
  static constexpr std::size_t none = SIZE_MAX;

  Type type = Type::runtime;
  RegionId region{};          ///< the region itself, or that of the task; none where the trace does not tell
  TaskId task{};              ///< of a task row
  std::size_t parent = none;  ///< the row it stands under, always before this one
  std::uint32_t depth = 0;    ///< how many rows it stands under
  bool finalizer = false;     ///< a task that the region started when it was Finalizing
  std::size_t first = none;   ///< the event that made it; none when that is not in the trace
  std::size_t last = none;    ///< the event that ended it; none when that is not in the trace
};

/// Something that lasts. Events are counted from 0 in the order of the trace.
struct Span {
  enum class Type : std::uint8_t {
    poll,        ///< a task runs: from its poll to the last event that the worker recorded before it turned to another
    wait,        ///< a task is parked or queued
    state,       ///< a region is in `state`
    cancel,      ///< from the first request to the end of the task
    obligation,  ///< a promise, from reserve to resolve
  };

  Type type = Type::poll;
  std::size_t row = 0;
  std::size_t from = 0;
  std::size_t to = 0;
  bool after = false;    ///< `from` does not belong to it: it begins where that event ends
  bool through = false;  ///< `to` belongs to it; otherwise it ends where that event begins
  bool open = false;     ///< the trace ends before it does
  RegionState state = RegionState::open;
};

struct Story {
  std::vector<Row> rows;            ///< the runtime first, then each region with its tasks and then its child regions
  std::vector<std::size_t> row_of;  ///< for each event
  std::vector<std::size_t>
      cause_of;             ///< for each event the one that led to it; Row::none when that is not in the trace
  std::vector<Span> spans;  ///< by row and type in the order they begin
};

/// Gives: true when this event made a region, and no task: what it touches is the parent then.
[[nodiscard]] constexpr bool makes_region(const trace::Event& event) noexcept {
  return event.kind == trace::EventKind::spawn && event.region && RegionId::from_bits(event.resource.bits()) &&
         event.resource != trace::ResourceId(event.region);
}

/// Needs: events by ascending sequence; beyond that any trace will do, also the end of one or one that breaks laws.
/// Fails: std::bad_alloc.
[[nodiscard]] Story story_of(const trace::Trace& trace);

/// Gives: what a row is called, `r1`, `t4`; with its name if there is one, `t4 listener`.
[[nodiscard]] std::string title_of(const Row& row, const trace::Names& names);

}  // namespace calm::observe
