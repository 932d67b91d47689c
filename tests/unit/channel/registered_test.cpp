// Channels that belong to a scope: it is not left before they are drained, and what is there is told meanwhile.
#include "calm/channel/registered.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calm/kernel/quiescence.hpp"
#include "calm/lab/explore.hpp"
#include "tests/unit/channel/channel_bench.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

/// The ends of a channel that somebody outside its scope has.
struct Outside {
  std::optional<Sender<int>> sender;
  std::optional<Receiver<int>> receiver;
};

/// A scope that makes a channel of its own, sends so many values into it and gives its ends away.
struct MakesAndLeaves {
  Outside& outside;
  int values;

  Task<void> operator()(Scope& scope) const {
    // [of_a_scope]
    Mpsc<int> made = co_await mpsc<int>(scope, 8);
    // [/of_a_scope]
    for (int i = 1; i <= values; ++i) {  // NOLINT(calm-long-loop): three at most
      EXPECT_TRUE(made.sender.try_send(i).is_ok());
    }
    outside.sender.emplace(std::move(made.sender));
    outside.receiver.emplace(std::move(made.receiver));
  }
};

/// Lets everybody else go on until a scope waits for its channel.
Task<void> settle_undrained(Cx cx) {
  const auto waits = [cx] { return look(cx).undrained_channels != 0; };
  co_await settle_until(cx, waits);
}
/// The same until a scope was left, as its log says.
Task<void> settle_left(Cx cx, const Log& log) {
  const auto left = [&log] { return !log.empty() && log.back() == "left"; };
  co_await settle_until(cx, left);
}

/// MakesAndLeaves as a task, which writes down when its scope was left.
struct OwnsChannel {
  Outside& outside;
  int values;
  Log& log;

  Task<void> operator()(Cx cx) const {
    co_await scope(cx, MakesAndLeaves{outside, values});
    log.push_back("left");
  }
};

TEST(Registered, QUI_4_a_scope_is_not_left_before_its_channel_is_drained) {
  Log log;
  (void)run_in_scope([&log](Scope& scope) -> Task<void> {
    Outside outside;
    (void)co_await scope.fiber(OwnsChannel{outside, 3, log});
    co_await settle_undrained(scope.cx());
    EXPECT_TRUE(log.empty());
    for (int i = 1; i <= 3; ++i) {
      const int value = co_await outside.receiver->recv(scope.cx());
      log.push_back(std::to_string(value));
      if (i < 3) co_await settle(scope.cx());
    }
    co_await settle_left(scope.cx(), log);
    const Outcome<int> over = co_await outcome(outside.receiver->recv(scope.cx()));
    EXPECT_EQ(over.error().code(), Errc::disconnected);
  });
  EXPECT_EQ(log, (Log{"1", "2", "3", "left"}));
}

TEST(Registered, QUI_4_once_everything_in_the_scope_has_ended_nothing_more_is_taken) {
  Log log;
  (void)run_in_scope([&log](Scope& scope) -> Task<void> {
    Outside outside;
    (void)co_await scope.fiber(OwnsChannel{outside, 1, log});
    co_await settle_undrained(scope.cx());
    const Sent<int> sent = co_await outside.sender->send(scope.cx(), 9);
    EXPECT_EQ(sent.error().code, Errc::disconnected);
    EXPECT_EQ(outside.receiver->try_recv().value(), 1);
    co_await settle_left(scope.cx(), log);
    EXPECT_EQ(log, Log{"left"});
  });
}

TEST(Registered, QUI_2_a_receiver_that_leaves_ends_it_and_an_empty_one_holds_nobody_up) {
  for (const int values : {2, 0}) {
    Log log;
    (void)run_in_scope([&log, values](Scope& scope) -> Task<void> {
      Outside outside;
      (void)co_await scope.fiber(OwnsChannel{outside, values, log});
      if (values == 0) {
        co_await settle_left(scope.cx(), log);
      } else {
        co_await settle_undrained(scope.cx());
      }
      EXPECT_EQ(log.empty(), values != 0);
      outside.receiver.reset();
      co_await settle_left(scope.cx(), log);
      EXPECT_EQ(log, Log{"left"});
    });
  }
}

TEST(Registered, QUI_4_a_permit_and_a_delivery_are_waited_for) {
  Log log;
  (void)run_in_scope([&log](Scope& scope) -> Task<void> {
    Outside outside;
    std::optional<Permit<int>> permit;
    std::atomic<bool> reserved = false;
    auto owner = [&](Cx cx) -> Task<void> {
      const auto body = [&](Scope& inner) -> Task<void> {
        Mpsc<int> made = co_await mpsc<int>(inner, 2);
        outside.sender.emplace(std::move(made.sender));
        outside.receiver.emplace(std::move(made.receiver));
        co_await sleep(inner.cx(), ms(2));
        co_await catch_up(inner.cx(), reserved);
      };
      co_await calm::scope(cx, body);
      log.push_back("left");
    };
    (void)co_await scope.fiber(std::move(owner));
    co_await sleep(scope.cx(), ms(1));
    const auto made = [&outside] { return outside.sender.has_value(); };
    co_await catch_up(scope.cx(), made);
    permit.emplace(co_await outside.sender->reserve(scope.cx()));
    reserved = true;
    co_await sleep(scope.cx(), ms(5));
    EXPECT_TRUE(log.empty());  // a place is promised
    EXPECT_TRUE(std::move(*permit).send(7).is_ok());
    permit.reset();
    {
      Delivery<int> delivery = co_await outside.receiver->recv_with_ack(scope.cx());
      co_await settle(scope.cx());
      EXPECT_TRUE(log.empty());  // it may come back
      EXPECT_TRUE(std::move(delivery).commit());
    }
    co_await settle_left(scope.cx(), log);
    EXPECT_EQ(log, Log{"left"});
  });
}

TEST(Registered, QUI_1_is_counted_as_not_drained_while_its_scope_waits_for_it) {
  Log log;
  (void)run_in_scope([&log](Scope& scope) -> Task<void> {
    Outside outside;
    EXPECT_EQ(look(scope.cx()).undrained_channels, 0U);
    (void)co_await scope.fiber(OwnsChannel{outside, 1, log});
    co_await settle_undrained(scope.cx());
    const kernel::Snapshot waits = look(scope.cx());
    EXPECT_EQ(waits.undrained_channels, 1U);
    EXPECT_NE(kernel::diagnose(waits).find("1 channel not drained"), std::string::npos) << kernel::diagnose(waits);
    EXPECT_EQ(outside.receiver->try_recv().value(), 1);
    co_await settle_left(scope.cx(), log);
    EXPECT_EQ(look(scope.cx()).undrained_channels, 0U);
  });
}

TEST(Registered, QUI_2_a_cancelled_scope_does_not_wait_and_what_is_left_stays_with_the_receiver) {
  for (const bool while_it_waits : {false, true}) {
    Log log;
    (void)run_in_scope([&log, while_it_waits](Scope& scope) -> Task<void> {
      Outside outside;
      auto owner = [&](Cx cx) -> Task<void> {
        const auto body = [&](Scope& inner) -> Task<void> {
          co_await MakesAndLeaves{outside, 2}(inner);
          if (!while_it_waits) inner.cancel("enough");
        };
        (void)co_await outcome(calm::scope(cx, body));
        log.push_back("left");
      };
      Handle<void> task = co_await scope.fiber(std::move(owner));
      if (while_it_waits) {
        co_await settle_undrained(scope.cx());
      } else {
        co_await settle_left(scope.cx(), log);
      }
      EXPECT_EQ(log.empty(), while_it_waits);
      task.cancel();
      co_await settle_left(scope.cx(), log);
      EXPECT_EQ(log, Log{"left"});
      EXPECT_EQ(look(scope.cx()).undrained_channels, 0U);
      EXPECT_EQ(outside.sender->try_send(3).error().code, Errc::disconnected);
      EXPECT_EQ(outside.receiver->try_recv().value(), 1);
      EXPECT_EQ(outside.receiver->try_recv().value(), 2);
      EXPECT_EQ(outside.receiver->try_recv().error().code(), Errc::disconnected);
    });
  }
}

TEST(Registered, QUI_4_a_work_queue_of_a_scope_is_drained_by_whoever_works) {
  std::vector<int> done;
  Log log;
  (void)run_in_scope([&](Scope& scope) -> Task<void> {
    std::optional<SharedReceiver<int>> jobs;
    auto owner = [&](Cx cx) -> Task<void> {
      const auto body = [&](Scope& inner) -> Task<void> {
        Mpmc<int> made = co_await mpmc<int>(inner, 4);
        for (int i = 1; i <= 4; ++i) EXPECT_TRUE(made.sender.try_send(i).is_ok());
        jobs.emplace(std::move(made.receiver));
      };
      co_await calm::scope(cx, body);
      EXPECT_EQ(done.size(), 4U);
      log.push_back("left");
    };
    (void)co_await scope.fiber(std::move(owner));
    co_await settle_undrained(scope.cx());
    auto works = [&done, mine = *jobs](Cx cx) -> Task<void> {
      while (true) {
        const std::optional<int> job = co_await mine.next(cx);
        if (!job) break;
        done.push_back(*job);
      }
    };
    auto second = works;
    jobs.reset();
    (void)co_await scope.fiber(std::move(works));
    (void)co_await scope.fiber(std::move(second));
  });
  EXPECT_EQ(log, Log{"left"});
}

TEST(Registered, CHN_1_what_is_wrong_with_a_channel_is_told_as_always) {
  (void)run_in_scope([](Scope& scope) -> Task<void> {
    EXPECT_EQ(mpsc<int>(scope, 0).error().code(), Errc::invalid_argument);
    EXPECT_EQ(mpmc<int>(scope, 0).error().code(), Errc::invalid_argument);
    co_return;
  });
}

/// Two values, a receiver elsewhere and a sender that comes late, in every order.
Task<void> drained_in_every_order(Cx cx) {
  const auto all = [](Scope& outer) -> Task<void> {
    Outside outside;
    int received = 0;
    bool left = false;
    auto receives = [&](Cx own) -> Task<void> {
      while (true) {
        const std::optional<int> value = co_await outside.receiver->next(own);
        if (!value) break;
        ++received;
      }
      outside.receiver.reset();
    };
    auto owns = [&](Cx own) -> Task<void> {
      const auto body = [&](Scope& inner) -> Task<void> {
        co_await MakesAndLeaves{outside, 2}(inner);
        outside.sender.reset();
        (void)co_await outer.fiber(receives);
      };
      co_await scope(own, body);
      EXPECT_EQ(received, 2);
      left = true;
    };
    Handle<void> owner = co_await outer.fiber(owns);
    co_await std::move(owner).join(outer.cx());
    EXPECT_TRUE(left);
  };
  co_await scope(cx, all);
}

TEST(Registered, QUI_4_no_order_leaves_a_value_behind_or_a_scope_waiting) {
  const lab::ExploreReport report = lab::explore(drained_in_every_order);
  EXPECT_TRUE(report.exhausted()) << report;
  EXPECT_TRUE(report.ok()) << report;
  EXPECT_GT(report.counts.executions, 1U);
}

}  // namespace
}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
