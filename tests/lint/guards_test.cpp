// Guards of blocking locks at suspensions: what is found, what is not, and how it is said.
#include "apps/calm/lint/guards.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace calm::lint {
namespace {

/// Gives: `line:name` of each, in order.
std::string guards_in(std::string_view text) {
  std::string found;
  for (const HeldGuard& held : find_held_guards(text)) {
    found.append(found.empty() ? "" : " ").append(std::to_string(held.await.line)).append(":").append(held.guard.text);
  }
  return found;
}

TEST(Guards, CHN_12_a_blocking_guard_that_is_alive_at_a_suspension_is_found) {
  EXPECT_EQ(guards_in("{ std::lock_guard<std::mutex> g(m);\nco_await f(); }"), "2:g");
  EXPECT_EQ(guards_in("{ std::lock_guard g{m};\nco_yield 1; }"), "2:g");
  EXPECT_EQ(guards_in("{ const std::scoped_lock g(a, b);\nauto x = co_await f(cx); }"), "2:g");
  EXPECT_EQ(guards_in("{ using std::unique_lock; unique_lock g(m);\nif (x) { co_await f(); } }"), "2:g");
  EXPECT_EQ(guards_in("{ std::shared_lock<std::shared_mutex> g = read(m);\nco_await f(); }"), "2:g");
  EXPECT_EQ(guards_in("{ std::lock_guard g(m);\nauto held = co_await mutex.lock(cx); }"), "2:g");
  EXPECT_EQ(guards_in("{ std::lock_guard a(m); { std::lock_guard b(n);\nco_await f(); }\nco_await f(); }"),
            "2:a 2:b 3:a");
}

TEST(Guards, CHN_12_a_guard_that_has_ended_is_not_found) {
  EXPECT_EQ(guards_in("{ { std::lock_guard g(m); }\nco_await f(); }"), "");
  EXPECT_EQ(guards_in("{ std::unique_lock g(m); g.unlock();\nco_await f(); }"), "");
  EXPECT_EQ(guards_in("{ std::unique_lock g(m); g.unlock();\nco_await f(); g.lock();\nco_await f(); }"), "3:g");
  EXPECT_EQ(guards_in("{ std::unique_lock g(m, std::defer_lock);\nco_await f(); }"), "");
  EXPECT_EQ(guards_in("{ std::unique_lock<std::mutex> g;\nco_await f(); }"), "");
  EXPECT_EQ(guards_in("{ std::unique_lock g(m); keep(std::move(g));\nco_await f(); }"), "");
  EXPECT_EQ(guards_in("void f() { std::lock_guard g(m); }\nTask<void> h() { co_await f(); }"), "");
}

TEST(Guards, CHN_12_a_guard_in_the_brackets_of_an_if_lives_through_both_branches) {
  EXPECT_EQ(guards_in("{ if (std::lock_guard g(m); x) {\nco_await f(); } else {\nco_await f(); }\nco_await f(); }"),
            "2:g 3:g");
  EXPECT_EQ(guards_in("{ if (std::lock_guard g(m); x)\nco_await f();\nco_await f(); }"), "2:g");
}

TEST(Guards, CHN_12_what_is_inside_a_lambda_or_a_local_class_is_another_function) {
  EXPECT_EQ(
      guards_in("{ std::lock_guard g(m); auto f = [&](Cx cx) -> Task<void> {\nco_await h(cx); };\nco_await f(); }"),
      "3:g");
  EXPECT_EQ(guards_in("{ std::lock_guard g(m); run([] {\nco_await h(); }); }"), "");
  EXPECT_EQ(guards_in("{ std::lock_guard g(m); struct S { Task<void> t() {\nco_await h(); } }; }"), "");
  EXPECT_EQ(guards_in("{ std::lock_guard g(m); x[0] = 1; if (x[1]) {\nco_await h(); } }"), "2:g");
  EXPECT_EQ(guards_in("{ auto f = [] { std::lock_guard g(m); };\nco_await h(); }"), "");
}

TEST(Guards, comments_texts_macros_and_other_uses_of_the_types_are_left_alone) {
  EXPECT_EQ(guards_in("{ std::lock_guard g(m); // co_await\n/* co_await\n */ s = \"co_await \\\" co_await\"; }"), "");
  EXPECT_EQ(guards_in("{ std::lock_guard g(m); s = R\"x(\nco_await \" )\" )x\"; n = 1'000; c = '\\''; }"), "");
  EXPECT_EQ(guards_in("#define WAIT { std::lock_guard g(m); \\\n  co_await f();\n{ co_await f(); }"), "");
  EXPECT_EQ(guards_in("{ using Guard = std::lock_guard<std::mutex>;\nco_await f(); }"), "");
  EXPECT_EQ(guards_in("Task<void> t(std::unique_lock<std::mutex> g) {\nco_await f(); }"), "");
  EXPECT_EQ(guards_in("}}} ) ] { [ ( std::lock_guard"), "");
  EXPECT_EQ(guards_in("R\"(never ends"), "");
}

TEST(Guards, a_line_that_says_so_is_left_out) {
  EXPECT_EQ(guards_in("{ std::lock_guard g(m);  // NOLINT(calm-blocking-guard): a test\nco_await f(); }"), "");
  EXPECT_EQ(guards_in("{ std::lock_guard g(m);\nco_await f();  // NOLINT(calm-blocking-guard)\nco_await f(); }"),
            "3:g");
}

TEST(Guards, what_is_found_says_where_what_law_and_next) {
  constexpr std::string_view text = "{\n  std::unique_lock<std::mutex> held(m);\n  co_await f();\n}";
  const std::vector<HeldGuard> found = find_held_guards(text);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      to_string("a.cpp", found[0]),
      "a.cpp:3:3: co_await while held, a std::unique_lock of line 2, holds its lock [calm-blocking-guard]\n"
      "  law:  CHN-12 tasks wait for calm::Mutex; a blocking lock stops every task of its worker, and the task may go "
      "on on a thread that does not own it\n"
      "  next: end the guard before, in a block of its own, or hold a calm::Mutex instead");
}

}  // namespace
}  // namespace calm::lint
