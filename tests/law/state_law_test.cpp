// The state machines, walked pair by pair against matrices written out by hand.
#include <gtest/gtest.h>

#include <cstddef>
#include <string_view>

#include "calm/model/obligation_state.hpp"
#include "calm/model/region_state.hpp"
#include "calm/model/task_state.hpp"
#include "tests/show.hpp"

namespace calm {
namespace {

/// One row a state, one character a target: '+' legal, '.' not.
template <class State, std::size_t count>
void expect_matrix(const State (&states)[count], const std::string_view (&rows)[count]) {
  for (std::size_t from = 0; from < count; ++from) {
    ASSERT_EQ(rows[from].size(), count);
    for (std::size_t to = 0; to < count; ++to) {
      const Status expected = rows[from][to] == '+' ? Status() : Status(Errc::invalid_transition);
      EXPECT_EQ(check_move(states[from], states[to]), expected) << states[from] << " -> " << states[to];
    }
  }
}

TEST(Region, REG_1_the_25_pairs_are_as_the_law_says) {
  expect_matrix(region_states, {
                                   ".+...",  // Open
                                   "..++.",  // Closing
                                   "...+.",  // Draining
                                   "....+",  // Finalizing
                                   ".....",  // Closed
                               });
}

TEST(Task, TSK_1_the_36_pairs_are_as_the_law_says) {
  expect_matrix(task_states, {
                                 ".++..+",  // Created
                                 "..+..+",  // Running
                                 "..++.+",  // CancelRequested
                                 "...+++",  // Cancelling
                                 "....++",  // Finalizing
                                 "......",  // Completed
                             });
}

TEST(Task, TSK_2_a_task_that_was_never_polled_does_not_end_ok) {
  for (const TaskState from : task_states) {
    for (const OutcomeKind kind : outcome_kinds) {
      const bool never_polled_and_ok = from == TaskState::created && kind == OutcomeKind::ok;
      const bool legal = from != TaskState::completed && !never_polled_and_ok;
      EXPECT_EQ(check_completion(from, kind).is_ok(), legal) << from << " ends " << kind;
    }
  }
}

TEST(Obligation, OBL_1_the_16_pairs_are_as_the_law_says) {
  constexpr Status legal;
  constexpr Status invalid = Errc::invalid_transition;
  constexpr Status again = Errc::obligation_already_resolved;
  constexpr Status leaked = Errc::obligation_leaked;
  // to:                          Reserved Committed Aborted Leaked
  constexpr Status expected[4][4] = {{invalid, legal, legal, legal},     // Reserved
                                     {invalid, again, again, again},     // Committed
                                     {invalid, again, again, again},     // Aborted
                                     {leaked, leaked, leaked, leaked}};  // Leaked
  for (std::size_t from = 0; from < 4; ++from) {
    for (std::size_t to = 0; to < 4; ++to) {
      EXPECT_EQ(check_move(obligation_states[from], obligation_states[to]), expected[from][to])
          << obligation_states[from] << " -> " << obligation_states[to];
    }
  }
}

TEST(States, HND_1_states_are_one_hot_and_a_check_is_one_and) {
  const auto expect_one_hot = [](const auto& states) {
    std::uint8_t expected = 1;
    for (const auto state : states) {
      EXPECT_EQ(static_cast<std::uint8_t>(state), expected);
      expected = static_cast<std::uint8_t>(expected << 1);
    }
  };
  expect_one_hot(region_states);
  expect_one_hot(task_states);
  expect_one_hot(obligation_states);

  constexpr StateMask<RegionState> before_closed =
      RegionState::open | StateMask(RegionState::closing) | RegionState::draining | RegionState::finalizing;
  static_assert(before_closed.size() == 4 && before_closed.bits == 0b1111);
  for (const RegionState state : region_states) EXPECT_EQ(before_closed.has(state), state != RegionState::closed);
}

}  // namespace
}  // namespace calm
