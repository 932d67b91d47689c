// A join of a task that has not begun polls it in place: what holds for a poll from the queue holds there.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "calm/channel/mpsc.hpp"
#include "calm/cx/mask.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/run.hpp"
#include "calm/sync/mutex.hpp"
#include "tests/stderr_watch.hpp"
#include "tests/unit/runtime/on_flavours.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

using Log = std::vector<std::string>;

class InPlace : public OnFlavour {};
INSTANTIATE_TEST_SUITE_P(Flavours, InPlace, both_flavours(), name_of_flavour);

TEST_P(InPlace, SCH_6_the_joined_one_runs_first_and_the_others_in_their_order) {
  Log log;
  const auto body = [&log](Scope& scope) -> Task<void> {
    const auto child = [&log](Cx /*cx*/, std::string name) -> Task<void> {
      log.push_back(std::move(name));
      co_return;
    };
    const Handle<void> first = co_await scope.spawn(child, std::string("first"));
    Handle<void> second = co_await scope.spawn(child, std::string("second"));
    const Handle<void> third = co_await scope.spawn(child, std::string("third"));
    co_await std::move(second).join(scope.cx());
    log.emplace_back("joined");
  };
  ASSERT_TRUE(run_body(body).is_ok());
  EXPECT_EQ(log, (Log{"second", "joined", "first", "third"}));
}

TEST_P(InPlace, SCH_4_who_waits_has_its_turn_when_polls_in_place_take_long) {
  int polled = 0;
  int seen = -1;
  const auto body = [&](Scope& scope) -> Task<void> {
    const auto waits = [&](Cx /*cx*/) -> Task<void> {
      seen = polled;
      co_return;
    };
    const auto takes_long = [&](Cx /*cx*/) -> Task<void> {
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(5);
      while (std::chrono::steady_clock::now() < end) {
      }
      ++polled;
      co_return;
    };
    const Handle<void> other = co_await scope.spawn(waits);
    for (int i = 0; i < 300; ++i) {
      Handle<void> joined = co_await scope.spawn(takes_long);
      co_await std::move(joined).join(scope.cx());
    }
  };
  ASSERT_TRUE(run_body(body).is_ok());
  EXPECT_EQ(polled, 300);
  EXPECT_LE(seen, 64) << "so many may be made before the clock is looked at, and 100 us are over then";
}

TEST_P(InPlace, TSK_3_a_join_of_one_that_has_ended_or_can_be_polled_at_once_does_not_suspend) {
  const auto body = [](Scope& scope) -> Task<void> {
    const auto twice = [](Cx /*cx*/, int number) -> Task<int> { co_return 2 * number; };
    const auto fails = [](Cx /*cx*/) -> Task<int> { co_return err(Errc::full); };
    const cx::TaskRoot& root = *cx::context_of(scope.cx()).root();
    Handle<int> ended = co_await scope.spawn(twice, 1);
    co_await yield(scope.cx());
    const std::uint32_t awaits = root.awaits();
    const int first = co_await std::move(ended).join(scope.cx());
    Handle<int> newborn = co_await scope.spawn(twice, 2);
    const int second = co_await std::move(newborn).join(scope.cx());
    EXPECT_EQ(first + second, 6);
    EXPECT_EQ(root.awaits(), awaits + 2);  // spawn() waits for nothing, and another poll would be more
    Handle<int> failed = co_await scope.spawn(fails);
    const int never = co_await std::move(failed).join(scope.cx());
    ADD_FAILURE() << "a failure was passed on as " << never;
  };
  const Outcome<void> end = run_body(body, {.policy = FoldPolicy::collect});
  ASSERT_TRUE(end.is_err()) << to_string(end);
  EXPECT_EQ(end.error().code(), Errc::full);
}

TEST_P(InPlace, OBL_5_a_guard_that_ends_in_the_joined_one_is_settled) {
  const StderrWatch watch;
  const auto body = [](Scope& scope) -> Task<void> {
    Mutex<int> number(scope.cx(), 0);
    co_await checkpoint(scope.cx());
    for (int i = 0; i < 3; ++i) {
      const auto ends_it = [](Cx /*cx*/, Mutex<int>::Guard guard) -> Task<void> {
        ++*guard;
        co_return;
      };
      Mutex<int>::Guard guard = co_await number.lock(scope.cx());
      Handle<void> child = co_await scope.spawn(ends_it, std::move(guard));
      co_await std::move(child).join(scope.cx());
      EXPECT_FALSE(number.is_locked());
    }
    co_await yield(scope.cx());
  };
  EXPECT_TRUE(run_body(body).is_ok());
  EXPECT_EQ(watch.said(), "");
}

TEST_P(InPlace, OBL_5_a_guard_that_the_joined_one_makes_is_its_own) {
  const StderrWatch watch;
  const auto body = [](Scope& scope) -> Task<void> {
    Mutex<int> outer(scope.cx(), 0);
    Mutex<int> inner(scope.cx(), 0);
    co_await checkpoint(scope.cx());
    const auto locks = [&inner](Cx cx) -> Task<void> {
      co_await checkpoint(cx);
      const Mutex<int>::Guard guard = co_await inner.lock(cx);
      ++*guard;
    };
    const Mutex<int>::Guard held = co_await outer.lock(scope.cx());
    Handle<void> child = co_await scope.fiber(locks);
    co_await std::move(child).join(scope.cx());
    EXPECT_TRUE(outer.is_locked());
  };
  EXPECT_TRUE(run_body(body).is_ok());
  EXPECT_EQ(watch.said(), "");
}

TEST_P(InPlace, TSK_6_one_that_parks_there_goes_on_when_it_is_woken) {
  Log log;
  const auto body = [&log](Scope& scope) -> Task<int> {
    const auto child = [&log](Cx cx) -> Task<int> {
      log.emplace_back("begins");
      for (int i = 0; i < 3; ++i) co_await yield(cx);
      co_await sleep(cx, Duration::microseconds(10));
      log.emplace_back("ends");
      co_return 7;
    };
    Handle<int> handle = co_await scope.spawn(child);
    const int value = co_await std::move(handle).join(scope.cx());
    log.emplace_back("joined");
    co_return value;
  };
  const Outcome<int> end = run_body(body);
  ASSERT_TRUE(end.is_ok());
  EXPECT_EQ(end.value(), 7);
  EXPECT_EQ(log, (Log{"begins", "ends", "joined"}));
}

TEST_P(InPlace, OUT_5_errors_and_exceptions_reach_who_joins) {
  const auto body = [](Scope& scope) -> Task<int> {
    const auto fails = [](Cx /*cx*/) -> Task<int> { co_return err(Errc::full); };
    const auto throws = [](Cx /*cx*/) -> Task<int> {
      throw std::runtime_error("thrown in place");
      co_return 0;
    };
    Handle<int> first = co_await scope.spawn(fails);
    const Outcome<int> error = co_await outcome(std::move(first).join(scope.cx()));
    EXPECT_TRUE(error.is_err());
    Handle<int> second = co_await scope.spawn(throws);
    const Outcome<int> panic = co_await outcome(std::move(second).join(scope.cx()));
    EXPECT_TRUE(panic.is_panicked());
    co_return 1;
  };
  EXPECT_FALSE(run_body(body, {.policy = FoldPolicy::collect}).is_ok()) << "the region has seen both";
}

TEST_P(InPlace, TSK_8_one_that_was_cancelled_before_it_began_does_not_run) {
  Log log;
  const auto body = [&log](Scope& scope) -> Task<void> {
    const auto child = [&log](Cx /*cx*/) -> Task<void> {
      log.emplace_back("ran");
      co_return;
    };
    Handle<void> handle = co_await scope.spawn(child);
    handle.cancel("not needed");
    const Outcome<void> end = co_await outcome(std::move(handle).join(scope.cx()));
    log.emplace_back(end.is_cancelled() ? "cancelled" : "otherwise");
  };
  (void)run_body(body, {.policy = FoldPolicy::collect});
  EXPECT_EQ(log, (Log{"cancelled"}));
}

TEST_P(InPlace, CAN_7_a_scope_that_is_cancelled_by_an_inner_poll_is_seen_at_the_next_checkpoint) {
  Log log;
  const auto body = [&log](Scope& scope) -> Task<void> {
    const auto stops_all = [&scope](Cx /*cx*/) -> Task<void> {
      scope.cancel("from inside");
      co_return;
    };
    Handle<void> handle = co_await scope.fiber(stops_all);
    (void)co_await outcome(std::move(handle).join(scope.cx()));
    log.emplace_back("joined, or cancelled while it waited");
    const Outcome<void> end = co_await outcome(yield(scope.cx()));
    log.emplace_back(end.is_cancelled() ? "cancelled" : "missed");
  };
  (void)run_body(body);
  EXPECT_EQ(log, (Log{"joined, or cancelled while it waited", "cancelled"}));
}

TEST_P(InPlace, OBL_2_promises_of_the_outer_poll_stay_its_own) {
  const auto body = [](Scope& scope) -> Task<int> {
    channel::Mpsc<int> made = std::move(channel::mpsc<int>(scope.cx(), 4)).value();
    auto permit = co_await made.sender.reserve(scope.cx());
    const auto child = [](Cx cx, channel::Sender<int> own) -> Task<void> {
      const auto sent = co_await own.send(cx, 1);
      EXPECT_TRUE(sent.is_ok());
    };
    Handle<void> handle = co_await scope.spawn(child, made.sender);
    co_await std::move(handle).join(scope.cx());
    const auto sent = std::move(permit).send(2);
    EXPECT_TRUE(sent.is_ok());
    const int first = co_await made.receiver.recv(scope.cx());
    const int second = co_await made.receiver.recv(scope.cx());
    co_return (first * 10) + second;
  };
  const Outcome<int> end = run_body(body);
  ASSERT_TRUE(end.is_ok()) << to_string(end);
  EXPECT_EQ(end.value(), 12);
}

Task<std::uint64_t> chain(Cx cx, std::uint64_t left) {
  if (left == 0) co_return 0;
  Handle<std::uint64_t> next = co_await spawn(cx, chain, left - 1);
  const std::uint64_t sum = co_await std::move(next).join(cx);
  co_return sum + 1;
}

TEST_P(InPlace, TSK_7_a_chain_of_joins_a_hundred_thousand_deep_takes_bounded_stack) {
  const auto body = [](Scope& scope) -> Task<std::uint64_t> {
    const std::uint64_t sum = co_await chain(scope.cx(), 100'000);
    co_return sum;
  };
  const Outcome<std::uint64_t> end = run_body(body);
  ASSERT_TRUE(end.is_ok());
  EXPECT_EQ(end.value(), 100'000U);
}

TEST_P(InPlace, SCH_4_joins_in_a_row_do_not_keep_others_from_their_turn) {
  std::uint64_t joins_before_other = 0;
  const auto body = [&joins_before_other](Scope& scope) -> Task<void> {
    bool other_ran = false;
    const auto other = [&other_ran](Cx cx) -> Task<void> {
      co_await yield(cx);
      other_ran = true;
    };
    const Handle<void> waits = co_await scope.fiber(other);
    const auto nothing = [](Cx /*cx*/) -> Task<void> { co_return; };
    while (!other_ran && joins_before_other < 100'000) {
      Handle<void> handle = co_await scope.spawn(nothing);
      co_await std::move(handle).join(scope.cx());
      ++joins_before_other;
    }
  };
  ASSERT_TRUE(run_body(body).is_ok());
  EXPECT_LE(joins_before_other, 1'000U);
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
