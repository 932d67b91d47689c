// The seven promises, each shown on a program in the lab.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "calm/cx/mask.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/kernel/ownership.hpp"
#include "program_bench.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

// --- I1 ownership ---

void expect_one_tree(const kernel::Snapshot& snapshot, std::size_t tasks, std::size_t regions) {
  EXPECT_TRUE(kernel::broken_invariants(snapshot).empty());
  EXPECT_EQ(snapshot.tasks.size(), tasks);
  EXPECT_EQ(snapshot.regions.size(), regions);
  std::size_t roots = 0;
  for (const kernel::RegionView& region : snapshot.regions) roots += region.parent ? 0U : 1U;
  EXPECT_EQ(roots, 1U);
  for (const kernel::TaskView& task : snapshot.tasks) {
    EXPECT_NE(snapshot.find(task.region), nullptr);
    EXPECT_EQ(snapshot.path_of(task.region).find('?'), std::string::npos) << snapshot.path_of(task.region);
  }
}

TEST(Promises, I1_every_live_task_and_fiber_is_in_one_region_of_one_tree) {
  std::atomic<int> there = 0;
  std::atomic<bool> seen = false;
  const auto report = run_clean([&](Cx cx) -> Task<void> {
    const auto stays = [&](Cx inner) -> Task<void> {
      ++there;
      co_await sleep(inner, ms(10));
      co_await catch_up(inner, seen);
    };
    const auto opens_a_scope = [&stays](Cx inner) -> Task<void> {
      const auto body = [&stays](Scope& scope) -> Task<void> {
        auto task = co_await scope.spawn(stays);
        auto fiber = co_await scope.fiber(stays);
      };
      co_await scope(inner, body);
    };
    const auto body = [&](Scope& scope) -> Task<void> {
      auto task = co_await scope.spawn(opens_a_scope);
      auto fiber = co_await scope.fiber(opens_a_scope);
      co_await sleep(scope.cx(), ms(1));
      const auto all_are_there = [&there] { return there == 4; };
      co_await catch_up(scope.cx(), all_are_there);
      expect_one_tree(look(scope.cx()), 1 + 2 + 4, 1 + 1 + 2);
      seen = true;
    };
    co_await scope(cx, body);
    expect_one_tree(look(cx), 1, 1);
  });
  EXPECT_TRUE(report.end.is_ok());
}

// --- I2 close is quiet ---

TEST(Promises, I2_a_scope_returns_after_its_children_its_promises_and_then_its_finalizers) {
  Log log;
  std::atomic<bool> body_is_over = false;
  run_clean([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto cleans = [&log](Cx inner) -> Task<void> {
        co_await sleep(inner, ms(2));
        EXPECT_TRUE(comes_at(inner.now(), at_ms(10)));
        log.emplace_back("finalizer");
      };
      co_await scope.defer_async(cleans);
      const auto keeps = [&](Cx inner) -> Task<void> {
        Obligation promise = co_await reserve(inner, ObligationKind::lease);
        co_await sleep(inner, ms(8));
        co_await catch_up(inner, body_is_over);
        (void)promise.commit();
        EXPECT_TRUE(comes_at(inner.now(), at_ms(8)));
        log.emplace_back("child");
      };
      auto child = co_await scope.spawn(keeps);
      log.emplace_back("body");
      body_is_over = true;
    };
    co_await scope(cx, body);
    EXPECT_TRUE(comes_at(cx.now(), at_ms(10)));
    log.emplace_back("back");
  });
  EXPECT_EQ(log, (Log{"body", "child", "finalizer", "back"}));
}

TEST(Promises, I2_OBL_11_a_scope_waits_for_a_promise_that_a_task_elsewhere_holds) {
  Time left;
  run_clean([&left](Cx cx) -> Task<void> {
    const auto outer = [&left](Scope& scope) -> Task<void> {
      std::optional<Obligation> shelf;
      const auto keeper = [&shelf](Cx inner) -> Task<void> {
        co_await sleep(inner, ms(20));
        EXPECT_TRUE(shelf->commit());
      };
      auto handle = co_await scope.fiber(keeper);
      const auto inner_body = [&shelf, task = handle.id()](Scope& inner) -> Task<void> {
        shelf.emplace(co_await reserve(inner.cx(), ObligationKind::ack));
        EXPECT_TRUE(shelf->hand_to(task));
      };
      co_await calm::scope(scope.cx(), inner_body);
      left = scope.cx().now();
    };
    co_await scope(cx, outer);
  });
  EXPECT_TRUE(comes_at(left, at_ms(20)));
}

// --- I3 cancellation is a protocol ---

/// Stops when it is told to, and takes three milliseconds for it.
Task<void> stops_slowly(Cx cx, std::reference_wrapper<std::atomic<int>> begun) {
  ++begun.get();
  const Outcome<void> slept = co_await outcome(sleeps(cx, ms(1'000'000)));
  EXPECT_TRUE(slept.is_cancelled());
  const auto cleans = [](Cx inner) -> Task<void> { co_await sleep(inner, ms(3)); };
  co_await with_cancel_mask(cx, cleans);
  co_await checkpoint(cx);
}

TEST(Promises, I3_a_cancelled_scope_is_asked_drained_and_finalized_in_this_order) {
  RegionId region;
  Time left;
  std::atomic<int> begun = 0;
  const auto report = run_clean([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      region = scope.region();
      const auto stops = [&begun](Cx inner) -> Task<void> { co_await stops_slowly(inner, begun); };
      auto first = co_await scope.spawn(stops);
      auto second = co_await scope.spawn(stops);
      co_await scope.defer_async([](Cx inner) -> Task<void> { co_await yield(inner); });
      co_await sleep(scope.cx(), ms(1));
      const auto both_have_begun = [&begun] { return begun == 2; };
      co_await catch_up(scope.cx(), both_have_begun);
      scope.cancel("once");
      scope.cancel("again");  // idempotent
    };
    const Outcome<void> end = co_await outcome(scope(cx, body));
    EXPECT_TRUE(end.is_cancelled());
    if (in_lab()) {  // elsewhere the first one may be earlier
      EXPECT_EQ(end.reason().message(), "again") << "equal severity and time: the message decides (CAN-4)";
    }
    left = cx.now();
  });
  using enum trace::EventKind;
  const auto asked = places(report.trace, region, cancel_request);
  const auto acknowledged = places(report.trace, region, cancel_ack);
  const auto ended = places(report.trace, region, complete);
  const auto finalized = places(report.trace, region, finalize);
  const auto moved = places(report.trace, region, region_move);
  ASSERT_EQ(acknowledged.size(), 2U);
  ASSERT_EQ(ended.size(), 3U);  // two tasks and the finalizer
  ASSERT_EQ(finalized.size(), 1U);
  EXPECT_LT(asked.front(), acknowledged.front());
  EXPECT_LT(acknowledged.front(), ended[0]);
  EXPECT_LT(acknowledged.back(), ended[in_lab() ? 0 : 1]);
  EXPECT_LT(ended[1], finalized.front());
  EXPECT_LT(finalized.front(), ended[2]);
  EXPECT_LT(ended[2], moved.back());
  EXPECT_TRUE(comes_at(left, at_ms(4)));
}

TEST(Promises, I3_CAN_8_a_task_that_does_not_stop_is_stopped_when_its_clean_up_budget_is_used_up) {
  Log log;
  Time left;
  std::atomic<bool> begun = false;
  run_clean([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto stubborn = [&](Cx inner) -> Task<void> {
        const CancelMask mask(inner);
        const Bye bye(log, "gone");
        begun = true;
        co_await sleep(inner, ms(1'000'000));
        log.emplace_back("not reached");
      };
      auto child = co_await scope.spawn(stubborn);
      co_await sleep(scope.cx(), ms(1));
      co_await catch_up(scope.cx(), begun);
      scope.cancel();
    };
    (void)co_await outcome(scope(cx, body, {.cleanup_time = cleanup_time_here()}));
    left = cx.now();
  });
  EXPECT_EQ(log, (Log{"gone"}));
  EXPECT_TRUE(comes_at(left, at_ms(1) + cleanup_time_here()));
}

// --- I4 two-phase effects ---

/// A thing that is in one place, never in two or none: with the sender, or on the shelf.
struct Transfer {
  bool with_sender = true;
  bool on_shelf = false;
};

/// Reserve, then commit or abort.
class Reservation {
 public:
  explicit Reservation(Obligation promise) noexcept : promise_(std::move(promise)) {}
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() {
    if (promise_.id()) (void)promise_.abort();
  }
  void commit() { EXPECT_TRUE(promise_.commit()); }

 private:
  Obligation promise_;
};

Task<void> deliver(Cx cx, Transfer& transfer) {
  co_await yield(cx);
  Reservation place(co_await reserve(cx, ObligationKind::pool_checkout));
  co_await yield(cx);
  co_await yield(cx);
  const auto both_halves = [&](Cx inner) -> Task<void> {
    transfer.with_sender = false;
    co_await yield(inner);
    co_await yield(inner);
    transfer.on_shelf = true;
    place.commit();
  };
  co_await commit_section(cx, both_halves);
  co_await yield(cx);
}

TEST(Promises, I4_a_cancel_at_any_step_of_a_two_phase_effect_loses_nothing) {
  int kept = 0;
  int delivered = 0;
  for (int when = 0; when < 24; when += in_lab() ? 1 : 5) {
    for (std::uint64_t seed = 1; seed <= (in_lab() ? 8 : 1); ++seed) {
      Transfer transfer;
      const auto report = run_clean(
          [&](Cx cx) -> Task<void> {
            const auto body = [&](Scope& scope) -> Task<void> {
              const auto sends = [&transfer](Cx inner) -> Task<void> { co_await deliver(inner, transfer); };
              auto sender = co_await scope.spawn(sends);
              for (int i = 0; i < when; ++i) co_await yield(scope.cx());
              sender.cancel();
            };
            (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
          },
          seed);
      EXPECT_NE(transfer.with_sender, transfer.on_shelf) << "cancelled after " << when << " rounds, seed " << seed;
      ++(transfer.on_shelf ? delivered : kept);
    }
  }
  if (!in_lab()) return;  // who is how far there, nobody knows
  EXPECT_GT(kept, 0);
  EXPECT_GT(delivered, 0);
}

// --- I5 losers drain ---

Task<int> runs_for(Cx cx, Log& log, std::string name, Duration wait, Duration clean_up) {
  const Bye bye(log, name + " is gone");
  const Outcome<void> slept = co_await outcome(sleeps(cx, wait));
  if (slept.is_ok()) co_return 1;
  const auto cleans = [clean_up](Cx inner) -> Task<void> { co_await sleep(inner, clean_up); };
  co_await with_cancel_mask(cx, cleans);
  log.push_back(name + " has cleaned up");
  co_await checkpoint(cx);
  co_return 0;
}

TEST(Promises, I5_a_race_by_hand_returns_after_its_loser_has_cleaned_up) {
  Log log;
  std::atomic<bool> begun = false;
  run_clean([&](Cx cx) -> Task<void> {
    const auto race = [&](Scope& scope) -> Task<void> {
      const auto quick = [&log](Cx inner) -> Task<int> {
        co_return co_await runs_for(inner, log, "winner", ms(1), ms(5));
      };
      const auto slow = [&](Cx inner) -> Task<int> {
        begun = true;
        co_return co_await runs_for(inner, log, "loser", ms(100'000), ms(5));
      };
      auto winner = co_await scope.spawn(quick);
      auto loser = co_await scope.spawn(slow);
      const int value = co_await std::move(winner).join(scope.cx());
      EXPECT_EQ(value, 1);
      co_await catch_up(scope.cx(), begun);
      loser.cancel("the race is lost");
      const Outcome<int> drained = co_await outcome(std::move(loser).join(scope.cx()));
      EXPECT_TRUE(drained.is_cancelled());
    };
    (void)co_await outcome(scope(cx, race, {.policy = FoldPolicy::collect}));
    EXPECT_TRUE(comes_at(cx.now(), at_ms(6)));
    log.emplace_back("back");
  });
  EXPECT_EQ(log, (Log{"winner is gone", "loser has cleaned up", "loser is gone", "back"}));
}

// --- I6 determinism ---

Task<void> draws(Cx cx, std::vector<std::uint64_t>& numbers) {
  co_await yield(cx);
  numbers.push_back(cx.entropy() ^ cx.task().bits());
}

struct Drawing {
  std::vector<std::uint64_t>* numbers;

  Task<void> operator()(Cx cx) const {
    const auto body = [numbers = numbers](Scope& scope) -> Task<void> {
      for (int i = 0; i < 6; ++i) {
        const auto child = [numbers](Cx inner) -> Task<void> { co_await draws(inner, *numbers); };
        auto handle = co_await scope.fiber(child);
      }
    };
    co_await scope(cx, body);
  }
};

TEST(Promises, I6_a_seed_decides_every_choice_and_every_number_that_is_drawn) {
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> again;
  std::vector<std::uint64_t> other;
  const auto a = run_clean(Drawing{&first}, 5);
  const auto b = run_clean(Drawing{&again}, 5);
  const auto c = run_clean(Drawing{&other}, 6);
  EXPECT_EQ(a.trace, b.trace);
  EXPECT_EQ(first, again);
  EXPECT_NE(a.trace_digest, c.trace_digest);
  EXPECT_NE(first, other);
}

// --- I7 no ambient authority ---

template <class C>
concept Traces = requires(C cx) { cx.trace("word"); };
template <class C>
concept Draws = requires(C cx) { cx.entropy(); };
template <class C>
concept Sleeps = requires(C cx) { sleep(cx, Duration()); };

static_assert(Traces<Cx> && Traces<CxOf<cap::trace>> && !Traces<CxOf<cap::time, cap::entropy>>);
static_assert(Draws<Cx> && Draws<CxOf<cap::entropy>> && !Draws<CxOf<cap::time, cap::trace>>);
static_assert(Sleeps<Cx> && Sleeps<CxOf<cap::time>> && !Sleeps<CxOf<cap::spawn, cap::entropy>>);

TEST(Promises, I7_a_program_inside_a_poll_of_another_shares_nothing_with_it) {
  std::vector<std::uint64_t> alone;
  std::vector<std::uint64_t> inside;
  const auto expected = run_clean(Drawing{&alone}, 9);
  std::uint64_t inner_digest = 0;
  const auto outer = [&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      auto child = co_await scope.spawn(sleeps, ms(3));
      co_await yield(scope.cx());
      inner_digest = run_clean(Drawing{&inside}, 9).trace_digest;  // in the middle of a poll
      EXPECT_EQ(scope.cx().now(), Time());
      co_await sleep(scope.cx(), ms(1));
      EXPECT_EQ(scope.cx().now(), at_ms(1));
    };
    co_await scope(cx, body);
  };
  run_clean(outer);
  EXPECT_EQ(inner_digest, expected.trace_digest);
  EXPECT_EQ(inside, alone);
}

TEST(Promises, I7_programs_on_two_threads_do_not_feel_each_other) {
  std::vector<std::uint64_t> alone;
  const auto expected = run_clean(Drawing{&alone}, 3);
  std::uint64_t digests[2] = {};
  const auto run_many = [](std::uint64_t& digest) {
    for (int i = 0; i < 50; ++i) {
      std::vector<std::uint64_t> numbers;
      digest = run_clean(Drawing{&numbers}, 3).trace_digest;
    }
  };
  std::thread other([&] { run_many(digests[0]); });
  run_many(digests[1]);
  other.join();
  EXPECT_EQ(digests[0], expected.trace_digest);
  EXPECT_EQ(digests[1], expected.trace_digest);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
