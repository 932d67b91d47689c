// lane.hpp — the three lanes, which of them a task belongs to, and the order of everything that is runnable.
// Laws:    SCH-1 (lanes), SCH-2 (total order), SCH-4 (the numbers of fairness)
// Threads: constants and values; lane_of() by whoever was told to queue the task
// Cancel:  a task under cancellation goes to the first lane
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "calm/check/require.hpp"
#include "calm/kernel/task_record.hpp"

namespace calm::sched {

/// In the order in which they are served.
enum class Lane : std::uint8_t { cancel, timed, ready };

inline constexpr Lane all_lanes[] = {Lane::cancel, Lane::timed, Lane::ready};

/// Gives: `cancel`, `timed` or `ready`.
constexpr std::string_view to_string(Lane lane) noexcept {
  switch (lane) {
    case Lane::cancel:
      return "cancel";
    case Lane::timed:
      return "timed";
    case Lane::ready:
      return "ready";
  }
  CALM_INVARIANT(SCH_1, false, static_cast<std::uint8_t>(lane));
  return {};
}

/// So many dispatches of the cancel lane in a row while other work waits; twice as many while something is drained.
inline constexpr std::uint32_t cancel_limit = 16;
inline constexpr std::uint32_t draining_limit = 2 * cancel_limit;

/// So many dispatches may pass over the oldest ready entry.
inline constexpr std::uint32_t aging_limit = 64;

/// Gives: the published bound: a ready task is dispatched after so many others at the latest, when `entries` are ready.
constexpr std::uint64_t ready_bound(std::uint64_t entries) noexcept { return aging_limit * (entries + 1); }

/// Gives: the place of a priority in its lane; the smaller number is served first.
constexpr std::uint64_t rank_of(std::uint8_t priority) noexcept { return std::uint64_t{UINT8_MAX} - priority; }
constexpr std::uint64_t rank_of(Deadline deadline) noexcept { return deadline.raw(); }

/// The place of a runnable task among all others; the smaller key is served first.
struct Key {
  Lane lane{};
  std::uint64_t rank = 0;      ///< rank_of() its priority or, in the timed lane, its deadline
  std::uint64_t sequence = 0;  ///< the how manieth that became runnable at this worker
  TaskId task{};               ///< where keys of several workers meet

  friend constexpr bool operator==(const Key&, const Key&) noexcept = default;
  friend constexpr auto operator<=>(const Key&, const Key&) noexcept = default;
};

static_assert(Key{.lane = Lane::cancel, .rank = 9} < Key{.lane = Lane::timed} &&
                  Key{.lane = Lane::timed, .rank = 9} < Key{.lane = Lane::ready},
              "SCH-1: cancel before timed before ready");
static_assert(rank_of(std::uint8_t{255}) < rank_of(std::uint8_t{0}), "SCH-1: the higher priority first");
static_assert(rank_of(Deadline(Time())) < rank_of(Deadline(Time::max())) &&
                  rank_of(Deadline(Time::max())) < rank_of(Deadline::none()),
              "SCH-1: the earlier deadline first");
static_assert(Key{.rank = 1, .sequence = 9} < Key{.rank = 2} &&
                  Key{.rank = 1, .sequence = 1} < Key{.rank = 1, .sequence = 2},
              "SCH-2: rank, then who came first");

/// Gives: true for the task that most are: not under cancellation, no deadline, priority 0. It is ready work that needs no
///        order but its place in the queue, so a worker may keep it in a queue of its own, out of the lanes.
template <lockfree::AtomicsPolicy Atomics>
[[nodiscard]] bool is_plain(const kernel::TaskRecord<Atomics>& task) noexcept {
  return task.word.look().is_unranked();
}

/// Gives: the lane of a task that becomes runnable now. It keeps that lane until it is dispatched: a request or a deadline
///        that comes while it waits does not move it, and SCH-4 bounds how long it waits.
template <lockfree::AtomicsPolicy Atomics>
[[nodiscard]] Lane lane_of(const kernel::TaskRecord<Atomics>& task) noexcept {
  if (task.word.look().in(kernel::cancelled_states)) return Lane::cancel;
  return task.deadline().is_none() ? Lane::ready : Lane::timed;
}

}  // namespace calm::sched
