// Programs on several workers: what holds on one holds on all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "calm/channel/mpsc.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/pace.hpp"
#include "calm/runtime/run.hpp"
#include "calm/sched/lane.hpp"
#include "tests/run_way.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

class OnWorkers : public testing::TestWithParam<std::uint16_t> {
 protected:
  template <class F>
  auto run_program(F program) {
    return block_on(std::move(program), options_here(GetParam()));
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, OnWorkers, testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

Task<std::uint64_t> fib(Cx cx, int n);

Task<std::uint64_t> fib_in(Scope& scope, int n) {
  Handle<std::uint64_t> left = co_await scope.spawn(fib, n - 1);
  Handle<std::uint64_t> right = co_await scope.spawn(fib, n - 2);
  const std::uint64_t a = co_await std::move(left).join(scope.cx());
  const std::uint64_t b = co_await std::move(right).join(scope.cx());
  co_return a + b;
}

struct FibBody {
  int n;
  CALM_CORO_WRAPPER Task<std::uint64_t> operator()(Scope& scope) const { return fib_in(scope, n); }
};

Task<std::uint64_t> fib(Cx cx, int n) {
  if (n < 2) co_return static_cast<std::uint64_t>(n);
  FibBody body{n};
  const std::uint64_t value = co_await scope(cx, body);
  co_return value;
}

Task<std::uint64_t> fib_15(Cx cx) {
  const std::uint64_t value = co_await fib(cx, 15);
  co_return value;
}

TEST(RunWays, tests_take_turns_between_what_a_program_gets_and_what_is_shared) {
  const RunOptions usual = options_for(RunWay::usual, 1, 7);
  EXPECT_EQ(usual.flavour, RunOptions().flavour);
  EXPECT_EQ(usual.worth_sharing, RunOptions().worth_sharing);
  const RunOptions shared = options_for(RunWay::shared, 1, 7);
  EXPECT_EQ(shared.flavour, Flavour::multi_worker);
  EXPECT_EQ(shared.worth_sharing, Duration());
  if (way_asked()) return;
  EXPECT_NE(way_here(1), way_here(1, 1)) << "runs of one test take turns";
  EXPECT_NE(way_here(2), way_here(2, 1));
  EXPECT_NE(way_here(2), way_here(8)) << "each test is met in both ways by 2 and 8 workers";
}

TEST_P(OnWorkers, QUI_3_a_tree_of_tasks_gives_its_value) {
  const Outcome<std::uint64_t> end = run_program(fib_15);
  EXPECT_TRUE(end.is_ok()) << to_string(end);
  EXPECT_EQ(end.value(), 610U);
}

Task<std::uint64_t> yields(Cx cx, int times) {
  for (int i = 0; i < times; ++i) co_await yield(cx);
  co_return 1;
}

Task<std::uint64_t> many_in(Scope& scope) {
  std::vector<Handle<std::uint64_t>> handles;
  for (int i = 0; i < 1000; ++i) {
    Handle<std::uint64_t> handle = co_await scope.spawn(yields, i % 7);
    handles.push_back(std::move(handle));
  }
  std::uint64_t sum = 0;
  for (Handle<std::uint64_t>& handle : handles) {
    const std::uint64_t one = co_await std::move(handle).join(scope.cx());
    sum += one;
  }
  co_return sum;
}

Task<std::uint64_t> many(Cx cx) {
  const std::uint64_t sum = co_await scope(cx, many_in);
  co_return sum;
}

TEST_P(OnWorkers, TSK_6_no_wake_is_lost_among_a_thousand_tasks) {
  const Outcome<std::uint64_t> end = run_program(many);
  EXPECT_TRUE(end.is_ok()) << to_string(end);
  EXPECT_EQ(end.value(), 1000U);
}

Task<void> naps(Cx cx, int times) {
  for (int i = 0; i < times; ++i) co_await sleep(cx, Duration::microseconds(300));
}

Task<int> sleepers_in(Scope& scope) {
  for (int i = 0; i < 50; ++i) (void)co_await scope.spawn(naps, 5);
  co_return 5;
}

Task<int> sleepers(Cx cx) {
  const int value = co_await scope(cx, sleepers_in);
  co_return value;
}

TEST_P(OnWorkers, TMR_3_sleepers_wake_up_wherever_they_went) {
  const Outcome<int> end = run_program(sleepers);
  EXPECT_TRUE(end.is_ok()) << to_string(end);
}

Task<void> for_ever(Cx cx) {
  for (;;) co_await sleep(cx, Duration::seconds(100));
}

Task<int> stopped_in(Scope& scope) {
  for (int i = 0; i < 200; ++i) (void)co_await scope.spawn(for_ever);
  for (int i = 0; i < 20; ++i) co_await yield(scope.cx());
  scope.cancel("enough");
  co_return 1;
}

Task<int> stopped(Cx cx) {
  const Outcome<int> end = co_await outcome(scope(cx, stopped_in));
  co_return end.is_cancelled() ? 1 : 0;
}

TEST_P(OnWorkers, CAN_13_a_cancel_reaches_all_who_sleep) {
  const Outcome<int> end = run_program(stopped);
  EXPECT_TRUE(end.is_ok()) << to_string(end);
  EXPECT_EQ(end.value(), 1);
}

// --- what must stay at its home, and is woken from elsewhere ---

/// Fibers that yield for as long as it lasts keep a worker busy; one more sleeps there and is woken by a task of another worker.
struct BusyHome {
  static constexpr int busy_fibers = 5;
  static constexpr int wakes = 40;
  static constexpr std::uint64_t polls_max = 1'000'000'000;  // a test that waits for more fails
  /// No more may come between the wake and the poll.
  static constexpr std::uint64_t bound = runtime::Pace::every_max + sched::ready_bound(busy_fibers + 1);

  std::atomic<std::uint64_t> polls = 0;  // at home
  std::atomic<std::uint64_t> woken_at = 0;
  std::atomic<std::uint64_t> asked_at = 0;
  std::atomic<int> asked = 0;      // to wake the sleeper so often
  std::atomic<int> answered = 0;   // it was woken so often, and the time of it stands there
  std::atomic<bool> away = false;  // the waker is at another worker
  std::thread::id home;
  int from_elsewhere = 0;
  std::uint64_t latest = 0;

  [[nodiscard]] bool lasts() const noexcept { return answered < wakes && polls < polls_max; }

  Task<void> be_busy(Cx cx) {
    while (lasts()) {
      ++polls;
      co_await yield(cx);
    }
  }
  Task<void> wake_from_elsewhere(Cx cx, channel::Sender<int> sender) {
    while (lasts()) {
      away = away || std::this_thread::get_id() != home;
      const bool parked = asked != answered && polls > asked_at + 2 * busy_fibers;
      if (!parked || std::this_thread::get_id() == home) {
        co_await yield(cx);
        continue;
      }
      auto permit = co_await sender.reserve(cx);
      if (std::this_thread::get_id() == home) continue;
      (void)std::move(permit).send(0);
      woken_at = polls.load();  // it is in the inbox by now, or was polled already
      ++answered;
    }
  }
  Task<void> sleep_at_home(Cx cx, channel::Receiver<int> receiver) {
    while (lasts()) {
      asked_at = polls.load();
      ++asked;
      const auto got = co_await receiver.next(cx);
      if (!got) break;
      const std::uint64_t ran_at = polls;
      while (answered != asked && polls < polls_max) co_await yield(cx);  // the waker is about to say when that was
      const std::uint64_t at = woken_at;
      latest = std::max(latest, ran_at > at ? ran_at - at : 0);
      ++from_elsewhere;
    }
  }

  Task<void> operator()(Scope& scope) {
    home = std::this_thread::get_id();
    channel::Mpsc<int> ends = co_await channel::mpsc<int>(scope.cx(), 1);
    const auto busy = [this](Cx cx) -> Task<void> { co_await be_busy(cx); };
    const auto sleeps = [this](Cx cx, channel::Receiver<int> receiver) -> Task<void> {
      co_await sleep_at_home(cx, std::move(receiver));
    };
    const auto wakes_it = [this](Cx cx, channel::Sender<int> sender) -> Task<void> {
      co_await wake_from_elsewhere(cx, std::move(sender));
    };
    (void)co_await scope.spawn(wakes_it, std::move(ends.sender));
    while (!away) std::this_thread::yield();  // in one poll: another worker takes over what waits here
    for (int i = 0; i < busy_fibers; ++i) (void)co_await scope.fiber(busy);
    (void)co_await scope.fiber(sleeps, std::move(ends.receiver));
  }
};

class OnSeveralWorkers : public OnWorkers {};
INSTANTIATE_TEST_SUITE_P(Workers, OnSeveralWorkers, testing::Values(std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(OnSeveralWorkers, SCH_4_a_fiber_woken_from_another_worker_runs_although_its_home_is_busy_for_ever) {
  BusyHome world;
  const auto body = [&world](Scope& scope) -> Task<void> { co_await world(scope); };
  const auto program = [&body](Cx cx) -> Task<void> { co_await scope(cx, body); };
  EXPECT_TRUE(run_program(program).is_ok());
  EXPECT_EQ(world.answered, BusyHome::wakes) << "after " << world.polls << " polls";
  EXPECT_EQ(world.from_elsewhere, BusyHome::wakes);
  EXPECT_LE(world.latest, BusyHome::bound);
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
