// Timers that several threads meet at, under every interleaving: one of fire and cancel decides, and nobody sleeps too long.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "calm/clock/fire_or_cancel.hpp"
#include "calm/clock/shared_wheel.hpp"
#include "calm/explore/plain.hpp"
#include "calm/lockfree/lock.hpp"
#include "calm/lockfree/parker.hpp"
#include "tests/model/explored.hpp"
#include "tests/model/futex_model.hpp"
#include "tests/model/weakened.hpp"

namespace calm::explored {
namespace {

// --- one timer, its wheel's lock, and the owner that looks without it ---

/// The wheel reads `whom` and fires; the owner ends the timer once it is not armed.
template <class Atomics>
struct ContestedTimer {
  ContestedTimer() { word.arm(); }

  lockfree::Lock<ModelAtomics> lock;
  clock::FireOrCancel<Atomics> word;
  explore::Plain<int> whom{7};
  int fired = 0;
  int cancelled = 0;
  int cancelled_too = 0;

  bool cancel() {
    lock.lock();
    const bool done = word.cancel();
    lock.unlock();
    return done;
  }

  static void fire(ContestedTimer& timer) {
    timer.lock.lock();
    if (timer.word.is_armed()) {
      EXPECT_EQ(timer.whom.get(), 7) << "it has not ended";
      timer.fired += timer.word.fire() ? 1 : 0;
    }
    timer.lock.unlock();
  }
  static void cancel_it(ContestedTimer& timer) { timer.cancelled += timer.cancel() ? 1 : 0; }
  static void cancel_it_too(ContestedTimer& timer) { timer.cancelled_too += timer.cancel() ? 1 : 0; }
  /// As the frame that waited does at its end.
  static void end(ContestedTimer& timer) {
    if (timer.word.is_armed()) timer.cancelled += timer.cancel() ? 1 : 0;
    timer.whom = 0;
  }
};

template <class Timer>
void expect_one_decision(Timer& timer) {
  EXPECT_EQ(timer.fired + timer.cancelled + timer.cancelled_too, 1);
  EXPECT_EQ(timer.word.has_fired(), timer.fired == 1);
  EXPECT_FALSE(timer.word.is_armed());
}

TEST(TimerModel, TMR_7_fire_and_cancel_meet_and_one_of_them_decides) {
  using Timer = ContestedTimer<ModelAtomics>;
  const Report report = explore<Timer>({Timer::fire, Timer::cancel_it}, expect_one_decision<Timer>);
  expect_exhausted(report);
  EXPECT_GE(report.executions, 2U);
}

TEST(TimerModel, TMR_7_two_cancels_and_a_fire_have_one_winner) {
  using Timer = ContestedTimer<ModelAtomics>;
  expect_exhausted(explore<Timer>({Timer::fire, Timer::cancel_it, Timer::cancel_it_too}, expect_one_decision<Timer>));
}

TEST(TimerModel, TMR_7_an_owner_that_finds_it_not_armed_may_end_it) {
  const auto explore_with = []<class Atomics> {
    using Timer = ContestedTimer<Atomics>;
    return explore<Timer>({Timer::fire, Timer::end}, expect_one_decision<Timer>);
  };
  expect_exhausted(explore_with.operator()<ModelAtomics>());
  EXPECT_FALSE(explore_with.operator()<Weakened<Weakening::store_release>>().ok());
  EXPECT_FALSE(explore_with.operator()<Weakened<Weakening::load_acquire>>().ok());
}

// --- a wheel that its worker sleeps for ---

/// A worker that parks until its next alarm, and a thread that arms one there. All times have come: what counts is who is
/// awake to see it.
struct Tower {
  clock::SharedWheel<ModelAtomics> wheel{3};
  lockfree::Parker<ModelAtomics, ModelFutex> parker;
  clock::Alarm early;
  clock::Alarm late;
  int went_off = 0;
  int disarmed = 0;
  bool tells = true;

  static constexpr Time now = Time::at_ns(1'000'000'000);

  ~Tower() {
    (void)wheel.disarm(early);
    (void)wheel.disarm(late);
  }

  void arm(clock::Alarm& alarm, std::uint64_t at_ns) {
    alarm.at = Time::at_ns(at_ns);
    alarm.task = TaskId(1, Generation());
    const auto armed = wheel.arm(alarm, Time());
    EXPECT_TRUE(armed);
    EXPECT_EQ(alarm.wheel, 3U);
    if (armed.is_earliest && tells) parker.unpark();
  }
  void fire_all() {
    while (wheel.take_due(now)) ++went_off;
  }
  void sleep_until_one_went_off() {
    fire_all();
    while (went_off == 0) {
      const Time until = wheel.quiet_until();
      (void)parker.park(until == Time::max() ? lockfree::never_ns : until.ns());
      fire_all();
    }
  }
};

TEST(SharedWheelModel, an_alarm_that_another_thread_arms_first_wakes_the_worker) {
  const Body<Tower> work = [](Tower& tower) { tower.sleep_until_one_went_off(); };
  const Body<Tower> arm = [](Tower& tower) { tower.arm(tower.early, 5'000'000); };
  expect_exhausted(explore<Tower>({work, arm}, [](Tower& tower) { EXPECT_EQ(tower.went_off, 1); }));
}

TEST(SharedWheelModel, TMR_7_an_alarm_is_fired_or_disarmed_while_a_third_thread_arms_another) {
  struct Armed : Tower {
    Armed() { arm(early, 5'000'000); }
  };
  const Body<Armed> fire = [](Armed& tower) { tower.fire_all(); };
  const Body<Armed> disarm = [](Armed& tower) {
    tower.disarmed += tower.wheel.disarm(tower.early) ? 1 : 0;
    EXPECT_FALSE(tower.early.is_armed());
  };
  const Body<Armed> arm = [](Armed& tower) { tower.arm(tower.late, 9'000'000); };
  expect_exhausted(explore<Armed>({fire, disarm, arm}, [](Armed& tower) {
    tower.fire_all();
    EXPECT_EQ(tower.went_off + tower.disarmed, 2);
    EXPECT_LE(tower.disarmed, 1);
    EXPECT_EQ(tower.wheel.size(), 0U);
    EXPECT_EQ(tower.wheel.quiet_until(), Time::max());
  }));
}

TEST(SharedWheelModelItself, finds_that_the_worker_is_not_woken) {
  struct Silent : Tower {
    Silent() { tells = false; }
  };
  const Body<Silent> work = [](Silent& tower) { tower.sleep_until_one_went_off(); };
  const Body<Silent> arm = [](Silent& tower) { tower.arm(tower.early, 5'000'000); };
  const Report report = explore<Silent>({work, arm}, [](Silent&) {});
  EXPECT_NE(report.failure.find("deadlock"), std::string::npos) << report;
}

}  // namespace
}  // namespace calm::explored
