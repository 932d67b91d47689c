// Threads, words, locks and condition variables under the explorer.
#include "calm/explore/threads.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "calm/explore/atomic.hpp"
#include "calm/explore/mutex.hpp"
#include "calm/explore/not_deterministic.hpp"

namespace calm::explore {
namespace {

using Word = Atomic<int>;

TEST(Threads, LAB_8_a_lost_update_is_found_and_none_is_left_when_it_is_mended) {
  const auto program = [](bool mended) {
    return [mended](Threads& threads) {
      Word& x = threads.make<Word>(0);
      for (int i = 0; i < 2; ++i) {
        threads.run([&x, mended] {
          if (mended) {
            x.fetch_add(1);
          } else {
            x.store(x.load() + 1);
          }
        });
      }
      threads.at_end([&] { threads.check(x.load() == 2, "an update was lost"); });
    };
  };
  const Report broken = explore_threads(program(false));
  EXPECT_TRUE(broken.exhausted);
  EXPECT_EQ(broken.executions, 4U);
  EXPECT_EQ(broken.buggy, 2U);
  EXPECT_EQ(broken.failures.at(0).problem, "an update was lost");
  const Report mended = explore_threads(program(true));
  EXPECT_TRUE(mended.exhausted && mended.ok());
  EXPECT_EQ(mended.executions, 2U);
}

TEST(Threads, LAB_8_a_notify_without_the_lock_leaves_a_waiter_asleep) {
  const auto program = [](bool mended) {
    return [mended](Threads& threads) {
      Mutex& mutex = threads.make<Mutex>();
      Condition& condition = threads.make<Condition>();
      Word& ready = threads.make<Word>(0);
      threads.run([&] {
        mutex.lock();
        while (ready.load() == 0) condition.wait(mutex);
        mutex.unlock();
      });
      threads.run([&, mended] {
        if (mended) mutex.lock();
        ready.store(1);
        condition.notify_one();
        if (mended) mutex.unlock();
      });
    };
  };
  const Report broken = explore_threads(program(false));
  EXPECT_TRUE(broken.exhausted);
  EXPECT_EQ(broken.deadlocks, 1U);
  const Report mended = explore_threads(program(true));
  EXPECT_TRUE(mended.exhausted && mended.ok());
  EXPECT_EQ(mended.deadlocks, 0U);
}

TEST(Threads, LAB_4_a_failed_try_lock_is_a_read) {
  const Report report = explore_threads([](Threads& threads) {
    Mutex& mutex = threads.make<Mutex>();
    for (int i = 0; i < 3; ++i) threads.run([&mutex] { (void)mutex.try_lock(); });
  });
  EXPECT_EQ(report.executions, 3U);  // who wins; the losers commute
}

TEST(Threads, what_a_thread_throws_is_a_problem_of_its_execution) {
  const Report report = explore_threads([](Threads& threads) {
    Word& x = threads.make<Word>(0);
    threads.run([&x] { x.store(1); });
    threads.run([&x] {
      if (x.load() == 1) throw std::runtime_error("boom");
    });
  });
  EXPECT_EQ(report.executions, 2U);
  EXPECT_EQ(report.buggy, 1U);
  EXPECT_EQ(report.failures.at(0).problem, "a thread threw: boom");
}

TEST(Threads, what_is_on_a_stack_is_ended_also_when_an_execution_is_left_in_the_middle) {
  const auto alive = std::make_shared<int>(0);
  (void)explore_threads([&alive](Threads& threads) {
    Mutex& first = threads.make<Mutex>();
    Word& x = threads.make<Word>(0);
    for (int i = 0; i < 2; ++i) {
      threads.run([&, kept = alive] {
        const std::shared_ptr<int> local = kept;
        first.lock();
        x.store(x.load() + 1);
        first.unlock();
      });
    }
  });
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(Threads, LAB_5_a_program_that_does_not_repeat_itself_is_named) {
  int runs = 0;
  const auto program = [&runs](Threads& threads) {
    Word& x = threads.make<Word>(0);
    Word& y = threads.make<Word>(0);
    const bool other = ++runs % 2 == 0;
    Word& z = threads.make<Word>(0);
    threads.run([&x, &y, other] { (other ? y : x).store(1); });
    for (int i = 0; i < 2; ++i) threads.run([&z] { z.store(1); });
  };
  EXPECT_THROW((void)explore_threads(program), NotDeterministic);
}

TEST(Threads, LAB_5_steps_taken_again_at_one_go_lead_where_single_steps_led) {
  const auto setup = [](Threads& threads) {
    auto& words = threads.make<std::array<Word, 3>>();
    Mutex& mutex = threads.make<Mutex>();
    for (std::size_t i = 0; i < 3; ++i) {
      threads.run([&words, &mutex, i] {
        words[i].store(1);
        mutex.lock();
        words[0].store(words[(i + 1) % 3].load() + 1);
        mutex.unlock();
      });
    }
  };
  Threads first(setup);
  Execution run;
  Execution wrong;  // its fourth step touches something else
  first.restart();
  for (Process wanted = 0; !first.enabled().empty(); wanted = static_cast<Process>((wanted + 1) % 3)) {
    if (!first.enabled().has(wanted)) continue;
    Event& event = run.next();
    event.process = wanted;
    event.kind = first.step(wanted, event.touched);
    Event& other = wrong.next();
    other.process = wanted;
    other.touched = event.touched;
    if (run.size() == 3) other.touched.write(1);
    run.finish();
    wrong.finish();
  }
  ASSERT_EQ(run.size(), 15U);
  Threads again(setup);
  for (std::uint32_t size = 0; size <= run.size(); ++size) {
    again.restart();
    ASSERT_EQ(again.repeat(run, size), size);
    for (std::uint32_t i = size; i < run.size(); ++i) {
      Footprint touched;
      ASSERT_TRUE(again.enabled().has(run[i].process));
      EXPECT_EQ(again.step(run[i].process, touched), run[i].kind);
      EXPECT_TRUE(touched == run[i].touched);
    }
    EXPECT_TRUE(again.enabled().empty() && again.blocked().empty());
  }
  again.restart();
  EXPECT_EQ(again.repeat(wrong, wrong.size()), 3U);
}

TEST(Threads, a_wait_for_a_word_goes_on_when_it_has_changed) {
  std::set<int> seen;
  const Report report = explore_threads([&seen](Threads& threads) {
    Word& x = threads.make<Word>(0);
    threads.run([&x] { x.store(1); });
    threads.run([&x] { x.store(2); });
    threads.run([&x, &seen] {
      x.wait(0);
      seen.insert(x.load());
    });
  });
  EXPECT_TRUE(report.ok() && report.exhausted);
  EXPECT_EQ(seen, (std::set<int>{1, 2}));
}

}  // namespace
}  // namespace calm::explore
