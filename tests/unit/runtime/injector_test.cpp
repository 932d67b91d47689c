// Work from threads that are no workers.
#include "calm/runtime/injector.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/run.hpp"

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
  [[nodiscard]] static RunOptions options() { return {.workers = GetParam(), .worth_sharing = Duration()}; }

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

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace calm
