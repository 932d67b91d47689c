// What a task has to say beside its values: it is kept until somebody asks, whatever else is open in the task.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "calm/cx/mask.hpp"
#include "calm/cx/scope.hpp"
#include "tests/unit/cx/in_lab.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

/// Ends with a value, and with a note beside it.
Task<int> say(Cx cx, std::string text) {
  co_await yield(cx);
  Outcome<int> end = ok(1);
  end.add_note(Note(OutcomeKind::err, std::move(text)));
  co_return end;
}

std::vector<std::string> texts(const Notes& notes) {
  std::vector<std::string> said;
  for (const Note& note : notes) said.push_back(note.text());
  return said;
}

using Said = std::vector<std::string>;

TEST(TaskNotes, OUT_5_what_was_said_in_scopes_and_under_budgets_is_there_at_the_end_in_order) {
  const auto report = run([](Cx cx) -> Task<void> {
    co_await say(cx, "first");
    co_await scope(cx, [](Scope& outer) -> Task<void> {
      co_await say(outer.cx(), "in a scope");
      const auto narrow = outer.cx().with_deadline(outer.cx().now() + Duration::seconds(100));
      co_await say(narrow, "under a budget");
      co_await scope(narrow, [](Scope& inner) -> Task<void> { co_await say(inner.cx(), "further in"); });
    });
    co_await say(cx, "last");
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(texts(report.end.notes()), (Said{"first", "in a scope", "under a budget", "further in", "last"}));
}

TEST(TaskNotes, OUT_5_who_asks_gets_what_was_said_since_and_the_rest_stays) {
  Said asked;
  Said of_child;
  const auto report = run([&](Cx cx) -> Task<void> {
    co_await say(cx, "before");
    const Outcome<int> end = co_await outcome(say(cx, "asked for"));
    asked = texts(end.notes());
    co_await scope(cx, [&](Scope& scope) -> Task<void> {
      auto child = co_await scope.spawn(say, std::string("of a child"));
      const Outcome<int> joined = co_await outcome(std::move(child).join(scope.cx()));
      of_child = texts(joined.notes());
    });
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(asked, Said{"asked for"});
  EXPECT_EQ(of_child, Said{"of a child"});
  ASSERT_FALSE(report.end.notes().empty());
  EXPECT_EQ(texts(report.end.notes())[0], "before");
}

TEST(TaskNotes, OUT_5_a_failure_has_what_was_said_before_it) {
  const auto report = run([](Cx cx) -> Task<void> {
    co_await say(cx, "before the failure");
    co_await scope(cx, [](Scope& scope) -> Task<void> {
      co_await say(scope.cx(), "in a scope that fails");
      co_await fail(Errc::full);
    });
  });
  EXPECT_TRUE(report.end.is_err());
  EXPECT_EQ(texts(report.end.notes()), (Said{"before the failure", "in a scope that fails"}));
}

TEST(TaskNotes, OUT_5_an_exception_has_what_was_said_before_it) {
  const auto report = run([](Cx cx) -> Task<void> {
    co_await say(cx, "before the exception");
    throw 3;
  });
  EXPECT_TRUE(report.end.is_panicked());
  EXPECT_EQ(texts(report.end.notes()), Said{"before the exception"});
}

TEST(TaskNotes, CAN_8_OUT_5_what_a_task_has_to_say_that_is_forced_goes_with_its_frames) {
  const auto deaf = [](Cx cx) -> Task<void> {
    co_await say(cx, "nobody hears this");
    co_await with_cancel_mask(cx, [](Cx inner) -> Task<void> { co_await sleep(inner, Duration::seconds(500'000)); });
  };
  const auto main = [&deaf](Scope& scope) -> Task<void> {
    auto fiber = co_await scope.fiber(deaf);
    co_await sleep(scope.cx(), ms(1));
    fiber.cancel();
  };
  const ScopeOptions options{.cleanup_time = cleanup_time_here()};
  const auto report = run([&](Cx cx) -> Task<void> { co_await scope(cx, main, options); });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_TRUE(report.end.is_cancelled()) << report.end.explain();
}

// --- where a context spawns into ---

TEST(ContextRegion, CTX_1_a_context_is_in_the_region_of_the_innermost_scope_around_it_or_of_its_task) {
  run_well([](Cx cx) -> Task<void> {
    const RegionId outermost = cx.region();
    EXPECT_TRUE(bool(outermost));
    const auto narrow = cx.with_deadline(cx.now() + Duration::seconds(100));
    EXPECT_EQ(narrow.region(), outermost);
    co_await scope(narrow, [outermost](Scope& scope) -> Task<void> {
      EXPECT_NE(scope.region(), outermost);
      EXPECT_EQ(scope.cx().region(), scope.region());
      const auto within = scope.cx().with_deadline(scope.cx().now() + Duration::seconds(50));
      EXPECT_EQ(within.region(), scope.region());
      auto child = co_await scope.spawn([](Cx own) -> Task<std::uint64_t> { co_return own.region().bits(); });
      const std::uint64_t of_child = co_await std::move(child).join(scope.cx());
      EXPECT_EQ(of_child, scope.region().bits());
    });
    EXPECT_EQ(cx.region(), outermost);
  });
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
