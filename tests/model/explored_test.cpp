#include "tests/model/explored.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "calm/check/require.hpp"
#include "tests/model/orders.hpp"

namespace calm::explored {
namespace {

struct Words {
  ModelAtomics::Atomic<int> x{0};
  ModelAtomics::Atomic<int> y{0};
  int seen_x = -1;
};

void add_one(Words& words) { words.x.fetch_add(1, relaxed); }

void add_one_in_two_steps(Words& words) {
  const int was = words.x.load(relaxed);
  words.x.store(was + 1, relaxed);
}

void expect_no_update_lost(Words& words) { EXPECT_EQ(words.x.load(relaxed), 2); }

void nothing(Words&) {}

TEST(Explored, a_lost_update_is_found_and_told_step_by_step) {
  const Report report = explore<Words>({add_one_in_two_steps, add_one_in_two_steps}, expect_no_update_lost);
  EXPECT_FALSE(report.ok());
  EXPECT_FALSE(report.exhausted);
  EXPECT_NE(report.failure.find("words.x.load(relaxed)"), std::string::npos) << report;
  EXPECT_NE(report.steps.find("read x0"), std::string::npos) << report;
}

TEST(Explored, executions_are_counted_up_to_the_order_of_steps_that_commute) {
  EXPECT_EQ(explore<Words>({add_one, add_one, add_one}, nothing).executions, 6U);
  EXPECT_EQ(explore<Words>({add_one_in_two_steps, add_one_in_two_steps}, nothing).executions, 4U);
  EXPECT_EQ(explore<Words>({add_one_in_two_steps, add_one_in_two_steps}, nothing, {.max_preemptions = 2}).executions,
            6U);
}

TEST(Explored, without_preemptions_each_thread_runs_to_its_end) {
  const std::vector<Body<Words>> threads{add_one_in_two_steps, add_one_in_two_steps};
  EXPECT_TRUE(explore<Words>(threads, expect_no_update_lost, {.max_preemptions = 0}).ok());
  EXPECT_FALSE(explore<Words>(threads, expect_no_update_lost, {.max_preemptions = 1}).ok());
}

TEST(Explored, an_exception_in_a_thread_ends_the_execution) {
  const Body<Words> thrower = [](Words& words) {
    if (words.x.load(relaxed) == 1) throw std::runtime_error("saw one");
  };
  EXPECT_EQ(explore<Words>({thrower, add_one}, nothing).failure, "a thread threw: saw one");
}

TEST(Explored, an_expectation_in_a_thread_fails_the_execution) {
  const Body<Words> reader = [](Words& words) { EXPECT_EQ(words.x.load(relaxed), 0) << "too late"; };
  const Report report = explore<Words>({reader, add_one}, nothing);
  EXPECT_NE(report.failure.find("too late"), std::string::npos) << report;
}

TEST(ExploredDeathTest, a_failed_check_of_the_library_shows_the_schedule) {
  const Body<Words> checker = [](Words& words) { CALM_REQUIRE(LAB_8, words.x.load(relaxed) == 0); };
  EXPECT_DEATH(explore<Words>({add_one, checker}, nothing), "LAB-8(.|\n)*schedule: A B\n");
}

void add_one_under_a_spin_lock(Words& words) {
  while (words.y.exchange(1, acquire) == 1) ModelAtomics::pause();
  add_one_in_two_steps(words);
  words.y.store(0, release);
}

TEST(Explored, LAB_8_a_thread_that_spins_waits_for_a_change) {
  const Report report = explore<Words>({add_one_under_a_spin_lock, add_one_under_a_spin_lock}, expect_no_update_lost);
  EXPECT_TRUE(report.ok()) << report;
  const Report three = explore<Words>({add_one_under_a_spin_lock, add_one_under_a_spin_lock, add_one_under_a_spin_lock},
                                      [](Words& words) { EXPECT_EQ(words.x.load(relaxed), 3); });
  EXPECT_TRUE(three.ok()) << three;
}

TEST(Explored, LAB_8_spins_that_nothing_can_end_are_a_deadlock) {
  const Body<Words> first = [](Words& words) {
    while (words.y.load(acquire) == 0) ModelAtomics::pause();
    words.x.store(1, release);
  };
  const Body<Words> second = [](Words& words) {
    while (words.x.load(acquire) == 0) ModelAtomics::pause();
    words.y.store(1, release);
  };
  EXPECT_EQ(explore<Words>({first, second}, nothing).failure, "deadlock: A and B wait for ever");
}

TEST(Explored, LAB_8_a_spin_that_reads_no_atomic_is_refused) {
  const Body<Words> spinner = [](Words& words) {
    while (words.seen_x < 0) ModelAtomics::pause();
  };
  const Body<Words> other = [](Words& words) { words.seen_x = words.x.load(relaxed); };
  EXPECT_NE(explore<Words>({spinner, other}, nothing).failure.find("reads no atomic"), std::string::npos);
}

TEST(Explored, LAB_8_a_spin_on_two_words_goes_on_when_either_changes) {
  const Body<Words> spinner = [](Words& words) {
    while (words.x.load(acquire) + words.y.load(acquire) < 2) ModelAtomics::pause();
  };
  const Body<Words> set_x = [](Words& words) { words.x.store(1, release); };
  const Body<Words> set_y = [](Words& words) { words.y.store(1, release); };
  for (const MemoryModel memory : {MemoryModel::sequential, MemoryModel::release_acquire}) {
    const Report report = explore<Words>({spinner, set_x, set_y}, nothing, {.memory = memory});
    EXPECT_TRUE(report.ok()) << report;
  }
}

TEST(Explored, a_spin_that_does_not_say_so_is_found) {
  const Body<Words> waiting = [](Words& words) {
    while (words.x.load(acquire) == 0) {
    }
  };
  EXPECT_EQ(explore<Words>({waiting, nothing}, nothing).failure.substr(0, 6), "lasso:");
}

TEST(Explored, LAB_8_a_weak_exchange_fails_for_no_reason_when_asked_to) {
  const Body<Words> once = [](Words& words) {
    int expected = 0;
    words.seen_x = words.x.compare_exchange_weak(expected, 1, relaxed, relaxed) ? 1 : 0;
  };
  const Body<Words> check = [](Words& words) { EXPECT_EQ(words.seen_x, 1); };
  EXPECT_TRUE(explore<Words>({once}, check).ok());
  EXPECT_NE(explore<Words>({once}, check, {.max_spurious = 1}).failure, "");
  const Body<Words> again = [](Words& words) {
    int expected = 0;
    while (!words.x.compare_exchange_weak(expected, expected + 1, relaxed, relaxed)) {
    }
  };
  // Alone it fails never, or once, or twice.
  EXPECT_EQ(explore<Words>({again}, nothing, {.max_spurious = 2}).executions, 3U);
  const Report two = explore<Words>({again, again}, expect_no_update_lost, {.max_spurious = 1});
  EXPECT_TRUE(two.ok()) << two;
}

TEST(Explored, a_program_that_does_not_repeat_itself_is_found) {
  int runs = 0;
  const Body<Words> fickle = [&runs](Words& words) {
    if (runs++ % 2 == 0) (void)words.y.load(relaxed);
    add_one(words);
  };
  EXPECT_NE(explore<Words>({fickle, add_one, add_one}, nothing).failure.find("not deterministic"), std::string::npos);
}

}  // namespace
}  // namespace calm::explored
