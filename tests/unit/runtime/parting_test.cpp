// Workers that are in each other's way: one goes on alone, and nothing is lost when they part or come together again.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/parting.hpp"
#include "calm/runtime/run.hpp"
#include "calm/sync/mutex.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines): what
// they refer to outlives the run

constexpr int tasks = 6;
constexpr int rounds = 3000;

Task<void> count_under_lock(Cx cx, Mutex<std::uint64_t>& number) {
  for (int i = 0; i < rounds; ++i) {
    const Mutex<std::uint64_t>::Guard guard = co_await number.lock(cx);
    ++*guard;
  }
}

/// Gives: how far tasks came that all want the same lock.
Task<std::uint64_t> quarrel(Cx cx) {
  Mutex<std::uint64_t> number(cx, 0);
  const auto body = [&number](Scope& scope) -> Task<void> {
    const auto counts = [&number](Cx inner) -> Task<void> { co_await count_under_lock(inner, number); };
    for (int i = 0; i < tasks; ++i) (void)co_await scope.spawn(counts);
  };
  co_await scope(cx, body);
  const Mutex<std::uint64_t>::Guard guard = co_await number.lock(cx);
  co_return *guard;
}

class PartingOn : public testing::TestWithParam<std::uint16_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, PartingOn, testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(PartingOn, SCH_6_CHN_12_workers_that_quarrel_lose_nothing) {
  RunOptions options{.workers = GetParam()};
  options.worth_sharing = Duration::nanoseconds(1);
  const auto again_and_again = [](Cx cx) -> Task<void> {
    for (int i = 0; i < 10; ++i) {
      const std::uint64_t all = co_await quarrel(cx);
      EXPECT_EQ(all, std::uint64_t{tasks} * rounds);
    }
  };
  EXPECT_TRUE(block_on(again_and_again, options).is_ok());
}

TEST_P(PartingOn, SCH_6_SCH_8_work_that_comes_to_a_sleeping_company_is_done) {
  RunOptions options{.workers = GetParam()};
  options.worth_sharing = Duration::nanoseconds(1);
  const auto sleeps_and_quarrels = [](Cx cx) -> Task<void> {
    for (int i = 0; i < 20; ++i) {
      co_await sleep(cx, Duration::microseconds(200));
      const std::uint64_t all = co_await quarrel(cx);
      EXPECT_EQ(all, std::uint64_t{tasks} * rounds);
    }
  };
  EXPECT_TRUE(block_on(sleeps_and_quarrels, options).is_ok());
}

using Guard = Mutex<std::uint64_t>::Guard;

Task<void> end_the_guard(Cx cx, Guard guard) {
  co_await yield(cx);
  ++*guard;
}

/// Each guard ends in another task than the one that has the lock, which goes on meanwhile, on another worker or on the same.
Task<void> pass_guards_on(Cx cx, Mutex<std::uint64_t>& number) {
  const auto body = [&number](Scope& scope) -> Task<void> {
    for (int i = 0; i < rounds / 10; ++i) {
      Guard guard = co_await number.lock(scope.cx());
      Handle<void> other = co_await scope.spawn(end_the_guard, std::move(guard));
      for (int turn = 0; turn < i % 4; ++turn) co_await yield(scope.cx());
      co_await std::move(other).join(scope.cx());
    }
  };
  co_await scope(cx, body);
}

TEST_P(PartingOn, SCH_6_OBL_2_guards_end_on_any_worker_alone_or_in_company) {
  RunOptions options{.workers = GetParam()};
  options.worth_sharing = Duration::nanoseconds(1);
  const auto quarrels_with_guards = [](Cx cx) -> Task<void> {
    Mutex<std::uint64_t> number(cx, 0);
    const auto body = [&number](Scope& scope) -> Task<void> {
      const auto passes = [&number](Cx inner) -> Task<void> { co_await pass_guards_on(inner, number); };
      const auto counts = [&number](Cx inner) -> Task<void> { co_await count_under_lock(inner, number); };
      for (int i = 0; i < tasks; ++i) {
        (void)co_await scope.spawn(passes);
        (void)co_await scope.spawn(counts);
      }
    };
    co_await scope(cx, body);
    EXPECT_FALSE(number.is_locked());
    const Guard guard = co_await number.lock(cx);
    EXPECT_EQ(*guard, std::uint64_t{tasks} * (rounds + rounds / 10));
  };
  EXPECT_TRUE(block_on(quarrels_with_guards, options).is_ok());
}

constexpr Time at_ms(int ms) { return Time() + Duration::milliseconds(ms); }

TEST(Parting, SCH_6_takeovers_are_too_many_when_they_cost_more_than_the_time_they_came_in) {
  using runtime::Parting;
  EXPECT_FALSE(Parting::is_too_much(0, Duration::nanoseconds(100)));
  EXPECT_FALSE(Parting::is_too_much(1, Duration::nanoseconds(100))) << "one says nothing";
  EXPECT_TRUE(Parting::is_too_much(2, Duration::nanoseconds(100)));
  EXPECT_TRUE(Parting::is_too_much(51, Duration::microseconds(50)));
  EXPECT_FALSE(Parting::is_too_much(50, Duration::microseconds(50)));
  EXPECT_TRUE(Parting::is_too_much(2, Duration()));
}

TEST(Parting, SCH_6_lasts_longer_each_time_and_is_forgotten_after_a_good_while) {
  runtime::Parting parting;
  EXPECT_FALSE(parting.lasts(Time()));
  EXPECT_TRUE(parting.begin(at_ms(10)));
  EXPECT_TRUE(parting.lasts(at_ms(11)));
  EXPECT_FALSE(parting.begin(at_ms(11))) << "they are apart already";
  EXPECT_FALSE(parting.lasts(at_ms(12)));
  EXPECT_TRUE(parting.begin(at_ms(13))) << "again, so twice as long";
  EXPECT_TRUE(parting.lasts(at_ms(16)));
  EXPECT_FALSE(parting.lasts(at_ms(17)));
  int now = 17;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(parting.begin(at_ms(now)));
    int lasts = 0;
    for (; parting.lasts(at_ms(now)); ++now) ++lasts;
    EXPECT_LE(lasts, 100);
    if (i > 5) {
      EXPECT_EQ(lasts, 100);
    }
  }
  now += 400;
  EXPECT_TRUE(parting.begin(at_ms(now)));
  EXPECT_FALSE(parting.lasts(at_ms(now + 2))) << "what was long ago does not count";
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
