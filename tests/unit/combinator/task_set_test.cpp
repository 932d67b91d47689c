// A task set loses no end, whoever waits, whoever is cancelled, whatever was never taken.
#include "calm/combinator/task_set.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "calm/cx/obligation.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "calm/sync/select.hpp"
#include "tests/unit/combinator/struck.hpp"
#include "tests/unit/sync/contest.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using contest::ms;
using IntSet = TaskSet<int>;

template <class F>
void set_in_lab(F program) {
  const auto report = lab::run({}, std::move(program));
  EXPECT_LAB_CLEAN(report);
  EXPECT_TRUE(report.end.is_ok()) << report.end.explain();
}

/// Which ends were taken, and how many tasks are inside.
struct SetLedger {
  explicit SetLedger(Cx cx) : inside(cx, 0), started(cx, 0), ended(cx, 0), taken(cx) {}
  lab::Shared<std::uint32_t> inside;
  lab::Shared<int> started;
  lab::Shared<int> ended;
  lab::Shared<std::array<int, 8>> taken;
};

/// Counts itself in and out, on every way out.
struct InsideSet {
  InsideSet(SetLedger& ledger, Cx cx) : ledger_(ledger), cx_(cx) {
    ++ledger_.inside.changed(cx_);
    ++ledger_.started.changed(cx_);
  }
  InsideSet(const InsideSet&) = delete;
  InsideSet& operator=(const InsideSet&) = delete;
  ~InsideSet() {
    --ledger_.inside.changed(cx_);
    ++ledger_.ended.changed(cx_);
  }

 private:
  SetLedger& ledger_;
  Cx cx_;
};

/// Gives way once and gives its number; no more than `limit` of them at a time.
struct CountsItself {
  SetLedger* ledger;
  std::uint32_t limit;

  Task<int> operator()(Cx cx, int number) const {
    const InsideSet inside(*ledger, cx);
    if (ledger->inside.get(cx) > limit) co_await fail(Errc::conflict);
    co_await yield(cx);
    co_return number;
  }
};

/// Gives: true when the scope of the set was cancelled, so that it takes no more tasks.
bool scope_is_gone(const Outcome<void>& end) { return end.is_err() && end.error().code() == Errc::region_not_open; }

template <int tasks, std::uint32_t limit>
Task<void> fan_out(Cx cx) {
  SetLedger ledger(cx);
  const auto body = [&](IntSet& set) -> Task<void> {
    for (int number = 0; number < tasks; ++number) {
      const std::uint64_t given = co_await set.spawn(cx, CountsItself{&ledger, limit}, number);
      if (given != static_cast<std::uint64_t>(number)) co_await fail(Errc::protocol);
    }
    while (true) {
      std::optional<Finished<int>> done = co_await set.next(cx);
      if (!done) break;
      if (done->end.is_err()) co_await fail(Errc::conflict);
      ++ledger.taken.changed(cx).at(done->number);
    }
    const TaskSetCounts counts = set.counts();
    if (counts != TaskSetCounts{.running = 0, .finished = 0, .taken = tasks}) co_await fail(Errc::protocol);
  };
  const Outcome<void> end = co_await outcome(with_task_set<int>(cx, body, {.limit = limit}));
  if (end.is_err() && !scope_is_gone(end)) co_await fail(Error(end.error()));
  if (ledger.inside.get(cx) != 0 || ledger.started.get(cx) != ledger.ended.get(cx)) co_await fail(Errc::busy);
  if (!end.is_ok()) co_return;
  for (int number = 0; number < tasks; ++number) {
    if (ledger.taken.get(cx).at(static_cast<std::size_t>(number)) != 1) co_await fail(Errc::protocol);
  }
}

TEST(TaskSet, COM_1_every_end_is_taken_once_in_every_schedule) {
  EXPECT_GE(contest::explore_both_ways(fan_out<2, TaskSetOptions::unlimited>), 2U);
  EXPECT_GE(contest::explore_all_of(fan_out<3, TaskSetOptions::unlimited>), 6U);
}

TEST(TaskSet, COM_1_no_more_than_the_limit_run_at_a_time_in_any_schedule) {
  EXPECT_GE(contest::explore_both_ways(fan_out<2, 1>), 1U);
  EXPECT_GE(contest::explore_all_of(fan_out<3, 2>), 2U);
}

TEST(TaskSet, I5_a_cancel_at_any_await_point_leaves_no_task_behind) {
  contest::strike_and_count(fan_out<3, TaskSetOptions::unlimited>);
  contest::strike_and_count(fan_out<3, 2>);
}

/// Who of two takers is cancelled: a number, or one of these.
constexpr int no_taker = -1;
constexpr int any_taker = -2;  // the lab strikes, wherever it likes

/// Two take the ends of two tasks.
template <int victim>
Task<void> two_takers(Cx cx) {
  SetLedger ledger(cx);
  const auto body = [&](IntSet& set) -> Task<void> {
    for (int number = 0; number < 2; ++number) (void)co_await set.spawn(cx, CountsItself{&ledger, 2}, number);
    const auto takes = [&](Cx inner, int /*taker*/) -> Task<void> {
      while (true) {
        const std::optional<Finished<int>> done = co_await set.next(inner);
        if (!done) break;
        ++ledger.taken.changed(inner).at(done->number);
      }
    };
    co_await contest::run_contest(cx, takes, 2, victim);
    const std::array<int, 8>& taken = ledger.taken.get(cx);
    const TaskSetCounts counts = set.counts();
    const std::uint64_t sum = static_cast<std::uint64_t>(taken[0]) + static_cast<std::uint64_t>(taken[1]);
    if (taken[0] > 1 || taken[1] > 1 || sum != counts.taken) co_await fail(Errc::protocol);
    if (counts.running + counts.finished + counts.taken != 2) co_await fail(Errc::protocol);
    if (victim != any_taker && counts.taken != 2) co_await fail(Errc::busy);
  };
  co_await with_task_set<int>(cx, body);
}

TEST(TaskSet, CHN_4_a_cancelled_next_has_taken_nothing_and_another_gets_the_end_in_every_schedule) {
  EXPECT_GE(contest::explore_all_of(two_takers<no_taker>), 2U);
  EXPECT_GE(contest::explore_all_of(two_takers<0>), 4U);
  EXPECT_GE(contest::explore_all_of(two_takers<1>), 4U);
}

TEST(TaskSet, CAN_13_a_cancel_at_any_await_point_wakes_who_waits_for_an_end) {
  contest::strike_and_count(two_takers<any_taker>);
}

/// One takes, the others drain: each end comes out once, and a drained set can be used again.
Task<void> drained_and_used_again(Cx cx) {
  SetLedger ledger(cx);
  const auto body = [&](IntSet& set) -> Task<void> {
    for (int number = 0; number < 3; ++number) (void)co_await set.spawn(cx, CountsItself{&ledger, 3}, number);
    const std::optional<Finished<int>> first = co_await set.next(cx);
    const std::vector<Finished<int>> rest = co_await set.drain(cx);
    if (!first || rest.size() != 2 || ledger.inside.get(cx) != 0) co_await fail(Errc::protocol);
    (void)co_await set.spawn(cx, CountsItself{&ledger, 3}, 7);
    const std::optional<Finished<int>> again = co_await set.next(cx);
    if (!again || again->number != 3) co_await fail(Errc::protocol);
    if (again->end.is_ok() && again->end.value() != 7) co_await fail(Errc::protocol);
  };
  const Outcome<void> end = co_await outcome(with_task_set<int>(cx, body));
  if (end.is_err() && !scope_is_gone(end)) co_await fail(Error(end.error()));
}

TEST(TaskSet, I5_drain_cancels_waits_and_gives_what_is_left_in_every_schedule) {
  EXPECT_GE(contest::explore_all_of(drained_and_used_again), 3U);
}

TEST(TaskSet, CAN_13_a_cancel_at_any_await_point_of_a_drain_leaves_no_task_behind) {
  contest::strike_and_count(drained_and_used_again);
}

Task<int> fails_after(Cx cx, int ms_until, Errc code) {
  co_await sleep(cx, ms(ms_until));
  co_return err(Error(code));
}
Task<int> sleeps_long(Cx cx) {
  co_await sleep(cx, ms(1000));
  co_return 1;
}

TEST(TaskSet, OUT_4_a_failure_that_nobody_took_is_the_end_of_the_set_and_the_first_spawned_goes_first) {
  set_in_lab([](Cx cx) -> Task<void> {
    const auto body = [&](IntSet& set) -> Task<int> {
      (void)co_await set.spawn(cx, fails_after, 5, Errc::io);
      (void)co_await set.spawn(cx, fails_after, 2, Errc::protocol);
      co_return 3;
    };
    const Outcome<int> end = co_await outcome(with_task_set<int>(cx, body));
    EXPECT_TRUE(end.is_err());
    if (end.is_err()) {
      EXPECT_EQ(end.error().code(), Errc::io);
    }
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(5))) << "a failure stops nobody";
  });
}

TEST(TaskSet, COM_1_a_failure_that_was_taken_is_the_business_of_who_took_it) {
  set_in_lab([](Cx cx) -> Task<void> {
    const auto body = [&](IntSet& set) -> Task<int> {
      (void)co_await set.spawn(cx, fails_after, 1, Errc::io);
      const std::optional<Finished<int>> done = co_await set.next(cx);
      co_return done && done->end.is_err() ? 1 : 0;
    };
    EXPECT_EQ(co_await with_task_set<int>(cx, body), 1);
  });
}

TEST(TaskSet, I5_a_body_that_fails_cancels_its_tasks_and_waits_for_them) {
  set_in_lab([](Cx cx) -> Task<void> {
    std::atomic<bool> begun = false;
    bool cleaned = false;
    const auto cleans_up = [&](Cx inner) -> Task<int> {
      begun = true;
      const Outcome<void> slept = co_await outcome(sleep(inner, ms(100'000)));
      EXPECT_TRUE(slept.is_cancelled());
      cleaned = true;
      co_return 0;
    };
    const auto body = [&](IntSet& set) -> Task<void> {
      (void)co_await set.spawn(cx, cleans_up);
      (void)co_await set.spawn(cx, sleeps_long);
      co_await sleep(cx, ms(1));
      co_await catch_up(cx, begun);
      co_await fail(Errc::full);
    };
    const Outcome<void> end = co_await outcome(with_task_set<int>(cx, body));
    EXPECT_TRUE(end.is_err());
    if (end.is_err()) {
      EXPECT_EQ(end.error().code(), Errc::full);
    }
    EXPECT_TRUE(cleaned);
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(1)));
  });
}

TEST(TaskSet, COM_1_a_panic_that_nobody_took_is_thrown_by_the_set) {
  set_in_lab([](Cx cx) -> Task<void> {
    std::atomic<bool> begun = false;
    const auto throws = [&begun](Cx inner) -> Task<int> {
      begun = true;
      (void)co_await outcome(sleep(inner, ms(10)));
      throw std::runtime_error("broken");
    };
    const auto body = [&](IntSet& set) -> Task<void> {
      (void)co_await set.spawn(cx, throws);
      co_await sleep(cx, ms(1));  // it has begun
      co_await catch_up(cx, begun);
      co_await fail(Errc::full);
    };
    const Outcome<void> end = co_await outcome(with_task_set<int>(cx, body));
    EXPECT_TRUE(end.is_panicked()) << "worse than the error of the body";
    const auto takes = [&](IntSet& set) -> Task<void> {
      (void)co_await set.spawn(cx, throws);
      const std::optional<Finished<int>> done = co_await set.next(cx);
      EXPECT_TRUE(done && done->end.is_panicked());
    };
    co_await with_task_set<int>(cx, takes);
    const auto leaves = [&](IntSet& set) -> Task<void> { (void)co_await set.spawn(cx, throws); };
    const Outcome<void> left = co_await outcome(with_task_set<int>(cx, leaves));
    EXPECT_TRUE(left.is_panicked());
  });
}

TEST(TaskSet, COM_1_a_task_that_is_cancelled_before_it_begins_has_an_end_too) {
  set_in_lab([](Cx cx) -> Task<void> {
    const auto body = [&](IntSet& set) -> Task<void> {
      (void)co_await set.spawn(cx, sleeps_long);
      set.cancel_all("not needed");
      const std::optional<Finished<int>> done = co_await set.next(cx);
      EXPECT_TRUE(done && done->end.is_cancelled());
      EXPECT_EQ(set.counts(), (TaskSetCounts{.running = 0, .finished = 0, .taken = 1}));
    };
    co_await with_task_set<int>(cx, body);
    EXPECT_TRUE(comes_at(cx.now(), Time()));
  });
}

TEST(TaskSet, CAN_8_a_task_that_is_forced_to_end_has_an_end_too) {
  set_in_lab([](Cx cx) -> Task<void> {
    const auto stays = [](Cx inner) -> Task<int> {
      while (true) (void)co_await outcome(sleep(inner, ms(1)));
    };
    const auto body = [&](IntSet& set) -> Task<void> {
      (void)co_await set.spawn(cx, stays);
      co_await sleep(cx, ms(1));
      const std::vector<Finished<int>> rest = co_await set.drain(cx);
      EXPECT_EQ(rest.size(), 1U);
      if (!rest.empty()) {
        EXPECT_TRUE(rest.front().end.is_cancelled());
      }
    };
    co_await with_task_set<int>(cx, body);
  });
}

TEST(TaskSet, COM_1_try_spawn_says_full_at_the_limit_and_values_may_be_move_only) {
  using Owned = std::unique_ptr<int>;
  set_in_lab([](Cx cx) -> Task<void> {
    const auto gives = [](Cx inner, Owned value) -> Task<Owned> {
      co_await yield(inner);
      co_return value;
    };
    const auto body = [&](TaskSet<Owned>& set) -> Task<void> {
      EXPECT_TRUE(set.try_spawn(gives, std::make_unique<int>(5)).is_ok());
      const Outcome<std::uint64_t> second = set.try_spawn(gives, std::make_unique<int>(6));
      EXPECT_TRUE(second.is_err());
      if (second.is_err()) {
        EXPECT_EQ(second.error().code(), Errc::full);
      }
      std::optional<Finished<Owned>> done = co_await set.next(cx);
      EXPECT_TRUE(done && done->end.is_ok() && *done->end.value() == 5);
      EXPECT_TRUE(set.try_spawn(gives, std::make_unique<int>(7)).is_ok()) << "there is room again";
    };
    co_await with_task_set<Owned>(cx, body, {.limit = 1});
  });
}

TEST(TaskSet, COM_5_select_takes_the_next_end_or_leaves_it_in_the_set) {
  set_in_lab([](Cx cx) -> Task<void> {
    std::atomic<bool> was_early = false;
    const auto sleeps = [&was_early](Cx inner) -> Task<int> {
      co_await sleep(inner, ms(20));
      co_await catch_up(inner, was_early);
      co_return 1;
    };
    const auto body = [&](IntSet& set) -> Task<void> {
      (void)co_await set.spawn(cx, sleeps);
      auto early = co_await select(cx, set.next(cx), sleep(cx, ms(10)));
      EXPECT_EQ(early.index(), 1U);
      was_early = true;
      auto later = co_await select(cx, set.next(cx), sleep(cx, ms(500'000)));
      EXPECT_EQ(later.index(), 0U);
      EXPECT_TRUE(comes_at(cx.now(), Time() + ms(20)));
    };
    co_await with_task_set<int>(cx, body);
  });
}

TEST(TaskSet, COM_1_a_limit_of_0_is_a_clear_error) {
  set_in_lab([](Cx cx) -> Task<void> {
    const auto body = [](IntSet& /*set*/) -> Task<void> { co_return; };
    const Outcome<void> end = co_await outcome(with_task_set<int>(cx, body, {.limit = 0}));
    EXPECT_TRUE(end.is_err());
    if (end.is_err()) {
      EXPECT_EQ(end.error().code(), Errc::invalid_argument);
      EXPECT_NE(end.error().explain().find("[COM-1]"), std::string::npos) << end.error().explain();
    }
  });
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
