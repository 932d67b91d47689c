// The programs whose number of executions is known.
#include "apps/calm/zoo/zoo.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "calm/explore/threads.hpp"

namespace calm::zoo {
namespace {

explore::Report explore(std::string_view name, std::uint32_t n = 0, std::uint32_t m = 0) {
  const Species& species = *find(name);
  return explore::explore_threads(species.make(n, m));
}

void expect_count(std::string_view name, std::uint32_t n, std::uint32_t m, std::uint64_t count) {
  const explore::Report report = explore(name, n, m);
  const std::string which = std::string(name) + " n " + std::to_string(n) + " m " + std::to_string(m);
  EXPECT_TRUE(report.exhausted) << which;
  EXPECT_EQ(report.executions, count) << which;
  EXPECT_EQ(report.fingerprints, count) << which;
  EXPECT_EQ(report.blocked, 0U) << which;
  EXPECT_EQ(find(name)->count(n, m), count) << which;
}

TEST(Zoo, LAB_5_every_program_has_as_many_executions_as_its_formula_says) {
  for (const Species& species : species()) {
    for (std::uint32_t n = species.n.first; n <= species.n.last; ++n) {
      for (std::uint32_t m = species.m.first; m <= species.m.last; ++m) {
        const std::uint64_t count = species.count(n, m);
        if (count != 0 && count <= 400 && n * m <= 120) expect_count(species.name, n, m, count);
      }
    }
  }
}

TEST(Zoo, LAB_5_small_ones_as_counted_by_hand) {
  for (std::uint32_t n = 1; n <= 5; ++n)
    expect_count("lastzero", n, 0, std::vector<std::uint64_t>{2, 5, 12, 28, 64}[n - 1]);
  expect_count("popl", 0, 0, 5);
  expect_count("sleeping_races", 0, 0, 10);
  expect_count("reversal", 0, 0, 32);
  expect_count("stale_cas", 0, 0, 9);
  expect_count("siblings", 0, 0, 4);
  expect_count("abba", 0, 0, 3);
  expect_count("commit_cancel", 0, 0, 2);
  expect_count("mailbox", 3, 2, 90);
  expect_count("mailbox_coarse", 3, 0, 30);
  expect_count("workqueue", 3, 3, 27);
}

TEST(Zoo, LAB_5_larger_ones) {
  expect_count("readers", 13, 0, 8192);
  expect_count("lastzero", 10, 0, 3328);
  expect_count("indexer", 14, 0, 512);
  expect_count("filesystem", 20, 0, 128);
  expect_count("philosophers", 8, 0, 255);
  expect_count("increment", 4, 0, 576);
}

TEST(Zoo, LAB_5_the_trap_is_reached_by_two_executions_of_twelve) {
  const explore::Report report = explore("trap");
  EXPECT_EQ(report.executions, 12U);
  EXPECT_EQ(report.buggy, 2U);
  EXPECT_EQ(report.failures.size(), 2U);
}

TEST(Zoo, LAB_6_philosophers_have_one_deadlock) {
  for (std::uint32_t n = 2; n <= 6; ++n) {
    const explore::Report report = explore("philosophers", n);
    EXPECT_EQ(report.deadlocks, 1U);
    EXPECT_EQ(report.buggy, 1U);
    EXPECT_NE(report.failures.at(0).problem.find("deadlock"), std::string::npos);
  }
}

}  // namespace
}  // namespace calm::zoo
