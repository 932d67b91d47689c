// task_state.hpp — the six states of a task and the only moves between them.
// Laws:    TSK-1, TSK-2
// Threads: constants
// Cancel:  the states after Running are its protocol (I3)
#pragma once

#include <cstdint>
#include <string_view>

#include "calm/check/require.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/outcome_kind.hpp"
#include "calm/model/state_table.hpp"

namespace calm {

enum class TaskState : std::uint8_t {
  created = 1,
  running = 2,
  cancel_requested = 4,
  cancelling = 8,
  finalizing = 16,
  completed = 32,
};

inline constexpr TaskState task_states[] = {TaskState::created,    TaskState::running,    TaskState::cancel_requested,
                                            TaskState::cancelling, TaskState::finalizing, TaskState::completed};

// The moves from a state to itself are for strengthening the reason only.
inline constexpr Move<TaskState> task_moves[] = {
    // moves-begin
    {TaskState::created, TaskState::running},
    {TaskState::created, TaskState::cancel_requested},
    {TaskState::created, TaskState::completed},
    {TaskState::running, TaskState::cancel_requested},
    {TaskState::running, TaskState::completed},
    {TaskState::cancel_requested, TaskState::cancel_requested},
    {TaskState::cancel_requested, TaskState::cancelling},
    {TaskState::cancel_requested, TaskState::completed},
    {TaskState::cancelling, TaskState::cancelling},
    {TaskState::cancelling, TaskState::finalizing},
    {TaskState::cancelling, TaskState::completed},
    {TaskState::finalizing, TaskState::finalizing},
    {TaskState::finalizing, TaskState::completed},
    // moves-end
};
inline constexpr StateTable<TaskState, 6> task_table{task_moves};

namespace detail {

consteval bool every_live_task_can_complete() {
  for (TaskState state : task_states) {
    if (state != TaskState::completed && !task_table.allows(state, TaskState::completed)) return false;
  }
  return true;
}

}  // namespace detail

static_assert(task_table.size() == 13 && !task_table.repeated(), "TSK-1: 13 of the 36 pairs are legal");
static_assert(task_table.monotone() && task_table.terminal(TaskState::completed),
              "TSK-1: no way back, Completed is final");
static_assert(detail::every_live_task_can_complete(), "TSK-1: every live state may complete");
static_assert(!task_table.allows(TaskState::created, TaskState::created) &&
                  !task_table.allows(TaskState::running, TaskState::running),
              "TSK-1: only states under cancellation repeat, to strengthen the reason");
static_assert(!task_table.allows(TaskState::created, TaskState::cancelling) &&
                  !task_table.allows(TaskState::created, TaskState::finalizing) &&
                  !task_table.allows(TaskState::running, TaskState::cancelling) &&
                  !task_table.allows(TaskState::running, TaskState::finalizing) &&
                  !task_table.allows(TaskState::cancel_requested, TaskState::finalizing),
              "TSK-1: no phase of cancellation is skipped except by completing");

/// Gives: ok for a legal move, else `invalid_transition`.
constexpr Status check_move(TaskState from, TaskState to) noexcept {
  return task_table.allows(from, to) ? Status() : Status(Errc::invalid_transition);
}

/// Gives: ok when a task in this state may end like that, else `invalid_transition`. A task that was never polled has no
/// value to give: Created completes with anything but Ok (TSK-2).
constexpr Status check_completion(TaskState from, OutcomeKind kind) noexcept {
  if (from == TaskState::created && kind == OutcomeKind::ok) return Errc::invalid_transition;
  return check_move(from, TaskState::completed);
}

/// Gives: the state as the law writes it.
constexpr std::string_view to_string(TaskState state) noexcept {
  switch (state) {
    case TaskState::created:
      return "Created";
    case TaskState::running:
      return "Running";
    case TaskState::cancel_requested:
      return "CancelRequested";
    case TaskState::cancelling:
      return "Cancelling";
    case TaskState::finalizing:
      return "Finalizing";
    case TaskState::completed:
      return "Completed";
  }
  CALM_INVARIANT(TSK_1, false, static_cast<std::uint8_t>(state));
  return {};
}

}  // namespace calm
