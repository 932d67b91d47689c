// Loops of coroutines that never suspend: what is found, what is in order, and how it is said.
#include "apps/calm/lint/loops.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/lint/loop_bound.hpp"

namespace calm::lint {
namespace {

/// Gives: `line:function` of each, in order.
std::string long_loops_in(std::string_view text) {
  std::string found;
  for (const LongLoop& loop : find_long_loops(text)) {
    found.append(found.empty() ? "" : " ")
        .append(std::to_string(loop.loop.line))
        .append(":")
        .append(loop.function.text);
  }
  return found;
}

/// Gives: the same for a coroutine f with this text, whose first line is line 2.
std::string loops_in_coroutine(std::string_view body) {
  return long_loops_in("Task<void> f(Cx cx, int n) {\n" + std::string(body) + "\nco_await yield(cx); }");
}

TEST(Loops, GHO_3_a_loop_of_a_coroutine_without_await_or_checkpoint_is_found) {
  EXPECT_EQ(loops_in_coroutine("for (int i = 0; i < n; ++i) work(i);"), "2:f");
  EXPECT_EQ(loops_in_coroutine("for (const int x : all) { work(x); }"), "2:f");
  EXPECT_EQ(loops_in_coroutine("while (queue.pop(x)) { work(x); }"), "2:f");
  EXPECT_EQ(loops_in_coroutine("do { work(); } while (more());"), "2:f");
  EXPECT_EQ(loops_in_coroutine("for (;;) { if (done()) co_return; }"), "2:f") << "it may go on";
  EXPECT_EQ(loops_in_coroutine("if (n > 0)\nwhile (more()) work();\nelse work();"), "3:f");
  EXPECT_EQ(loops_in_coroutine("for (int x : a)\nfor (int y : b) work(x, y);"), "2:f 3:f");
}

TEST(Loops, GHO_3_a_loop_that_awaits_yields_or_comes_to_a_checkpoint_is_in_order) {
  EXPECT_EQ(loops_in_coroutine("for (;;) co_await next(cx);"), "");
  EXPECT_EQ(loops_in_coroutine("while (co_await next(cx)) { work(); }"), "");
  EXPECT_EQ(loops_in_coroutine("for (int x : all) { if (x % 100 == 0) { co_await checkpoint(cx); } work(x); }"), "");
  EXPECT_EQ(loops_in_coroutine("for (int x : all) { for (int y : x) co_yield y; }"), "");
  EXPECT_EQ(loops_in_coroutine("do { work(); co_await yield(cx); } while (more());"), "");
  EXPECT_EQ(loops_in_coroutine("for (int x : all) { (void)kernel.checkpoint(worker, x); }"), "");
  EXPECT_EQ(loops_in_coroutine("for (int x : all) {\nwhile (x > 0) --x;\nco_await yield(cx); }"), "3:f");
}

TEST(Loops, GHO_3_a_loop_that_shows_that_it_is_short_is_in_order) {
  EXPECT_EQ(loops_in_coroutine("for (int i = 0; i < 1'000; ++i) work(i);"), "");
  EXPECT_EQ(loops_in_coroutine("for (int i = 0; i < 1001; ++i) work(i);"), "2:f");
  EXPECT_EQ(loops_in_coroutine("for (int i = 0; i <= 1000; ++i) work(i);"), "2:f");
  EXPECT_EQ(loops_in_coroutine("for (auto i = 0U; i != 8U; ++i) work(i);"), "");
  EXPECT_EQ(loops_in_coroutine("for (int i = 10; i > 0; --i) work(i);"), "");
  EXPECT_EQ(loops_in_coroutine("for (int i = n; i > 0; --i) work(i);"), "2:f");
  EXPECT_EQ(loops_in_coroutine("for (int i = 0; i < 10;) work(i);"), "2:f") << "nothing says that it goes on";
  EXPECT_EQ(loops_in_coroutine("for (int x : {1, f(2, 3), 4}) work(x);"), "");
  EXPECT_EQ(loops_in_coroutine("do { work(); } while (false);"), "");
  EXPECT_EQ(loops_in_coroutine("for (;;) { work(); break; }"), "");
  EXPECT_EQ(loops_in_coroutine("while (n > 0) { work(); co_return; }"), "");
  EXPECT_EQ(loops_in_coroutine("while (n > 0) { if (work()) break; }"), "2:f");
  static_assert(loop_rounds_max == 1000);
}

TEST(Loops, GHO_3_a_loop_whose_last_statement_leaves_it_is_long_when_a_continue_before_goes_round) {
  EXPECT_EQ(loops_in_coroutine("for (auto& x : all) { if (bad(x)) continue; co_return x; }"), "2:f");
  EXPECT_EQ(loops_in_coroutine("while (more()) { if (bad()) { skip(); continue; } break; }"), "2:f");
  EXPECT_EQ(loops_in_coroutine("do { if (bad()) continue; break; } while (more());"), "2:f");
  EXPECT_EQ(loops_in_coroutine("for (;;) { switch (next()) { case 1: continue; default: work(); } break; }"), "2:f")
      << "a switch is no loop";
  EXPECT_EQ(loops_in_coroutine("for (;;) { { if (bad()) continue; }\nfor (int i = 0; i < 3; ++i) work(); break; }"),
            "2:f");
}

TEST(Loops, GHO_3_a_continue_of_an_inner_loop_does_not_take_the_outer_one_round) {
  EXPECT_EQ(loops_in_coroutine("for (;;) { for (int i = 0; i < 3; ++i) { if (bad(i)) continue; work(i); } break; }"),
            "");
  EXPECT_EQ(loops_in_coroutine("for (;;) { for (int i = 0; i < 3; ++i) if (bad(i)) continue; co_return; }"), "");
  EXPECT_EQ(loops_in_coroutine("for (;;) { do { if (bad()) continue; work(); } while (false); break; }"), "");
  EXPECT_EQ(loops_in_coroutine("for (;;) {\nwhile (more()) { if (bad()) continue; work(); } break; }"), "3:f");
  EXPECT_EQ(loops_in_coroutine("for (;;) { run([](auto& all) { for (int x : all) { if (x) continue; } }); break; }"),
            "");
  EXPECT_EQ(loops_in_coroutine("for (;;) { for (int i = 0; i < 3; ++i) { continue; } if (bad()) continue; break; }"),
            "2:f");
}

TEST(Loops, GHO_3_names_that_the_file_declares_with_a_number_are_bounds_as_well) {
  EXPECT_EQ(long_loops_in(
                "constexpr int parties = 3;\nTask<void> f() { for (int i = 0; i < parties; ++i) g(i); co_return; }"),
            "");
  EXPECT_EQ(
      long_loops_in("const int parties = 3;\nTask<void> f() { for (int i = 0; i < parties; ++i) g(i); co_return; }"),
      "2:f");
  EXPECT_EQ(loops_in_coroutine("std::array<int, 4> all{};\nfor (int x : all) work(x);"), "");
  EXPECT_EQ(loops_in_coroutine("std::array<int, 4000> all{};\nfor (int x : all) work(x);"), "3:f");
  EXPECT_EQ(loops_in_coroutine("std::array all{1, 2, 3};\nfor (int x : all) work(x);"), "");
  EXPECT_EQ(loops_in_coroutine("int all[4];\nfor (int& x : all) work(x);"), "");
  EXPECT_EQ(loops_in_coroutine("const char* all[] = {\"a\", \"b\"};\nfor (auto x : all) work(x);"), "");
  EXPECT_EQ(loops_in_coroutine("std::vector<int> all{1, 2, 3};\nfor (int x : all) work(x);"), "3:f");
}

TEST(Loops, GHO_3_rounds_of_loops_in_loops_are_multiplied) {
  EXPECT_EQ(loops_in_coroutine("for (int i = 0; i < 10; ++i)\nfor (int k = 0; k < 100; ++k) work();"), "");
  EXPECT_EQ(loops_in_coroutine("for (int i = 0; i < 11; ++i)\nfor (int k = 0; k < 100; ++k) work();"), "3:f");
  EXPECT_EQ(
      loops_in_coroutine("for (int i = 0; i < 11; ++i) {\nfor (int k = 0; k < 100; ++k) work();\nco_await g(); }"), "");
}

TEST(Loops, GHO_3_only_coroutines_are_looked_at_and_a_lambda_is_a_function_of_its_own) {
  EXPECT_EQ(long_loops_in("void f() { for (;;) work(); }\nTask<void> g() { co_await h(); }"), "");
  EXPECT_EQ(loops_in_coroutine("auto g = [] { for (;;) work(); };"), "");
  EXPECT_EQ(loops_in_coroutine("auto g = [](Cx cx) -> Task<void> {\nfor (;;) work(); co_return; };"), "3:[");
  EXPECT_EQ(loops_in_coroutine("for (int x : all) run([x] { co_await g(x); });"), "2:f") << "another one awaits";
  EXPECT_EQ(
      loops_in_coroutine("struct S { Task<int> t() {\nfor (;;) work(); co_return 1; } void u() { for (;;) g(); } };"),
      "3:t");
  EXPECT_EQ(long_loops_in("namespace a { class B final : C { public: B(int x) : x_{x} {}\nTask<void> run(Cx cx) const "
                          "noexcept {\nfor (;;) work(); co_await g(); } int x_{0}; }; }"),
            "3:run");
  EXPECT_EQ(
      long_loops_in("template <class T>\nTask<T> f(std::vector<T> all) {\nfor (T x : all) g(x); co_return T(); }"),
      "3:f");
}

TEST(Loops, a_line_that_gives_a_reason_is_left_out) {
  EXPECT_EQ(loops_in_coroutine("for (int x : all) work(x);  // NOLINT(calm-long-loop): a row has twelve columns"), "");
  EXPECT_EQ(loops_in_coroutine("for (int x : all) work(x);  // NOLINT(calm-long-loop)"), "2:f") << "no reason";
  EXPECT_EQ(loops_in_coroutine("for (int x : all) work(x);  // NOLINT(calm-long-loop):  "), "2:f");
  EXPECT_EQ(loops_in_coroutine("for (int x : all) work(x);  // NOLINT(calm-blocking-guard): another check"), "2:f");
}

TEST(Loops, any_bytes_are_taken) {
  for (const std::string_view text :
       {"for", "{ for (", "Task<void> f() { for (;;", "f() { co_await do", "f() { co_await do while",
        "}}} ) ] { [ ( while", "f() { co_await [", "f() { co_await for (x :", "(((", ">"}) {
    (void)find_long_loops(text);
  }
  EXPECT_EQ(long_loops_in("#define LOOP for (;;) {}\n/* for (;;) */ // while (true)\nauto s = \"for (;;)\";"), "");
}

TEST(Loops, what_is_found_says_where_what_who_law_and_next) {
  constexpr std::string_view text = "Task<void> sums(Cx cx) {\n  for (const int x : all) sum += x;\n  co_return;\n}";
  const std::vector<LongLoop> found = find_long_loops(text);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      to_string("a.cpp", found[0]),
      "a.cpp:2:3: this for loop of a coroutine never awaits, and nothing shows that it is short [calm-long-loop]\n"
      "  who:  sums of line 1\n"
      "  law:  GHO-3 a loop that runs long without a checkpoint keeps all tasks of its worker waiting, and no cancel "
      "ends it\n"
      "  next: co_await calm::checkpoint(cx) in it, now and then; or say why it is short: // NOLINT(calm-long-loop): "
      "reason");
}

}  // namespace
}  // namespace calm::lint
