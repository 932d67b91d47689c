// Work from threads that are no workers.
#include "calm/runtime/injector.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "calm/cx/mask.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/run.hpp"
#include "calm/runtime/runtime.hpp"
#include "tests/run_way.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

Task<int> twice(Cx cx, int number) {
  co_await yield(cx);
  co_return 2 * number;
}

Task<int> throws_outside(Cx /*cx*/) {
  throw std::runtime_error("boom");
  co_return 0;
}

Task<int> waits_long(Cx cx) {
  co_await sleep(cx, Duration::seconds(1000));
  co_return 1;
}

/// What a thread outside and a program tell each other.
struct Meeting {
  std::vector<std::thread> threads;
  std::atomic<int> left{0};
  std::atomic<std::int64_t> sum{0};
};

void ask_many(const Injector& door, Meeting& meeting, int count) {
  for (int i = 0; i < count; ++i) {
    auto handle = door.spawn(twice, i);
    const Outcome<int> end = std::move(handle).wait();
    meeting.sum += end.value();
  }
  --meeting.left;
}

class Injection : public testing::TestWithParam<std::uint16_t> {
 protected:
  [[nodiscard]] static RunOptions options() { return options_here(GetParam()); }

  void TearDown() override {
    for (std::thread& thread : meeting.threads) thread.join();
  }
  Meeting meeting;
};
INSTANTIATE_TEST_SUITE_P(Workers, Injection, testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

struct Open {
  Meeting* meeting;
  int threads;
  Task<void> operator()(Scope& scope) const {
    meeting->left = threads;
    for (int i = 0; i < threads; ++i) {
      meeting->threads.emplace_back([door = Injector(scope), meeting = meeting] { ask_many(door, *meeting, 200); });
    }
    while (meeting->left != 0) co_await sleep(scope.cx(), Duration::microseconds(200));
  }
};

struct OpenFor {
  Open body;
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, body); }
};

TEST_P(Injection, I1_threads_outside_spawn_into_a_scope_and_wait) {
  const Outcome<void> end = block_on(OpenFor{{&meeting, 3}}, options());
  EXPECT_TRUE(end.is_ok()) << to_string(end);
  EXPECT_EQ(meeting.sum, 3 * 199 * 200);
}

struct Keep {
  std::optional<Injector>* door;
  Task<void> operator()(Scope& scope) const {
    door->emplace(scope);
    co_return;
  }
};
struct KeepFor {
  Keep body;
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, body); }
};

TEST_P(Injection, REG_7_who_comes_after_the_end_is_told_admission_closed) {
  std::optional<Injector> door;
  ASSERT_TRUE(block_on(KeepFor{{&door}}, options()).is_ok());
  auto handle = door->spawn(twice, 1);
  EXPECT_TRUE(handle.has_ended());
  const Outcome<int> end = std::move(handle).wait();
  ASSERT_TRUE(end.is_err());
  EXPECT_EQ(end.error().code(), Errc::admission_closed);
}

struct CloseAgainst {
  Meeting* meeting;
  std::atomic<int>* refused;
  Task<void> operator()(Scope& scope) const {
    for (int i = 0; i < 2; ++i) {
      meeting->threads.emplace_back([door = Injector(scope), meeting = meeting, refused = refused] {
        for (int number = 0; number < 300; ++number) {
          const Outcome<int> end = door.spawn(twice, number).wait();
          if (end.is_ok()) ++meeting->left;
          if (end.is_err() && end.error().code() == Errc::admission_closed) ++*refused;
        }
      });
    }
    while (meeting->left < 5) co_await yield(scope.cx());
  }
};
struct CloseAgainstFor {
  CloseAgainst body;
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, body); }
};

TEST_P(Injection, QUI_3_a_scope_that_closes_answers_every_thread) {
  std::atomic<int> refused{0};
  EXPECT_TRUE(block_on(CloseAgainstFor{{&meeting, &refused}}, options()).is_ok());
  for (std::thread& thread : meeting.threads) thread.join();
  meeting.threads.clear();
  EXPECT_EQ(meeting.left + refused, 600);
}

struct Fails {
  Meeting* meeting;
  std::atomic<bool>* seen;
  Task<void> operator()(Scope& scope) const {
    meeting->threads.emplace_back([door = Injector(scope), seen = seen] {
      const Outcome<int> parked =
          door.spawn(waits_long).wait_for(Duration::milliseconds(1)) ? Outcome<int>(ok(0)) : Outcome<int>(ok(1));
      const Outcome<int> end = door.spawn(throws_outside).wait();
      *seen = parked.value() == 1 && end.is_panicked();
    });
    co_await sleep(scope.cx(), Duration::seconds(1000));
  }
};
struct FailsFor {
  Fails body;
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, body); }
};

TEST_P(Injection, OUT_4_what_was_spawned_from_outside_counts_for_its_scope) {
  std::atomic<bool> seen{false};
  const Outcome<void> end = block_on(FailsFor{{&meeting, &seen}}, options());
  EXPECT_TRUE(end.is_panicked()) << to_string(end);
  for (std::thread& thread : meeting.threads) thread.join();
  meeting.threads.clear();
  EXPECT_TRUE(seen);
}

/// What threads outside were told, and what has begun inside.
struct Told {
  std::atomic<int> begun{0};
  std::atomic<int> values{0};
  std::atomic<int> cancelled{0};
  std::atomic<int> refused{0};
  std::atomic<int> other{0};

  /// Gives: true when whoever asks again gets another answer than this one.
  bool count(const Outcome<int>& end, int value) {
    const bool closed = end.is_err() && end.error().code() == Errc::admission_closed;
    const bool right = end.is_ok() && end.value() == value;
    ++(closed ? refused : right ? values : end.is_cancelled() ? cancelled : other);
    return right || end.is_cancelled();
  }
};

struct BeginsAndWaits {
  Told* told;
  Task<int> operator()(Cx cx) const {
    ++told->begun;
    co_await sleep(cx, Duration::seconds(1000));
    co_return 1;
  }
};

/// A scope that is open until it is cancelled. With `holds_out` its body goes on for as long as `closed` is false.
struct OpenUntilStopped {
  std::promise<Injector>* door;
  const std::atomic<bool>* closed;
  Task<void> operator()(Scope& scope) const {
    door->set_value(Injector(scope));
    const auto holds_out = [closed = closed](Cx cx) -> Task<void> {
      while (!*closed) co_await sleep(cx, Duration::milliseconds(1));
    };
    co_await with_cancel_mask(scope.cx(), holds_out);
    co_await sleep(scope.cx(), Duration::seconds(1000));
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
};

class InjectionAgainstShutdown : public Injection {
 protected:
  /// Starts threads that ask until they are refused.
  void start(int threads, void (*ask)(const Injector& door, Told& told)) {
    for (int i = 0; i < threads; ++i) {
      meeting.threads.emplace_back([door = opened, told = &told, ask] { ask(door.get(), *told); });
    }
  }
  /// Gives: how the program ended, when all threads have.
  Outcome<void> run(Runtime& runtime) {
    const Outcome<void> end = runtime.block_on(OpenUntilStopped{&door, &closed});
    for (std::thread& thread : meeting.threads) thread.join();
    meeting.threads.clear();
    return end;
  }
  void expect_stopped(const Outcome<void>& end) {
    EXPECT_TRUE(end.is_cancelled()) << to_string(end);
    EXPECT_EQ(told.other, 0) << "neither a right value, nor Cancelled, nor admission_closed";
    auto late = opened.get().spawn(twice, 1);
    EXPECT_TRUE(late.has_ended());
    const Outcome<int> refused = std::move(late).wait();
    ASSERT_TRUE(refused.is_err()) << to_string(refused);
    EXPECT_EQ(refused.error().code(), Errc::admission_closed);
  }

  Told told;
  std::atomic<bool> closed{true};
  std::promise<Injector> door;
  std::shared_future<Injector> opened = door.get_future().share();
};
INSTANTIATE_TEST_SUITE_P(Workers, InjectionAgainstShutdown,
                         testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

void wait_long_until_closed(const Injector& door, Told& told) {
  while (told.count(door.spawn(BeginsAndWaits{&told}).wait(), 1)) {
  }
}

void ask_until_closed(const Injector& door, Told& told) {
  for (int number = 0; told.count(door.spawn(twice, number).wait(), 2 * number); ++number) {
  }
}

void drop_until_closed(const Injector& door, Told& told) {
  for (;;) {
    {
      const auto dropped = door.spawn(waits_long);
    }
    if (!told.count(door.spawn(twice, 3).wait(), 6)) return;
  }
}

TEST_P(InjectionAgainstShutdown, QUI_2_every_thread_outside_is_told_when_the_runtime_is_stopped) {
  constexpr int waiting = 4;
  Runtime runtime(options());
  std::vector<OutsideHandle<int>> kept;
  start(waiting, wait_long_until_closed);
  start(2, ask_until_closed);
  start(1, drop_until_closed);
  meeting.threads.emplace_back([this, &runtime, &kept] {
    const Injector& into = opened.get();
    for (int i = 0; i < waiting; ++i) kept.push_back(into.spawn(BeginsAndWaits{&told}));
    while (told.begun < 2 * waiting || told.values < 20) std::this_thread::yield();
    EXPECT_TRUE(runtime.shut_down(Duration::seconds(300)));
    kept.push_back(into.spawn(BeginsAndWaits{&told}));
    ask_until_closed(into, told);
  });
  expect_stopped(run(runtime));
  EXPECT_GE(told.values, 20);
  EXPECT_GE(told.cancelled, waiting);
  EXPECT_EQ(told.refused, waiting + 2 + 1 + 1) << "every thread asked until it was refused, once";
  for (OutsideHandle<int>& handle : kept) {
    EXPECT_TRUE(handle.has_ended());
    (void)told.count(std::move(handle).wait(), 1);
  }
  EXPECT_EQ(told.other, 0);
}

TEST_P(InjectionAgainstShutdown, REG_7_a_stopped_runtime_admits_nothing_more_while_a_masked_body_holds_out) {
  Runtime runtime(options());
  closed = false;
  start(3, ask_until_closed);
  meeting.threads.emplace_back([this, &runtime] {
    const Injector& into = opened.get();
    while (told.values < 20) std::this_thread::yield();
    EXPECT_TRUE(runtime.shut_down(Duration::seconds(300)));
    // The scope cannot end before `closed`: those who ask are refused while its body still runs.
    ask_until_closed(into, told);
    while (told.refused < 4) std::this_thread::yield();
    closed = true;
  });
  expect_stopped(run(runtime));
  EXPECT_EQ(told.refused, 4);
}

TEST_P(InjectionAgainstShutdown, QUI_2_a_runtime_that_is_stopped_before_anybody_asks_refuses_all) {
  Runtime runtime(options());
  meeting.threads.emplace_back([this, &runtime] {
    const Injector& into = opened.get();
    EXPECT_TRUE(runtime.shut_down(Duration::seconds(300)));
    for (int i = 0; i < 200; ++i) (void)told.count(into.spawn(BeginsAndWaits{&told}).wait(), 1);
  });
  expect_stopped(run(runtime));
  EXPECT_EQ(told.values, 0) << "who waits for 1000 s is cancelled or refused";
  EXPECT_LE(told.cancelled, 1) << "who hears of the shutdown comes too late for another task";
  EXPECT_EQ(told.cancelled + told.refused, 200);
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace calm
