// Enough values of several branches, late answers asked for again, and work that failed done again.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../sync/contest.hpp"
#include "calm/combinator/backoff.hpp"
#include "calm/combinator/hedge.hpp"
#include "calm/combinator/never.hpp"
#include "calm/combinator/quorum.hpp"
#include "calm/combinator/retry.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "struck.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using contest::ms;

template <class F>
void attempts_in_lab(F program, std::uint64_t seed = 1) {
  const auto report = lab::run({.seed = seed}, std::move(program));
  EXPECT_LAB_CLEAN(report);
  EXPECT_TRUE(report.end.is_ok()) << report.end.explain();
}

Task<int> answers(Cx cx, std::int64_t after, int value) {
  co_await sleep(cx, ms(after));
  co_return value;
}

Task<int> declines(Cx cx, std::int64_t after, Errc code) {
  co_await sleep(cx, ms(after));
  co_return err(code);
}

TEST(FirstOk, COM_1_the_first_value_wins_and_failures_before_it_are_notes) {
  attempts_in_lab([](Cx cx) -> Task<void> {
    const Outcome<int> end =
        co_await outcome(first_ok(cx, declines(cx, 1, Errc::full), answers(cx, 5, 42), answers(cx, 9000, 7)));
    EXPECT_EQ(end.value_or(0), 42);
    EXPECT_EQ(end.notes().size(), 1U);
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(5)));
  });
}

TEST(FirstOk, COM_1_when_all_fail_it_fails_with_the_worst_of_them) {
  attempts_in_lab([](Cx cx) -> Task<void> {
    const Outcome<int> end = co_await outcome(first_ok(cx, declines(cx, 5, Errc::full), declines(cx, 1, Errc::io)));
    EXPECT_TRUE(end.is_err());
    EXPECT_EQ(end.error().code(), Errc::full) << "of equals the one that is written first";
    EXPECT_EQ(end.notes().size(), 2U);
    const auto throws = [](Cx inner) -> Task<int> {
      co_await sleep(inner, ms(1));
      throw std::runtime_error("broken");
    };
    const Outcome<int> thrown = co_await outcome(first_ok(cx, declines(cx, 5, Errc::full), throws));
    EXPECT_TRUE(thrown.is_panicked());
    const Outcome<int> none = co_await outcome(first_ok_all(cx, std::vector<Task<int>>()));
    EXPECT_TRUE(none.is_err());
    EXPECT_EQ(none.error().code(), Errc::empty);
  });
}

TEST(Quorum, COM_1_gives_the_values_that_came_first_in_the_order_of_the_branches) {
  attempts_in_lab([](Cx cx) -> Task<void> {
    const std::vector<int> votes =
        co_await quorum(cx, 2, answers(cx, 9000, 1), declines(cx, 1, Errc::io), answers(cx, 3, 3), answers(cx, 5, 4));
    EXPECT_EQ(votes, (std::vector<int>{3, 4}));
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(5)));
  });
}

TEST(Quorum, COM_1_fails_as_soon_as_there_cannot_be_enough) {
  attempts_in_lab([](Cx cx) -> Task<void> {
    const Outcome<std::vector<int>> end = co_await outcome(
        quorum(cx, 2, declines(cx, 4, Errc::full), answers(cx, 1, 1), declines(cx, 2, Errc::io), answers(cx, 9, 2)));
    EXPECT_TRUE(end.is_ok()) << "two of four can still be had";
    std::vector<Task<int>> list;
    list.push_back(declines(cx, 2, Errc::full));
    list.push_back(answers(cx, 1, 1));
    list.push_back(answers(cx, 50'000, 1));
    const Time before = cx.now();
    const Outcome<std::vector<int>> failed = co_await outcome(quorum_all(cx, 3, std::move(list)));
    EXPECT_TRUE(failed.is_err());
    EXPECT_TRUE(comes_at(cx.now(), before + ms(2)));
    for (const std::size_t oks : {std::size_t{0}, std::size_t{2}}) {
      const Outcome<std::vector<int>> wrong = co_await outcome(quorum(cx, oks, answers(cx, 1, 1)));
      EXPECT_TRUE(wrong.is_err());
      EXPECT_EQ(wrong.error().code(), Errc::invalid_argument);
    }
  });
}

/// Two of three, which of them the schedule says; the third is told nothing that it could be counted for.
Task<void> two_of_three(Cx cx) {
  const auto votes_for = [](int value) {
    return [value](Cx inner) -> Task<int> {
      co_await yield(inner);
      co_return value;
    };
  };
  const auto votes = [&](Cx inner) -> Task<int> {
    const std::vector<int> values = co_await quorum(inner, 2, votes_for(1), votes_for(2), votes_for(4));
    co_return values[0] + values[1] + (values.size() == 2 ? 0 : 100);
  };
  const Outcome<int> end = co_await outcome(votes(cx));
  if (cx.is_cancelled()) co_return;
  const int sum = end.value_or(0);
  if (sum != 3 && sum != 5 && sum != 6) co_await fail(Error(Errc::protocol, end.explain()));
}

TEST(Quorum, I5_COM_1_two_of_three_in_every_schedule) { EXPECT_GE(contest::explore_all_of(two_of_three), 6U); }

TEST(Quorum, CAN_13_a_cancel_at_any_await_point_leaves_nothing_behind) {
  contest::cancel_everywhere_in(two_of_three, 2);
}

TEST(Hedge, COM_1_a_late_answer_is_asked_for_again_and_an_early_one_is_not) {
  attempts_in_lab([](Cx cx) -> Task<void> {
    int asked = 0;
    const auto slow_first = [&asked](Cx inner, int base) -> Task<int> {
      const int number = asked++;
      co_await sleep(inner, ms(number == 0 ? 100'000 : 5));
      co_return base + number;
    };
    const int late = co_await hedge(cx, ms(20), slow_first, 10);
    EXPECT_EQ(late, 11);
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(25)));
    asked = 1;
    const int early = co_await hedge(cx, ms(20'000), slow_first, 10);
    EXPECT_EQ(early, 11);
    EXPECT_EQ(asked, 2) << "the second attempt never began";
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(30)));
  });
}

TEST(Hedge, COM_1_fails_when_all_attempts_have_failed) {
  attempts_in_lab([](Cx cx) -> Task<void> {
    const auto declining = [](Cx inner) -> Task<int> {
      const int value = co_await declines(inner, 1, Errc::busy);
      co_return value;
    };
    const Hedge three{.delay = ms(10), .attempts = 3};
    const Outcome<int> end = co_await outcome(hedge(cx, three, declining));
    EXPECT_TRUE(end.is_err());
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(21)));
  });
}

/// What the attempts of one run count for themselves.
struct AttemptLedger {
  int begun = 0;
  int kept = 0;
  int broken = 0;
  std::optional<Outcome<int>> end{};

  /// Gives: what is wrong; nothing where every attempt has ended before the whole did, and that ended as it may.
  [[nodiscard]] std::string fault(bool cancelled, const std::set<int>& values) const {
    if (begun != kept + broken) return "an attempt has not ended";
    if (!end) return cancelled ? "" : "it has not ended";
    if (end->is_cancelled() && cancelled) return "";
    if (!end->is_ok() || !values.contains(end->value())) return end->explain();
    return kept > 0 ? "" : "a value, and nobody kept his promise";
  }
};

/// A promise that is in the ledger once, whichever way its frame ends.
struct LedgerPledge {
  Obligation token;
  AttemptLedger* ledger;

  void keep() {
    (void)token.commit();
    ++std::exchange(ledger, nullptr)->kept;
  }
  ~LedgerPledge() {
    if (ledger == nullptr) return;
    (void)token.abort();
    ++ledger->broken;
  }
};

/// Makes a promise, waits, and keeps it for a value above 0.
Task<int> attempts_with_promise(Cx cx, AttemptLedger* ledger, Duration time, int value) {
  Obligation token = co_await reserve(cx, ObligationKind::lease);
  LedgerPledge pledge{std::move(token), ledger};
  ++ledger->begun;
  if (time > Duration()) {
    co_await sleep(cx, time);
  } else {
    co_await yield(cx);
  }
  if (value == 0) co_return err(Errc::full);
  pledge.keep();
  co_return value;
}

// Who is cancelled: the one who waits, 0, or
constexpr int no_victim = -1;
constexpr int any_victim = -2;  // the lab strikes, wherever it likes

/// One that fails and two with a value, of which any may be first; the one who waits for them is cancelled, or not.
template <int victim>
Task<void> first_of_three(Cx cx) {
  AttemptLedger ledger;
  const auto asks = [&ledger](Cx inner, int /*number*/) -> Task<void> {
    std::vector<Task<int>> three;
    for (int value = 0; value < 3; ++value) {
      three.push_back(attempts_with_promise(inner, &ledger, Duration(), value));
    }
    ledger.end.emplace(co_await outcome(first_ok_all(inner, std::move(three))));
  };
  co_await contest::run_contest(cx, asks, 1, victim);
  const std::string fault = ledger.fault(victim != no_victim || cx.is_cancelled(), {1, 2});
  if (!fault.empty()) co_await fail(Error(Errc::protocol, fault));
}

TEST(FirstOk, I5_COM_1_a_failure_and_two_values_in_every_schedule) {
  EXPECT_GE(contest::explore_all_of(first_of_three<no_victim>), 6U);
  EXPECT_GE(contest::explore_all_of(first_of_three<0>), 12U);
}

TEST(FirstOk, CAN_13_a_cancel_at_any_await_point_leaves_no_attempt_behind) {
  contest::strike_and_count(first_of_three<any_victim>);
}

/// The first attempt ends when the second begins, with a value or without; the one who waits is cancelled, or not.
template <int victim, int first_value>
Task<void> asked_twice(Cx cx) {
  AttemptLedger ledger;
  int asked = 0;
  const auto asks = [&](Cx inner, int /*number*/) -> Task<void> {
    const auto tries = [&](Cx branch) -> Task<int> {
      lab::touch(branch, "asked", trace::Access::write);
      const bool first = asked++ == 0;
      const int value =
          co_await attempts_with_promise(branch, &ledger, first ? ms(1) : Duration(), first ? first_value : 2);
      co_return value;
    };
    ledger.end.emplace(co_await outcome(hedge(inner, ms(1), tries)));
  };
  co_await contest::run_contest(cx, asks, 1, victim);
  const std::string fault =
      ledger.fault(victim != no_victim || cx.is_cancelled(), {first_value > 0 ? first_value : 2, 2});
  if (!fault.empty()) co_await fail(Error(Errc::protocol, fault));
}

TEST(Hedge, I5_COM_1_an_answer_that_comes_when_it_is_asked_for_again_in_every_schedule) {
  for (const bool time : {false, true}) {
    if (time && !in_lab()) continue;  // real time needs no exploration
    const lab::ExploreConfig config{.explore_time = time};
    for (const auto& report :
         {lab::explore(asked_twice<no_victim, 1>, config), lab::explore(asked_twice<no_victim, 0>, config),
          lab::explore(asked_twice<0, 1>, config), lab::explore(asked_twice<0, 0>, config)}) {
      EXPECT_LAB_CLEAN(report);
      EXPECT_TRUE(report.exhausted());
      EXPECT_GE(report.counts.executions, 2U);
    }
  }
}

TEST(Hedge, CAN_13_a_cancel_at_any_await_point_leaves_no_attempt_behind) {
  contest::strike_and_count(asked_twice<any_victim, 1>);
  contest::strike_and_count(asked_twice<any_victim, 0>);
}

/// Fails so many times; counts the attempts.
struct Flaky {
  int* attempts;
  int failures;
  Task<int> operator()(Cx cx) const {
    const int number = ++*attempts;
    co_await yield(cx);
    if (number <= failures) co_return err(number == 1 ? Errc::busy : Errc::io);
    co_return number;
  }
};

TEST(Retry, COM_1_does_it_again_until_it_gives_a_value_with_a_growing_pause) {
  attempts_in_lab([](Cx cx) -> Task<void> {
    int attempts = 0;
    const Flaky flaky{&attempts, 3};
    const Retry growing{.backoff = Backoff::exponential(ms(10)).capped(ms(15)), .attempts = 5};
    const Outcome<int> end = co_await outcome(retry(cx, growing, flaky));
    EXPECT_EQ(end.value_or(0), 4);
    EXPECT_EQ(end.notes().size(), 3U) << "what each failed attempt ended with";
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(10 + 15 + 15)));
  });
}

TEST(Retry, COM_1_gives_the_last_error_when_attempts_or_the_predicate_allow_no_more) {
  attempts_in_lab([](Cx cx) -> Task<void> {
    int attempts = 0;
    const Flaky flaky{&attempts, 100};
    const Retry two{.attempts = 2};
    const Outcome<int> twice = co_await outcome(retry(cx, two, flaky));
    EXPECT_TRUE(twice.is_err());
    EXPECT_EQ(twice.error().code(), Errc::io);
    EXPECT_EQ(attempts, 2);

    attempts = 0;
    Retry only_busy{.attempts = 9};
    only_busy.again = [](const Error& error) { return error.code() == Errc::busy; };
    const Outcome<int> picky = co_await outcome(retry(cx, only_busy, flaky));
    EXPECT_TRUE(picky.is_err());
    EXPECT_EQ(attempts, 2) << "the second error is none to try again for";
  });
}

TEST(Retry, COM_1_gives_the_last_error_when_its_time_allows_no_more) {
  attempts_in_lab([](Cx cx) -> Task<void> {
    int attempts = 0;
    const Flaky flaky{&attempts, 100};
    const Time before = cx.now();
    const Retry short_time{.backoff = Backoff::linear(ms(10), ms(10)), .attempts = 9, .total_time = ms(59)};
    const Outcome<int> timed = co_await outcome(retry(cx, short_time, flaky));
    EXPECT_TRUE(timed.is_err());
    EXPECT_EQ(attempts, 3);
    EXPECT_EQ(cx.now(), before + ms(30)) << "a pause that could not end in time is not begun";
  });
}

TEST(Retry, COM_1_an_attempt_that_takes_too_long_fails_with_timeout_and_is_done_again) {
  attempts_in_lab([](Cx cx) -> Task<void> {
    int attempts = 0;
    const auto slow_once = [&attempts](Cx inner) -> Task<int> {
      if (++attempts == 1) co_await never(inner);
      co_return attempts;
    };
    const Retry impatient{.attempt_time = ms(7)};
    const int value = co_await retry(cx, impatient, slow_once);
    EXPECT_EQ(value, 2);
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(7)));
  });
}

TEST(Retry, BUD_3_a_pause_that_outlasts_the_deadline_is_not_begun) {
  attempts_in_lab([](Cx cx) -> Task<void> {
    int attempts = 0;
    const auto tight = [&attempts](Cx inner) -> Task<int> {
      const auto tighter = inner.with_deadline(inner.now() + ms(5000));
      const Retry paused{.backoff = Backoff::fixed(ms(10'000))};
      const Flaky flaky{&attempts, 100};
      const int value = co_await retry(tighter, paused, flaky);
      co_return value;
    };
    const Outcome<int> end = co_await outcome(tight(cx));
    EXPECT_TRUE(end.is_err()) << end.explain();
    EXPECT_EQ(attempts, 1);
    EXPECT_TRUE(comes_at(cx.now(), Time()));
  });
}

TEST(Retry, OUT_5_an_exception_is_not_retried) {
  attempts_in_lab([](Cx cx) -> Task<void> {
    int attempts = 0;
    const auto throws = [&attempts](Cx inner) -> Task<int> {
      ++attempts;
      co_await yield(inner);
      throw std::runtime_error("a bug");
    };
    const Retry three;
    const Outcome<int> thrown = co_await outcome(retry(cx, three, throws));
    EXPECT_TRUE(thrown.is_panicked());
    EXPECT_EQ(attempts, 1);
  });
}

TEST(Retry, CAN_7_a_cancellation_is_not_retried) {
  contest::cancel_everywhere_in(
      [](Cx cx) -> Task<void> {
        int attempts = 0;
        const Retry paused{.backoff = Backoff::fixed(ms(1))};
        const Flaky flaky{&attempts, 2};
        const Outcome<int> end = co_await outcome(retry(cx, paused, flaky));
        if (end.is_err()) co_await fail(Error(Errc::protocol, "a cancellation became an error"));
      },
      2);
}

TEST(Backoff, COM_1_delays_are_fixed_linear_or_exponential_with_a_ceiling) {
  EXPECT_EQ(Backoff::fixed(ms(4)).after(1), ms(4));
  EXPECT_EQ(Backoff::fixed(ms(4)).after(9), ms(4));
  EXPECT_EQ(Backoff::linear(ms(4), ms(3)).after(1), ms(4));
  EXPECT_EQ(Backoff::linear(ms(4), ms(3)).after(3), ms(10));
  EXPECT_EQ(Backoff::exponential(ms(4), 3).after(3), ms(36));
  EXPECT_EQ(Backoff::exponential(ms(4)).after(4'000'000'000), Duration::max()) << "no overflow, and no long loop";
  EXPECT_EQ(Backoff::exponential(ms(4)).capped(ms(100)).after(60), ms(100));
}

TEST(Backoff, I7_jitter_comes_from_the_context_and_stays_within_its_part) {
  std::set<std::int64_t> pauses;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    attempts_in_lab(
        [&pauses](Cx cx) -> Task<void> {
          int attempts = 0;
          const Retry jittered{.backoff = Backoff::fixed(ms(100)).jittered(40)};
          const Flaky flaky{&attempts, 1};
          const int value = co_await retry(cx, jittered, flaky);
          EXPECT_EQ(value, 2);
          EXPECT_GE(cx.now(), Time() + ms(60));
          EXPECT_LE(cx.now(), Time() + ms(100));
          pauses.insert((cx.now() - Time()).ns());
        },
        seed);
  }
  EXPECT_GT(pauses.size(), 6U);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
