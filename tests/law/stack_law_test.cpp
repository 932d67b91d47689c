// TSK-7: bounded stack in every build. Everything here runs on 256 KiB.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "calm/cx/mask.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/lab/lab.hpp"
#include "calm/time/timeout.hpp"
#include "small_stack.hpp"
#include "tests/both_worlds.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool with_asan = true;
#elif defined(__has_feature)
constexpr bool with_asan = __has_feature(address_sanitizer);
#else
constexpr bool with_asan = false;
#endif

/// On workers, whose stacks are larger, it is enough to go where recursion would not come back from.
const std::uint64_t deep = in_lab() ? 1'000'000 : 100'000;
/// An exception is thrown again in every frame, and AddressSanitizer looks over the stack each time.
const std::uint64_t deep_for_exceptions = !in_lab() ? 10'000 : with_asan ? 100'000 : deep;

/// Counts the ends of frames, which must come innermost first: 0, 1, 2, …
struct Ends {
  std::uint64_t next = 0;
  bool in_order = true;
  std::atomic<bool> at_bottom = false;
};

class Level {
 public:
  Level(Ends& ends, std::uint64_t height) noexcept : ends_(ends), height_(height) {}
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  ~Level() {
    ends_.in_order = ends_.in_order && ends_.next == height_;
    ++ends_.next;
  }

 private:
  Ends& ends_;
  std::uint64_t height_;
};

enum class Bottom : std::uint8_t { value, error, exception, cancelled, forced };

Task<std::uint64_t> bottom(Cx cx, Ends& ends, Bottom how) {
  ends.at_bottom = true;
  co_await checkpoint(cx);
  if (how == Bottom::error) co_return err(Errc::empty);
  if (how == Bottom::exception) throw std::runtime_error("bottom");
  if (how != Bottom::value) co_await sleep(cx, Duration::seconds(1'000));
  co_return 0;
}

/// `height` frames above the bottom.
Task<std::uint64_t> down(Cx cx, Ends& ends, std::uint64_t height, Bottom how) {
  const Level level(ends, height);
  if (height == 0) co_return co_await bottom(cx, ends, how);
  const std::uint64_t below = co_await down(cx, ends, height - 1, how);
  co_return below + 1;
}

/// A task that goes down; forced, it stays there under a mask until its clean-up budget is used up.
struct Diver {
  Ends* ends;
  std::uint64_t height;
  Bottom how;

  Task<std::uint64_t> operator()(Cx cx) const {
    if (how != Bottom::forced) co_return co_await down(cx, *ends, height, how);
    const CancelMask mask(cx);
    co_return co_await down(cx, *ends, height, how);
  }
};

Task<OutcomeKind> dive(Cx cx, Diver diver) {
  OutcomeKind kind = OutcomeKind::ok;
  const auto body = [diver, &kind](Scope& scope) -> Task<void> {
    auto handle = co_await scope.spawn(diver);
    co_await sleep(scope.cx(), Duration::milliseconds(1));  // it is down there by then
    co_await catch_up(scope.cx(), diver.ends->at_bottom);
    if (diver.how == Bottom::cancelled || diver.how == Bottom::forced) handle.cancel();
    const Outcome<std::uint64_t> end = co_await outcome(std::move(handle).join(scope.cx()));
    kind = end.kind();
    if (end.is_ok()) {
      EXPECT_EQ(end.value_or(0), diver.height);
    }
  };
  const Duration cleanup_time = diver.how == Bottom::forced ? cleanup_time_here() : default_cleanup_time;
  const ScopeOptions options{.policy = FoldPolicy::collect, .cleanup_time = cleanup_time};
  (void)co_await outcome(scope(cx, body, options));
  co_return kind;
}

void expect_to_come_back(std::uint64_t height, Bottom how, OutcomeKind expected) {
  on_a_small_stack([=] {
    Ends ends;
    OutcomeKind kind = OutcomeKind::ok;
    const auto report = lab::run({}, [&](Cx cx) -> Task<void> { kind = co_await dive(cx, {&ends, height, how}); });
    EXPECT_TRUE(report.is_clean()) << to_string(report);
    EXPECT_EQ(kind, expected);
    EXPECT_EQ(ends.next, height + 1);
    EXPECT_TRUE(ends.in_order);
  });
}

TEST(Stack, TSK_7_a_million_frames_give_their_values_back) {
  expect_to_come_back(deep, Bottom::value, OutcomeKind::ok);
}
TEST(Stack, TSK_7_a_million_frames_are_left_innermost_first_when_the_deepest_fails) {
  expect_to_come_back(deep, Bottom::error, OutcomeKind::err);
}
TEST(Stack, TSK_7_a_million_frames_are_left_innermost_first_when_the_deepest_throws) {
  expect_to_come_back(deep_for_exceptions, Bottom::exception, OutcomeKind::panicked);
}
TEST(Stack, TSK_7_a_million_frames_are_left_innermost_first_when_the_deepest_is_cancelled) {
  expect_to_come_back(deep, Bottom::cancelled, OutcomeKind::cancelled);
}
TEST(Stack, TSK_7_CAN_8_a_million_frames_are_dropped_innermost_first_when_the_task_is_forced) {
  expect_to_come_back(deep, Bottom::forced, OutcomeKind::cancelled);
}

Task<std::uint64_t> ready(Cx cx) {
  co_await checkpoint(cx);
  co_return 1;
}

TEST(Stack, TSK_7_ten_million_ready_awaits_in_a_row_use_no_stack) {
  const std::uint64_t rounds = in_lab() ? 5'000'000 : 100'000;  // of two awaits and more
  on_a_small_stack([rounds] {
    std::uint64_t sum = 0;
    const auto report = lab::run({}, [&sum, rounds](Cx cx) -> Task<void> {
      for (std::uint64_t i = 0; i < rounds; ++i) {
        const std::uint64_t one = co_await ready(cx);
        sum += co_await Outcome<std::uint64_t>(ok(one));
      }
    });
    EXPECT_TRUE(report.is_clean()) << to_string(report);
    EXPECT_EQ(sum, rounds);
  });
}

// --- scopes in each other ---

const std::uint64_t scopes = in_lab() ? 10'000 : 1000;

Task<std::uint64_t> nest(Cx cx, Ends& ends, std::uint64_t height, Bottom how) {
  const Level level(ends, height);
  if (height == 0) co_return co_await bottom(cx, ends, how);
  const auto body = [&ends, height, how](Scope& scope) -> Task<std::uint64_t> {
    const std::uint64_t below = co_await nest(scope.cx(), ends, height - 1, how);
    co_return below + 1;
  };
  co_return co_await scope(cx, body);
}

void expect_scopes_to_close(Bottom how, OutcomeKind expected, bool limited = false) {
  on_a_small_stack([=] {
    Ends ends;
    OutcomeKind kind = OutcomeKind::ok;
    const auto report = lab::run({}, [&](Cx cx) -> Task<void> {
      const auto body = [&](Scope& scope) -> Task<void> {
        const auto nested = [&](Cx inner) -> Task<std::uint64_t> { co_return co_await nest(inner, ends, scopes, how); };
        const auto task = [&](Cx inner) -> Task<std::uint64_t> {
          if (!limited) co_return co_await nested(inner);
          co_return co_await timeout(inner, Duration::seconds(3600), nested);
        };
        auto handle = co_await scope.spawn(task);
        co_await sleep(scope.cx(), Duration::milliseconds(1));
        co_await catch_up(scope.cx(), ends.at_bottom);
        if (how == Bottom::cancelled) handle.cancel();
        const Outcome<std::uint64_t> end = co_await outcome(std::move(handle).join(scope.cx()));
        kind = end.kind();
      };
      (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    });
    EXPECT_TRUE(report.is_clean()) << to_string(report);
    EXPECT_EQ(kind, expected);
    EXPECT_EQ(ends.next, scopes + 1);
    EXPECT_TRUE(ends.in_order);
  });
}

TEST(Stack, TSK_7_REG_9_ten_thousand_scopes_in_each_other_close) {
  expect_scopes_to_close(Bottom::value, OutcomeKind::ok);
}
TEST(Stack, TSK_7_REG_9_BUD_5_ten_thousand_scopes_in_a_timeout_close) {
  expect_scopes_to_close(Bottom::value, OutcomeKind::ok, true);
}
TEST(Stack, TSK_7_REG_9_ten_thousand_scopes_in_each_other_close_when_the_innermost_fails) {
  expect_scopes_to_close(Bottom::error, OutcomeKind::err);
}
TEST(Stack, TSK_7_REG_9_ten_thousand_scopes_in_each_other_close_when_the_innermost_is_cancelled) {
  expect_scopes_to_close(Bottom::cancelled, OutcomeKind::cancelled);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
