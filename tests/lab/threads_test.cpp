// Random programs on the production runtime: what the lab checks in virtual time holds on one worker and on several.
// CALM_THREADS_COUNT asks for another number of programs, CALM_THREADS_SEED for another first seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "journal.hpp"
#include "program_certain.hpp"
#include "program_threads.hpp"
#include "tests/stderr_watch.hpp"

namespace calm::programs {
namespace {

constexpr std::uint64_t programs = 128;

#if defined(__SANITIZE_ADDRESS__)
#define CALM_TEST_WITH_ASAN_ 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CALM_TEST_WITH_ASAN_ 1
#endif
#endif

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

class ProgramsOn : public testing::TestWithParam<std::uint16_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, ProgramsOn, testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(ProgramsOn, I1_I2_QUI_3_random_programs_end_in_quiet_and_the_certain_ones_as_in_the_lab) {
  const std::string said =
      threads_campaign(number_from("CALM_THREADS_SEED", 1), number_from("CALM_THREADS_COUNT", programs), GetParam());
  EXPECT_TRUE(said.empty()) << said;
}

/// A program whose statements all stand in one scope.
Program in_a_scope(Block body) {
  return {.seed = 1, .body = {{.what = Do::scope, .a = 1, .b = 0, .body = std::move(body)}}};
}

TEST(ProgramThreads, tells_of_a_token_that_was_dropped_and_of_nothing_else) {
  const Program drops = in_a_scope({{.what = Do::reserve}, {.what = Do::drop_token}});
  EXPECT_EQ(run_on_threads({drops}, {.workers = 2}), std::vector<std::string>());
}

TEST(ProgramThreadsDeathTest, what_was_said_before_the_process_ended_is_shown) {
  const auto speak_and_end = [] {
    const StderrWatch watch;
    std::fputs("the last words\n", stderr);
    std::abort();
  };
  EXPECT_DEATH(speak_and_end(), "the last words");
}

#if defined(CALM_TEST_WITH_ASAN_)
TEST(ProgramThreadsDeathTest, what_a_sanitizer_said_is_shown) {
  const auto touch_nothing = [] {
    const StderrWatch watch;
    int* volatile nothing = nullptr;
    *nothing = 1;
  };
  EXPECT_DEATH(touch_nothing(), "null pointer|AddressSanitizer");
}
#endif

TEST(ProgramThreads, finds_that_a_program_that_fails_is_not_certain) {
  const std::vector<std::string> problems =
      run_on_threads({in_a_scope({{.what = Do::fail}})}, {.workers = 2, .certain = true});
  ASSERT_FALSE(problems.empty());
  EXPECT_NE(problems.front().find("not even the lab likes it"), std::string::npos) << problems.front();
}

TEST(ProgramThreads, LAB_1_names_what_was_done_more_or_less_often_than_in_the_lab) {
  const Deeds lab{{{Do::mark, 0}, 3}, {{Do::join, 0}, 1}};
  const Deeds threads{{{Do::mark, 0}, 3}, {{Do::join, 2}, 1}};
  EXPECT_EQ(differences(lab, lab), std::vector<std::string>());
  EXPECT_EQ(differences(lab, threads),
            (std::vector<std::string>{"join with 0: 1 times in the lab, 0 on threads [LAB-1]",
                                      "join with 2: 0 times in the lab, 1 on threads [LAB-1]"}));
}

/// True when nothing in the block depends on who is quicker.
bool is_certain(const Block& block) {
  constexpr Do by_chance[]{Do::spend, Do::cancel_task, Do::cancel_scope,  Do::drop_token,
                           Do::fail,  Do::panic,       Do::with_deadline, Do::with_budget};
  const auto holds = [&by_chance](const Statement& statement) {
    const bool bounded = statement.what == Do::scope || statement.what == Do::spawn || statement.what == Do::fiber;
    if (bounded && budget_of(statement.b, Time()) != Budget()) return false;
    if (statement.what == Do::scope && statement.a % 5 == 4) return false;
    return std::find(std::begin(by_chance), std::end(by_chance), statement.what) == std::end(by_chance) &&
           is_certain(statement.body);
  };
  return std::all_of(block.begin(), block.end(), holds);
}

TEST(ProgramThreads, a_certain_part_has_neither_cancels_nor_failures_nor_bounds) {
  std::size_t statements = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Program program = certain_part(make_program(seed));
    EXPECT_TRUE(is_certain(program.body)) << to_string(program);
    statements += size_of(program.body);
  }
  EXPECT_GT(statements, 2000U);
}

}  // namespace
}  // namespace calm::programs
