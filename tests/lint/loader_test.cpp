// The text form of the IR: what it holds, and what is said of a text that is none.
#include "apps/calm/lint/loader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "apps/calm/lint/flow.hpp"
#include "random_program.hpp"

namespace calm::lint {
namespace {

std::string problem_of(std::string_view text) {
  Program program;
  try {
    load_text(program, "x", text);
    check_calls(program);
  } catch (const Problem& problem) {
    return problem.place().file + ":" + std::to_string(problem.place().line) + ": " + problem.what();
  }
  return "none";
}

TEST(LintLoader, OBL_8_a_program_that_is_written_and_read_is_the_same) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Program program = random_program(seed, Shape::any);
    const std::string text = to_text(program);
    Program again;
    load_text(again, "x", text);
    check_calls(again);
    ASSERT_EQ(to_text(again), text) << "seed " << seed;
    ASSERT_EQ(find_leaks(again), find_leaks(program)) << "seed " << seed << "\n" << text;
  }
}

TEST(LintLoader, a_place_is_that_of_the_text_unless_the_line_says_another) {
  Program program;
  load_text(program, "dir/x.obligations", "# first\n\nfunction f takes p # why\n\tcommit p at a/b.cpp:7\r\nend\n");
  ASSERT_EQ(program.functions.size(), 1U);
  const Function& function = program.functions.front();
  EXPECT_EQ(function.place, (Place{"dir/x.obligations", 3}));
  EXPECT_EQ(function.parameters, (std::vector<Parameter>{{Mode::takes, "p"}}));
  EXPECT_EQ(function.body.front().place, (Place{"a/b.cpp", 7}));
  EXPECT_EQ(function.body.front().written, (Place{"dir/x.obligations", 4}));
  EXPECT_EQ(function.end, (Place{"dir/x.obligations", 5}));
}

TEST(LintLoader, an_empty_text_is_a_program) { EXPECT_EQ(problem_of("\n# nothing, n\xC3\xA4mlich\n"), "none"); }

TEST(LintLoader, says_which_word_is_not_known) {
  EXPECT_EQ(problem_of("function f\n resrve p ack\nend\n").substr(0, 60),
            "x:2: unknown word \"resrve\"; did you mean \"reserve\"? allowed:");
  EXPECT_EQ(problem_of("function f\n reserve p akc\nend\n").substr(0, 52),
            "x:2: unknown kind \"akc\"; did you mean \"ack\"? allowed");
  EXPECT_EQ(problem_of("function f take p\nend\n").substr(0, 54),
            "x:1: unknown mode \"take\"; did you mean \"takes\"? allowe");
}

TEST(LintLoader, says_what_a_line_lacks) {
  EXPECT_EQ(problem_of("function\n"), "x:1: function needs a name");
  EXPECT_EQ(problem_of("function f takes\n"), "x:1: a parameter is two words, takes, lends or gives and a name");
  EXPECT_EQ(problem_of("function f takes p gives p\n"), "x:1: there are two parameters \"p\"");
  EXPECT_EQ(problem_of("function f\nreserve p\n"), "x:2: reserve is followed by a variable and a kind");
  EXPECT_EQ(problem_of("function f\ncommit\n"), "x:2: commit is followed by a variable");
  EXPECT_EQ(problem_of("function f\nabort p q\n"), "x:2: abort is followed by a variable");
  EXPECT_EQ(problem_of("function f\ncall\n"), "x:2: call is followed by a function and the variables that are passed");
  EXPECT_EQ(problem_of("function f\nloop p\n"), "x:2: loop stands alone in its line");
  EXPECT_EQ(problem_of("function f\ncommit 1p\n"),
            "x:2: \"1p\" is no name of a variable; one begins with a letter and has letters, digits, _ : and .");
}

TEST(LintLoader, says_where_a_block_is_open_or_closed_too_often) {
  EXPECT_EQ(problem_of("commit p\n"), "x:1: \"commit\" stands outside of a function");
  EXPECT_EQ(problem_of("function f\nend\nend\n"), "x:3: \"end\" stands outside of a function");
  EXPECT_EQ(problem_of("function f\nfunction g\n"), "x:2: a function stands inside of f; is an end missing?");
  EXPECT_EQ(problem_of("function f\nloop\nor\n"), "x:3: or stands outside of a branch");
  EXPECT_EQ(problem_of("function f\nbranch\n"), "x:2: the text ends, and what begins in line 2 has no end");
  EXPECT_EQ(problem_of("function f\nbranch\nend\n"),
            "x:3: the branch of line 2 has one way only; an empty one after or is a way");
}

TEST(LintLoader, says_which_place_is_none) {
  EXPECT_EQ(problem_of("function f at\n"), "x:1: `at` is followed by FILE:LINE");
  for (const std::string_view place : {"a.cpp", ":7", "a.cpp:", "a.cpp:0", "a.cpp:x", "a.cpp:7x", "a.cpp:4294967296"}) {
    EXPECT_EQ(problem_of("function f at " + std::string(place)),
              "x:1: `at` is followed by FILE:LINE, not by \"" + std::string(place) + "\"");
  }
  EXPECT_EQ(problem_of("at a.cpp:7\n"), "x:1: there is nothing before `at`");
}

TEST(LintLoader, looks_at_the_calls_of_all_texts_together) {
  EXPECT_EQ(problem_of("function f\nend\nfunction f\nend\n"), "x:3: there is a function f already, at x:1");
  EXPECT_EQ(problem_of("function read\n call raed\nend\n"),
            "x:2: unknown function \"raed\"; did you mean \"read\"? allowed: read");
  EXPECT_EQ(problem_of("function f takes p\n loop\n call f\n end\nend\n"), "x:3: f has 1 parameter and is passed 0");
  EXPECT_EQ(problem_of("function f takes p takes q\n call f p p\nend\n"), "x:2: \"p\" is passed twice");
}

TEST(LintLoader, refuses_what_is_no_text_or_has_no_measure) {
  EXPECT_EQ(problem_of("function f\n\xC3\xA4\n"), "x:2: outside of comments a text of obligations is plain ASCII");
  EXPECT_EQ(problem_of(std::string_view("\0", 1)), "x:1: outside of comments a text of obligations is plain ASCII");
  std::string deep = "function f\n";
  for (std::size_t i = 0; i <= nesting_max; ++i) deep += "loop\n";
  EXPECT_EQ(problem_of(deep), "x:102: branches and loops are nested deeper than 100");
  std::string length = "function f\n";
  for (std::size_t i = 0; i <= statements_max; ++i) length += "return\n";
  EXPECT_EQ(problem_of(length), "x:10002: a function has at most 10000 statements");
}

}  // namespace
}  // namespace calm::lint
