// A task that gives way where nobody follows it, in its own context, in one inside or in a frame inside, and what it sees then.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "calm/cx/mask.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "tests/unit/runtime/on_flavours.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

using Log = std::vector<std::string>;

class Yield : public OnFlavour {};
INSTANTIATE_TEST_SUITE_P(Flavours, Yield, both_flavours(), name_of_flavour);

Task<void> give_way(Cx cx) { co_await yield(cx); }

TEST_P(Yield, SCH_2_who_gives_way_goes_behind_the_others_wherever_it_does) {
  Log log;
  const auto body = [&log](Scope& scope) -> Task<void> {
    const auto in_its_frame = [&log](Cx cx, std::string name) -> Task<void> {
      for (int i = 0; i < 3; ++i) {
        log.push_back(name);
        co_await yield(cx);
      }
    };
    const auto in_a_frame_inside = [&log](Cx cx, std::string name) -> Task<void> {
      for (int i = 0; i < 3; ++i) {
        log.push_back(name);
        co_await give_way(cx);
      }
    };
    const auto in_a_scope = [&log](Cx cx, std::string name) -> Task<void> {
      const auto inside = [&](Scope& inner) -> Task<void> {
        for (int i = 0; i < 3; ++i) {
          log.push_back(name);
          co_await yield(inner.cx());
        }
      };
      co_await calm::scope(cx, inside);
    };
    (void)co_await scope.spawn(in_its_frame, std::string("a"));
    (void)co_await scope.spawn(in_a_frame_inside, std::string("b"));
    (void)co_await scope.spawn(in_a_scope, std::string("c"));
    (void)co_await scope.spawn(in_its_frame, std::string("d"));
  };
  ASSERT_TRUE(run_body(body).is_ok());
  EXPECT_EQ(log, (Log{"a", "b", "c", "d", "a", "b", "c", "d", "a", "b", "c", "d"}));
}

TEST_P(Yield, TSK_4_fibers_give_way_to_each_other_on_their_worker) {
  Log log;
  const auto body = [&log](Scope& scope) -> Task<void> {
    const auto twice = [&log](Cx cx, std::string name) -> Task<void> {
      log.push_back(name);
      co_await yield(cx);
      log.push_back(name);
      co_await yield(cx);
    };
    (void)co_await scope.fiber(twice, std::string("a"));
    (void)co_await scope.fiber(twice, std::string("b"));
  };
  ASSERT_TRUE(run_body(body).is_ok());
  EXPECT_EQ(log, (Log{"a", "b", "a", "b"}));
}

/// Gives way until it is cancelled, and counts how often it went on.
auto goes_on(int& times, bool inside) {
  return [&times, inside](Cx cx) -> Task<void> {
    for (;;) {
      if (inside) {
        co_await give_way(cx);
      } else {
        co_await yield(cx);
      }
      ++times;
    }
  };
}

TEST_P(Yield, CAN_7_CAN_13_one_that_gave_way_and_is_cancelled_meanwhile_ends_there) {
  for (const bool inside : {false, true}) {
    int times = 0;
    const auto body = [&](Scope& scope) -> Task<void> {
      (void)co_await scope.spawn(goes_on(times, inside));
      for (int i = 0; i < 5; ++i) co_await yield(scope.cx());
      scope.cancel("enough");
    };
    const Outcome<void> end = run_body(body);
    EXPECT_TRUE(end.is_cancelled()) << to_string(end);
    EXPECT_GE(times, 3);
    EXPECT_LE(times, 5) << "after the cancel it did not go on";
  }
}

TEST_P(Yield, CAN_7_one_that_is_cancelled_before_it_gives_way_does_not) {
  bool went_on = false;
  int others = 0;
  const auto body = [&](Scope& scope) -> Task<void> {
    const auto counts = [&others](Cx cx) -> Task<void> {
      co_await yield(cx);
      ++others;
    };
    co_await yield(scope.cx());  // from here on nothing is to be seen
    (void)co_await scope.spawn(counts);
    scope.cancel("at once");
    co_await yield(scope.cx());
    went_on = true;
  };
  EXPECT_TRUE(run_body(body).is_cancelled());
  EXPECT_FALSE(went_on);
  EXPECT_EQ(others, 0) << "nobody ran meanwhile";
}

TEST_P(Yield, CAN_7_a_scope_that_is_cancelled_while_its_body_gave_way_is_seen_in_it) {
  int outside = 0;
  bool ended = false;
  const auto body = [&](Scope& scope) -> Task<void> {
    const auto inner = [&](Scope& cancelled) -> Task<void> {
      const auto cancels = [&cancelled](Cx cx) -> Task<void> {
        for (int i = 0; i < 3; ++i) co_await yield(cx);
        cancelled.cancel("the inner one");
      };
      (void)co_await cancelled.spawn(cancels);
      for (;;) co_await yield(cancelled.cx());
    };
    const Outcome<void> end = co_await outcome(calm::scope(scope.cx(), inner));
    ended = end.is_cancelled();
    for (; outside < 3; ++outside) co_await yield(scope.cx());
  };
  EXPECT_TRUE(run_body(body).is_ok());
  EXPECT_TRUE(ended);
  EXPECT_EQ(outside, 3) << "the task itself is not cancelled";
}

TEST_P(Yield, CAN_12_under_a_mask_it_gives_way_and_sees_the_cancel_after_it) {
  int masked = 0;
  bool after = false;
  const auto body = [&](Scope& scope) -> Task<void> {
    const auto task = [&](Cx cx) -> Task<void> {
      co_await yield(cx);
      const auto inside = [&masked](Cx inner) -> Task<void> {
        for (; masked < 10; ++masked) co_await yield(inner);
      };
      co_await with_cancel_mask(cx, inside);
      co_await yield(cx);
      after = true;
    };
    (void)co_await scope.spawn(task);
    for (int i = 0; i < 4; ++i) co_await yield(scope.cx());
    scope.cancel("in its mask");
  };
  EXPECT_TRUE(run_body(body).is_cancelled());
  EXPECT_EQ(masked, 10);
  EXPECT_FALSE(after);
}

TEST_P(Yield, BUD_5_each_of_them_is_a_poll_of_its_quota) {
  int times = 0;
  const auto body = [&times](Scope& scope) -> Task<void> {
    TaskOptions options;
    options.budget.polls = Quota(4);
    Handle<void> bounded = co_await scope.spawn(options, goes_on(times, false));
    const Outcome<void> end = co_await outcome(std::move(bounded).join(scope.cx()));
    EXPECT_TRUE(end.is_cancelled()) << to_string(end);
  };
  (void)run_body(body, {.policy = FoldPolicy::collect});
  EXPECT_EQ(times, 3);
}

TEST_P(Yield, TSK_6_one_that_is_joined_gives_way_as_others_do) {
  int times = 0;
  const auto body = [&times](Scope& scope) -> Task<void> {
    const auto counts = [&times](Cx cx) -> Task<int> {
      for (; times < 100; ++times) co_await yield(cx);
      co_return times;
    };
    Handle<int> joined = co_await scope.spawn(counts);
    co_await yield(scope.cx());
    const int counted = co_await std::move(joined).join(scope.cx());
    EXPECT_EQ(counted, 100);
  };
  EXPECT_TRUE(run_body(body).is_ok());
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
