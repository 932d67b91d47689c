// A line that is closed: under every interleaving who was let in is let out once, and nobody is let in afterwards.
#include "calm/lockfree/closable_line.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>

#include "calm/explore/plain.hpp"
#include "tests/model/explored.hpp"
#include "tests/model/orders.hpp"
#include "tests/model/weakened.hpp"

namespace calm::explored {
namespace {

/// An office with a door: callers hand in a letter each, a clerk answers what lies there, and somebody closes.
template <class Atomics>
struct Desk {
  struct Letter {
    Letter* next = nullptr;
    explore::Plain<int> text{0};
    explore::Plain<int> answers{0};
  };
  using Line = lockfree::ClosableLine<Letter, &Letter::next, Atomics, lockfree::Lock<Atomics, 1>>;

  Line line;
  std::array<Letter, 2> letters;
  std::array<bool, 2> let_in{};
  ModelAtomics::Atomic<int> rings{0};

  template <std::size_t which>
  static void hand_in(Desk& desk) {
    desk.letters[which].text = 1;
    desk.let_in[which] = desk.line.push(desk.letters[which], [&desk] { desk.rings.fetch_add(1, relaxed); });
  }
  static void answer(Letter* letter) {
    while (letter != nullptr) {
      Letter* const after = letter->next;
      EXPECT_EQ(letter->text.get(), 1) << "what its caller wrote is seen";
      letter->answers = letter->answers.get() + 1;
      letter = after;
    }
  }
  static void serve(Desk& desk) { answer(desk.line.take_all()); }
  static void serve_one(Desk& desk) {
    Letter* const oldest = desk.line.take_oldest();
    if (oldest == nullptr) return;
    oldest->next = nullptr;
    answer(oldest);
  }
  static void close(Desk& desk) { answer(desk.line.close()); }
  static void close_and_look_again(Desk& desk) {
    close(desk);
    const int rung = desk.rings.load(relaxed);
    EXPECT_EQ(desk.line.take_all(), nullptr) << "somebody was let in after the close";
    EXPECT_EQ(desk.rings.load(relaxed), rung) << "it rings after the close";
  }
};

template <class State>
void expect_answered(State& desk) {
  int let_in = 0;
  for (std::size_t i = 0; i < desk.letters.size(); ++i) {
    EXPECT_EQ(desk.letters[i].answers.get(), desk.let_in[i] ? 1 : 0) << i;
    let_in += desk.let_in[i] ? 1 : 0;
  }
  EXPECT_EQ(desk.rings.load(relaxed), let_in);
}

TEST(ClosableLineModel, REG_7_of_two_callers_against_the_close_nobody_is_left_unanswered) {
  using State = Desk<ModelAtomics>;
  expect_exhausted(
      explore<State>({State::hand_in<0>, State::hand_in<1>, State::close_and_look_again}, expect_answered<State>));
}

TEST(ClosableLineModel, REG_7_who_serves_while_it_is_closed_answers_nobody_twice) {
  using State = Desk<ModelAtomics>;
  expect_exhausted(explore<State>({State::hand_in<0>, State::serve, State::close}, expect_answered<State>));
  expect_exhausted(explore<State>({State::hand_in<0>, State::serve_one, State::close}, expect_answered<State>));
}

TEST(ClosableLineModel, REG_7_one_at_a_time_and_all_at_once_let_out_each_once_in_their_order) {
  using State = Desk<ModelAtomics>;
  const Body<State> hand_in_both = [](State& desk) {
    State::hand_in<0>(desk);
    State::hand_in<1>(desk);
  };
  const Body<State> serve_one_and_close = [](State& desk) {
    State::serve_one(desk);
    EXPECT_EQ(desk.letters[1].answers.get(), 0) << "the oldest comes first";
    State::close(desk);
  };
  expect_exhausted(explore<State>({hand_in_both, serve_one_and_close}, expect_answered<State>));
}

template <Weakening what>
Report hand_in_and_close() {
  using State = Desk<Weakened<what>>;
  return explore<State>({State::template hand_in<0>, State::close}, expect_answered<State>);
}
void expect_race(const Report& report) { EXPECT_NE(report.failure.find("a data race"), std::string::npos) << report; }

TEST(ClosableLineModelItself, LAB_8_finds_a_letter_that_is_not_seen) {
  EXPECT_TRUE(hand_in_and_close<Weakening::none>().ok());
  expect_race(hand_in_and_close<Weakening::update_release>());
  expect_race(hand_in_and_close<Weakening::compare_acquire>());
}

/// Closed in two steps, as one might write it: who is let in between them is left.
TEST(ClosableLineModelItself, LAB_8_finds_who_is_let_in_behind_the_back_of_the_close) {
  using State = Desk<ModelAtomics>;
  const Body<State> take_and_then_close = [](State& desk) {
    State::serve(desk);
    (void)desk.line.close();
  };
  EXPECT_FALSE(explore<State>({State::hand_in<0>, take_and_then_close}, expect_answered<State>).ok());
}

}  // namespace
}  // namespace calm::explored
