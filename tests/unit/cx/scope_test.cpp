// Scopes: children that end before the scope does, joins, finalizers, brackets, masks.
#include "calm/cx/scope.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "calm/cx/mask.hpp"
#include "calm/lab/lab.hpp"
#include "tests/unit/cx/in_lab.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using Log = std::vector<std::string>;
using namespace std::string_literals;

Task<int> after(Cx cx, Duration wait, int value) {
  co_await sleep(cx, wait);
  co_return value;
}
Task<int> never(Cx cx, Log& log, std::string name) {
  const Outcome<void> slept = co_await outcome(with_cancel_mask(cx, [](Cx) -> Task<void> { co_return; }));
  (void)slept;
  struct Bye {
    Log& log;
    std::string name;
    ~Bye() { log.push_back(name + " left"); }
  } bye{log, std::move(name)};
  co_await sleep(cx, Duration::seconds(500'000));
  co_return 0;
}
Task<int> throws_after(Cx cx, Duration wait) {
  co_await sleep(cx, wait);
  throw std::runtime_error("boom");
  co_return 0;
}

TEST(Scope, gives_the_value_of_its_body_when_all_children_have_ended) {
  int sum = 0;
  Time left;
  const auto report = run([&](Cx cx) -> Task<int> {
    const auto body = [](Scope& scope) -> Task<int> {
      auto a = co_await scope.spawn(after, Duration::milliseconds(5), 1);
      auto b = co_await scope.spawn(after, Duration::milliseconds(3), 2);
      auto unjoined = co_await scope.spawn(after, Duration::milliseconds(9), 4);
      const int first = co_await std::move(a).join(scope.cx());
      const int second = co_await std::move(b).join(scope.cx());
      co_return first + second;
    };
    sum = co_await scope(cx, body);
    left = cx.now();
    co_return sum;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(sum, 3);
  EXPECT_TRUE(comes_at(left, Time() + Duration::milliseconds(9)));  // I2: not before the last child
}

TEST(Scope, OUT_4_a_failing_child_cancels_the_others_and_its_error_stays_visible) {
  Log log;
  Time left;
  OutcomeKind kind = OutcomeKind::ok;
  std::atomic<bool> begun = false;
  const auto report = run([&](Cx cx) -> Task<int> {
    const auto body = [&](Scope& scope) -> Task<int> {
      auto a = co_await scope.spawn([&](Cx inner) -> Task<int> {
        begun = true;
        const int value = co_await never(inner, log, "a");
        co_return value;
      });
      const auto throws = [&begun](Cx inner) -> Task<int> {
        co_await catch_up(inner, begun);
        const int value = co_await throws_after(inner, Duration::milliseconds(2));
        co_return value;
      };
      auto b = co_await scope.spawn(throws);
      const int value = co_await std::move(a).join(scope.cx());
      log.push_back("not reached");
      co_return value;
    };
    const Outcome<int> end = co_await outcome(scope(cx, body));
    kind = end.kind();
    left = cx.now();
    co_return 0;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(kind, OutcomeKind::panicked);
  EXPECT_EQ(log, (Log{"a left"}));
  EXPECT_TRUE(comes_at(left, Time() + Duration::milliseconds(2)));
}

TEST(Scope, REG_6_a_child_may_open_a_scope_after_the_body_has_ended) {
  std::atomic<bool> body_has_ended = false;
  std::atomic<int> grandchildren = 0;
  const auto report = run([&](Cx cx) -> Task<void> {
    const auto inner_body = [&grandchildren](Scope& inner) -> Task<void> {
      auto grandchild = co_await inner.spawn(after, Duration::milliseconds(1), 1);
      const int value = co_await std::move(grandchild).join(inner.cx());
      grandchildren += value;
    };
    const auto child = [&](Cx inner) -> Task<void> {
      co_await sleep(inner, Duration::milliseconds(5));
      co_await catch_up(inner, body_has_ended);
      EXPECT_TRUE(body_has_ended);
      co_await scope(inner, inner_body);
    };
    const auto body = [&](Scope& outer) -> Task<void> {
      auto first = co_await outer.spawn(child);
      auto second = co_await outer.spawn(child);
      body_has_ended = true;
    };
    co_await scope(cx, body);
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_TRUE(report.end.is_ok()) << report.end.explain();
  EXPECT_EQ(grandchildren, 2);
}

TEST(Scope, CTX_4_finalizers_run_newest_first_after_the_children) {
  Log log;
  std::atomic<bool> body_has_ended = false;
  const auto report = run([&](Cx cx) -> Task<int> {
    const auto body = [&](Scope& scope) -> Task<int> {
      for (const char* name : {"first", "second"}) {
        co_await scope.defer_async([&log, name](Cx inner) -> Task<void> {
          co_await yield(inner);
          log.emplace_back(name);
        });
      }
      auto child = co_await scope.spawn([&](Cx inner) -> Task<int> {
        co_await sleep(inner, Duration::milliseconds(1));
        co_await catch_up(inner, body_has_ended);
        log.emplace_back("child");
        co_return 0;
      });
      log.emplace_back("body");
      body_has_ended = true;
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(log, (Log{"body", "child", "second", "first"}));
}

TEST(Scope, a_cancelled_scope_ends_its_body_and_its_children) {
  Log log;
  OutcomeKind kind = OutcomeKind::ok;
  std::atomic<bool> begun = false;
  const auto report = run([&](Cx cx) -> Task<int> {
    const auto body = [&](Scope& scope) -> Task<int> {
      auto child = co_await scope.spawn([&](Cx inner) -> Task<int> {
        begun = true;
        const int value = co_await never(inner, log, "child");
        co_return value;
      });
      co_await sleep(scope.cx(), Duration::milliseconds(1));  // the child has begun by then
      co_await catch_up(scope.cx(), begun);
      scope.cancel("enough");
      co_await checkpoint(scope.cx());
      log.push_back("not reached");
      co_return 1;
    };
    const Outcome<int> end = co_await outcome(scope(cx, body));
    kind = end.kind();
    log.push_back(end.is_cancelled() ? std::string(end.reason().message()) : "no reason");
    co_return 0;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(kind, OutcomeKind::cancelled);
  EXPECT_EQ(log, (Log{"child left", "enough"}));
}

TEST(Scope, CTX_4_a_bracket_releases_when_its_use_fails) {
  Log log;
  OutcomeKind kind = OutcomeKind::ok;
  const auto report = run([&](Cx cx) -> Task<int> {
    const Outcome<int> end = co_await outcome(bracket(
        cx, [](Cx) -> Task<std::string> { co_return "file"s; },
        [&log](Cx, std::string& file) -> Task<int> {
          log.push_back("use " + file);
          co_return err(Errc::io);
        },
        [&log](Cx inner, std::string& file) -> Task<void> {
          co_await yield(inner);
          log.push_back("release " + file);
        }));
    kind = end.kind();
    co_return 0;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(kind, OutcomeKind::err);
  EXPECT_EQ(log, (Log{"use file", "release file"}));
}

TEST(Scope, CAN_12_a_mask_defers_what_a_checkpoint_would_see) {
  Log log;
  const auto report = run([&log](Cx cx) -> Task<int> {
    const auto body = [&log](Scope& scope) -> Task<int> {
      co_await with_cancel_mask(scope.cx(), [&log, &scope](Cx inner) -> Task<void> {
        scope.cancel();
        co_await checkpoint(inner);
        log.emplace_back("masked");
      });
      co_await checkpoint(scope.cx());
      log.emplace_back("not reached");
      co_return 1;
    };
    const Outcome<int> end = co_await outcome(scope(cx, body));
    co_return end.is_cancelled() ? 0 : 1;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(log, (Log{"masked"}));
}

TEST(Scope, I6_the_same_seed_gives_the_same_trace) {
  const auto program = [](Cx cx) -> Task<int> {
    const auto body = [](Scope& scope) -> Task<int> {
      for (int i = 0; i < 8; ++i) {
        auto child = co_await scope.spawn(
            [](Cx inner, int rounds) -> Task<int> {
              for (int round = 0; round < rounds; ++round) co_await yield(inner);
              co_return rounds;
            },
            i);
      }
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
  const auto a = run(program, 7);
  const auto b = run(program, 7);
  const auto c = run(program, 8);
  EXPECT_TRUE(a.is_clean()) << to_string(a);
  EXPECT_EQ(a.trace, b.trace);
  EXPECT_EQ(a.trace_digest, b.trace_digest);
  EXPECT_NE(a.trace_digest, c.trace_digest);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
