// A value that is made once; who fails to make it lets the next try.
#include "calm/sync/once_cell.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "contest.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

/// Makes 7, in two steps; the first `failures` times it fails.
struct MakesSeven {
  lab::Shared<int>& tries;
  lab::Shared<int>& making;
  int failures;

  static Task<void> give_way(Cx cx) { co_await yield(cx); }

  Task<int> operator()(Cx cx) const {
    const int number = ++tries.changed(cx);
    if (++making.changed(cx) != 1) co_await fail(Errc::protocol);
    const Outcome<void> end = co_await outcome(give_way(cx));
    --making.changed(cx);
    if (!end.is_ok()) co_await fail_with(cancelled(end.reason()));
    if (number <= failures) co_return err(Errc::io);
    co_return 7;
  }
};

template <int tasks, int victim, int failures>
Task<void> asking(Cx cx) {
  OnceCell<int> cell(cx);
  lab::Shared<int> tries(cx, 0);
  lab::Shared<int> making(cx, 0);
  lab::Shared<int> answered(cx, 0);
  lab::Shared<int> failed(cx, 0);
  const auto asks = [&](Cx inner, int /*number*/) -> Task<void> {
    const MakesSeven make{tries, making, failures};
    const Outcome<const int*> seven = co_await outcome(cell.get_or_make(inner, make));
    if (seven.is_ok()) {
      if (*seven.value() != 7) co_await fail(Errc::protocol);
      ++answered.changed(inner);
    } else if (seven.is_err()) {
      if (seven.error().code() != Errc::io) co_await fail(Errc::protocol);
      ++failed.changed(inner);
    }
  };
  co_await contest::run_contest(cx, asks, tasks, victim);
  if (cx.is_cancelled()) co_return;
  const int least = tasks - failures - (victim < 0 ? 0 : 1);
  if (answered.get(cx) < least || failed.get(cx) > failures || making.get(cx) != 0) co_await fail(Errc::protocol);
  if (least > 0 && (cell.get() == nullptr || *cell.get() != 7)) co_await fail(Errc::protocol);
}

TEST(OnceCell, CHN_12_is_made_by_one_and_had_by_all_in_every_schedule) {
  EXPECT_GE(contest::explore_both_ways(asking<2, -1, 0>), 2U);
  EXPECT_GE(contest::explore_all_of(asking<3, -1, 0>), 6U);
}

TEST(OnceCell, CHN_12_a_failed_initialiser_lets_the_next_try_in_every_schedule) {
  EXPECT_GE(contest::explore_all_of(asking<2, -1, 1>), 2U);
  EXPECT_GE(contest::explore_all_of(asking<3, -1, 1>), 6U);
}

TEST(OnceCell, CHN_12_a_cancelled_initialiser_lets_the_next_try_in_every_schedule) {
  EXPECT_GT(contest::explore_both_ways(asking<2, 0, 0>), 2U);
  EXPECT_GT(contest::explore_all_of(asking<3, 0, 0>), 6U);
}

TEST(OnceCell, CAN_13_a_cancel_at_any_await_point_wakes_who_waits_for_a_value) {
  contest::cancel_everywhere_in(asking<3, -1, 0>);
  contest::cancel_everywhere_in(asking<3, -1, 1>);
}

TEST(OnceCell, CHN_12_holds_what_cannot_be_copied_and_lets_who_throws_go) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    OnceCell<std::unique_ptr<int>> cell(cx);
    EXPECT_EQ(cell.get(), nullptr);
    const auto throws = [](Cx /*cx*/) -> Task<std::unique_ptr<int>> {
      throw std::runtime_error("no");
      co_return nullptr;
    };
    const auto makes = [](Cx /*cx*/) -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
    bool thrown = false;
    try {
      (void)co_await cell.get_or_make(cx, throws);
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    EXPECT_TRUE(thrown);
    const std::unique_ptr<int>* const made = co_await cell.get_or_make(cx, makes);
    EXPECT_EQ(**made, 3);
    EXPECT_EQ(cell.get(), made);
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(OnceCell, CHN_12_what_asks_for_the_value_that_it_makes_gets_a_clear_error) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    OnceCell<int> cell(cx);
    const auto one = [](Cx /*cx*/) -> Task<int> { co_return 1; };
    const auto asks_itself = [&](Cx inner) -> Task<int> {
      const int* const value = co_await cell.get_or_make(inner, one);
      co_return *value;
    };
    const Outcome<const int*> end = co_await outcome(cell.get_or_make(cx, asks_itself));
    EXPECT_TRUE(end.is_err());
    if (end.is_err()) {
      EXPECT_NE(end.error().explain().find("would wait for itself [CHN-12]"), std::string::npos);
    }
  });
  EXPECT_LAB_CLEAN(report);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
