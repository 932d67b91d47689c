// error_code.hpp — the closed set of things that can go wrong, each with a stable number, a name, a cause and a fix.
// Laws:    HND-2
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string_view>

#include "calm/check/require.hpp"

namespace calm {

/// Numbers are stable for ever: new codes go at the end, none is reused.
enum class Errc : std::uint16_t {
  invalid_transition = 1,
  region_not_open = 2,
  region_closed = 3,
  admission_closed = 4,
  admission_limit = 5,
  obligation_already_resolved = 6,
  obligation_leaked = 7,
  unresolved_obligations = 8,
  incomplete_children = 9,
  stale_handle = 10,
  resource_exhausted = 11,
  budget_exhausted = 12,
  tasks_still_active = 13,
  obligations_unresolved = 14,
  regions_not_closed = 15,
  timers_pending = 16,
  channel_not_drained = 17,
  witness_task_mismatch = 18,
  witness_region_mismatch = 19,
  witness_epoch_mismatch = 20,
  witness_phase_regression = 21,
  witness_reason_weakened = 22,
  invalid_argument = 23,
  cancelled = 24,
  would_block = 25,
  full = 26,
  empty = 27,
  disconnected = 28,
  timeout = 29,
  duration_exceeded = 30,
  lagged = 31,
  busy = 32,
  io = 33,
  unsupported = 34,
  protocol = 35,
  unauthorized = 36,
  conflict = 37,
  broken_pipe = 38,
  degraded = 39,
  open_circuit = 40,
};

/// What calm knows about a code: its name, why it happens and what to do about it.
struct ErrcEntry {
  Errc code;
  std::string_view name;
  std::string_view cause;
  std::string_view fix;
};

// clang-format off: one code, one paragraph
inline constexpr ErrcEntry errc_table[] = {
    {Errc::invalid_transition, "invalid_transition",
     "a record was asked to make a move that its state table does not have",
     "ask for the state first, or follow the table of the record in ARCHITECTURE.md"},
    {Errc::region_not_open, "region_not_open",
     "work or an obligation was offered to a region that has begun to close",
     "spawn before close, or into a region that outlives this one"},
    {Errc::region_closed, "region_closed",
     "memory of a region was used after the region closed",
     "copy what must survive, or keep the region open while it is used"},
    {Errc::admission_closed, "admission_closed",
     "a foreign thread offered work after shutdown began",
     "stop the outside source before the runtime, or drop the work"},
    {Errc::admission_limit, "admission_limit",
     "a limit set on this region was reached",
     "wait for work to end, raise the limit of the region, or shed load"},
    {Errc::obligation_already_resolved, "obligation_already_resolved",
     "an obligation was committed or aborted a second time",
     "resolve each token once; move it instead of copying its id"},
    {Errc::obligation_leaked, "obligation_leaked",
     "an obligation that was already declared lost was touched",
     "hold the token in the task that must resolve it until it is resolved"},
    {Errc::unresolved_obligations, "unresolved_obligations",
     "a region closed while obligations were still reserved",
     "commit or abort them; the report lists where each was created"},
    {Errc::incomplete_children, "incomplete_children",
     "a region was told to advance while children are alive",
     "close the region and wait; it advances when the last child leaves"},
    {Errc::stale_handle, "stale_handle",
     "a handle was used after its record was recycled",
     "do not keep ids of finished records; join or drop the handle"},
    {Errc::resource_exhausted, "resource_exhausted",
     "a ceiling of the runtime was reached (memory, queue, timers, ids)",
     "raise the ceiling in the profile, or bound the work that is admitted"},
    {Errc::budget_exhausted, "budget_exhausted",
     "the quota that was asked for is no longer there",
     "request a larger budget at the spawn, or do less per task"},
    {Errc::tasks_still_active, "tasks_still_active",
     "quiet was claimed while a task is alive",
     "join or cancel the task; the diagnostic names it"},
    {Errc::obligations_unresolved, "obligations_unresolved",
     "quiet was claimed while an obligation is reserved",
     "resolve it; the diagnostic names its holder and site"},
    {Errc::regions_not_closed, "regions_not_closed",
     "quiet was claimed while a region is not closed",
     "close the region; the diagnostic names what keeps it open"},
    {Errc::timers_pending, "timers_pending",
     "quiet was claimed while a timer is armed",
     "cancel the timer or wait for it"},
    {Errc::channel_not_drained, "channel_not_drained",
     "quiet was claimed while a registered channel holds messages",
     "receive or drop what is queued, then close the channel"},
    {Errc::witness_task_mismatch, "witness_task_mismatch",
     "two witnesses of different tasks were compared",
     "compare witnesses of one task only"},
    {Errc::witness_region_mismatch, "witness_region_mismatch",
     "two witnesses of different regions were compared",
     "compare witnesses of one region only"},
    {Errc::witness_epoch_mismatch, "witness_epoch_mismatch",
     "two witnesses of different cancellations were compared",
     "compare witnesses of one cancellation only"},
    {Errc::witness_phase_regression, "witness_phase_regression",
     "a cancellation went back to an earlier phase",
     "report it: the protocol only moves forward"},
    {Errc::witness_reason_weakened, "witness_reason_weakened",
     "a cancellation went on with a weaker reason",
     "report it: reasons only grow stronger"},
    {Errc::invalid_argument, "invalid_argument",
     "an argument is outside what the call accepts",
     "see the Needs line of the call"},
    {Errc::cancelled, "cancelled",
     "the work was asked to stop and has stopped",
     "read the reason; explain() shows who asked and why"},
    {Errc::would_block, "would_block",
     "the call cannot finish now and was told not to wait",
     "try again later, or use the form that waits"},
    {Errc::full, "full",
     "there is no room in a bounded queue",
     "wait with reserve(), evict, or shed load"},
    {Errc::empty, "empty",
     "there is nothing to take",
     "wait with recv(), or try again later"},
    {Errc::disconnected, "disconnected",
     "the other side is gone for good",
     "stop: no message will come or be taken any more"},
    {Errc::timeout, "timeout",
     "the time given for the operation ran out",
     "allow more time, or find out what is slow"},
    {Errc::duration_exceeded, "duration_exceeded",
     "a timer was asked for beyond the longest supported duration",
     "shorten it, or ask for clamping"},
    {Errc::lagged, "lagged",
     "a slow receiver missed messages",
     "read faster, enlarge the buffer, or accept the gap that is reported"},
    {Errc::busy, "busy",
     "the resource is in use by someone else",
     "wait for it, or try again later"},
    {Errc::io, "io",
     "the operating system reported an error",
     "see the message for the call and its errno"},
    {Errc::unsupported, "unsupported",
     "this build or machine cannot do what was asked",
     "see the message for what is missing"},
    {Errc::protocol, "protocol",
     "the peer sent something that the protocol does not allow",
     "check versions on both sides; the message names the field"},
    {Errc::unauthorized, "unauthorized",
     "the caller lacks the authority",
     "pass a Cx that has the capability, or fix the credentials"},
    {Errc::conflict, "conflict",
     "the request contradicts an earlier one",
     "use a new key, or repeat the original request unchanged"},
    {Errc::broken_pipe, "broken_pipe",
     "the peer stopped reading while data was being written",
     "treat the connection as closed"},
    {Errc::degraded, "degraded",
     "a part of the service is down and the rest goes on",
     "see the message for the part; retry later if it is needed"},
    {Errc::open_circuit, "open_circuit",
     "calls are refused because too many of them failed lately",
     "wait until the breaker lets a probe through, and mend the callee"},
};
// clang-format on
inline constexpr std::uint16_t errc_count = sizeof(errc_table) / sizeof(errc_table[0]);

namespace detail {

consteval bool errc_table_is_dense() {
  for (std::uint16_t i = 0; i < errc_count; ++i) {
    const ErrcEntry& row = errc_table[i];
    if (static_cast<std::uint16_t>(row.code) != i + 1) return false;
    if (row.name.empty() || row.cause.empty() || row.fix.empty()) return false;
  }
  return errc_table[errc_count - 1].code == Errc::open_circuit;
}
static_assert(errc_table_is_dense(), "HND-2: every error code has exactly one row, in the order of its number");

}  // namespace detail

/// Gives: the row with this number or this name, or nullptr.
constexpr const ErrcEntry* find_errc(std::uint16_t number) noexcept {
  return number >= 1 && number <= errc_count ? &errc_table[number - 1] : nullptr;
}
constexpr const ErrcEntry* find_errc(std::string_view name) noexcept {
  for (const ErrcEntry& row : errc_table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

/// Gives: the row of a code. Needs: a code of the enum.
constexpr const ErrcEntry& describe(Errc code) noexcept {
  const ErrcEntry* row = find_errc(static_cast<std::uint16_t>(code));
  CALM_REQUIRE(HND_2, row != nullptr, static_cast<std::uint16_t>(code));
  return *row;
}

/// Gives: the name, for example `region_not_open`.
constexpr std::string_view to_string(Errc code) noexcept { return describe(code).name; }

/// Success, or one error code: the answer of functions that return nothing else.
class [[nodiscard("a Status that nobody looks at loses its error")]] Status {
 public:
  constexpr Status() noexcept = default;
  constexpr Status(Errc code) noexcept : code_(code) {}  // NOLINT(google-explicit-constructor): `return Errc::full;`

  [[nodiscard]] constexpr bool is_ok() const noexcept { return code_ == Errc{}; }
  constexpr explicit operator bool() const noexcept { return is_ok(); }

  /// Needs: not ok.
  [[nodiscard]] constexpr Errc error() const noexcept {
    CALM_REQUIRE(HND_2, !is_ok());
    return code_;
  }

  friend constexpr bool operator==(Status, Status) noexcept = default;

 private:
  Errc code_{};
};

/// Gives: `ok` or the name of the error.
constexpr std::string_view to_string(Status status) noexcept { return status ? "ok" : to_string(status.error()); }

}  // namespace calm
