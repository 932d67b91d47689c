// state_table.hpp — a state machine as data: one-hot states and the legal moves between them.
// Laws:    HND-1 (states are one-hot masks, a check is one AND), REG-1, TSK-1, OBL-1 through its users
// Threads: constants
// Cancel:  not applicable
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace calm {

/// A set of states of one machine. Build it with `a | b`.
template <class State>
struct StateMask {
  std::uint8_t bits = 0;

  constexpr StateMask() noexcept = default;
  constexpr StateMask(State state) noexcept  // NOLINT(google-explicit-constructor): a state is the set of itself
      : bits(static_cast<std::uint8_t>(state)) {}

  [[nodiscard]] constexpr bool has(State state) const noexcept {
    return (bits & static_cast<std::uint8_t>(state)) != 0;
  }
  [[nodiscard]] constexpr int size() const noexcept { return std::popcount(bits); }

  friend constexpr StateMask operator|(StateMask a, StateMask b) noexcept {
    a.bits = static_cast<std::uint8_t>(a.bits | b.bits);
    return a;
  }
  friend constexpr bool operator==(StateMask, StateMask) noexcept = default;
};

/// One legal move.
template <class State>
struct Move {
  State from;
  State to;
};

/// The moves of a machine, one mask of successors per state. State is an enum whose values are 1, 2, 4, …
template <class State, std::size_t states>
class StateTable {
  static_assert(std::is_enum_v<State> && states <= 8);

 public:
  template <std::size_t count>
  constexpr explicit StateTable(const Move<State> (&moves)[count]) noexcept {
    for (const Move<State>& move : moves) {
      repeated_ = repeated_ || allows(move.from, move.to);
      next_[index(move.from)] |= static_cast<std::uint8_t>(move.to);
    }
  }

  /// Gives: true when the machine may go from one to the other in one step.
  [[nodiscard]] constexpr bool allows(State from, State to) const noexcept { return next(from).has(to); }

  /// Gives: every state that one step reaches.
  [[nodiscard]] constexpr StateMask<State> next(State from) const noexcept {
    StateMask<State> mask;
    mask.bits = next_[index(from)];
    return mask;
  }

  [[nodiscard]] constexpr bool terminal(State state) const noexcept { return next(state).size() == 0; }

  /// Gives: how many legal moves there are.
  [[nodiscard]] constexpr int size() const noexcept {
    int sum = 0;
    for (const std::uint8_t row : next_) sum += std::popcount(row);
    return sum;
  }

  /// Gives: true when the list of moves named one twice.
  [[nodiscard]] constexpr bool repeated() const noexcept { return repeated_; }

  /// Gives: true when states are only left for later ones (a move to itself may be allowed).
  [[nodiscard]] constexpr bool monotone() const noexcept {
    for (std::size_t i = 0; i < states; ++i) {
      if ((next_[i] & ((1U << i) - 1)) != 0) return false;
    }
    return true;
  }

  static constexpr std::size_t index(State state) noexcept {
    return static_cast<std::size_t>(std::countr_zero(static_cast<std::uint8_t>(state)));
  }

 private:
  std::uint8_t next_[states]{};
  bool repeated_ = false;
};

}  // namespace calm
