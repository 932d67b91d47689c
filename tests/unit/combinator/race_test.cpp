// The first of several branches; the others are cancelled and drained, and what they throw is told.
#include "calm/combinator/race.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../sync/contest.hpp"
#include "calm/cx/mask.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "calm/time/timeout.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using contest::ms;

template <class F>
void race_in_lab(F program) {
  const auto report = lab::run({}, std::move(program));
  EXPECT_LAB_CLEAN(report);
  EXPECT_TRUE(report.end.is_ok()) << report.end.explain();
}

Task<int> racer(Cx cx, std::int64_t after, int value) {
  co_await sleep(cx, ms(after));
  co_return value;
}

Task<int> refuses_after(Cx cx, std::int64_t after) {
  co_await sleep(cx, ms(after));
  co_return err(Errc::full);
}

Task<int> throws_after(Cx cx, std::int64_t after) {
  co_await sleep(cx, ms(after));
  throw std::runtime_error("broken racer");
}

/// Lives until it is cancelled, and throws while it cleans up.
Task<int> throws_when_cancelled(Cx cx) {
  const Outcome<void> end = co_await outcome(never(cx));
  if (end.is_cancelled()) throw std::runtime_error("sore loser");
  co_return 0;
}

TEST(Race, COM_2_the_first_end_wins_and_the_others_have_ended_when_it_is_over) {
  std::vector<std::string> log;
  race_in_lab([&log](Cx cx) -> Task<void> {
    const auto stubborn = [&log](Cx inner) -> Task<int> {
      const Outcome<void> end = co_await outcome(never(inner));
      EXPECT_TRUE(end.is_cancelled());
      if (end.is_cancelled()) {
        EXPECT_EQ(end.reason().kind(), CancelKind::race_lost);
      }
      const CancelMask mask(inner);
      co_await sleep(inner, ms(20));
      log.emplace_back("loser drained");
      co_return 1;
    };
    const int first = co_await race(cx, stubborn, racer(cx, 5, 42), racer(cx, 9000, 7));
    log.emplace_back("race over");
    EXPECT_EQ(first, 42);
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(25)));
  });
  EXPECT_EQ(log, (std::vector<std::string>{"loser drained", "race over"}));
}

TEST(Race, COM_2_an_error_an_exception_and_a_cancellation_win_as_well) {
  race_in_lab([](Cx cx) -> Task<void> {
    const Outcome<int> failed = co_await outcome(race(cx, racer(cx, 5000, 1), refuses_after(cx, 2)));
    EXPECT_TRUE(failed.is_err());
    EXPECT_EQ(failed.error().code(), Errc::full);
    const Outcome<int> thrown = co_await outcome(race(cx, throws_after(cx, 2), racer(cx, 5000, 1)));
    EXPECT_TRUE(thrown.is_panicked());
    const auto gives_up = [](Cx inner) -> Task<int> {
      const auto tighter = inner.with_deadline(inner.now() + ms(1));
      co_await never(tighter);
      co_return 0;
    };
    const Outcome<int> ended = co_await outcome(race(cx, gives_up, racer(cx, 5000, 1)));
    EXPECT_TRUE(ended.is_cancelled());
    EXPECT_EQ(ended.reason().kind(), CancelKind::deadline);
  });
}

TEST(Race, COM_2_a_losers_panic_is_in_the_notes_whoever_wins) {
  race_in_lab([](Cx cx) -> Task<void> {
    const Outcome<int> won = co_await outcome(race(cx, throws_when_cancelled(cx), racer(cx, 5, 42)));
    EXPECT_TRUE(won.is_ok());
    EXPECT_EQ(won.value_or(0), 42);
    EXPECT_EQ(won.notes().size(), 1U);
    if (won.notes().size() == 1) {
      EXPECT_EQ(to_string(*won.notes().begin()), "Panicked: race: branch 0: sore loser");
    }
    const Outcome<int> failed = co_await outcome(race(cx, throws_when_cancelled(cx), refuses_after(cx, 5)));
    EXPECT_TRUE(failed.is_err());
    EXPECT_EQ(failed.notes().size(), 1U);
    const Outcome<int> thrown = co_await outcome(race(cx, throws_when_cancelled(cx), throws_after(cx, 5)));
    EXPECT_TRUE(thrown.is_panicked());
    EXPECT_EQ(thrown.notes().size(), 1U);
  });
}

TEST(Race, OUT_5_a_note_that_nobody_asked_for_goes_on_to_the_end_of_the_task_and_of_its_scope) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    const auto body = [](Scope& scope) -> Task<void> {
      const auto child = [](Cx inner) -> Task<int> {
        const int first = co_await race(inner, throws_when_cancelled(inner), racer(inner, 5, 42));
        co_return first;
      };
      auto handle = co_await scope.spawn(child);
      const Outcome<int> end = co_await outcome(std::move(handle).join(scope.cx()));
      EXPECT_EQ(end.value_or(0), 42);
      EXPECT_EQ(end.notes().size(), 1U);
      const Outcome<int> other = co_await outcome(racer(scope.cx(), 1, 1));
      EXPECT_TRUE(other.notes().empty()) << "it is none of this one's";
    };
    co_await scope(cx, body);
  });
  EXPECT_LAB_CLEAN(report);
  EXPECT_TRUE(report.end.is_ok());
  EXPECT_EQ(report.end.notes().size(), 1U) << report.end.explain();
}

TEST(Race, branches_of_several_types_give_a_variant_whose_index_is_the_branch) {
  race_in_lab([](Cx cx) -> Task<void> {
    const auto words = [](Cx inner) -> Task<std::string> {
      co_await sleep(inner, ms(3));
      co_return "three";
    };
    const std::variant<int, std::string> first = co_await race(cx, racer(cx, 5000, 1), words);
    EXPECT_EQ(first.index(), 1U);
    EXPECT_EQ(std::get<1>(first), "three");
    const auto quiet = [](Cx inner) -> Task<void> { co_await sleep(inner, ms(1)); };
    const std::variant<int, Unit> second = co_await race(cx, racer(cx, 5000, 1), quiet);
    EXPECT_EQ(second.index(), 1U);
    const auto owner = [](Cx inner) -> Task<std::unique_ptr<int>> {
      co_await sleep(inner, ms(1));
      co_return std::make_unique<int>(8);
    };
    const std::unique_ptr<int> third = co_await race(cx, owner, owner);
    EXPECT_EQ(*third, 8);
  });
}

TEST(Race, race_all_takes_a_list_and_of_nothing_it_waits_until_it_is_cancelled) {
  race_in_lab([](Cx cx) -> Task<void> {
    std::vector<Task<int>> racers;
    for (int number = 0; number < 5; ++number) racers.push_back(racer(cx, number == 4 ? 6 : 9000 - number, number));
    const int first = co_await race_all(cx, std::move(racers));
    EXPECT_EQ(first, 4);
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(6)));
    const auto none = [](Cx inner) -> Task<int> {
      const int value = co_await race_all(inner, std::vector<Task<int>>());
      co_return value;
    };
    const Outcome<int> end = co_await outcome(timeout(cx, ms(4), none));
    EXPECT_TRUE(end.is_err());
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(10)));
    std::vector<Task<void>> quiet;
    quiet.push_back(never(cx));
    quiet.push_back([](Cx inner) -> Task<void> { co_await sleep(inner, ms(1)); }(cx));
    co_await race_all(cx, std::move(quiet));
  });
}

/// A branch that was made outside acts in its own fiber: scopes, masks, budgets, nested races.
Task<int> acts_where_it_runs(Cx cx, TaskId* task) {
  *task = cx.task();
  const auto body = [](Scope& scope) -> Task<int> {
    auto child = co_await scope.fiber(racer, std::int64_t{3}, 4);
    const int value = co_await std::move(child).join(scope.cx());
    co_return value;
  };
  const int value = co_await scope(cx, body);
  const int more = co_await timeout(cx, ms(9000), racer, std::int64_t{1}, 5);
  const int first = co_await race(cx, racer(cx, 1, 6), never<int>(cx));
  co_return value * 100 + more * 10 + first;
}

TEST(Race, CTX_1_a_task_that_was_made_outside_acts_in_the_fiber_that_runs_it) {
  race_in_lab([](Cx cx) -> Task<void> {
    TaskId left;
    TaskId right;
    const int first = co_await race(cx, acts_where_it_runs(cx, &left), acts_where_it_runs(cx, &right));
    EXPECT_EQ(first, 456);
    EXPECT_NE(left, right);
    EXPECT_NE(left, cx.task());
  });
}

TEST(Race, CTX_1_a_branch_made_with_a_tighter_context_than_the_races_is_refused) {
  const auto race_with_it = [] {
    const auto report = lab::run({}, [](Cx cx) -> Task<void> {
      const auto tighter = cx.with_deadline(cx.now() + ms(7));
      (void)co_await race(cx, racer(tighter, 50, 1), racer(cx, 60, 2));  // the race knows nothing of the deadline
    });
    (void)report;
  };
  EXPECT_DEATH(race_with_it(), "law: +CTX-1");
}

TEST(Race, BUD_3_what_the_one_who_waits_has_left_bounds_the_branches) {
  race_in_lab([](Cx cx) -> Task<void> {
    const auto tight = [](Cx inner) -> Task<int> {
      const auto tighter = inner.with_deadline(inner.now() + ms(7));
      const int first = co_await race(tighter, racer(tighter, 50'000, 1), racer(inner, 60'000, 2));
      co_return first;
    };
    const Outcome<int> end = co_await outcome(tight(cx));
    EXPECT_TRUE(end.is_cancelled());
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(7)));
  });
}

/// Lives until it is cancelled, and needs 20 ms then.
Task<int> stubborn_racer(Cx cx, std::vector<std::string>* log) {
  const Outcome<void> end = co_await outcome(never(cx));
  EXPECT_TRUE(end.is_cancelled());
  const CancelMask mask(cx);
  co_await sleep(cx, ms(20));
  log->emplace_back("loser drained");
  co_return 1;
}

TEST(Race, COM_3_a_race_that_is_a_branch_of_a_race_wins_when_one_of_its_branches_does) {
  std::vector<std::string> log;
  race_in_lab([&log](Cx cx) -> Task<void> {
    const std::int64_t other = in_lab() ? 10 : 10'000;  // a worker may be late, and both have ended then
    const int first = co_await race(cx, race(cx, racer(cx, 5, 42), stubborn_racer(cx, &log)), racer(cx, other, 7));
    log.emplace_back("race over");
    EXPECT_EQ(first, 42) << "and not who ended while its losers were drained";
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(25)));
  });
  EXPECT_EQ(log, (std::vector<std::string>{"loser drained", "race over"}));
}

TEST(Race, COM_2_a_task_that_goes_on_after_a_race_is_a_branch_as_any_other) {
  std::vector<std::string> log;
  race_in_lab([&log](Cx cx) -> Task<void> {
    const auto more_than_a_race = [&log](Cx inner) -> Task<int> {
      const int first = co_await race(inner, racer(inner, 5, 42), stubborn_racer(inner, &log));
      co_return first + 1;
    };
    const int first = co_await race(cx, more_than_a_race, racer(cx, 10, 7));
    EXPECT_EQ(first, 7);
    EXPECT_EQ(cx.now(), Time() + ms(25));
  });
}

TEST(Race, CAN_12_COM_3_branches_of_a_race_that_loses_hear_of_it_at_once_and_a_mask_keeps_it_from_them) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    std::vector<std::string> log;
    const auto report = lab::run({.seed = seed}, [&log](Cx cx) -> Task<void> {
      const auto masked = [&log](Cx inner) -> Task<int> {
        const CancelMask mask(inner);
        co_await sleep(inner, ms(8));
        log.emplace_back("masked work done");
        co_return 2;
      };
      const auto awake = [&log](Cx inner) -> Task<int> {
        const Outcome<void> end = co_await outcome(sleep(inner, ms(5)));  // due with the winner: first or never
        log.emplace_back(end.is_ok() ? "slept" : "stopped");
        co_return 3;
      };
      const int first = co_await race(cx, racer(cx, 5, 1), race(cx, masked, awake));
      EXPECT_EQ(log[0], first == 1 ? "stopped" : "slept");
      EXPECT_TRUE(comes_at(cx.now(), Time() + ms(8)));
    });
    EXPECT_LAB_CLEAN(report);
    EXPECT_EQ(log.size(), 2U);
    EXPECT_EQ(log.back(), "masked work done");
  }
}

/// Two branches of which any may be first; the loser may panic.
Task<void> two_racers(Cx cx) {
  const auto quick = [](Cx inner) -> Task<int> {
    co_await yield(inner);
    co_return 1;
  };
  const auto sore = [](Cx inner) -> Task<int> {
    const Outcome<void> end = co_await outcome(yield(inner));
    if (end.is_cancelled()) throw std::runtime_error("sore loser");
    co_return 2;
  };
  const Outcome<int> end = co_await outcome(race(cx, quick, sore));
  if (cx.is_cancelled()) co_return;
  // It wins, or it panics and is told of, or it was cancelled before it began: never anything else.
  const bool lawful = end.is_ok() && (end.value() == 2 ? end.notes().empty() : end.notes().size() <= 1);
  if (!lawful) co_await fail(Error(Errc::protocol, end.explain()));
}

TEST(Race, COM_2_I5_two_with_a_panicking_loser_in_every_schedule) {
  EXPECT_GE(contest::explore_both_ways(two_racers), 3U);
}

/// The same with two more in a race of their own.
Task<void> three_racers(Cx cx) {
  const auto steps = [](Cx inner, int value) -> Task<int> {
    const Outcome<void> end = co_await outcome(yield(inner));
    if (end.is_cancelled()) co_await fail_with(cancelled(end.reason()));
    co_return value;
  };
  const Outcome<int> end = co_await outcome(race(cx, steps(cx, 1), race(cx, steps(cx, 2), steps(cx, 4))));
  if (!cx.is_cancelled() && !end.is_ok()) co_await fail(Error(Errc::protocol, end.explain()));
}

TEST(Race, COM_3_I5_a_race_in_a_race_in_every_schedule) { EXPECT_GE(contest::explore_both_ways(three_racers), 6U); }

/// Has a scope with a child and a finalizer when it is cancelled.
Task<int> acts_and_cleans(Cx cx) {
  const auto body = [](Scope& scope) -> Task<int> {
    const auto clean_up = [](Cx last) -> Task<void> { co_await sleep(last, ms(1)); };
    co_await scope.defer_async(clean_up);
    auto child = co_await scope.fiber(racer, std::int64_t{2}, 3);
    const int value = co_await std::move(child).join(scope.cx());
    co_return value;
  };
  const int value = co_await scope(cx, body);
  co_return value;
}

TEST(Race, CAN_13_a_cancel_at_any_await_point_of_races_in_races_leaves_nothing_behind) {
  contest::cancel_everywhere_in([](Cx cx) -> Task<void> {
    const Outcome<int> end = co_await outcome(
        race(cx, race(cx, acts_and_cleans(cx), race(cx, never<int>(cx), racer(cx, 1, 1))), throws_when_cancelled(cx)));
    (void)end;
  });
}

TEST(Race, CAN_13_a_cancel_at_any_await_point_leaves_nothing_behind) {
  contest::cancel_everywhere_in([](Cx cx) -> Task<void> {
    const Outcome<int> end = co_await outcome(race(cx, racer(cx, 1, 1), acts_and_cleans(cx)));
    (void)end;
  });
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
