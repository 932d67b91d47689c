#include "calm/trace/reader.hpp"

#include <algorithm>
#include <string>

#include "calm/trace/hash.hpp"
#include "calm/trace/text.hpp"

namespace calm::trace {

Outcome<Trace> merge(std::span<const Snapshot> snapshots) {
  Trace trace;
  for (const Snapshot& snapshot : snapshots) {
    trace.overwritten += snapshot.overwritten;
    trace.events.insert(trace.events.end(), snapshot.events.begin(), snapshot.events.end());
  }
  std::vector<Event>& events = trace.events;
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.sequence < b.sequence; });
  if (!events.empty() && events.front().sequence == 0) {
    return err(Errc::invalid_argument, "an event without a sequence was not recorded: " + to_string(events.front()));
  }
  const auto twin = std::adjacent_find(events.begin(), events.end(),
                                       [](const Event& a, const Event& b) { return a.sequence == b.sequence; });
  if (twin != events.end()) {
    return err(Errc::conflict, "two events have one sequence, the rings are not of one runtime: " + to_string(twin[0]) +
                                   " of worker " + std::to_string(twin[0].worker) + " and " + to_string(twin[1]) +
                                   " of worker " + std::to_string(twin[1].worker));
  }
  return ok(std::move(trace));
}

Outcome<Trace> read_rings(std::span<const Ring* const> rings) {
  std::vector<Snapshot> snapshots;
  snapshots.reserve(rings.size());
  for (const Ring* ring : rings) snapshots.push_back(ring->snapshot());
  return merge(snapshots);
}

std::vector<Gap> find_gaps(const Trace& trace, std::uint64_t start) {
  std::vector<Gap> gaps;
  std::uint64_t expected = start;
  for (const Event& event : trace.events) {
    if (event.sequence < expected) continue;  // recorded before `start`
    if (event.sequence > expected) gaps.push_back({expected, event.sequence - 1});
    expected = event.sequence + 1;
  }
  return gaps;
}

std::uint64_t missing_in(std::span<const Gap> gaps) noexcept {
  std::uint64_t sum = 0;
  for (const Gap gap : gaps) sum += gap.last - gap.first + 1;
  return sum;
}

std::uint64_t trace_digest(const Trace& trace) noexcept {
  Hasher hasher;
  for (const Event& event : trace.events) {
    hasher.add_all(std::uint64_t{static_cast<std::uint8_t>(event.kind)} |
                       std::uint64_t{static_cast<std::uint8_t>(event.access)} << 8,
                   event.task.bits(), event.region.bits(), event.resource.bits(),
                   event.cause == 0 ? 0 : event.sequence - event.cause, event.argument);
  }
  return hasher.digest();
}

std::uint64_t semantic_digest(const Trace& trace) noexcept {
  Hasher hasher;
  for (const Event& event : trace.events) {
    if (!describe(event.kind).semantic) continue;
    hasher.add(std::uint64_t{static_cast<std::uint8_t>(event.kind)})
        .add(event.task.bits())
        .add(event.region.bits())
        .add(event.resource.bits())
        .add(event.argument);
  }
  return hasher.digest();
}

}  // namespace calm::trace
