// Every allocation of a combinator fails in turn: its branches end, nothing is left, and what is thrown is told.
#include <gtest/gtest.h>

#include <stdexcept>
#include <tuple>
#include <vector>

#include "calm/combinator/hedge.hpp"
#include "calm/combinator/join.hpp"
#include "calm/combinator/never.hpp"
#include "calm/combinator/quorum.hpp"
#include "calm/combinator/race.hpp"
#include "calm/combinator/retry.hpp"
#include "calm/lab/everywhere.hpp"
#include "calm/lab/gtest.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

Task<int> has_no_memory(Cx cx, int value) {
  co_await sleep(cx, Duration::milliseconds(value));
  co_return value;
}

/// Loses every race, badly.
Task<int> loses_badly(Cx cx) {
  const Outcome<int> end = co_await outcome(never<int>(cx));
  if (end.is_cancelled()) throw std::runtime_error("a loser with a long enough text to need memory of its own");
  co_return 0;
}

Task<void> every_combinator(Cx cx) {
  const int first = co_await race(cx, race(cx, has_no_memory(cx, 2), loses_badly(cx)), never<int>(cx));
  const std::tuple<int, int> both = co_await join(cx, has_no_memory(cx, 1), has_no_memory(cx, 2));
  std::vector<Task<int>> list;
  for (int number = 1; number <= 3; ++number) list.push_back(has_no_memory(cx, number));
  const std::vector<int> votes = co_await quorum_all(cx, 2, std::move(list));
  const int early = co_await hedge(cx, Duration::milliseconds(1), has_no_memory, 5);
  const Retry strategy;
  const int again = co_await retry(cx, strategy, has_no_memory, 1);
  if (first + std::get<0>(both) + votes[1] + early + again != 11) co_await fail(Errc::protocol);
}

TEST(CombinatorAllocations, LAB_7_HND_3_nothing_is_left_behind_whichever_allocation_fails) {
  const auto report = lab::fail_allocations_everywhere({}, every_combinator);
  EXPECT_LAB_CLEAN(report);
  EXPECT_TRUE(report.sees_new);
  EXPECT_GT(report.points_seen, 40U);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
