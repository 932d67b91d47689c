// reader.hpp — the rings of all workers as one trace, what is missing in it, and its digests.
// Laws:    LAB-2, LAB-12 (trace digest, semantic digest), HND-3 (what was overwritten is counted)
// Threads: merge, gaps and digests are pure functions; read_rings works beside the writers
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "calm/model/outcome.hpp"
#include "calm/trace/event.hpp"
#include "calm/trace/ring.hpp"

namespace calm::trace {

/// The events of a run, or of its end.
struct Trace {
  std::uint64_t overwritten = 0;  // how many older ones the rings could not keep
  std::vector<Event> events;      // by ascending sequence

  friend bool operator==(const Trace&, const Trace&) = default;
};

/// Gives: the events of all snapshots in the order of their sequence.
/// Fails: conflict when two have the same one, invalid_argument when one has none: they are not of one runtime;
///        std::bad_alloc.
Outcome<Trace> merge(std::span<const Snapshot> snapshots);

/// Gives: a trace of what the rings hold now. Fails: as merge.
Outcome<Trace> read_rings(std::span<const Ring* const> rings);

/// Sequences from `first` to `last` that a trace does not have, all in a row.
struct Gap {
  std::uint64_t first;
  std::uint64_t last;

  friend constexpr bool operator==(Gap, Gap) noexcept = default;
};

/// Gives: everything missing from `start` up to the last event. Of a trace of all rings, read when no worker records,
///        Trace::overwritten of them are missing; beside running workers also those that had a number and no place yet.
/// Fails: std::bad_alloc.
std::vector<Gap> find_gaps(const Trace& trace, std::uint64_t start = 1);

/// Gives: how many sequences the gaps hold.
std::uint64_t missing_in(std::span<const Gap> gaps) noexcept;

/// Gives: the trace digest, XXH64 with seed 0 over all events in order, semantic or not. Of each event these enter, as
///        64-bit little-endian numbers:
///          kind | access << 8, task, region, resource, distance to the cause (sequence - cause, 0 for none), argument
///        What stays out, and why:
///          sequence             the order says it; only where the counter started would be left, and a run that starts
///                               at another number is still the same run. For the same reason a cause is a distance.
///          time                 a wall time in production (LAB-12); in the lab it follows from timer and choice events
///          worker, position     which worker ran a task is no part of what happened (LAB-12)
///          Trace::overwritten   says how much was kept of the run, not what happened in it
std::uint64_t trace_digest(const Trace& trace) noexcept;

/// Gives: the semantic digest, XXH64 with seed 0 over the semantic events in order. Of each these enter, as 64-bit
///        little-endian numbers: kind, task, region, resource, argument. What the trace digest leaves out stays out here
///        too, and so do causes and footprints: they say how a host got there.
std::uint64_t semantic_digest(const Trace& trace) noexcept;

}  // namespace calm::trace
