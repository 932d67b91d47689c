#include "tests/model/interleave.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "calm/check/require.hpp"
#include "tests/model/orders.hpp"

namespace calm::interleave {
namespace {

using Word = ModelAtomics::Atomic<int>;

struct Words {
  Word x{0};
  Word y{0};
  int seen_x = -1;
  int seen_y = -1;
};

void add_one(Words& words) { words.x.fetch_add(1, relaxed); }

void add_one_in_two_steps(Words& words) {
  const int was = words.x.load(relaxed);
  words.x.store(was + 1, relaxed);
}

void expect_no_update_lost(Words& words) { EXPECT_EQ(words.x.load(relaxed), 2); }

void nothing(Words&) {}

TEST(Interleave, n_threads_of_one_step_have_n_factorial_executions) {
  EXPECT_EQ(explore<Words>({add_one}, nothing).executions, 1U);
  EXPECT_EQ(explore<Words>({add_one, add_one}, nothing).executions, 2U);
  EXPECT_EQ(explore<Words>({add_one, add_one, add_one}, nothing).executions, 6U);
  const Report report =
      explore<Words>({add_one, add_one, add_one, add_one}, [](Words& words) { EXPECT_EQ(words.x.load(relaxed), 4); });
  EXPECT_EQ(report.executions, 24U);
  EXPECT_EQ(report.longest, 4U);
  EXPECT_TRUE(report.ok()) << report;
}

TEST(Interleave, two_threads_of_two_steps_have_six_executions) {
  const Report report = explore<Words>({add_one_in_two_steps, add_one_in_two_steps}, nothing);
  EXPECT_EQ(report.executions, 6U);
  EXPECT_TRUE(report.ok()) << report;
}

TEST(Interleave, threads_of_three_two_and_one_steps_have_sixty_executions) {
  const Body<Words> three = [](Words& words) {
    for (int i = 0; i < 3; ++i) add_one(words);
  };
  EXPECT_EQ(explore<Words>({three, add_one_in_two_steps, add_one}, nothing).executions, 60U);
}

TEST(Interleave, a_thread_without_a_step_is_no_reason_to_wait) {
  EXPECT_EQ(explore<Words>({nothing, add_one}, nothing).executions, 1U);
  EXPECT_TRUE(explore<Words>({nothing, nothing}, nothing).ok());
}

TEST(Interleave, a_lost_update_is_found_and_told_step_by_step) {
  const Report report = explore<Words>({add_one_in_two_steps, add_one_in_two_steps}, expect_no_update_lost);
  EXPECT_FALSE(report.ok());
  EXPECT_FALSE(report.exhausted);
  EXPECT_EQ(report.executions, 2U);
  EXPECT_EQ(report.schedule, "A B A B");
  EXPECT_EQ(report.story,
            "    A load w0 0\n"
            "    B load w0 0\n"
            "    A store w0 0 -> 1\n"
            "    B store w0 1\n");
  EXPECT_NE(testing::PrintToString(report).find("next:     replay<State>(\"A B A B\""), std::string::npos);
}

TEST(Interleave, a_failing_schedule_fails_again_in_replay_and_another_one_does_not) {
  const std::vector<Body<Words>> threads{add_one_in_two_steps, add_one_in_two_steps};
  const Report found = explore<Words>(threads, expect_no_update_lost);
  const Report again = replay<Words>(found.schedule, threads, expect_no_update_lost);
  EXPECT_EQ(again.failure, found.failure);
  EXPECT_EQ(again.story, found.story);
  EXPECT_EQ(replay<Words>("B B", threads, expect_no_update_lost).failure, "");
  EXPECT_EQ(replay<Words>("B B", threads, expect_no_update_lost).schedule, "B B A A");
}

TEST(Interleave, a_schedule_of_another_program_is_refused) {
  EXPECT_EQ(replay<Words>("A C", {add_one, add_one}, nothing).failure,
            "the schedule does not fit the program at step 2");
  EXPECT_EQ(replay<Words>("A A", {add_one, add_one}, nothing).failure,
            "the schedule does not fit the program at step 2");
  EXPECT_EQ(replay<Words>("A! B", {add_one, add_one}, nothing).failure,
            "the schedule does not fit the program at step 1");
}

TEST(Interleave, an_exception_in_a_thread_ends_the_execution) {
  const Body<Words> thrower = [](Words& words) {
    if (words.x.load(relaxed) == 1) throw std::runtime_error("saw one");
  };
  const Report report = explore<Words>({thrower, add_one}, nothing);
  EXPECT_EQ(report.failure, "saw one");
  EXPECT_EQ(report.schedule, "B A");
}

TEST(Interleave, an_expectation_in_a_thread_ends_the_execution) {
  const Body<Words> reader = [](Words& words) { EXPECT_EQ(words.x.load(relaxed), 0) << "too late"; };
  const Report report = explore<Words>({reader, add_one}, nothing);
  EXPECT_NE(report.failure.find("too late"), std::string::npos);
  EXPECT_EQ(report.schedule, "B A");
}

TEST(InterleaveDeathTest, a_failed_check_of_the_library_shows_the_schedule) {
  const Body<Words> checker = [](Words& words) { CALM_REQUIRE(LAB_8, words.x.load(relaxed) == 0); };
  EXPECT_DEATH(explore<Words>({add_one, checker}, nothing), "LAB-8(.|\n)*schedule: A B\n");
}

TEST(Interleave, stored_before_loaded_never_leaves_both_unseen) {
  const Body<Words> first = [](Words& words) {
    words.x.store(1, seq_cst);
    words.seen_y = words.y.load(seq_cst);
  };
  const Body<Words> second = [](Words& words) {
    words.y.store(1, seq_cst);
    words.seen_x = words.x.load(seq_cst);
  };
  int both_seen = 0;
  const Report report = explore<Words>({first, second}, [&](Words& words) {
    EXPECT_TRUE(words.seen_x == 1 || words.seen_y == 1);
    both_seen += words.seen_x & words.seen_y;
  });
  EXPECT_TRUE(report.ok()) << report;
  EXPECT_EQ(report.executions, 6U);
  EXPECT_EQ(both_seen, 4);
}

TEST(Interleave, a_message_is_there_when_its_flag_is) {
  const Body<Words> sender = [](Words& words) {
    words.x.store(42, relaxed);
    words.y.store(1, release);
  };
  const Body<Words> receiver = [](Words& words) {
    words.seen_y = words.y.load(acquire);
    words.seen_x = words.x.load(relaxed);
  };
  int received = 0;
  const Report report = explore<Words>({sender, receiver}, [&](Words& words) {
    EXPECT_TRUE(words.seen_y == 0 || words.seen_x == 42);
    received += words.seen_y;
  });
  EXPECT_TRUE(report.ok()) << report;
  EXPECT_EQ(received, 1);
}

void add_one_under_a_spin_lock(Words& words) {
  while (words.y.exchange(1, acquire) == 1) ModelAtomics::pause();
  add_one_in_two_steps(words);
  words.y.store(0, release);
}

TEST(Interleave, a_thread_that_pauses_waits_for_a_change) {
  const Report report = explore<Words>({add_one_under_a_spin_lock, add_one_under_a_spin_lock}, expect_no_update_lost);
  EXPECT_TRUE(report.ok()) << report;
}

TEST(Interleave, a_deadlock_is_found) {
  const Body<Words> first = [](Words& words) {
    while (words.y.load(acquire) == 0) ModelAtomics::pause();
    words.x.store(1, release);
  };
  const Body<Words> second = [](Words& words) {
    while (words.x.load(acquire) == 0) ModelAtomics::pause();
    words.y.store(1, release);
  };
  const Report report = explore<Words>({first, second}, nothing);
  EXPECT_EQ(report.failure.substr(0, 9), "deadlock:");
  EXPECT_EQ(report.schedule, "A B");
}

TEST(Interleave, a_livelock_is_found) {
  const Body<Words> waiting = [](Words& words) {
    while (words.x.load(acquire) == 0) {
    }
  };
  const Report report = explore<Words>({waiting, nothing}, nothing, {.max_steps = 50});
  EXPECT_EQ(report.failure.substr(0, 9), "livelock:");
}

TEST(Interleave, without_preemptions_each_thread_runs_to_its_end) {
  const std::vector<Body<Words>> threads{add_one_in_two_steps, add_one_in_two_steps};
  const Report none = explore<Words>(threads, expect_no_update_lost, {.max_preemptions = 0});
  EXPECT_TRUE(none.ok()) << none;
  EXPECT_EQ(none.executions, 2U);
  EXPECT_EQ(explore<Words>(threads, nothing, {.max_preemptions = 1}).executions, 4U);
  EXPECT_FALSE(explore<Words>(threads, expect_no_update_lost, {.max_preemptions = 1}).ok());
}

TEST(Interleave, a_weak_exchange_fails_spuriously_when_asked_to) {
  const Body<Words> once = [](Words& words) {
    int expected = 0;
    words.seen_x = words.x.compare_exchange_weak(expected, 1, relaxed, relaxed) ? 1 : 0;
  };
  const Body<Words> check = [](Words& words) { EXPECT_EQ(words.seen_x, 1); };
  EXPECT_TRUE(explore<Words>({once}, check).ok());
  const Report report = explore<Words>({once}, check, {.max_spurious = 1});
  EXPECT_EQ(report.schedule, "A!");
  EXPECT_EQ(replay<Words>("A!", {once}, check).failure, report.failure);
}

TEST(Interleave, an_exploration_cut_short_says_so) {
  const Report report = explore<Words>({add_one, add_one, add_one}, nothing, {.max_executions = 5});
  EXPECT_EQ(report.executions, 5U);
  EXPECT_FALSE(report.exhausted);
  EXPECT_FALSE(report.ok());
}

TEST(Interleave, a_program_that_does_not_repeat_itself_is_found) {
  int runs = 0;
  const Body<Words> longer_at_first = [&runs](Words& words) {
    if (runs++ == 0) add_one(words);
    add_one(words);
  };
  EXPECT_EQ(explore<Words>({longer_at_first, add_one}, nothing).failure.substr(0, 34),
            "the program does not repeat itself");
  const Body<Words> fickle = [&runs](Words& words) {
    if (runs++ % 2 == 0) add_one(words);
    add_one(words);
  };
  EXPECT_EQ(explore<Words>({fickle, add_one, add_one}, nothing).failure.substr(0, 34),
            "the program does not repeat itself");
}

TEST(Interleave, a_failure_that_does_not_come_again_says_so) {
  int runs = 0;
  const Report report = explore<Words>({add_one, add_one}, [&runs](Words&) { EXPECT_NE(runs++, 0) << "only once"; });
  EXPECT_NE(report.failure.find("only once"), std::string::npos);
  EXPECT_NE(report.failure.find("not so when the schedule was run again"), std::string::npos);
}

}  // namespace
}  // namespace calm::interleave
