// Tasks and fibers: names, arguments, handles that travel, refusals, backtraces, marks and finalizers.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "calm/cx/backtrace.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/sendable.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/lab/lab.hpp"
#include "tests/unit/cx/in_lab.hpp"

namespace {
struct Hermit {};
}  // namespace
template <>
inline constexpr bool calm::stays_home<Hermit> = true;

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using Log = std::vector<std::string>;
TEST(Sendable, TSK_4_values_go_and_ways_to_reach_others_stay) {
  static_assert(sendable<int> && sendable<std::string> && sendable<std::vector<std::string>>);
  static_assert(sendable<std::unique_ptr<int>> && sendable<std::shared_ptr<std::string>> && sendable<void (*)()>);
  static_assert(sendable<std::tuple<int, std::optional<std::string>>> && sendable<int std::pair<int, int>::*>);
  static_assert(!sendable<int&> && !sendable<const int&> && !sendable<int*> && !sendable<const char*>);
  static_assert(!sendable<std::string_view> && !sendable<std::span<int>> && !sendable<std::reference_wrapper<int>>);
  static_assert(!sendable<std::vector<int*>> && !sendable<std::optional<std::string_view>>);
  static_assert(!sendable<std::pair<int, const char*>> && !sendable<Hermit> && !sendable<const Hermit>);
  static_assert(!sendable<std::vector<Hermit>> && !sendable<std::unique_ptr<Hermit>>);
}

TEST(Spawn, TSK_5_the_callable_and_its_arguments_live_in_the_task) {
  Log log;
  const auto report = run([&log](Cx cx) -> Task<void> {
    const auto body = [&log](Scope& scope) -> Task<void> {
      auto owner = std::make_shared<int>(7);
      const std::weak_ptr<int> seen = owner;
      const auto child = [seen, &log](Cx inner, std::shared_ptr<int> kept) -> Task<void> {
        co_await sleep(inner, ms(1));
        log.push_back(seen.expired() ? "gone" : "alive " + std::to_string(*kept));
      };
      auto handle = co_await scope.spawn(child, std::move(owner));
      co_await std::move(handle).join(scope.cx());
      log.emplace_back(seen.expired() ? "gone" : "alive");
    };
    co_await scope(cx, body);
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(log, (Log{"alive 7", "gone"}));
}

/// Says when it ends.
struct Gone {
  explicit Gone(Log& its_log) noexcept : log(&its_log) {}
  Gone(Gone&& other) noexcept : log(std::exchange(other.log, nullptr)) {}
  Gone(const Gone& other) noexcept = default;
  Gone& operator=(const Gone&) = delete;
  ~Gone() {
    if (log != nullptr) log->emplace_back("callable gone");
  }
  Log* log;
};

/// Gives: what happens when a callable runs as a task, until it was joined.
template <class Make>
Log run_as_fiber(Make make) {
  Log log;
  const auto report = run([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      auto handle = co_await scope.fiber(make(log));
      log.clear();  // copies on the way
      const Outcome<void> end = co_await outcome(std::move(handle).join(scope.cx()));
      log.emplace_back(to_string(end.kind()));
    };
    const Outcome<void> end = co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    log.emplace_back(end.is_ok() ? "scope closed" : "scope failed");
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  return log;
}

TEST(Spawn, TSK_5_a_callable_is_there_until_its_frames_are_gone_and_not_longer) {
  const auto gives = [](Log& log) {
    return [kept = Gone(log), &log](Cx cx) -> Task<void> {
      co_await yield(cx);
      log.emplace_back(kept.log == &log ? "runs" : "lost");
    };
  };
  EXPECT_EQ(run_as_fiber(gives), (Log{"runs", "callable gone", "Ok", "scope closed"}));
  const auto fails = [](Log& log) {
    return [kept = Gone(log), &log](Cx cx) -> Task<void> {
      co_await yield(cx);
      log.emplace_back(kept.log == &log ? "runs" : "lost");
      co_await fail(Errc::full);
    };
  };
  EXPECT_EQ(run_as_fiber(fails), (Log{"runs", "callable gone", "Err", "scope failed"}));
  const auto throws = [](Log& log) {
    return [kept = Gone(log), &log](Cx cx) -> Task<void> {
      co_await yield(cx);
      log.emplace_back(kept.log == &log ? "runs" : "lost");
      throw std::runtime_error("thrown");
    };
  };
  EXPECT_EQ(run_as_fiber(throws), (Log{"runs", "callable gone", "Panicked", "scope failed"}));
}

/// No coroutine itself, and it never comes to call one.
struct Thrower {
  Gone kept;
  CALM_CORO_WRAPPER Task<void> operator()(Cx /*cx*/) const { throw std::runtime_error("thrown"); }
};

TEST(Spawn, OUT_5_what_a_callable_throws_before_it_has_a_frame_is_the_end_of_its_task) {
  EXPECT_EQ(run_as_fiber([](Log& log) { return Thrower{Gone(log)}; }),
            (Log{"callable gone", "Panicked", "scope failed"}));
}

TEST(Spawn, TSK_8_a_callable_of_a_task_that_was_cancelled_before_it_began_is_not_called) {
  Log log;
  const auto report = run([&log](Cx cx) -> Task<void> {
    const auto body = [&log](Scope& scope) -> Task<void> {
      const auto never = [kept = Gone(log), &log](Cx /*cx*/) -> Task<void> {
        log.emplace_back("called");
        co_return;
      };
      auto handle = co_await scope.fiber(TaskOptions{.name = "never"}, never);
      log.clear();
      const auto& context = cx::context_of(scope.cx());
      EXPECT_NE(cx::backtrace(*context.root()->port().find(handle.id())).find("\"never\" of r"), std::string::npos);
      EXPECT_NE(cx::backtrace(*context.root()->port().find(handle.id())).find("#0 not started"), std::string::npos);
      handle.cancel("too late");
      const Outcome<void> end = co_await outcome(std::move(handle).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
      EXPECT_EQ(log, Log{"callable gone"});
    };
    const Outcome<void> end = co_await outcome(scope(cx, body));
    EXPECT_TRUE(end.is_cancelled());
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
}

TEST(Spawn, HND_3_a_callable_costs_a_task_what_it_has_in_it) {
#if defined(__clang__)
  const auto owner = std::make_shared<int>(1);
  const auto callable = [owner](Cx cx) -> Task<void> { co_await yield(cx); };
  static_assert(sizeof(cx::KeepingShell<void, Cx, decltype(callable)>) <= sizeof(cx::Shell<void>) + sizeof(callable));
  EXPECT_EQ(sizeof(cx::Shell<void>), 88U);
#endif
}

struct LastWord {
  explicit LastWord(Log& to, std::string its_word) : log(&to), word(std::move(its_word)) {}
  LastWord(LastWord&& other) noexcept : log(std::exchange(other.log, nullptr)), word(std::move(other.word)) {}
  LastWord& operator=(LastWord&&) = delete;
  ~LastWord() {
    if (log != nullptr) log->push_back(word);
  }
  Log* log;
  std::string word;
};

Task<int> says_two_words(Cx cx, LastWord parameter, bool waits) {
  const LastWord local(*parameter.log, "local");
  if (waits) co_await sleep(cx, ms(1));
  co_return 3;
}

TEST(Spawn, TSK_5_what_is_in_the_outermost_frame_ends_before_whoever_joins_goes_on) {
  for (const bool waits : {false, true}) {
    Log log;
    const auto report = run([&log, waits](Cx cx) -> Task<void> {
      const auto body = [&log, waits](Scope& scope) -> Task<void> {
        auto task = co_await scope.fiber(says_two_words, LastWord(log, "parameter"), waits);
        const int value = co_await std::move(task).join(scope.cx());
        log.push_back("joined " + std::to_string(value));
        const int called = co_await says_two_words(scope.cx(), LastWord(log, "parameter of a call"), waits);
        log.push_back("called " + std::to_string(called));
      };
      co_await scope(cx, body);
    });
    EXPECT_TRUE(report.is_clean()) << to_string(report);
    EXPECT_EQ(log, (Log{"local", "parameter", "joined 3", "local", "parameter of a call", "called 3"}));
  }
}

TEST(Spawn, TSK_3_what_spawn_gives_is_a_word_that_may_be_moved_and_dropped) {
  static_assert(sizeof(Spawned<std::string>) == sizeof(void*));
  std::atomic<int> ran = 0;
  const auto report = run([&ran](Cx cx) -> Task<void> {
    const auto body = [&ran](Scope& scope) -> Task<void> {
      const auto child = [&ran](Cx inner, int value) -> Task<int> {
        co_await yield(inner);
        ++ran;
        co_return value;
      };
      (void)scope.spawn(child, 1);
      auto second = scope.spawn(child, 2);
      auto third = scope.spawn(child, 3);
      std::swap(second, third);
      auto moved = std::move(second);
      EXPECT_TRUE(moved.is_ok() && third.is_ok());
      const Handle<int> two = std::move(third).value();
      auto three = co_await std::move(moved);
      const int value = co_await std::move(three).join(scope.cx());
      EXPECT_EQ(value, 3);
    };
    co_await scope(cx, body);
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(ran, 3);
}

TEST(Spawn, REG_7_a_refusal_says_why_and_ends_the_arguments) {
  std::atomic<bool> refused_one = false;
  const auto report = run([&refused_one](Cx cx) -> Task<void> {
    const auto body = [&refused_one](Scope& scope) -> Task<void> {
      const auto sleeper = [&refused_one](Cx inner, std::shared_ptr<int> /*kept*/) -> Task<void> {
        co_await sleep(inner, ms(1));
        co_await catch_up(inner, refused_one);
      };
      auto first = co_await scope.spawn(sleeper, std::make_shared<int>(1));
      auto owner = std::make_shared<int>(2);
      const std::weak_ptr<int> seen = owner;
      const auto refused = scope.spawn(sleeper, std::move(owner));
      EXPECT_FALSE(refused.is_ok());
      EXPECT_EQ(refused.error().code(), Errc::admission_limit);
      EXPECT_TRUE(seen.expired());
      refused_one = true;
    };
    co_await scope(cx, body, {.limits = {.tasks = 1}});
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
}

TEST(Spawn, REG_7_a_refusal_ends_the_coroutine_that_awaits_it) {
  const auto report = run([](Cx cx) -> Task<void> {
    const auto body = [](Scope& scope) -> Task<void> {
      const auto sleeper = [](Cx inner) -> Task<void> { co_await sleep(inner, ms(1'000'000)); };
      for (int i = 0; i < 2; ++i) (void)co_await scope.spawn(sleeper);
      ADD_FAILURE() << "the second one is too many";
    };
    const Outcome<void> end = co_await outcome(scope(cx, body, {.limits = {.tasks = 1}}));
    EXPECT_TRUE(end.is_err());
    EXPECT_EQ(end.is_err() ? end.error().code() : Errc::full, Errc::admission_limit);
    const Outcome<Handle<void>> refused = Spawned<void>(Errc::admission_limit);
    EXPECT_TRUE(refused.is_err());
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
}

TEST(SpawnBeside, I1_a_task_beside_this_one_is_of_the_same_region_and_keeps_its_scope_open) {
  std::mutex mutex;
  Log log;
  const auto say = [&](const char* word) {
    const std::lock_guard hold(mutex);
    log.emplace_back(word);
  };
  const auto report = run([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto second = [&](Cx inner) -> Task<void> {
        co_await sleep(inner, ms(2));
        say("second");
      };
      const auto first = [&, second, region = scope.region()](Cx inner) -> Task<void> {
        EXPECT_EQ(inner.region(), region);
        (void)co_await spawn(inner, second);
        say("first");
      };
      (void)co_await scope.spawn(first);
      (void)co_await spawn(scope.cx(), first);
    };
    co_await scope(cx, body);
    say("left");
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  ASSERT_EQ(log.size(), 5U);
  if (!in_lab()) std::sort(log.begin(), log.end() - 1);  // a worker may be late
  EXPECT_EQ(log, (Log{"first", "first", "second", "second", "left"}));
}

TEST(SpawnBeside, QUI_3_what_the_main_task_spawns_beside_itself_ends_before_the_run) {
  std::atomic<int> ended = 0;
  const auto report = run([&ended](Cx cx) -> Task<void> {
    const auto late = [&ended](Cx inner) -> Task<int> {
      co_await sleep(inner, ms(5));
      ++ended;
      co_return 3;
    };
    Handle<int> joined = co_await spawn(cx, late);
    (void)co_await spawn(cx, TaskOptions{.name = "unjoined"}, late);
    const int value = co_await std::move(joined).join(cx);
    EXPECT_EQ(value, 3);
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(ended, 2);
}

TEST(SpawnBeside, REG_7_a_region_that_closes_takes_none) {
  std::atomic<bool> begun = false;
  const auto report = run([&begun](Cx cx) -> Task<void> {
    const auto body = [&begun](Scope& scope) -> Task<void> {
      const auto nothing = [](Cx /*cx*/) -> Task<void> { co_return; };
      const auto tries = [&begun, nothing](Cx inner) -> Task<void> {
        begun = true;
        const Outcome<void> end = co_await outcome(sleep(inner, ms(10'000)));
        EXPECT_TRUE(end.is_cancelled());
        const auto refused = spawn(inner, nothing);
        EXPECT_FALSE(refused.is_ok());
        EXPECT_EQ(refused.error().code(), Errc::region_not_open);
      };
      (void)co_await scope.spawn(tries);
      co_await sleep(scope.cx(), ms(1));
      co_await catch_up(scope.cx(), begun);
      scope.cancel("enough");
    };
    (void)co_await outcome(scope(cx, body));
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
}

TEST(Handle, TSK_3_may_outlive_its_scope_and_still_joins) {
  const auto report = run([](Cx cx) -> Task<void> {
    std::optional<Handle<int>> kept;
    const auto body = [&kept](Scope& scope) -> Task<void> {
      const auto child = [](Cx inner) -> Task<int> {
        co_await sleep(inner, ms(1));
        co_return 5;
      };
      kept.emplace(co_await scope.spawn(child));
    };
    co_await scope(cx, body);
    const int value = co_await std::move(*kept).join(cx);
    EXPECT_EQ(value, 5);
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
}

TEST(Fiber, TSK_4_may_borrow_what_outlives_its_scope) {
  const auto report = run([](Cx cx) -> Task<void> {
    int count = 0;
    const auto body = [&count](Scope& scope) -> Task<void> {
      const auto adds = [](Cx inner, int& to) -> Task<void> {
        co_await yield(inner);
        ++to;
      };
      auto first = co_await scope.fiber(adds, std::ref(count));
      auto second = co_await scope.fiber(TaskOptions{.name = "second"}, adds, std::ref(count));
      co_await std::move(first).join(scope.cx());
    };
    co_await scope(cx, body);
    EXPECT_EQ(count, 2);
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
}

Task<void> inner_wait(Cx cx) { co_await sleep(cx, ms(10)); }
Task<void> outer_wait(Cx cx) { co_await inner_wait(cx); }

TEST(Backtrace, OBS_1_shows_the_chain_of_awaiting_coroutines_innermost_first) {
  std::string text;
  const auto report = run([&text](Cx cx) -> Task<void> {
    const auto body = [&text](Scope& scope) -> Task<void> {
      auto child = co_await scope.spawn(TaskOptions{.name = "waiter"}, outer_wait);
      co_await sleep(scope.cx(), ms(1));
      const auto& context = cx::context_of(scope.cx());
      text = cx::backtrace(*context.root()->port().find(child.id()));
      co_await std::move(child).join(scope.cx());
    };
    co_await scope(cx, body);
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  const std::size_t inner = text.find("#0 spawn_test.cpp:");
  const std::size_t outer = text.find("#1 spawn_test.cpp:");
  EXPECT_NE(text.find("\"waiter\" of r"), std::string::npos) << text;
  EXPECT_NE(inner, std::string::npos) << text;
  EXPECT_NE(outer, std::string::npos) << text;
  EXPECT_LT(text.find("inner_wait", inner), outer) << text;
  EXPECT_NE(text.find("outer_wait", outer), std::string::npos) << text;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it is awaited where it is made
Task<void> tell_frames(Cx cx, std::string& text) {
  text = cx::backtrace(*cx::context_of(cx).root());
  co_return;
}

TEST(Backtrace, OBS_1_a_frame_begins_without_a_place_and_is_at_its_await_again_when_that_has_ended) {
  std::string inside;
  std::string after;
  std::uint32_t line = 0;
  const auto report = run([&](Cx cx) -> Task<void> {
    co_await yield(cx);
    line = std::source_location::current().line() + 1;
    co_await tell_frames(cx, inside);
    after = cx::backtrace(*cx::context_of(cx).root());
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  const std::string place = "spawn_test.cpp:" + std::to_string(line) + " in";
  EXPECT_NE(inside.find("#0 not started\n  #1 " + place), std::string::npos) << inside;
  EXPECT_NE(after.find("#0 " + place), std::string::npos) << after;
}

TEST(Trace, COM_3_a_mark_is_in_the_trace_under_its_name) {
  const auto report = run([](Cx cx) -> Task<void> {
    cx.trace("sent", 3);
    cx.trace("sent", 4);
    cx.trace("received", 3);
    co_return;
  });
  std::vector<std::pair<trace::ResourceId, std::uint64_t>> marks;
  for (const trace::Event& event : report.trace.events) {
    if (event.kind == trace::EventKind::mark) marks.emplace_back(event.resource, event.argument);
  }
  const auto sent = cx::mark_resource("sent");
  EXPECT_NE(sent, cx::mark_resource("received"));
  EXPECT_EQ(marks, (std::vector{std::pair(sent, std::uint64_t{3}), std::pair(sent, std::uint64_t{4}),
                                std::pair(cx::mark_resource("received"), std::uint64_t{3})}));
}

TEST(Defer, CTX_4_takes_plain_functions_and_runs_them_with_the_others_newest_first) {
  Log log;
  const auto report = run([&log](Cx cx) -> Task<void> {
    const auto body = [&log](Scope& scope) -> Task<void> {
      co_await scope.defer([&log] { log.emplace_back("first"); });
      const auto waits = [&log](Cx inner) -> Task<void> {
        co_await sleep(inner, ms(1));
        log.emplace_back("second");
      };
      co_await scope.defer_async(waits);
      co_await scope.defer([&log] { log.emplace_back("third"); });
      log.emplace_back("body");
    };
    co_await scope(cx, body);
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(log, (Log{"body", "third", "second", "first"}));
}

TEST(Defer, TSK_5_what_a_finalizer_was_given_is_gone_before_its_region_is_closed) {
  std::optional<RegionState> state;
  const auto report = run([&state](Cx cx) -> Task<void> {
    const auto body = [&state](Scope& scope) -> Task<void> {
      cx::Port& port = cx::context_of(scope.cx()).root()->port();
      const auto goes = [&port, &state, region = scope.cx().region()](const int* kept) {
        state = with_kernel_of(port, [region](auto& kernel) { return kernel.state(region); });
        delete kept;
      };
      const auto waits = [kept = std::shared_ptr<int>(new int(7), goes)](Cx inner) -> Task<void> {
        co_await yield(inner);
      };
      co_await scope.defer_async(waits);
    };
    co_await scope(cx, body);
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(state, RegionState::finalizing);  // on several workers the scope may have returned as soon as it is Closed
}

TEST(Scope, CTX_2_gives_its_children_the_capabilities_it_was_opened_with) {
  const auto report = run([](Cx cx) -> Task<void> {
    using Narrow = CxOf<cap::spawn, cap::time>;
    const auto body = [](ScopeOf<cap::spawn, cap::time>& scope) -> Task<void> {
      const auto child = [](auto inner) -> Task<void> {
        static_assert(std::is_same_v<decltype(inner), Narrow>);
        co_await sleep(inner, ms(1));
      };
      auto handle = co_await scope.spawn(child);
      co_await std::move(handle).join(scope.cx());
    };
    co_await scope(Narrow(cx), body);
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
