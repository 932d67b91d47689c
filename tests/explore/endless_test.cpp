// Programs that never end are said to: as a lasso where nothing can change any more, else by a limit of steps.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "calm/explore/atomic.hpp"
#include "calm/explore/columns.hpp"
#include "calm/explore/optimal.hpp"
#include "calm/explore/prioritised.hpp"
#include "calm/explore/strategies.hpp"
#include "calm/explore/threads.hpp"
#include "tests/explore/forms.hpp"

namespace calm::explore {
namespace {

using Word = Atomic<int>;

/// One waits for a flag by looking at it; another one raises it, and with `lowers` lowers it again.
Threads::Setup flag(bool raises, bool lowers) {
  return [raises, lowers](Threads& threads) {
    Word& word = threads.make<Word>(0);
    threads.run(
        [&word] {
          while (word.load() == 0) {
          }
        },
        "spinner");
    if (!raises) return;
    threads.run(
        [&word, lowers] {
          word.store(1);
          if (lowers) word.store(0);
        },
        "writer");
  };
}

/// Two who never stop to write.
void busy(Threads& threads) {
  for (int i = 0; i < 2; ++i) {
    threads.run([&word = threads.make<Word>(0)] {
      while (true) word.store(1);
    });
  }
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Endless, LAB_6_a_spin_that_nobody_can_end_is_a_lasso) {
  const Report report = explore_threads(flag(false, false));
  EXPECT_TRUE(report.exhausted);
  EXPECT_EQ(report.executions, 1U);
  EXPECT_EQ(report.lassos, 1U);
  EXPECT_EQ(report.deadlocks, 0U);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(report.failures[0].problem,
            "lasso: spinner repeats its reads for ever, and nobody is left to write what is read");
}

TEST(Endless, LAB_5_a_spin_that_somebody_ends_is_exhausted) {
  const Report report = explore_threads(flag(true, false));
  EXPECT_TRUE(report.exhausted && report.ok());
  EXPECT_EQ(report.executions, Spins::usual_patience + 1);  // the flag is raised after 0, 1, … reads
  EXPECT_EQ(report.fingerprints, report.executions);
  EXPECT_EQ(report.blocked, 0U);
}

TEST(Endless, LAB_6_a_flag_that_is_raised_for_a_moment_may_be_missed) {
  const Report report = explore_threads(flag(true, true));
  EXPECT_TRUE(report.exhausted);
  EXPECT_EQ(report.fingerprints, report.executions);
  EXPECT_GT(report.lassos, 0U);
  EXPECT_EQ(report.buggy, report.lassos);
  EXPECT_LT(report.lassos, report.executions);
}

TEST(Endless, LAB_5_spins_over_several_words_have_the_same_executions_with_and_without_reduction) {
  Threads program([](Threads& threads) {
    Word& x = threads.make<Word>(0);
    Word& y = threads.make<Word>(0);
    threads.be_patient(16);
    threads.run([&x, &y] {
      while (x.load() == 0 && y.load() == 0) {
      }
    });
    threads.run([&x] { x.store(1); });
    threads.run([&y] { y.store(1); });
  });
  Forms every;
  const Report all = explore_all(program, {}, UINT32_MAX, &every);
  Forms once;
  const Report optimal = explore_optimal(program, {}, &once);
  Forms by_score;
  const Report prioritised = explore_prioritised(program, {}, &by_score);
  EXPECT_TRUE(all.exhausted && all.ok() && optimal.exhausted && optimal.ok() && prioritised.exhausted);
  EXPECT_EQ(every.seen, once.seen);
  EXPECT_EQ(every.seen, by_score.seen);
  EXPECT_EQ(optimal.executions, once.seen.size());
}

TEST(Endless, LAB_5_spins_of_two_threads_are_explored_completely) {
  Threads program([](Threads& threads) {
    Word& x = threads.make<Word>(0);
    Word& y = threads.make<Word>(0);
    threads.be_patient(16);
    threads.run([&x, &y] {
      while (x.load() == 0) {
      }
      y.store(1);
    });
    threads.run([&x, &y] {
      x.store(1);
      while (y.load() == 0) {
      }
      x.store(2);
    });
  });
  Forms every;
  const Report all = explore_all(program, {}, UINT32_MAX, &every);
  Forms once;
  const Report optimal = explore_optimal(program, {}, &once);
  EXPECT_TRUE(all.exhausted && all.ok() && optimal.exhausted && optimal.ok());
  EXPECT_EQ(every.seen, once.seen);
  EXPECT_EQ(optimal.executions, once.seen.size());
}

TEST(Endless, LAB_5_a_spin_lock_keeps_two_apart) {
  const Report report = explore_threads([](Threads& threads) {
    Word& lock = threads.make<Word>(0);
    Word& inside = threads.make<Word>(0);
    for (int i = 0; i < 2; ++i) {
      threads.run([&threads, &lock, &inside] {
        int free = 0;
        while (!lock.compare_exchange_strong(free, 1)) free = 0;
        threads.check(inside.fetch_add(1) == 0, "two are inside");
        inside.fetch_sub(1);
        lock.store(0);
      });
    }
  });
  EXPECT_TRUE(report.exhausted && report.ok());
  EXPECT_EQ(report.fingerprints, report.executions);
  EXPECT_EQ(report.lassos, 0U);
}

TEST(Endless, LAB_6_who_waits_for_a_spinner_waits_for_ever) {
  const Report report = explore_threads([](Threads& threads) {
    Word& never = threads.make<Word>(0);
    Word& after = threads.make<Word>(0);
    threads.run(
        [&never, &after] {
          while (never.load() == 0) {
          }
          after.store(1);
        },
        "spinner");
    threads.run([&after] { after.wait(0); }, "waiter");
  });
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(
      report.failures[0].problem,
      "lasso: spinner repeats its reads for ever, and nobody is left to write what is read; waiter waits for ever");
}

TEST(Endless, LAB_5_a_loop_that_counts_its_looks_is_not_called_a_lasso) {
  const auto looks = [](std::uint32_t patience) {
    return [patience](Threads& threads) {
      if (patience != 0) threads.be_patient(patience);
      Word& word = threads.make<Word>(0);
      threads.run([&word] {
        for (int i = 0; i < 100 && word.load() == 0; ++i) {
        }
      });
    };
  };
  const Report hasty = explore_threads(looks(0));
  ASSERT_EQ(hasty.failures.size(), 1U);
  EXPECT_TRUE(has(hasty.failures[0].problem, "step limit: thread 0 repeated its reads")) << hasty.failures[0].problem;
  EXPECT_TRUE(has(hasty.failures[0].problem, "be_patient()")) << hasty.failures[0].problem;
  EXPECT_TRUE(explore_threads(looks(128)).ok());
}

TEST(Endless, LAB_6_beyond_the_limit_of_steps_the_part_that_repeats_is_told) {
  const Report report = explore_threads(busy);
  EXPECT_FALSE(report.exhausted);
  EXPECT_EQ(report.executions, 1U);
  EXPECT_EQ(report.cut_short, 1U);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(report.failures[0].problem,
            "step limit: no end after 10000 steps; the last one came 10000 times: thread 0");
}

TEST(Endless, LAB_6_beyond_the_limit_of_steps_it_is_told_when_nothing_repeats) {
  const Report report = explore_threads(
      [](Threads& threads) {
        std::vector<Word*> words;
        for (int i = 0; i < 60; ++i) words.push_back(&threads.make<Word>(0));
        threads.run([words] {
          for (Word* const word : words) word->store(1);
        });
      },
      {.max_steps = 50});
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(report.failures[0].problem, "step limit: no end after 50 steps, and nothing that repeats");
}

TEST(Endless, LAB_5_every_strategy_comes_back) {
  Threads program(busy);
  const Options options{.max_executions = 1'000, .max_steps = 500};
  for (const Report& report :
       {explore_optimal(program, options), explore_all(program, options), explore_random(program, options, 1),
        explore_pct(program, options, 1, 3), explore_prioritised(program, options)}) {
    EXPECT_EQ(report.executions, 1U);
    EXPECT_EQ(report.cut_short, 1U);
    EXPECT_FALSE(report.ok() || report.exhausted);
  }
}

TEST(Endless, who_spins_does_not_keep_others_from_ending_what_is_on_their_stacks) {
  int made = 0;
  int ended = 0;
  class Counted {
   public:
    Counted(int& made, int& ended) : ended_(ended) { ++made; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { ++ended_; }

   private:
    int& ended_;
  };
  const Report report = explore_threads([&made, &ended](Threads& threads) {
    Word& never = threads.make<Word>(0);
    threads.run([&never] {
      while (never.load() == 0) {
      }
    });
    threads.run([&threads, &made, &ended, &own = threads.make<Word>(0)] {
      const Counted counted(made, ended);
      own.store(1);
      threads.check(false, "left in the middle");
      own.store(2);
    });
  });
  EXPECT_EQ(report.failures.at(0).problem, "left in the middle");
  EXPECT_GT(made, 0);
  EXPECT_EQ(made, ended);
}

TEST(Endless, columns_show_once_what_comes_again_and_again) {
  Threads program(flag(false, false));
  const Report report = explore_optimal(program);
  EXPECT_EQ(columns(program, report.failures.at(0).schedule),
            "        spinner\n"
            "  1     read x0\n"
            "  …     this step 31 more times\n"
            "  spinner repeats for ever: read x0\n");
}

}  // namespace
}  // namespace calm::explore
