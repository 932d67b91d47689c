// Wheels of several workers: who is told what, and alarms that are disarmed on another thread than they fire on.
#include "calm/clock/shared_wheel.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "calm/lockfree/company.hpp"
#include "calm/lockfree/local_atomics.hpp"

namespace calm::clock {
namespace {

constexpr Time wheel_time(std::uint64_t ms) { return Time::at_ns(ms * 1'000'000); }
TaskId task_number(std::uint32_t number) { return TaskId(number, Generation()); }

template <class Atomics>
void expect_alarms_in_order() {
  SharedWheel<Atomics> wheel(5);
  EXPECT_EQ(wheel.quiet_until(), Time::max());
  std::array<Alarm, 3> alarms;
  const auto arm = [&](std::uint32_t i, std::uint64_t ms) {
    alarms[i].at = wheel_time(ms);
    alarms[i].task = task_number(i);
    return wheel.arm(alarms[i], wheel_time(1));
  };
  EXPECT_TRUE(arm(0, 20).is_earliest);
  EXPECT_FALSE(arm(1, 30).is_earliest) << "the worker sleeps until 20 anyway";
  EXPECT_TRUE(arm(2, 10).is_earliest);
  EXPECT_EQ(alarms[2].wheel, 5U);
  EXPECT_LE(wheel.quiet_until(), wheel_time(10));
  EXPECT_EQ(wheel.take_due(wheel_time(9)), std::nullopt);
  EXPECT_TRUE(wheel.disarm(alarms[0]));
  EXPECT_FALSE(wheel.disarm(alarms[0]));
  EXPECT_EQ(wheel.take_due(wheel_time(40)), task_number(2));
  EXPECT_FALSE(alarms[2].is_armed());
  EXPECT_EQ(wheel.take_due(wheel_time(40)), task_number(1));
  EXPECT_EQ(wheel.take_due(wheel_time(40)), std::nullopt);
  EXPECT_EQ(wheel.quiet_until(), Time::max());
  EXPECT_FALSE(wheel.disarm(alarms[1])) << "it has fired";
  EXPECT_EQ(wheel.size(), 0U);
}

TEST(SharedWheel, TMR_3_fires_in_order_and_says_which_alarm_is_the_earliest) {
  expect_alarms_in_order<lockfree::RealAtomics>();
}

TEST(SharedWheel, TMR_3_is_the_same_for_one_worker) { expect_alarms_in_order<lockfree::LocalAtomics>(); }

TEST(SharedWheel, TMR_2_refuses_what_is_too_far_away_and_changes_nothing) {
  SharedWheel<> wheel;
  Alarm alarm;
  alarm.at = wheel_time(1) + max_timer + Duration::milliseconds(1);
  const auto armed = wheel.arm(alarm, wheel_time(1));
  EXPECT_EQ(armed.status, Errc::duration_exceeded);
  EXPECT_FALSE(armed.is_earliest);
  EXPECT_FALSE(alarm.is_armed());
  EXPECT_EQ(wheel.quiet_until(), Time::max());
}

TEST(SharedWheel, TMR_3_a_clock_that_is_behind_that_of_another_worker_does_no_harm) {
  SharedWheel<> wheel;
  Alarm alarm;
  EXPECT_EQ(wheel.take_due(wheel_time(100)), std::nullopt);
  Alarm other;
  other.at = wheel_time(100);
  EXPECT_TRUE(wheel.arm(other, wheel_time(100)));
  EXPECT_TRUE(wheel.take_due(wheel_time(100)));
  alarm.at = wheel_time(60);
  EXPECT_TRUE(wheel.arm(alarm, wheel_time(50)));
  EXPECT_TRUE(wheel.take_due(wheel_time(70)));
}

/// A frame that waits for an alarm: whoever runs its task ends it as soon as it is not armed.
struct Frame {
  Alarm alarm;
};

TEST(SharedWheel, TMR_7_in_a_crowd_every_alarm_fires_or_is_disarmed_and_its_frame_may_end_at_once) {
  constexpr std::uint32_t count = 20'000;
  std::array<SharedWheel<>, 2> wheels{SharedWheel<>(0), SharedWheel<>(1)};
  std::vector<std::atomic<Frame*>> frames(count);
  std::vector<std::atomic<int>> fired(count);
  std::atomic<std::uint32_t> disarmed = 0;
  std::atomic<bool> over = false;
  // Two workers arm in their own wheel and fire; two others end frames, as tasks that have moved do.
  const auto work = [&](std::uint32_t me) {
    std::uint64_t now = 1'000'000;
    const auto fire = [&] {
      while (const auto task = wheels[me].take_due(Time::at_ns(now))) fired[task->index()].fetch_add(1);
    };
    for (std::uint32_t i = me; i < count; i += 2) {
      auto frame = std::make_unique<Frame>();
      frame->alarm.at = Time::at_ns(now + std::uint64_t{i} % 7 * 1'000);
      frame->alarm.task = task_number(i);
      ASSERT_TRUE(wheels[me].arm(frame->alarm, Time::at_ns(now)));
      frames[i].store(frame.release());
      now += 1'000;
      if (i % 3 == 0) fire();
    }
    now += 1'000'000;
    while (!over.load()) fire();
  };
  const auto end_frames = [&](std::uint32_t me) {
    for (std::uint32_t i = me; i < count; i += 2) {
      Frame* frame = nullptr;
      while ((frame = frames[i].load()) == nullptr) std::this_thread::yield();
      const std::unique_ptr<Frame> mine(frame);
      if (mine->alarm.is_armed() && wheels[mine->alarm.wheel].disarm(mine->alarm)) {
        disarmed.fetch_add(1);
        fired[i].fetch_add(1);
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 2; ++i) threads.emplace_back(work, i);
  {
    std::thread other(end_frames, 1);
    end_frames(0);
    other.join();
  }
  over.store(true);
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(fired[i].load(), 1) << "alarm " << i;
  EXPECT_EQ(wheels[0].size() + wheels[1].size(), 0U);
  EXPECT_LT(disarmed.load(), count) << "some fire";
}

TEST(SharedWheel, TMR_7_a_worker_that_is_alone_takes_no_lock_and_who_comes_in_ends_that) {
  constexpr std::uint32_t count = 20'000;
  lockfree::Company<> company;
  lockfree::Company<>::Member worker;
  company.prepare();
  SharedWheel<> wheel(0);
  std::vector<std::atomic<Frame*>> frames(count);
  std::atomic<std::uint32_t> disarmed = 0;
  std::uint32_t fired = 0;
  std::uint32_t alone = 0;
  // The worker arms and fires, at times without having come in; the visitor ends frames, as tasks that have moved do.
  std::thread visitor([&] {
    for (std::uint32_t i = 0; i < count; ++i) {
      Frame* frame = nullptr;
      while ((frame = frames[i].load()) == nullptr) std::this_thread::yield();
      const std::unique_ptr<Frame> mine(frame);
      company.enter();
      // Not armed any more is enough for a frame to end only where the wheel is done with it: see Port::let_go().
      if (wheel.disarm(mine->alarm)) disarmed.fetch_add(1);
      company.leave();
    }
  });
  std::uint64_t now = 1'000'000;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool rests = i % 16 == 0;
    if (!rests) {
      company.enter();
      company.try_alone(worker);
      alone += company.looks_alone() ? 1U : 0U;
    }
    auto frame = std::make_unique<Frame>();
    frame->alarm.at = Time::at_ns(now + std::uint64_t{i} % 7 * 1'000);
    frame->alarm.task = task_number(i);
    ASSERT_TRUE(wheel.arm(frame->alarm, Time::at_ns(now), Beyond::refuse, &worker));
    frames[i].store(frame.release());
    now += 1'000;
    while (wheel.take_due(Time::at_ns(now), &worker)) ++fired;
    if (!rests) company.leave();
  }
  visitor.join();
  EXPECT_EQ(fired + disarmed.load(), count);
  EXPECT_EQ(wheel.size(), 0U);
  EXPECT_GT(alone, 0U);
}

}  // namespace
}  // namespace calm::clock
