// The explorer against a count made in another way, over random programs.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "calm/explore/optimal.hpp"
#include "tests/explore/straight_line.hpp"

namespace calm::explore {
namespace {

/// 2 000 programs from seed 1 on in the tests; a campaign says otherwise.
std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const asked = std::getenv(variable);
  return asked == nullptr || *asked == '\0' ? otherwise : std::strtoull(asked, nullptr, 10);
}

/// Gives: what is wrong with the exploration of this program; nothing when all is well.
std::string difference(std::uint64_t seed, std::uint32_t broken) {
  const StraightLine program = random_program(seed);
  const std::uint64_t expected = count_executions(program);
  StraightLineRun run(program, broken);
  const Report report = explore_optimal(run, {.max_executions = 4 * expected + 100});
  if (report.exhausted && report.executions == expected && report.fingerprints == expected && report.blocked == 0)
    return {};
  return "seed " + std::to_string(seed) + ": " + std::to_string(expected) + " expected, " +
         std::to_string(report.executions) + " explored, " + std::to_string(report.fingerprints) + " different\n" +
         to_string(program);
}

TEST(ExplorerFuzz, LAB_5_visits_as_many_executions_as_another_count_says) {
  const std::uint64_t count = number_from("CALM_EXPLORE_PROGRAMS", 2'000);
  const std::uint64_t first = number_from("CALM_EXPLORE_SEED", 1);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < count && wrong < 3; ++i) {
    const std::string what = difference(first + i, 0);
    if (what.empty()) continue;
    ++wrong;
    ADD_FAILURE() << what;
  }
}

TEST(ExplorerFuzz, LAB_4_a_dependence_that_is_not_true_is_found) {
  for (const std::uint32_t broken : {1U, 2U}) {
    std::uint64_t seed = 1;
    while (seed <= 200 && difference(seed, broken).empty()) ++seed;
    EXPECT_LE(seed, 200U) << "200 random programs did not show that writes are told as reads";
  }
}

}  // namespace
}  // namespace calm::explore
