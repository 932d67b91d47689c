// The rest of the family: oneshot, work queue, watch, broadcast; single runs, then every schedule.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "calm/channel/broadcast.hpp"
#include "calm/channel/mpmc.hpp"
#include "calm/channel/oneshot.hpp"
#include "calm/channel/watch.hpp"
#include "calm/cx/scope.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/lab.hpp"
#include "tests/unit/channel/channel_bench.hpp"
#include "tests/unit/channel/ledger.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

void expect_every_schedule(const lab::ExploreReport& report) {
  EXPECT_TRUE(report.exhausted()) << report;
  EXPECT_TRUE(report.ok()) << report;
  EXPECT_EQ(report.counts.executions, report.counts.fingerprints);
}

/// Cancels the task of a handle, at any time.
struct CancelOther {
  const Handle<void>* handle;
  Task<void> operator()(Cx /*cx*/) const {
    handle->cancel();
    co_return;
  }
};

// --- oneshot ---

TEST(Oneshot, CHN_11_gives_one_value_or_says_that_none_will_come) {
  (void)run_clean([](Cx cx) -> Task<void> {
    Oneshot<std::unique_ptr<int>> answer = std::move(oneshot<std::unique_ptr<int>>(cx)).value();
    EXPECT_FALSE(answer.sender.is_closed());
    EXPECT_EQ(answer.receiver.try_recv().error().code(), Errc::empty);
    EXPECT_TRUE(std::move(answer.sender).send(std::make_unique<int>(3)).is_ok());
    const std::unique_ptr<int> value = co_await answer.receiver.recv(cx);
    EXPECT_EQ(*value, 3);
    // NOLINTNEXTLINE(bugprone-use-after-move): that is the point
    EXPECT_EQ(std::move(answer.sender).send(nullptr).error().code, Errc::obligation_already_resolved);

    auto dropped = std::optional(std::move(oneshot<int>(cx)).value());
    {
      const OneshotSender<int> gone = std::move(dropped->sender);
    }
    const Outcome<int> none = co_await outcome(dropped->receiver.recv(cx));
    EXPECT_EQ(none.error().code(), Errc::disconnected);

    auto unheard = std::optional(std::move(oneshot<int>(cx)).value());
    OneshotSender<int> sender = std::move(unheard->sender);
    unheard.reset();
    EXPECT_TRUE(sender.is_closed());
    EXPECT_EQ(std::move(sender).send(8).error().value, 8);
  });
}

struct ExploredOneshot {
  bool cancel_receiver;

  Task<void> operator()(Cx cx) const {
    Ledger ledger;
    const auto body = [this, &ledger](Scope& scope) -> Task<void> {
      Oneshot<Letter> made = std::move(oneshot<Letter>(scope.cx())).value();
      auto sends = [&ledger, sender = std::move(made.sender)](Cx inner) mutable -> Task<void> {
        co_await yield(inner);
        Sent<Letter> sent = std::move(sender).send(Letter(ledger, 1, 1));
        if (!sent) std::move(std::move(sent).error().value).give_back();
      };
      auto receives = [receiver = std::move(made.receiver)](Cx inner) mutable -> Task<void> {
        Letter letter = co_await receiver.recv(inner);
        std::move(letter).receive();
      };
      (void)co_await scope.fiber(std::move(sends));
      Handle<void> receiving = co_await scope.fiber(std::move(receives));
      if (!cancel_receiver) co_return;
      Handle<void> cancelling = co_await scope.fiber(CancelOther{&receiving});
      co_await std::move(cancelling).join(scope.cx());
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    ledger.verify(cancel_receiver);
  }
};

// --- work queue ---

TEST(Mpmc, CHN_11_each_value_goes_to_one_receiver_and_who_waits_comes_before_who_tries) {
  Log log;
  std::vector<int> seen;
  (void)run_clean([&log, &seen](Cx cx) -> Task<void> {
    const auto body = [&log, &seen](Scope& scope) -> Task<void> {
      EXPECT_EQ(mpmc<int>(scope.cx(), 0).error().code(), Errc::invalid_argument);
      Mpmc<int> made = std::move(mpmc<int>(scope.cx(), 4)).value();
      static constexpr const char* names[] = {"a", "b"};
      for (const char* const name : names) {
        auto works = [&log, &seen, name, receiver = made.receiver](Cx inner) -> Task<void> {
          const int value = co_await receiver.recv(inner);
          log.push_back(std::string(name) + " has one");
          seen.push_back(value);
        };
        (void)co_await scope.fiber(std::move(works));
        co_await settle(scope.cx());
      }
      EXPECT_TRUE(made.sender.try_send(1).is_ok());
      EXPECT_EQ(made.receiver.try_recv().error().code(), Errc::empty);  // a or b has it
      EXPECT_TRUE(made.sender.try_send(2).is_ok());
      co_await settle(scope.cx());
      EXPECT_TRUE(made.sender.try_send(3).is_ok());
      EXPECT_EQ(made.receiver.try_recv().value(), 3);
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  });
  std::sort(log.begin(), log.end());
  EXPECT_EQ(log, (Log{"a has one", "b has one"}));
  EXPECT_EQ(seen, (std::vector{1, 2}));
}

struct WorkUntilEnd {
  SharedReceiver<Letter> receiver;
  int strike;

  Task<void> operator()(Cx cx) {
    for (int number = 1;; ++number) {
      if (number == strike) cancel_myself(cx);
      std::optional<Letter> letter = co_await receiver.next(cx);
      if (!letter) break;
      std::move(*letter).receive();
    }
  }
};

struct ExploredWork {
  int strike;
  bool cancel_first;

  Task<void> operator()(Cx cx) const {
    Ledger ledger;
    const auto body = [this, &ledger](Scope& scope) -> Task<void> {
      Mpmc<Letter> made = std::move(mpmc<Letter>(scope.cx(), 1)).value();
      WorkUntilEnd one{made.receiver, strike};
      WorkUntilEnd two{std::move(made.receiver), 0};
      Handle<void> first = co_await scope.fiber(std::move(one));
      (void)co_await scope.fiber(std::move(two));
      std::optional<Handle<void>> cancelling;
      if (cancel_first) cancelling.emplace(co_await scope.fiber(CancelOther{&first}));
      for (int number = 1; number <= 2; ++number) {
        Sent<Letter> sent = co_await made.sender.send(scope.cx(), Letter(ledger, 1, number));
        if (!sent) std::move(std::move(sent).error().value).give_back();
      }
      if (cancelling) co_await std::move(*cancelling).join(scope.cx());
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    if (ledger.received != 2) throw std::logic_error("a letter was lost while a receiver was there");
  }
};

TEST(FamilyExplored, CHN_11_oneshot_and_work_queue_lose_nothing_in_any_schedule) {
  for (const bool cancel : {false, true}) expect_every_schedule(lab::explore(ExploredOneshot{cancel}));
  for (const int strike : {0, 1, 2}) expect_every_schedule(lab::explore(ExploredWork{strike, false}));
  expect_every_schedule(lab::explore(ExploredWork{0, true}));
}

// --- watch ---

TEST(Watch, CHN_11_shows_the_latest_value_and_who_waits_learns_of_changes) {
  (void)run_clean([](Cx cx) -> Task<void> {
    Watch<std::string> made = std::move(watch<std::string>(cx, "start")).value();
    EXPECT_EQ(made.receiver.latest(), "start");
    EXPECT_FALSE(made.receiver.has_changed());
    EXPECT_TRUE(made.sender.send("middle").is_ok());
    EXPECT_TRUE(made.sender.send("end").is_ok());
    WatchReceiver<std::string> copy = made.receiver;
    co_await made.receiver.changed(cx);
    EXPECT_EQ(made.receiver.latest(), "end");
    EXPECT_FALSE(made.receiver.has_changed());
    EXPECT_TRUE(copy.has_changed());
    {
      const WatchSender<std::string> gone = std::move(made.sender);
    }
    co_await copy.changed(cx);  // what was sent before the end is still new to it
    const Outcome<void> over = co_await outcome(copy.changed(cx));
    EXPECT_EQ(over.error().code(), Errc::disconnected);
  });
}

TEST(Watch, CHN_11_a_value_that_nobody_can_read_comes_back) {
  (void)run_clean([](Cx cx) -> Task<void> {
    auto made = std::optional(std::move(watch<int>(cx, 1)).value());
    const WatchSender<int> sender = std::move(made->sender);
    made.reset();
    EXPECT_EQ(sender.send(2).error().value, 2);
    EXPECT_EQ(sender.latest(), 1);
    co_return;
  });
}

struct ExploredWatch {
  int strike;  // the reader is cancelled at this await point; 0: it is not

  Task<void> operator()(Cx cx) const {
    int last = 0;
    bool ended = false;
    const auto body = [this, &last, &ended](Scope& scope) -> Task<void> {
      Watch<int> made = std::move(watch<int>(scope.cx(), 0)).value();
      auto reads = [this, &last, &ended, receiver = std::move(made.receiver)](Cx inner) mutable -> Task<void> {
        for (int number = 1;; ++number) {
          if (number == strike) cancel_myself(inner);
          const bool fresh = receiver.has_changed();
          const Outcome<void> changed = co_await outcome(receiver.changed(inner));
          if (changed.is_cancelled() && fresh && !receiver.has_changed()) throw std::logic_error("a change was lost");
          if (!changed) {
            ended = changed.is_err();
            break;
          }
          if (receiver.latest() <= last) throw std::logic_error("an old value came again");
          last = receiver.latest();
        }
      };
      (void)co_await scope.fiber(std::move(reads));
      auto sends = [sender = std::move(made.sender)](Cx inner) mutable -> Task<void> {
        for (const int value : {1, 2}) {
          (void)sender.send(value);
          co_await yield(inner);
        }
      };
      (void)co_await scope.fiber(std::move(sends));
    };
    const Outcome<void> end = co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    if (end.is_panicked()) std::rethrow_exception(end.panic().exception());
    if (strike == 0 && (last != 2 || !ended)) throw std::logic_error("the last value was not seen");
  }
};

TEST(FamilyExplored, CHN_11_a_slow_reader_of_a_watch_sees_the_last_value_in_every_schedule) {
  for (const int strike : {0, 1, 2, 3}) expect_every_schedule(lab::explore(ExploredWatch{strike}));
}

// --- broadcast ---

TEST(Broadcast, CHN_11_every_receiver_gets_every_value_and_one_that_lags_learns_how_many_it_missed) {
  (void)run_clean([](Cx cx) -> Task<void> {
    EXPECT_EQ(broadcast<int>(cx, 0).error().code(), Errc::invalid_argument);
    auto made = std::optional(std::move(broadcast<int>(cx, 2)).value());
    BroadcastReceiver<int> quick = made->receiver;
    BroadcastReceiver<int> slow = made->receiver;
    for (const int value : {1, 2, 3, 4, 5}) {
      EXPECT_TRUE(made->sender.send(value).is_ok());
      const Heard<int> heard = co_await quick.recv(cx);
      EXPECT_EQ(heard.value, value);
      EXPECT_EQ(heard.missed, 0U);
    }
    BroadcastReceiver<int> late = made->sender.subscribe();
    EXPECT_EQ(late.try_recv().error().code(), Errc::empty);
    const Heard<int> first = co_await slow.recv(cx);
    EXPECT_EQ(first.value, 4);
    EXPECT_EQ(first.missed, 3U);
    made.reset();
    const Heard<int> second = co_await slow.recv(cx);
    EXPECT_EQ(second.value, 5);
    EXPECT_EQ(second.missed, 0U);
    EXPECT_EQ(slow.try_recv().error().code(), Errc::disconnected);
    const Outcome<Heard<int>> over = co_await outcome(late.recv(cx));
    EXPECT_EQ(over.error().code(), Errc::disconnected);
  });
}

struct ExploredBroadcast {
  int strike;

  static Task<void> listen(Cx cx, BroadcastReceiver<int>& receiver, int strike, int& accounted) {
    for (int number = 1;; ++number) {
      if (number == strike) cancel_myself(cx);
      const Outcome<Heard<int>> heard = co_await outcome(receiver.recv(cx));
      if (!heard) break;
      accounted += 1 + static_cast<int>(heard.value().missed);
      if (heard.value().value != accounted) throw std::logic_error("the count of missed values is wrong");
    }
  }

  Task<void> operator()(Cx cx) const {
    int first_heard = 0;
    int second_heard = 0;
    const auto body = [this, &first_heard, &second_heard](Scope& scope) -> Task<void> {
      Broadcast<int> made = std::move(broadcast<int>(scope.cx(), 1)).value();
      const auto first = [this, &first_heard, receiver = made.receiver](Cx inner) mutable -> Task<void> {
        co_await listen(inner, receiver, strike, first_heard);
      };
      const auto second = [&second_heard, receiver = std::move(made.receiver)](Cx inner) mutable -> Task<void> {
        co_await listen(inner, receiver, 0, second_heard);
      };
      (void)co_await scope.fiber(first);
      (void)co_await scope.fiber(second);
      (void)made.sender.send(1);
      co_await yield(scope.cx());
      for (const int value : {2, 3}) (void)made.sender.send(value);
    };
    const Outcome<void> end = co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    if (end.is_panicked()) std::rethrow_exception(end.panic().exception());
    if (second_heard != 3 || (strike == 0 && first_heard != 3)) throw std::logic_error("a value is not accounted for");
  }
};

TEST(FamilyExplored, CHN_11_what_a_receiver_heard_and_what_it_missed_is_all_there_was_in_every_schedule) {
  for (const int strike : {0, 1, 2, 3, 4}) expect_every_schedule(lab::explore(ExploredBroadcast{strike}));
}

}  // namespace
}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
