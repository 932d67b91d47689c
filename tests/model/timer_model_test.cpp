#include <gtest/gtest.h>

#include "calm/clock/fire_or_cancel.hpp"
#include "tests/model/explored.hpp"

namespace calm::explored {
namespace {

/// A timer that one thread fires while others cancel it; each notes what it was told.
struct ContestedTimer {
  ContestedTimer() { word.arm(); }

  clock::FireOrCancel<ModelAtomics> word;
  int fired = 0;
  int cancelled_by_first = 0;
  int cancelled_by_second = 0;
};

void fire_timer(ContestedTimer& timer) { timer.fired += timer.word.fire() ? 1 : 0; }
void cancel_timer(ContestedTimer& timer) { timer.cancelled_by_first += timer.word.cancel() ? 1 : 0; }
void cancel_timer_too(ContestedTimer& timer) { timer.cancelled_by_second += timer.word.cancel() ? 1 : 0; }

/// The law's own words: nothing fires once a cancel has returned true.
void cancel_then_fire(ContestedTimer& timer) {
  const bool cancelled = timer.word.cancel();
  timer.cancelled_by_first += cancelled ? 1 : 0;
  const bool fired = timer.word.fire();
  EXPECT_FALSE(cancelled && fired) << "fired after its cancel";
  timer.fired += fired ? 1 : 0;
}

void expect_one_decision(ContestedTimer& timer) {
  EXPECT_EQ(timer.fired + timer.cancelled_by_first + timer.cancelled_by_second, 1);
  EXPECT_EQ(timer.word.has_fired(), timer.fired == 1);
  EXPECT_FALSE(timer.word.is_armed());
}

TEST(TimerModel, TMR_7_fire_and_cancel_meet_and_one_of_them_decides) {
  const Report report = explore<ContestedTimer>({fire_timer, cancel_timer}, expect_one_decision);
  EXPECT_TRUE(report.ok()) << report;
  EXPECT_GE(report.executions, 2U);
}

TEST(TimerModel, TMR_7_two_cancels_and_two_fires_have_one_winner) {
  const Report report = explore<ContestedTimer>({fire_timer, cancel_then_fire, cancel_timer_too}, expect_one_decision);
  EXPECT_TRUE(report.ok()) << report;
  EXPECT_EQ(report.executions, 3U) << "one for each who can win";
}

}  // namespace
}  // namespace calm::explored
