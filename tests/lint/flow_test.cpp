// The leak checker: what it says of small programs, and that it says what a walk of all ways finds.
#include "apps/calm/lint/flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "apps/calm/lint/loader.hpp"
#include "path_walker.hpp"
#include "random_program.hpp"

namespace calm::lint {
namespace {

using Lines = std::vector<std::string>;

Lines said_of(std::string_view text) {
  Program program;
  load_text(program, "t", text);
  check_calls(program);
  Lines lines;
  for (const Warning& warning : find_leaks(program)) lines.push_back(to_string(warning));
  return lines;
}

TEST(LintObligations, OBL_8_a_promise_that_every_way_resolves_is_no_warning) {
  EXPECT_EQ(said_of("function f\n reserve p ack\n branch\n commit p\n or\n abort p\n return\n end\nend\n"), Lines{});
}

TEST(LintObligations, OBL_8_a_branch_past_a_commit_is_a_leak) {
  EXPECT_EQ(said_of("function f\n reserve p ack\n branch\n commit p\n or\n end\nend\n"),
            Lines{"t:2: leak: p (ack) may still be held where f ends, t:7 [OBL-6]"});
}

TEST(LintObligations, OBL_8_an_early_return_is_a_leak_and_said_at_the_reservation) {
  EXPECT_EQ(said_of("function f\n reserve p lease\n branch\n return\n or\n end\n commit p\nend\n"),
            Lines{"t:2: leak: p (lease) may still be held where f ends, t:4 [OBL-6]"});
}

TEST(LintObligations, OBL_8_a_loop_may_not_run_and_may_run_again) {
  EXPECT_EQ(said_of("function f\n reserve p ack\n loop\n commit p\n end\nend\n"),
            (Lines{"t:2: leak: p (ack) may still be held where f ends, t:6 [OBL-6]",
                   "t:4: already_resolved: p of f may have been resolved before [OBL-1]"}));
  EXPECT_EQ(said_of("function f\n loop\n reserve p ack\n end\n commit p\nend\n"),
            (Lines{"t:3: overwritten: p (ack) of f, made at t:3, may still be held [OBL-4]",
                   "t:5: not_reserved: p of f may hold nothing that was reserved [OBL-1]"}));
}

TEST(LintObligations, OBL_8_a_function_that_takes_a_promise_answers_for_it) {
  EXPECT_EQ(
      said_of("function f\n reserve p ack\n call g p\nend\nfunction g takes q\n branch\n commit q\n or\n end\nend\n"),
      Lines{"t:5: leak: q (parameter) may still be held where g ends, t:10 [OBL-6]"});
}

TEST(LintObligations, OBL_8_a_summary_says_what_is_left_of_a_lent_promise) {
  constexpr std::string_view keeps = "function g lends q\nend\n";
  constexpr std::string_view resolves = "function g lends q\n commit q\nend\n";
  constexpr std::string_view caller = "function f\n reserve p ack\n call g p\n commit p\nend\n";
  EXPECT_EQ(said_of(std::string(caller) + std::string(keeps)), Lines{});
  EXPECT_EQ(said_of(std::string(caller) + std::string(resolves)),
            Lines{"t:4: already_resolved: p of f may have been resolved before [OBL-1]"});
}

TEST(LintObligations, OBL_8_a_promise_that_a_call_gives_is_known_by_the_place_that_reserved_it) {
  EXPECT_EQ(said_of("function f\n call g p\nend\nfunction g gives q\n reserve q custom at deep.cpp:70\nend\n"),
            Lines{"deep.cpp:70: leak: p (custom) may still be held where f ends, t:3 [OBL-6]"});
}

TEST(LintObligations, OBL_8_recursion_is_followed_to_its_fixed_point) {
  constexpr std::string_view pair =
      "function even lends p\n branch\n or\n call odd p\n end\nend\n"
      "function odd lends p\n branch\n commit p\n or\n call even p\n end\nend\n"
      "function f\n reserve x ack\n call even x\n commit x\nend\n";
  EXPECT_EQ(said_of(pair), Lines{"t:17: already_resolved: x of f may have been resolved before [OBL-1]"});
}

TEST(LintObligations, OBL_8_what_follows_a_call_that_never_returns_is_not_reached) {
  EXPECT_EQ(said_of("function f\n reserve p ack\n call spin\nend\nfunction spin\n call spin\nend\n"), Lines{});
}

TEST(LintObligations, OBL_8_warnings_are_sorted_by_file_line_and_kind) {
  const Lines lines = said_of(
      "function f\n commit z at b.cpp:1\n commit y at a.cpp:10\n commit x at a.cpp:9\n"
      " reserve p ack at a.cpp:9\n commit w at a.cpp:9\nend\n");
  EXPECT_EQ(lines, (Lines{"a.cpp:9: leak: p (ack) may still be held where f ends, t:7 [OBL-6]",
                          "a.cpp:9: not_reserved: w of f may hold nothing that was reserved [OBL-1]",
                          "a.cpp:9: not_reserved: x of f may hold nothing that was reserved [OBL-1]",
                          "a.cpp:10: not_reserved: y of f may hold nothing that was reserved [OBL-1]",
                          "b.cpp:1: not_reserved: z of f may hold nothing that was reserved [OBL-1]"}));
}

TEST(LintObligations, OBL_8_deep_loops_end_soon) {
  std::string text = "function f\n";
  for (std::size_t i = 0; i < nesting_max; ++i) text += "loop\n reserve p ack\n";
  for (std::size_t i = 0; i < nesting_max; ++i) text += " commit p\nend\n";
  EXPECT_EQ(said_of(text + "end\n").size(), 2 * (nesting_max - 1));
}

std::string shown(const std::vector<Warning>& warnings) {
  std::string text;
  for (const Warning& warning : warnings) text += to_string(warning) + "\n";
  return text;
}

std::vector<Warning> without(const std::set<Warning>& all, const std::vector<Warning>& these) {
  std::vector<Warning> rest;
  std::set_difference(all.begin(), all.end(), these.begin(), these.end(), std::back_inserter(rest));
  return rest;
}

constexpr std::uint64_t programs = 600;
constexpr std::size_t ways_max = 1000;

TEST(LintObligations, OBL_8_every_mistake_that_a_walk_of_all_ways_meets_is_warned_of) {
  std::size_t met = 0;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    const Program program = random_program(seed, Shape::any);
    const Walked walked = walk_all(program, 4, ways_max);
    met += walked.seen.size();
    const std::vector<Warning> missed = without(walked.seen, find_leaks(program));
    ASSERT_TRUE(missed.empty()) << "seed " << seed << "\n" << to_text(program) << "missed:\n" << shown(missed);
  }
  EXPECT_GT(met, programs) << "the programs are too tame to show anything";
}

TEST(LintObligations, OBL_8_without_loops_and_recursion_there_is_no_false_warning) {
  std::size_t complete = 0;
  std::size_t clean = 0;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    const Program program = random_program(seed, Shape::straight);
    const Walked walked = walk_all(program, 5, ways_max);
    if (!walked.complete) continue;
    ++complete;
    const std::vector<Warning> warnings = find_leaks(program);
    if (warnings.empty()) ++clean;
    ASSERT_EQ(std::vector<Warning>(walked.seen.begin(), walked.seen.end()), warnings)
        << "seed " << seed << "\n"
        << to_text(program) << "warned of:\n"
        << shown(warnings);
  }
  EXPECT_GT(complete, programs * 9 / 10);
  EXPECT_GT(clean, programs / 100) << "no program is in order";
}

TEST(LintObligations, OBL_8_the_order_of_functions_and_files_changes_nothing) {
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    Program program = random_program(seed, Shape::any);
    const std::vector<Warning> warnings = find_leaks(program);
    ASSERT_TRUE(std::is_sorted(warnings.begin(), warnings.end(), [](const Warning& a, const Warning& b) {
      return std::tie(a.place.file, a.place.line, a.kind) < std::tie(b.place.file, b.place.line, b.kind);
    }));
    std::reverse(program.functions.begin(), program.functions.end());
    ASSERT_EQ(find_leaks(program), warnings) << "seed " << seed;
    std::rotate(program.functions.begin(), program.functions.begin() + 1, program.functions.end());
    ASSERT_EQ(find_leaks(program), warnings) << "seed " << seed;
  }
}

}  // namespace
}  // namespace calm::lint
