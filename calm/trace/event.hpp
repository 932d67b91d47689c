// event.hpp — one step of a run as 64 bytes: who did what to which resource, in what order and because of what.
// Laws:    LAB-2 (what an event says, which kinds are semantic), CAN-8 (a forced end has its own), COM-3 (marks are
//          the user's), LAB-12 (no address, no source site)
// Threads: values
// Cancel:  not applicable
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "calm/check/require.hpp"
#include "calm/model/id.hpp"
#include "calm/model/time.hpp"
#include "calm/trace/resource.hpp"

namespace calm::trace {

/// Numbers are stable for ever, they stand in stored traces: new kinds go at the end, none is reused; 0 is no kind.
enum class EventKind : std::uint8_t {
  spawn = 1,
  poll = 2,
  complete = 3,
  cancel_request = 4,
  cancel_ack = 5,
  cancel_done = 6,
  reserve = 7,
  resolve = 8,
  finalize = 9,
  region_move = 10,
  timer = 11,
  channel = 12,
  io = 13,
  choice = 14,
  access = 15,
  forced = 16,
  mark = 17,
};

/// How the argument of an event is to be read; argument.hpp makes the ones that are no plain numbers.
enum class ArgumentForm : std::uint8_t { number, outcome, cancel, obligation, resolution, region_move };

struct EventKindRow {
  EventKind kind;
  std::string_view name;
  bool semantic;  ///< enters the semantic digest; the others only carry a footprint
  ArgumentForm argument;
};

inline constexpr EventKindRow event_kind_table[] = {
    {EventKind::spawn, "spawn", true, ArgumentForm::number},
    {EventKind::poll, "poll", true, ArgumentForm::number},
    {EventKind::complete, "complete", true, ArgumentForm::outcome},
    {EventKind::cancel_request, "cancel request", true, ArgumentForm::cancel},
    {EventKind::cancel_ack, "cancel ack", true, ArgumentForm::cancel},
    {EventKind::cancel_done, "cancel done", true, ArgumentForm::cancel},
    {EventKind::reserve, "reserve", true, ArgumentForm::obligation},
    {EventKind::resolve, "resolve", true, ArgumentForm::resolution},
    {EventKind::finalize, "finalize", true, ArgumentForm::number},
    {EventKind::region_move, "region move", true, ArgumentForm::region_move},
    {EventKind::timer, "timer", true, ArgumentForm::number},
    {EventKind::channel, "channel", true, ArgumentForm::number},
    {EventKind::io, "I/O", true, ArgumentForm::number},
    {EventKind::choice, "choice", true, ArgumentForm::number},
    {EventKind::access, "access", false, ArgumentForm::number},
    {EventKind::forced, "forced", true, ArgumentForm::cancel},
    {EventKind::mark, "mark", true, ArgumentForm::number},
};
inline constexpr std::uint8_t event_kind_count = sizeof(event_kind_table) / sizeof(event_kind_table[0]);

namespace detail {

consteval bool event_kinds_are_lawful() {
  int semantic = 0;
  for (std::uint8_t i = 0; i < event_kind_count; ++i) {
    const EventKindRow& row = event_kind_table[i];
    if (static_cast<std::uint8_t>(row.kind) != i + 1 || row.name.empty()) return false;
    semantic += row.semantic ? 1 : 0;
  }
  return semantic == 16 && !event_kind_table[static_cast<std::uint8_t>(EventKind::access) - 1].semantic;
}
static_assert(event_kinds_are_lawful(),
              "LAB-2, CAN-8, COM-3: sixteen semantic kinds and the access, one row each, in order of their numbers");

}  // namespace detail

/// Gives: the row with this number, or nullptr.
constexpr const EventKindRow* find_event_kind(std::uint8_t number) noexcept {
  return number >= 1 && number <= event_kind_count ? &event_kind_table[number - 1] : nullptr;
}

/// Gives: the row of a kind. Needs: a kind of the enum.
constexpr const EventKindRow& describe(EventKind kind) noexcept {
  const EventKindRow* row = find_event_kind(static_cast<std::uint8_t>(kind));
  CALM_REQUIRE(LAB_2, row != nullptr, static_cast<std::uint8_t>(kind));
  return *row;
}

/// Gives: the kind as the law writes it, `cancel request`.
constexpr std::string_view to_string(EventKind kind) noexcept { return describe(kind).name; }

/// What an event did to its resource: the footprint that exploration works on (LAB-4). A failed try is a read.
enum class Access : std::uint8_t { none = 0, read = 1, write = 2 };

/// Gives: `none`, `read` or `write`.
constexpr std::string_view to_string(Access access) noexcept {
  switch (access) {
    case Access::none:
      return "none";
    case Access::read:
      return "read";
    case Access::write:
      return "write";
  }
  CALM_INVARIANT(LAB_2, false, static_cast<std::uint8_t>(access));
  return {};
}

/// One event. Who records it sets what it says; recorder and ring fill in when and where it was recorded. There is no
/// padding: every byte means something.
struct Event {
  EventKind kind{};              ///< what happened; 0 in an event that says nothing yet
  Access access = Access::none;  ///< what it did to `resource`
  std::uint16_t worker = 0;      ///< whose ring it was recorded in; by the ring
  std::uint32_t position = 0;    ///< the how manieth of that ring, from 0, modulo 2^32; by the ring
  std::uint64_t sequence = 0;    ///< place in the order of all rings, from 1; 0 before it is recorded; by the recorder
  Time time{};                   ///< the time the recorder was told last; by the recorder
  TaskId task{};                 ///< who acts; none for the runtime itself
  RegionId region{};             ///< the region it belongs to; none when that does not matter
  ResourceId resource{};         ///< what is touched: the obligation, channel, timer or registered object; or none
  std::uint64_t cause = 0;       ///< the sequence of the event that led to it, 0 for none; always below `sequence`
  std::uint64_t argument = 0;    ///< more, as the row of the kind says; never an address, a source site or a wall time

  friend constexpr bool operator==(const Event&, const Event&) noexcept = default;
};

static_assert(sizeof(Event) == 64 && alignof(Event) == 8);
static_assert(std::is_trivially_copyable_v<Event> && std::has_unique_object_representations_v<Event>,
              "an event has no padding and may be copied and hashed as bytes");
static_assert(offsetof(Event, access) == 1 && offsetof(Event, worker) == 2 && offsetof(Event, position) == 4 &&
              offsetof(Event, sequence) == 8 && offsetof(Event, time) == 16 && offsetof(Event, task) == 24 &&
              offsetof(Event, region) == 32 && offsetof(Event, resource) == 40 && offsetof(Event, cause) == 48 &&
              offsetof(Event, argument) == 56);

/// An event as eight numbers, the same on every machine: word 0 is kind, access << 8, worker << 16 and position << 32, the
/// other fields are a word each. Stored least significant byte first this is the memory layout above.
using EventWords = std::array<std::uint64_t, 8>;

constexpr EventWords to_words(const Event& event) noexcept {
  return {std::uint64_t{static_cast<std::uint8_t>(event.kind)} |
              std::uint64_t{static_cast<std::uint8_t>(event.access)} << 8 | std::uint64_t{event.worker} << 16 |
              std::uint64_t{event.position} << 32,
          event.sequence,
          event.time.ns(),
          event.task.bits(),
          event.region.bits(),
          event.resource.bits(),
          event.cause,
          event.argument};
}

/// Gives: the event with these words. Ids and times that cannot exist come out as none and Time::max(), so that
///        to_words() gives the same words back exactly when all of them could exist; kind and access are taken as they are.
constexpr Event from_words(const EventWords& words) noexcept {
  return {.kind = static_cast<EventKind>(words[0] & 0xFF),
          .access = static_cast<Access>(words[0] >> 8 & 0xFF),
          .worker = static_cast<std::uint16_t>(words[0] >> 16),
          .position = static_cast<std::uint32_t>(words[0] >> 32),
          .sequence = words[1],
          .time = words[2] <= Time::max().ns() ? Time::at_ns(words[2]) : Time::max(),
          .task = TaskId::from_bits(words[3]),
          .region = RegionId::from_bits(words[4]),
          .resource = ResourceId::from_bits(words[5]),
          .cause = words[6],
          .argument = words[7]};
}

}  // namespace calm::trace
