// Several branches until all have ended: all values, or the fold of their ends.
#include "calm/combinator/join.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../sync/contest.hpp"
#include "calm/combinator/never.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using contest::ms;

template <class F>
void join_in_lab(F program) {
  const auto report = lab::run({}, std::move(program));
  EXPECT_LAB_CLEAN(report);
  EXPECT_TRUE(report.end.is_ok()) << report.end.explain();
}

Task<int> part(Cx cx, std::int64_t after, int value) {
  co_await sleep(cx, ms(after));
  co_return value;
}

Task<int> failing_part(Cx cx, std::int64_t after, Errc code) {
  co_await sleep(cx, ms(after));
  co_return err(code);
}

Task<std::string> text_part(Cx cx) {
  co_await sleep(cx, ms(3));
  co_return "text";
}

Task<void> silent_part(Cx cx) { co_await sleep(cx, ms(1)); }

TEST(Join, COM_1_gives_all_values_when_the_last_branch_has_ended) {
  join_in_lab([](Cx cx) -> Task<void> {
    const std::tuple<int, std::string, Unit> all = co_await join(cx, part(cx, 5, 42), text_part(cx), silent_part(cx));
    EXPECT_EQ(std::get<0>(all), 42);
    EXPECT_EQ(std::get<1>(all), "text");
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(5)));
    co_await join(cx, silent_part(cx), silent_part);
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(6)));
  });
}

TEST(Join, COM_1_join_all_keeps_the_order_of_its_list_and_of_nothing_it_gives_an_empty_one) {
  join_in_lab([](Cx cx) -> Task<void> {
    std::vector<Task<int>> parts;
    for (int number = 0; number < 5; ++number) parts.push_back(part(cx, 10 - number, number));
    const std::vector<int> values = co_await join_all(cx, std::move(parts));
    EXPECT_EQ(values, (std::vector<int>{0, 1, 2, 3, 4}));
    const std::vector<int> none = co_await join_all(cx, std::vector<Task<int>>());
    EXPECT_TRUE(none.empty());
    std::vector<Task<void>> silent;
    silent.push_back(silent_part(cx));
    co_await join_all(cx, std::move(silent));
  });
}

TEST(Join, COM_1_the_first_failure_cancels_the_others_and_they_are_drained) {
  join_in_lab([](Cx cx) -> Task<void> {
    bool drained = false;
    const auto looks = [&drained](Cx inner) -> Task<int> {
      const Outcome<void> end = co_await outcome(never(inner));
      EXPECT_TRUE(end.is_cancelled());
      drained = true;
      co_return 3;
    };
    const auto joins = [&looks](Cx inner) -> Task<void> {
      (void)co_await join(inner, looks, failing_part(inner, 2, Errc::full), failing_part(inner, 9000, Errc::io));
    };
    const Outcome<void> end = co_await outcome(joins(cx));
    EXPECT_TRUE(drained);
    EXPECT_TRUE(end.is_err());
    EXPECT_EQ(end.error().code(), Errc::full) << "those that were cancelled for it do not count";
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(2)));
  });
}

TEST(Join, OUT_5_an_exception_of_a_branch_is_thrown_where_it_is_joined) {
  join_in_lab([](Cx cx) -> Task<void> {
    const auto throws = [](Cx inner) -> Task<int> {
      co_await sleep(inner, ms(1));
      throw std::runtime_error("broken part");
    };
    std::string caught;
    try {
      (void)co_await join(cx, part(cx, 5, 1), throws);
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    EXPECT_EQ(caught, "broken part");
  });
}

TEST(Join, COM_1_join_outcomes_waits_for_all_and_shows_every_end) {
  join_in_lab([](Cx cx) -> Task<void> {
    auto ends = co_await join_outcomes(cx, failing_part(cx, 1, Errc::full), part(cx, 5, 7));
    EXPECT_TRUE(std::get<0>(ends).is_err());
    EXPECT_EQ(std::get<1>(ends).value_or(0), 7);
    std::vector<Task<int>> parts;
    parts.push_back(part(cx, 2, 1));
    parts.push_back(failing_part(cx, 1, Errc::io));
    const auto list = co_await join_all_outcomes(cx, std::move(parts));
    EXPECT_EQ(list.size(), 2U);
    EXPECT_TRUE(list[0].is_ok());
    EXPECT_TRUE(list[1].is_err());
  });
}

/// A branch that can be moved so many times.
class FragileBranch {
 public:
  explicit FragileBranch(int moves) : moves_(moves) {}
  FragileBranch(FragileBranch&& other) : moves_(other.moves_ - 1) {  // NOLINT(*-noexcept-move-*): it is to throw
    if (moves_ < 0) throw std::runtime_error("broken on the way");
  }
  CALM_CORO_WRAPPER Task<int> operator()(Cx cx) const { return part(cx, 1, 1); }

 private:
  int moves_;
};

TEST(Join, I5_a_branch_that_breaks_on_its_way_into_the_region_ends_the_others) {
  int values = 0;
  const int whole = in_lab() ? 50 : 2;  // there it takes no time
  int runs = 0;
  for (int moves = 0; moves < 40; moves += in_lab() ? 1 : 4) {
    ++runs;
    join_in_lab([&values, moves, whole](Cx cx) -> Task<void> {
      const auto joins = [moves, whole](Cx inner) -> Task<int> {
        const std::tuple<int, int> both = co_await join(inner, part(inner, whole, 1), FragileBranch(moves));
        co_return std::get<0>(both);
      };
      const Outcome<int> end = co_await outcome(joins(cx));
      EXPECT_TRUE(end.is_ok() || end.is_panicked()) << end.explain();
      values += end.is_ok() ? 1 : 0;
      EXPECT_TRUE(comes_at(cx.now(), end.is_ok() ? Time() + ms(whole) : Time()));
    });
  }
  EXPECT_GT(values, runs / 4);
  EXPECT_LT(values, runs);
}

/// One branch fails at some time, the other ends at some time.
Task<void> one_fails(Cx cx) {
  lab::Shared<int> done(cx, 0);
  const auto works = [&done](Cx inner) -> Task<int> {
    co_await yield(inner);
    ++done.changed(inner);
    co_return 1;
  };
  const auto fails = [](Cx inner) -> Task<int> {
    co_await yield(inner);
    co_return err(Errc::full);
  };
  const auto joins = [&](Cx inner) -> Task<void> { (void)co_await join(inner, works, fails); };
  const Outcome<void> end = co_await outcome(joins(cx));
  if (cx.is_cancelled()) co_return;
  if (!end.is_err() || end.error().code() != Errc::full) co_await fail(Error(Errc::protocol, end.explain()));
}

TEST(Join, I5_OUT_4_the_failure_is_the_end_in_every_schedule) { EXPECT_GE(contest::explore_both_ways(one_fails), 3U); }

TEST(Join, CAN_13_a_cancel_at_any_await_point_leaves_nothing_behind) { contest::cancel_everywhere_in(one_fails); }

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
