// wake_state.hpp — the five states of a wake word and what each step does in each of them.
// Laws:    TSK-6
// Threads: constants
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>

namespace calm::lockfree {

inline constexpr std::uint8_t woken_bit = 1;
inline constexpr std::uint8_t running_bit = 2;
inline constexpr std::uint8_t done_bit = 4;

enum class WakeState : std::uint8_t {
  idle = 0,                                 // parked, in no queue
  queued = woken_bit,                       // in exactly one queue, or about to be put there by the one who was told to
  running = running_bit,                    // being polled
  running_woken = running_bit | woken_bit,  // being polled, and a further poll is due
  done = done_bit,
};

enum class WakeStep : std::uint8_t { wake, begin_poll, end_poll, finish };

inline constexpr WakeState wake_states[] = {WakeState::idle, WakeState::queued, WakeState::running,
                                            WakeState::running_woken, WakeState::done};
inline constexpr WakeStep wake_steps[] = {WakeStep::wake, WakeStep::begin_poll, WakeStep::end_poll, WakeStep::finish};

struct WakeMove {
  WakeState from;
  WakeStep step;
  WakeState to;
  bool enqueue = false;  // whoever takes the step must put the task into a queue
};

inline constexpr WakeMove wake_moves[] = {
    {WakeState::idle, WakeStep::wake, WakeState::queued, true},
    {WakeState::queued, WakeStep::wake, WakeState::queued},
    {WakeState::running, WakeStep::wake, WakeState::running_woken},
    {WakeState::running_woken, WakeStep::wake, WakeState::running_woken},
    {WakeState::done, WakeStep::wake, WakeState::done},
    {WakeState::queued, WakeStep::begin_poll, WakeState::running},
    {WakeState::running, WakeStep::end_poll, WakeState::idle},
    {WakeState::running_woken, WakeStep::end_poll, WakeState::queued, true},
    {WakeState::running, WakeStep::finish, WakeState::done},
    {WakeState::running_woken, WakeStep::finish, WakeState::done},
};

/// Gives: the move, nullptr when the step is not allowed there.
constexpr const WakeMove* find_wake_move(WakeState from, WakeStep step) noexcept {
  for (const WakeMove& move : wake_moves) {
    if (move.from == from && move.step == step) return &move;
  }
  return nullptr;
}

constexpr std::uint8_t wake_bits(WakeState state) noexcept { return static_cast<std::uint8_t>(state); }

/// Gives: the state a word stands for; a late wake leaves its bit beside done.
constexpr WakeState wake_state(std::uint8_t bits) noexcept {
  return (bits & done_bit) != 0 ? WakeState::done : static_cast<WakeState>(bits);
}

namespace detail {

consteval bool no_wake_is_refused_or_lost() {
  for (const WakeState state : wake_states) {
    const WakeMove* const move = find_wake_move(state, WakeStep::wake);
    if (move == nullptr) return false;
    if (state != WakeState::done && (wake_bits(move->to) & woken_bit) == 0) return false;
  }
  return true;
}

consteval bool only_a_poll_or_the_end_takes_a_wake_back() {
  for (const WakeMove& move : wake_moves) {
    const bool woken_before = (wake_bits(move.from) & woken_bit) != 0;
    const bool woken_after = (wake_bits(move.to) & woken_bit) != 0;
    if (woken_before && !woken_after && move.step != WakeStep::begin_poll && move.step != WakeStep::finish)
      return false;
  }
  return true;
}

consteval bool who_makes_it_queued_enqueues() {
  for (const WakeMove& move : wake_moves) {
    if (move.enqueue != (move.to == WakeState::queued && move.from != WakeState::queued)) return false;
  }
  return true;
}

consteval bool a_poll_begins_only_from_queued() {
  for (const WakeState state : wake_states) {
    if ((find_wake_move(state, WakeStep::begin_poll) != nullptr) != (state == WakeState::queued)) return false;
  }
  return true;
}

consteval bool the_bits_follow_the_table() {
  for (const WakeMove& move : wake_moves) {
    const std::uint8_t from = wake_bits(move.from);
    switch (move.step) {
      case WakeStep::wake:
        if (wake_state(from | woken_bit) != move.to) return false;
        break;
      case WakeStep::begin_poll:
        if (move.to != WakeState::running) return false;
        break;
      case WakeStep::end_poll:
        if (wake_state(static_cast<std::uint8_t>(from - running_bit)) != move.to) return false;
        break;
      case WakeStep::finish:
        if (move.to != WakeState::done) return false;
        break;
    }
  }
  return true;
}

}  // namespace detail

static_assert(sizeof(wake_moves) / sizeof(wake_moves[0]) == 10, "TSK-6: 10 of the 20 steps are allowed");
static_assert(detail::no_wake_is_refused_or_lost(), "TSK-6: a wake of a live task leaves its mark in every state");
static_assert(detail::only_a_poll_or_the_end_takes_a_wake_back(), "TSK-6: the mark stays until a poll begins");
static_assert(detail::who_makes_it_queued_enqueues(), "TSK-6: a task becomes queued once, by the one who enqueues it");
static_assert(detail::a_poll_begins_only_from_queued(), "TSK-6: no poll without a wake, no two polls at once");
static_assert(detail::the_bits_follow_the_table(), "the steps on the word are those of the table");

}  // namespace calm::lockfree
