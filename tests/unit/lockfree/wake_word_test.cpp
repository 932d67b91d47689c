#include "calm/lockfree/wake_word.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <latch>
#include <thread>
#include <vector>

namespace calm::lockfree {
namespace {

/// Gives: whether the step asked its caller to enqueue the task.
bool take(WakeWord<>& word, WakeStep step) {
  switch (step) {
    case WakeStep::wake:
      return word.wake();
    case WakeStep::begin_poll:
      EXPECT_TRUE(word.begin_poll());
      return false;
    case WakeStep::end_poll:
      return word.end_poll();
    case WakeStep::finish:
      word.finish();
      return false;
  }
  return false;
}

TEST(WakeWord, TSK_6_each_step_in_each_state_does_what_the_table_says) {
  for (const WakeMove& move : wake_moves) {
    WakeWord<> word(move.from);
    EXPECT_EQ(take(word, move.step), move.enqueue);
    EXPECT_EQ(word.state(), move.to);
  }
}

TEST(WakeWord, TSK_6_a_poll_begins_only_when_the_task_is_queued) {
  for (const WakeState state : wake_states) {
    WakeWord<> word(state);
    EXPECT_EQ(word.begin_poll(), state == WakeState::queued);
    EXPECT_EQ(word.state(), state == WakeState::queued ? WakeState::running : state);
  }
}

TEST(WakeWordDeathTest, a_poll_that_never_began_does_not_end) {
  for (const WakeState state : {WakeState::idle, WakeState::queued, WakeState::done}) {
    EXPECT_DEATH(static_cast<void>(WakeWord<>(state).end_poll()), "TSK-6");
    EXPECT_DEATH(WakeWord<>(state).finish(), "TSK-6");
  }
}

TEST(WakeWord, a_done_task_stays_done_whatever_wakes_it) {
  WakeWord<> word;
  EXPECT_TRUE(word.is_done());
  EXPECT_FALSE(word.wake());
  EXPECT_FALSE(word.wake());
  EXPECT_FALSE(word.begin_poll());
  EXPECT_TRUE(word.is_done());
}

TEST(WakeWord, a_slot_is_renewed_parked_or_queued) {
  WakeWord<> word;
  EXPECT_FALSE(word.wake()) << "late, for the task before";
  word.renew(WakeState::idle);
  EXPECT_TRUE(word.wake());
  EXPECT_TRUE(word.begin_poll());
  word.finish();
  word.renew(WakeState::queued);
  EXPECT_FALSE(word.wake());
  EXPECT_TRUE(word.begin_poll());
  EXPECT_EQ(sizeof(word), 1U);
}

/// A task whose polls read what its wakers raised. `link` and `polled` are plain, so ThreadSanitizer sees whether polls
/// come one after another and an enqueue after the poll before it.
struct Scene {
  static constexpr std::size_t wakers = 2;
  static constexpr int wakes = 100'000;

  WakeWord<> word{WakeState::idle};
  std::array<std::atomic<int>, wakers> raised{};
  std::array<int, wakers> polled{};
  int link = 0;
  std::atomic<int> entries{0};
  std::atomic<int> queued_twice{0};
  std::atomic<bool> all_woken{false};

  void enqueue() {
    ++link;
    if (entries.fetch_add(1, std::memory_order_release) != 0) queued_twice.fetch_add(1, std::memory_order_relaxed);
  }

  void raise_and_wake(std::size_t waker) {
    for (int i = 1; i <= wakes; ++i) {
      raised[waker].store(i, std::memory_order_relaxed);
      if (word.wake()) enqueue();
    }
  }

  void poll() {
    for (std::size_t i = 0; i < wakers; ++i) polled[i] = raised[i].load(std::memory_order_relaxed);
    if (word.end_poll()) enqueue();
  }

  /// Ends when every wake has returned and the task is parked: what is not polled by then was lost.
  void work() {
    while (!all_woken.load(std::memory_order_acquire) || word.state() != WakeState::idle) {
      int one = 1;
      if (!entries.compare_exchange_strong(one, 0, std::memory_order_acquire, std::memory_order_relaxed)) {
        RealAtomics::pause();
      } else if (word.begin_poll()) {
        poll();
      }
    }
  }
};

TEST(WakeWord, TSK_6_under_load_polls_are_one_at_a_time_and_no_wake_is_lost) {
  Scene scene;
  std::latch start(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < Scene::wakers; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      scene.raise_and_wake(i);
    });
  }
  std::vector<std::thread> workers;
  for (int i = 0; i < 2; ++i) {
    workers.emplace_back([&] {
      start.arrive_and_wait();
      scene.work();
    });
  }
  for (std::thread& thread : threads) thread.join();
  scene.all_woken.store(true, std::memory_order_release);
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(scene.queued_twice.load(), 0);
  EXPECT_EQ(scene.polled, (std::array<int, Scene::wakers>{Scene::wakes, Scene::wakes}));
}

// A result is plain memory, published by finish() alone.
TEST(WakeWord, whoever_sees_done_sees_the_result) {
  for (int round = 0; round < 150; ++round) {
    WakeWord<> word(WakeState::queued);
    int result = 0;
    std::thread worker([&] {
      EXPECT_TRUE(word.begin_poll());
      result = 42;
      word.finish();
    });
    while (!word.is_done()) {
      EXPECT_FALSE(word.wake());
      std::this_thread::yield();
    }
    EXPECT_EQ(result, 42);
    worker.join();
  }
}

}  // namespace
}  // namespace calm::lockfree
