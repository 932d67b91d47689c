#include "calm/lockfree/gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace calm::lockfree {
namespace {

TEST(Gate, a_new_gate_is_open_and_empty) {
  const Gate<> gate;
  EXPECT_EQ(gate.look(), (GateView{.count = 0, .flags = 0, .closed = false}));
  EXPECT_FALSE(gate.is_closed());
  EXPECT_EQ(gate.count(), 0U);
  EXPECT_EQ(sizeof(gate), 8U);
}

TEST(Gate, the_closer_of_an_empty_gate_is_the_last_one_out) {
  Gate<> gate;
  EXPECT_EQ(gate.close(), Closing::first_and_empty);
  EXPECT_EQ(gate.close(), Closing::again);
  EXPECT_EQ(gate.enter(), Entry::refused_closed);
}

TEST(Gate, the_last_to_leave_a_closed_gate_is_told) {
  Gate<> gate;
  EXPECT_EQ(gate.enter(), Entry::admitted);
  EXPECT_EQ(gate.enter(), Entry::admitted);
  EXPECT_EQ(gate.close(), Closing::first);
  EXPECT_FALSE(gate.leave());
  EXPECT_EQ(gate.close(), Closing::again);
  EXPECT_TRUE(gate.leave());
  EXPECT_EQ(gate.close(), Closing::again);
}

TEST(Gate, leaving_an_open_gate_is_never_the_last) {
  Gate<> gate;
  EXPECT_EQ(gate.enter(), Entry::admitted);
  EXPECT_FALSE(gate.leave());
  EXPECT_EQ(gate.count(), 0U);
}

TEST(Gate, a_refusal_changes_nothing_and_closed_goes_before_full) {
  Gate<> gate;
  EXPECT_EQ(gate.enter(0), Entry::refused_limit);
  EXPECT_EQ(gate.enter(1), Entry::admitted);
  EXPECT_EQ(gate.enter(1), Entry::refused_limit);
  EXPECT_EQ(gate.count(), 1U);
  EXPECT_EQ(gate.enter(2), Entry::admitted);
  EXPECT_EQ(gate.enter(1), Entry::refused_limit) << "a limit lowered below the count";
  EXPECT_EQ(gate.close(), Closing::first);
  EXPECT_EQ(gate.enter(2), Entry::refused_closed);
  EXPECT_EQ(gate.count(), 2U);
}

TEST(Gate, a_limit_beyond_the_word_is_the_largest_count) {
  Gate<> gate;
  EXPECT_EQ(gate.enter(~std::uint64_t{0}), Entry::admitted);
  EXPECT_EQ(gate.count(), 1U);
}

TEST(Gate, flags_are_the_owners_and_touch_nothing_else) {
  Gate<> gate;
  EXPECT_EQ(gate.enter(), Entry::admitted);
  EXPECT_EQ(gate.raise_flags(0b101), 0U);
  EXPECT_EQ(gate.raise_flags(0b110), 0b101U);
  EXPECT_EQ(gate.look(), (GateView{.count = 1, .flags = 0b111, .closed = false}));
  EXPECT_EQ(gate.close(), Closing::first);
  EXPECT_EQ(gate.lower_flags(0b011), 0b111U);
  EXPECT_EQ(gate.look(), (GateView{.count = 1, .flags = 0b100, .closed = true}));
  EXPECT_TRUE(gate.leave());
}

TEST(GateDeathTest, leaving_more_often_than_entering_stops_the_program) {
  EXPECT_DEATH(
      {
        Gate<> gate;
        static_cast<void>(gate.leave());
      },
      "was >= one_");
}

TEST(GateDeathTest, a_flag_that_does_not_exist_stops_the_program) {
  EXPECT_DEATH({ Gate<>().raise_flags(8); }, "all_flags");
}

// `work` and `reason` are plain: ThreadSanitizer sees whether the last one out may read them.
TEST(Gate, under_load_one_is_last_and_sees_the_work_of_all) {
  constexpr int visitors = 3;
  for (int round = 0; round < 150; ++round) {
    Gate<> gate;
    std::vector<int> work(visitors, 0);
    int reason = 0;
    std::atomic<int> last_out{0};
    std::atomic<int> over_limit{0};
    const auto be_last = [&] {
      last_out.fetch_add(1, std::memory_order_relaxed);
      EXPECT_EQ(reason, 7);
      EXPECT_EQ(gate.count(), 0U);
      for (int& done : work) done = -done;
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < visitors; ++i) {
      threads.emplace_back([&, i] {
        for (;;) {
          const Entry entry = gate.enter(2);
          if (entry == Entry::refused_closed) {
            EXPECT_EQ(reason, 7);
            return;
          }
          std::this_thread::yield();
          if (entry == Entry::refused_limit) continue;
          if (gate.count() > 2) over_limit.fetch_add(1, std::memory_order_relaxed);
          ++work[static_cast<std::size_t>(i)];
          if (gate.leave()) be_last();
        }
      });
    }
    std::thread closer([&] {
      for (int i = 0; i < round % 10; ++i) std::this_thread::yield();
      reason = 7;
      if (gate.close() == Closing::first_and_empty) be_last();
    });
    closer.join();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(last_out.load(), 1);
    EXPECT_EQ(over_limit.load(), 0);
    for (const int done : work) EXPECT_LE(done, 0) << "work done after the last one left";
  }
}

}  // namespace
}  // namespace calm::lockfree
