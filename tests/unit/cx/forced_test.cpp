// What a task that overruns its clean-up looks like from inside: its scopes end one by one, each as if its body had been left.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "calm/cx/mask.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/scope.hpp"
#include "calm/lab/lab.hpp"
#include "tests/both_worlds.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using Log = std::vector<std::string>;

/// Says when it is destroyed.
struct Local {
  Log& log;
  std::string name;
  Local(Log& to, std::string of) : log(to), name(std::move(of)) {}
  Local(const Local&) = delete;
  Local& operator=(const Local&) = delete;
  ~Local() { log.push_back(name + " goes"); }
};

/// Takes a promise back when it is destroyed, as a guard of a user does.
struct Guard {
  Log& log;
  Obligation promise;
  Guard(Log& to, Obligation made) : log(to), promise(std::move(made)) {}
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { log.emplace_back(promise.abort() ? "taken back" : "settled before"); }
};

Task<void> sleep_long(Cx cx) { co_await sleep(cx, Duration::seconds(500'000)); }

/// Runs `body(cx)` as a fiber that is cancelled after a millisecond and does not hear of it: clean-up has five seconds, and
/// then it is forced.
template <class F>
Log force(F body, Log& log) {
  const auto deaf = [&body, &log](Cx cx) -> Task<void> {
    const Local local(log, "task");
    co_await with_cancel_mask(cx, body);
    log.emplace_back("not reached");
  };
  const auto main = [&deaf](Scope& scope) -> Task<void> {
    auto fiber = co_await scope.fiber(deaf);
    co_await sleep(scope.cx(), Duration::milliseconds(1));
    fiber.cancel();
  };
  const ScopeOptions options{.cleanup_time = cleanup_time_here()};
  const auto program = [&](Cx cx) -> Task<void> { co_await scope(cx, main, options); };
  const auto report = lab::run({.seed = 1}, program);
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_TRUE(report.end.is_cancelled()) << report.end.explain();
  if (in_lab()) {
    EXPECT_EQ(report.end_time, Time() + Duration::seconds(5) + Duration::milliseconds(1));
  }
  return log;
}

TEST(Forced, CAN_8_CTX_4_what_use_has_is_gone_before_release_runs) {
  Log log;
  const auto acquire = [](Cx) -> Task<int> { co_return 7; };
  const auto use = [&log](Cx cx, int& resource) -> Task<void> {
    const Local local(log, "use of " + std::to_string(resource));
    co_await sleep_long(cx);
  };
  const auto release = [&log](Cx, int& resource) -> Task<void> {
    log.push_back("release of " + std::to_string(resource));
    co_return;
  };
  const auto body = [&](Cx cx) -> Task<void> { co_await bracket(cx, acquire, use, release); };
  EXPECT_EQ(force(body, log), (Log{"use of 7 goes", "release of 7", "task goes"}));
}

TEST(Forced, CAN_8_CTX_4_a_bracket_inside_a_bracket_is_released_first) {
  Log log;
  const auto acquire = [](Cx) -> Task<int> { co_return 1; };
  const auto inner_use = [&log](Cx cx, int&) -> Task<void> {
    const Local local(log, "inner use");
    co_await sleep_long(cx);
  };
  const auto inner_release = [&log](Cx cx, int&) -> Task<void> {
    co_await sleep(cx, Duration());
    log.emplace_back("inner release");
  };
  const auto outer_use = [&](Cx cx, int&) -> Task<void> {
    const Local local(log, "outer use");
    co_await bracket(cx, acquire, inner_use, inner_release);
  };
  const auto outer_release = [&log](Cx, int&) -> Task<void> {
    log.emplace_back("outer release");
    co_return;
  };
  const auto body = [&](Cx cx) -> Task<void> { co_await bracket(cx, acquire, outer_use, outer_release); };
  EXPECT_EQ(force(body, log), (Log{"inner use goes", "inner release", "outer use goes", "outer release", "task goes"}));
}

TEST(Forced, CAN_8_REG_5_children_and_finalizers_of_a_scope_come_between_its_body_and_the_next_one_outwards) {
  Log log;
  const auto child_body = [&log](Cx cx) -> Task<void> {
    const Local local(log, "child");
    co_await sleep_long(cx);
  };
  const auto child = [&child_body](Cx cx) -> Task<void> { co_await with_cancel_mask(cx, child_body); };
  const auto inner = [&](Scope& scope) -> Task<void> {
    co_await scope.defer([&log] { log.emplace_back("inner finalizer"); });
    auto fiber = co_await scope.fiber(child);
    const Local local(log, "inner body");
    co_await sleep_long(scope.cx());
  };
  const auto outer = [&](Scope& outer_scope) -> Task<void> {
    co_await outer_scope.defer([&log] { log.emplace_back("outer finalizer"); });
    const Local local(log, "outer body");
    const ScopeOptions options{.cleanup_time = cleanup_time_here()};
    co_await scope(outer_scope.cx(), inner, options);
  };
  const auto body = [&outer](Cx cx) -> Task<void> { co_await scope(cx, outer); };
  EXPECT_EQ(force(body, log), (Log{"inner body goes", "child goes", "inner finalizer", "outer body goes",
                                   "outer finalizer", "task goes"}));
}

TEST(Forced, CAN_8_frames_between_two_scopes_go_with_the_outer_one) {
  Log log;
  const auto inner = [&log](Scope& scope) -> Task<void> {
    co_await scope.defer([&log] { log.emplace_back("inner finalizer"); });
    const Local local(log, "inner body");
    co_await sleep_long(scope.cx());
  };
  const auto between = [&](Cx cx) -> Task<void> {
    const Local local(log, "between");
    const Outcome<void> seen = co_await outcome(scope(cx, inner));
    log.emplace_back(seen.is_ok() ? "not reached" : "not reached either");
  };
  const auto outer = [&](Scope& scope) -> Task<void> {
    const Local local(log, "outer body");
    co_await with_cancel_mask(scope.cx(), between);
  };
  const auto body = [&outer](Cx cx) -> Task<void> { co_await scope(cx, outer); };
  EXPECT_EQ(force(body, log),
            (Log{"inner body goes", "inner finalizer", "between goes", "outer body goes", "task goes"}));
}

TEST(Forced, CAN_8_scopes_opened_beside_each_other_go_in_the_order_of_their_frames) {
  Log log;
  const auto body = [&log](Cx cx) -> Task<void> {
    const auto first = [&log, cx](Scope& first_scope) -> Task<void> {
      co_await first_scope.defer([&log] { log.emplace_back("first finalizer"); });
      const Local local(log, "first");
      const auto third = [&log](Scope& third_scope) -> Task<void> {
        const Local inside(log, "third");
        co_await sleep_long(third_scope.cx());
      };
      const auto second = [&log, &first_scope, &third](Scope& second_scope) -> Task<void> {
        co_await second_scope.defer([&log] { log.emplace_back("second finalizer"); });
        const Local inside(log, "second");
        co_await scope(first_scope.cx(), third);
      };
      co_await scope(cx, second);  // its region is not inside that of the first
    };
    co_await scope(cx, first);
  };
  EXPECT_EQ(force(body, log),
            (Log{"third goes", "second goes", "second finalizer", "first goes", "first finalizer", "task goes"}));
}

TEST(Forced, CAN_8_a_scope_whose_body_is_over_is_waited_for) {
  Log log;
  const auto child_body = [&log](Cx cx) -> Task<void> {
    const Local local(log, "child");
    co_await sleep_long(cx);
  };
  const auto child = [&child_body](Cx cx) -> Task<void> { co_await with_cancel_mask(cx, child_body); };
  const auto inner = [&](Scope& scope) -> Task<void> {
    auto fiber = co_await scope.fiber(child);
    log.emplace_back("inner body is over");
  };
  const auto outer = [&](Scope& outer_scope) -> Task<void> {
    co_await outer_scope.defer([&log] { log.emplace_back("outer finalizer"); });
    const Local local(log, "outer body");
    const ScopeOptions options{.cleanup_time = cleanup_time_here()};
    co_await scope(outer_scope.cx(), inner, options);
  };
  const auto body = [&outer](Cx cx) -> Task<void> { co_await scope(cx, outer); };
  EXPECT_EQ(force(body, log),
            (Log{"inner body is over", "child goes", "outer body goes", "outer finalizer", "task goes"}));
}

// --- promises ---

TEST(Forced, CAN_8_OBL_1_a_promise_that_a_local_of_the_body_holds_is_taken_back_by_the_local) {
  Log log;
  const auto inner = [&log](Scope& scope) -> Task<void> {
    co_await scope.defer([&log] { log.emplace_back("finalizer"); });
    Obligation promise = co_await reserve(scope.cx(), ObligationKind::ack);
    const Guard guard(log, std::move(promise));
    co_await sleep_long(scope.cx());
  };
  const auto body = [&inner](Cx cx) -> Task<void> { co_await scope(cx, inner); };
  EXPECT_EQ(force(body, log), (Log{"taken back", "finalizer", "task goes"}));
}

TEST(Forced, CAN_8_OBL_1_further_out_as_well_when_nothing_has_to_be_waited_for) {
  Log log;
  const auto inner = [&log](Scope& scope) -> Task<void> {
    const Local local(log, "inner body");
    co_await sleep_long(scope.cx());
  };
  const auto outer = [&](Scope& outer_scope) -> Task<void> {
    Obligation promise = co_await reserve(outer_scope.cx(), ObligationKind::ack);
    const Guard guard(log, std::move(promise));
    co_await scope(outer_scope.cx(), inner);
  };
  const auto body = [&outer](Cx cx) -> Task<void> { co_await scope(cx, outer); };
  EXPECT_EQ(force(body, log), (Log{"inner body goes", "taken back", "task goes"}));
}

TEST(Forced, CAN_8_OBL_5_while_a_finalizer_runs_nobody_waits_for_a_promise_further_out) {
  Log log;
  const auto inner = [&log](Scope& scope) -> Task<void> {
    co_await scope.defer([&log] { log.emplace_back("finalizer"); });
    co_await sleep_long(scope.cx());
  };
  const auto outer = [&](Scope& outer_scope) -> Task<void> {
    Obligation promise = co_await reserve(outer_scope.cx(), ObligationKind::ack);
    const Guard guard(log, std::move(promise));
    co_await scope(outer_scope.cx(), inner);
  };
  const auto body = [&outer](Cx cx) -> Task<void> { co_await scope(cx, outer); };
  EXPECT_EQ(force(body, log), (Log{"finalizer", "settled before", "task goes"}));
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
