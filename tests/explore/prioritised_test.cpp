// Promising executions first: the score, that nothing is left out, and that bugs of lock order are found sooner.
#include "calm/explore/prioritised.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/calm/gallery/gallery.hpp"
#include "apps/calm/zoo/zoo.hpp"
#include "calm/explore/not_deterministic.hpp"
#include "calm/explore/optimal.hpp"
#include "calm/explore/score.hpp"
#include "calm/explore/strategies.hpp"
#include "calm/explore/threads.hpp"
#include "tests/explore/forms.hpp"
#include "tests/explore/straight_line.hpp"

namespace calm::explore {
namespace {

/// An execution of these steps: each a process and one place that it writes.
Execution execution_of(const std::vector<std::pair<Process, Location>>& steps) {
  Execution run;
  for (const auto& [process, location] : steps) {
    Event& event = run.next();
    event.process = process;
    event.touched.write(location);
    run.finish();
  }
  return run;
}

TEST(Score, LAB_5_edges_are_the_dependencies_that_do_not_follow_from_others) {
  // a and b write x in turn; the third step depends on the first through the second.
  const Graph graph = dependencies(execution_of({{0, 1}, {1, 1}, {0, 1}, {1, 2}}));
  EXPECT_EQ(graph.vertices, 4U);
  EXPECT_EQ(graph.edges, (std::vector<Edge>{{0, 1}, {1, 2}, {1, 3}}));
}

TEST(Score, LAB_5_counts_lasting_holes_total_persistence_and_those_at_the_end) {
  // Process 0 writes x, y, z; process 1 writes x, then z: the ways x0→y0→z0→z1 and x0→x1→z1 enclose a hole.
  std::vector<std::pair<Process, Location>> steps{{0, 1}, {0, 2}, {0, 3}, {1, 1}, {1, 3}};
  Score score = score_of(execution_of(steps));
  EXPECT_EQ(score.betti, 1U);
  EXPECT_EQ(score.total, 1U);  // born with the fifth event, alive at the end
  EXPECT_EQ(score.lasting, 0U);
  EXPECT_EQ(score.events, 5U);
  EXPECT_TRUE(score.close);
  steps.insert(steps.end(), {{1, 9}, {1, 9}});
  score = score_of(execution_of(steps));
  EXPECT_EQ(score.total, 3U);
  EXPECT_EQ(score.lasting, 1U);
  EXPECT_GT(score, score_of(execution_of({{0, 1}, {1, 1}})));
}

TEST(Score, LAB_5_beyond_the_caps_circles_and_pairs_that_share_nothing_count) {
  const Execution run = execution_of({{0, 1}, {0, 2}, {0, 3}, {1, 1}, {1, 3}, {2, 7}});
  const Score score = score_of(run, {.vertices = 5});
  EXPECT_FALSE(score.close);
  EXPECT_EQ(score.betti, 1U);
  EXPECT_EQ(score.pairs, 3U);
  EXPECT_EQ(score.apart, 2U);  // only 0 and 1 meet
  EXPECT_LT(score, score_of(execution_of({{0, 1}})));
  // More of it apart is higher, and so are fewer events.
  EXPECT_GT(score, score_of(execution_of({{0, 1}, {0, 2}, {0, 3}, {1, 1}, {1, 3}, {2, 3}}), {.vertices = 5}));
  EXPECT_GT(score_of(execution_of({{0, 1}, {1, 2}}), {.vertices = 1}),
            score_of(execution_of({{0, 1}, {1, 2}, {1, 2}}), {.vertices = 1}));
}

TEST(Score, LAB_5_of_two_that_are_equal_otherwise_the_shorter_and_then_the_fingerprint_decides) {
  const Score shorter = score_of(execution_of({{0, 1}, {1, 2}}));
  const Score longer = score_of(execution_of({{0, 1}, {1, 2}, {1, 2}}));
  EXPECT_GT(shorter, longer);
  const Score other = score_of(execution_of({{0, 1}, {1, 3}}));
  EXPECT_NE(shorter, other);
  EXPECT_EQ(shorter > other, shorter.fingerprint > other.fingerprint);
}

TEST(Prioritised, LAB_5_leaves_no_execution_out_when_it_says_that_there_are_no_more) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const StraightLine program = random_program(seed);
    if (count_executions(program) > 300) continue;
    StraightLineRun run(program);
    Forms by_score;
    const Report report = explore_prioritised(run, {}, &by_score);
    Forms once;
    (void)explore_optimal(run, {}, &once);
    EXPECT_TRUE(report.exhausted);
    EXPECT_EQ(by_score.seen, once.seen) << "seed " << seed << "\n" << to_string(program);
    EXPECT_EQ(report.executions - report.blocked, once.seen.size()) << "seed " << seed;
  }
  for (const zoo::Species& species : zoo::species()) {
    if (species.count(species.n.standard, species.m.standard) > 300) continue;
    Threads program(species.make(species.n.standard, species.m.standard));
    const Report report = explore_prioritised(program);
    EXPECT_EQ(report.fingerprints, species.count(species.n.standard, species.m.standard)) << species.name;
  }
}

TEST(Prioritised, LAB_5_a_program_that_does_not_repeat_itself_is_named) {
  Threads program(gallery::find("coin_toss").exhibit->make(false, 0));
  EXPECT_THROW((void)explore_prioritised(program), NotDeterministic);
}

constexpr std::uint64_t most = 1'000;

/// Gives: how many executions 21 seeds need for their first bug, in the middle.
std::uint64_t median_of_random(Threads& program) {
  std::vector<std::uint64_t> runs;
  for (std::uint64_t seed = 1; seed <= 21; ++seed) {
    const Report report = explore_random(program, {.max_executions = most, .stop_at_first_problem = true}, seed);
    runs.push_back(report.ok() ? most + 1 : report.first_problem());
  }
  std::nth_element(runs.begin(), runs.begin() + 10, runs.end());
  return runs[10];
}

TEST(Prioritised, LAB_5_finds_every_bug_of_lock_order_after_fewer_executions_than_random) {
  for (const gallery::Exhibit& exhibit : gallery::exhibits()) {
    if (exhibit.kind != gallery::Exhibit::Kind::lock_order) continue;
    for (const std::uint32_t n : {exhibit.n.first, exhibit.n.standard, exhibit.n.last}) {
      Threads program(exhibit.make(false, n));
      const Report report = explore_prioritised(program, {.max_executions = most, .stop_at_first_problem = true});
      ASSERT_FALSE(report.ok()) << exhibit.name << " n " << n;
      EXPECT_EQ(report.first_problem(), report.executions);
      EXPECT_LT(report.first_problem(), median_of_random(program)) << exhibit.name << " n " << n;
    }
  }
}

}  // namespace
}  // namespace calm::explore
