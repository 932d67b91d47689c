// What a Cx offers, what it refuses, the equations between its operations, and the finalizers of scopes.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <stdexcept>
#include <type_traits>

#include "calm/cx/mask.hpp"
#include "program_bench.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

// --- SHD-5 ---

TEST(CachedTime, SHD_5_the_lab_writes_it_and_kernel_events_and_tasks_see_it_and_nothing_else) {
  const lab::LabReport report = run_clean([](Cx cx) -> Task<void> {
    EXPECT_EQ(cx.now(), worker_under(cx).now());
    co_await sleep(cx, ms(5));
    const Time woken = cx.now();
    EXPECT_EQ(woken, at_ms(5));
    EXPECT_EQ(woken, worker_under(cx).now());
    const auto body = [woken](Scope& scope) -> Task<void> {
      auto child = co_await scope.spawn(sleeps, ms(0));
      co_await std::move(child).join(scope.cx());
      EXPECT_EQ(scope.cx().now(), woken);  // however many polls it takes, time goes on only when the lab says so
    };
    co_await scope(cx, body);
    EXPECT_EQ(cx.now(), woken);
  });
  for (const trace::Event& event : report.trace.events) {
    EXPECT_TRUE(event.time == Time() || event.time == at_ms(5)) << event.time.ns();
  }
}

// --- CTX-1, CTX-2 ---

TEST(Context, CTX_1_the_kernel_surface_is_there_without_any_capability) {
  run_clean([](Cx cx) -> Task<void> {
    const CxOf<> bare = cx;
    const kernel::Snapshot snapshot = look(cx);
    EXPECT_NE(snapshot.find(bare.task()), nullptr);
    EXPECT_EQ(bare.region(), snapshot.find(bare.task())->region);
    EXPECT_EQ(bare.budget(), Budget::infinite());
    EXPECT_TRUE(comes_at(bare.now(), Time()));
    EXPECT_FALSE(bare.is_cancelled());
    co_await checkpoint(bare);
    co_await yield(bare);
    const CancelMask mask(bare);
    co_await checkpoint(bare);
    co_await sleep_until(cx, at_ms(3));
    EXPECT_TRUE(comes_at(bare.now(), at_ms(3)));
    cx.trace("word", 7);
  });
}

static_assert(std::is_convertible_v<Cx, CxOf<cap::time>> && std::is_convertible_v<Cx, CxOf<>>);
static_assert(std::is_convertible_v<CxOf<cap::time, cap::trace>, CxOf<cap::trace>>);
static_assert(std::is_convertible_v<CxOf<cap::time, cap::trace>, CxOf<cap::trace, cap::time>>,
              "the order says nothing");
static_assert(!std::is_convertible_v<CxOf<cap::time>, CxOf<cap::time, cap::spawn>>);
static_assert(!std::is_constructible_v<Cx, CxOf<>>);
static_assert(!std::is_constructible_v<CxOf<cap::io>, CxOf<cap::remote>>);

template <class C>
inline constexpr int allowed =
    C::template allows<cap::time> + C::template allows<cap::spawn> + C::template allows<cap::fiber> +
    C::template allows<cap::io> + C::template allows<cap::remote> + C::template allows<cap::supervise> +
    C::template allows<cap::entropy> + C::template allows<cap::trace>;

TEST(Context, CTX_2_a_context_converts_to_fewer_capabilities_and_never_to_more) {
  EXPECT_EQ(allowed<Cx>, 8);
  EXPECT_EQ(allowed<CxOf<>>, 0);
  EXPECT_EQ((allowed<CxOf<cap::time, cap::spawn>>), 2);
  run_clean([](Cx cx) -> Task<void> {
    const CxOf<cap::time, cap::spawn> fewer = cx;
    EXPECT_EQ(fewer.task(), cx.task());  // the same place, less authority
    const auto body = [](ScopeOf<cap::time, cap::spawn>& scope) -> Task<void> {
      static_assert(std::is_same_v<decltype(scope.cx()), CxOf<cap::time, cap::spawn>>);
      co_await sleep(scope.cx(), ms(1));
    };
    co_await scope(fewer, body);
  });
}

// --- CTX-3 ---

TEST(Context, CTX_3_two_checkpoints_are_one_when_nothing_is_requested) {
  const auto with_checkpoints = [](int count) {
    return run_clean([count](Cx cx) -> Task<void> {
      co_await yield(cx);
      for (int i = 0; i < count; ++i) co_await checkpoint(cx);
      cx.trace("after");
      co_await sleep(cx, ms(1));
    });
  };
  const auto one = with_checkpoints(1);
  const auto two = with_checkpoints(2);
  EXPECT_EQ(one.trace, two.trace);
  EXPECT_EQ(one.state_digest, two.state_digest);
}

/// Gives: every mark with its time, in order.
std::vector<std::pair<Time, std::uint64_t>> marks(const trace::Trace& trace) {
  std::vector<std::pair<Time, std::uint64_t>> found;
  for (const trace::Event& event : trace.events) {
    if (event.kind == trace::EventKind::mark) found.emplace_back(event.time, event.argument);
  }
  return found;
}

TEST(Context, CTX_3_sleeps_in_a_row_are_the_later_one) {
  const auto sleeping = [](std::vector<int> until) {
    return run_clean([until](Cx cx) -> Task<void> {
      for (const int time : until) co_await sleep_until(cx, at_ms(time));
      cx.trace("awake", 1);
    });
  };
  for (int a = 0; a <= 6; a += 2) {
    for (int b = 0; b <= 6; b += 2) {
      const auto both = sleeping({a, b});
      const auto later = sleeping({std::max(a, b)});
      EXPECT_EQ(marks(both.trace), marks(later.trace)) << a << " then " << b;
      EXPECT_EQ(both.end_time, later.end_time);
      EXPECT_TRUE(both.end.is_ok());
    }
  }
}

/// What a task did, without where it stands among the others.
using Steps = std::vector<std::array<std::uint64_t, 4>>;

std::map<std::uint64_t, Steps> by_task(const trace::Trace& trace) {
  std::map<std::uint64_t, Steps> steps;
  for (const trace::Event& event : trace.events) {
    if (event.kind == trace::EventKind::choice || event.kind == trace::EventKind::region_move) continue;
    steps[event.task.bits()].push_back(
        {static_cast<std::uint64_t>(event.kind), event.resource.bits(), event.argument, event.time.ns()});
  }
  return steps;
}

Task<void> walks(Cx cx, int number) {
  for (int i = 0; i < 3; ++i) {
    cx.trace("step", static_cast<std::uint64_t>(number));
    co_await yield(cx);
    co_await sleep(cx, ms(number));
  }
}

TEST(Context, CTX_3_traces_of_independent_tasks_commute) {
  const auto program = [](Cx cx) -> Task<void> {
    const auto body = [](Scope& scope) -> Task<void> {
      for (int number = 1; number <= 4; ++number) {
        auto handle = co_await scope.spawn(walks, number);
      }
    };
    co_await scope(cx, body);
  };
  const auto first = run_clean(program, 1);
  bool other_order = false;
  for (std::uint64_t seed = 2; seed <= 40; ++seed) {
    const auto next = run_clean(program, seed);
    EXPECT_EQ(by_task(next.trace), by_task(first.trace)) << "seed " << seed;
    other_order = other_order || marks(next.trace) != marks(first.trace);
  }
  EXPECT_TRUE(other_order) << "every seed chose the same order, so nothing was shown";
}

// --- CTX-4 ---

enum class End : std::uint8_t { ok, err, panic, cancelled, deadline };

Task<void> ends(Cx cx, End how) {
  co_await yield(cx);
  if (how == End::err) co_await fail(Errc::io);
  if (how == End::panic) throw std::runtime_error("boom");
  if (how != End::ok) co_await sleep(cx, ms(1'000'000));
}

class Finalizers : public testing::TestWithParam<End> {};

TEST_P(Finalizers, CTX_4_run_once_newest_first_after_the_body_however_it_ends) {
  Log log;
  run_clean([&log](Cx cx) -> Task<void> {
    const auto body = [&log](Scope& scope) -> Task<void> {
      const Bye bye(log, "body");
      co_await scope.defer([&log] { log.emplace_back("first"); });
      co_await scope.defer_async([&log](Cx inner) -> Task<void> {
        co_await sleep(inner, ms(2));  // masked
        log.emplace_back("second");
      });
      if (GetParam() == End::cancelled) scope.cancel();
      const auto limited = scope.cx().with_deadline(GetParam() == End::deadline ? at_ms(4) : Time::max());
      co_await ends(limited, GetParam());
    };
    const Outcome<void> end = co_await outcome(scope(cx, body));
    EXPECT_EQ(end.is_ok(), GetParam() == End::ok);
  });
  EXPECT_EQ(log, (Log{"body", "second", "first"}));
}

TEST_P(Finalizers, CTX_4_a_bracket_releases_once_however_its_use_ends) {
  Log log;
  run_clean([&log](Cx cx) -> Task<void> {
    const auto body = [&log](Scope& scope) -> Task<void> {
      const auto acquire = [&log](Cx) -> Task<int> {
        log.emplace_back("acquire");
        co_return 7;
      };
      const auto use = [&log, &scope](Cx inner, int&) -> Task<void> {
        const Bye bye(log, "use");
        if (GetParam() == End::cancelled) scope.cancel();
        const auto limited = inner.with_deadline(GetParam() == End::deadline ? at_ms(4) : Time::max());
        co_await ends(limited, GetParam());
      };
      const auto release = [&log](Cx inner, int& resource) -> Task<void> {
        co_await sleep(inner, ms(1));
        log.push_back("release " + std::to_string(resource));
      };
      co_await bracket(scope.cx(), acquire, use, release);
    };
    (void)co_await outcome(scope(cx, body));
  });
  EXPECT_EQ(log, (Log{"acquire", "use", "release 7"}));
}

INSTANTIATE_TEST_SUITE_P(Ends, Finalizers,
                         testing::Values(End::ok, End::err, End::panic, End::cancelled, End::deadline));

TEST(Finalizers, CTX_4_a_bracket_that_acquired_nothing_releases_nothing) {
  Log log;
  run_clean([&log](Cx cx) -> Task<void> {
    const auto acquire = [](Cx) -> Task<int> { co_return err(Errc::io); };
    const auto use = [&log](Cx, int&) -> Task<void> {
      log.emplace_back("use");
      co_return;
    };
    const auto release = [&log](Cx, int&) -> Task<void> {
      log.emplace_back("release");
      co_return;
    };
    const Outcome<void> end = co_await outcome(bracket(cx, acquire, use, release));
    EXPECT_TRUE(end.is_err());
  });
  EXPECT_TRUE(log.empty());
}

TEST(Finalizers, CTX_4_OUT_4_one_that_throws_is_panicked_and_the_others_still_run) {
  Log log;
  run_clean([&log](Cx cx) -> Task<void> {
    const auto body = [&log](Scope& scope) -> Task<void> {
      co_await scope.defer([&log] { log.emplace_back("first"); });
      co_await scope.defer([] { throw std::runtime_error("boom"); });
      co_await scope.defer([&log] { log.emplace_back("third"); });
    };
    const Outcome<void> end = co_await outcome(scope(cx, body));
    EXPECT_TRUE(end.is_panicked());
  });
  EXPECT_EQ(log, (Log{"third", "first"}));
}

TEST(Finalizers, CTX_4_REG_5_one_that_does_not_end_is_stopped_after_a_thousand_polls) {
  int rounds = 0;
  Log log;
  run_clean([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      co_await scope.defer([&log] { log.emplace_back("first"); });
      co_await scope.defer_async([&rounds](Cx inner) -> Task<void> {
        for (;; ++rounds) co_await yield(inner);
      });
    };
    (void)co_await outcome(scope(cx, body));
  });
  EXPECT_EQ(rounds, static_cast<int>(kernel::finalizer_polls) - 1);  // the first poll ends before the first round does
  EXPECT_EQ(log, (Log{"first"}));
}

TEST(CommitSection, CTX_4_is_not_interrupted_and_ends_with_its_value) {
  Log log;
  run_clean([&log](Cx cx) -> Task<void> {
    const auto body = [&log](Scope& scope) -> Task<void> {
      const auto section = [&](Cx inner) -> Task<int> {
        scope.cancel();
        co_await sleep(inner, ms(5));
        log.emplace_back("whole");
        co_return 3;
      };
      const int value = co_await commit_section(scope.cx(), section);
      EXPECT_EQ(value, 3);
      co_await checkpoint(scope.cx());
      log.emplace_back("not reached");
    };
    (void)co_await outcome(scope(cx, body));
    EXPECT_TRUE(comes_at(cx.now(), at_ms(5)));
  });
  EXPECT_EQ(log, (Log{"whole"}));
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
