// The other ways through the executions of a program, checked against the optimal one.
#include "calm/explore/strategies.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "apps/calm/zoo/zoo.hpp"
#include "calm/explore/columns.hpp"
#include "calm/explore/optimal.hpp"
#include "calm/explore/threads.hpp"
#include "tests/explore/forms.hpp"
#include "tests/explore/straight_line.hpp"

namespace calm::explore {
namespace {

Threads::Setup zoo_program(std::string_view name, std::uint32_t n = 0, std::uint32_t m = 0) {
  return zoo::find(name)->make(n, m);
}

TEST(Strategies, LAB_5_without_reduction_the_same_executions_are_found_again_and_again) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const StraightLine program = random_program(seed);
    if (count_executions(program) > 300) continue;
    StraightLineRun run(program);
    Forms all;
    const Report every = explore_all(run, {.max_executions = 200'000}, UINT32_MAX, &all);
    if (!every.exhausted) continue;
    Forms once;
    const Report optimal = explore_optimal(run, {}, &once);
    EXPECT_EQ(all.seen, once.seen) << to_string(program);
    EXPECT_EQ(optimal.executions, once.seen.size()) << to_string(program);
    EXPECT_GE(every.executions, optimal.executions);
    EXPECT_EQ(every.deadlocks == 0, optimal.deadlocks == 0) << to_string(program);
  }
}

TEST(Strategies, LAB_5_a_bound_on_preemptions_leaves_executions_out) {
  Threads program(zoo_program("increment", 3));
  const Report none = explore_all(program, {}, 0);
  const Report one = explore_all(program, {}, 1);
  const Report all = explore_all(program, {});
  EXPECT_EQ(none.executions, 6U);  // whole threads in every order
  EXPECT_LT(none.fingerprints, one.fingerprints);
  EXPECT_LT(one.fingerprints, all.fingerprints);
  EXPECT_EQ(all.fingerprints, 36U);
  EXPECT_EQ(all.executions, 90U);
}

TEST(Strategies, LAB_3_the_way_to_a_deadlock_with_the_fewest_preemptions) {
  Threads program(zoo_program("philosophers", 3));
  const auto shortest = fewest_preemptions(program, {}, 5);
  ASSERT_TRUE(shortest.has_value());
  EXPECT_EQ(shortest->preemptions, 1U);  // one is left with a fork; the others stop by themselves
  EXPECT_EQ(count_preemptions(program, shortest->failure.schedule), 1U);
  const std::string text = columns(program, shortest->failure.schedule);
  EXPECT_NE(text.find("thread 0        thread 1        thread 2"), std::string::npos) << text;
  EXPECT_NE(text.find("thread 2 waits for ever to write x0"), std::string::npos) << text;
}

TEST(Strategies, LAB_5_at_random_and_by_priorities_the_trap_is_found_with_the_same_seed_after_the_same_runs) {
  Threads program(zoo_program("trap"));
  const Options options{.max_executions = 2'000, .stop_at_first_problem = true};
  const Report first = explore_random(program, options, 7);
  const Report again = explore_random(program, options, 7);
  ASSERT_EQ(first.failures.size(), 1U);
  EXPECT_EQ(first.executions, again.executions);
  EXPECT_EQ(first.failures[0].schedule, again.failures[0].schedule);
  const Report by_priority = explore_pct(program, options, 7, 3);
  EXPECT_EQ(by_priority.failures.size(), 1U);
}

TEST(Strategies, an_exploration_ends_when_it_is_told_to) {
  Threads program(zoo_program("increment", 4));
  const std::atomic<bool> stop{true};
  const Report report = explore_optimal(program, {.stop = &stop});
  EXPECT_EQ(report.executions, 1U);
  EXPECT_FALSE(report.exhausted);
}

}  // namespace
}  // namespace calm::explore
