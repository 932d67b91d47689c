// The bounded channel, law by law, in single runs of the lab: receives, the end, close.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "calm/channel/mpsc.hpp"
#include "calm/cx/scope.hpp"
#include "tests/unit/channel/channel_bench.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

TEST(MpscReceive, CHN_4_a_cancelled_recv_takes_no_value) {
  with_channel<int>(1, [](Scope& scope, const Sender<int>& sender, Receiver<int>& receiver) -> Task<void> {
    auto works = [&receiver](Cx cx) -> Task<void> {
      const int value = co_await receiver.recv(cx);
      ADD_FAILURE() << value;
    };
    auto waiting = co_await scope.fiber(std::move(works));
    co_await settle(scope.cx());
    EXPECT_TRUE(sender.try_send(4).is_ok());  // the receiver is woken for it
    waiting.cancel();
    (void)co_await outcome(std::move(waiting).join(scope.cx()));
    EXPECT_EQ(receiver.try_recv().value(), 4);
  });
}

TEST(MpscReceive, CHN_6_values_come_in_order_then_the_end) {
  std::vector<int> seen;
  (void)run_in_scope([&seen](Scope& scope) -> Task<void> {
    auto made = std::move(mpsc<int>(scope.cx(), 2)).value();
    auto works = [sender = std::move(made.sender)](Cx cx) -> Task<void> {
      for (int i = 1; i <= 5; ++i) {
        const Sent<int> sent = co_await sender.send(cx, i);
        EXPECT_TRUE(sent.is_ok());
      }
    };
    auto sending = co_await scope.fiber(std::move(works));
    while (true) {
      const std::optional<int> value = co_await made.receiver.next(scope.cx());
      if (!value) break;
      seen.push_back(*value);
    }
    const Outcome<int> none = co_await outcome(made.receiver.recv(scope.cx()));
    EXPECT_EQ(none.error().code(), Errc::disconnected);
    EXPECT_EQ(made.receiver.try_recv().error().code(), Errc::disconnected);
  });
  EXPECT_EQ(seen, (std::vector{1, 2, 3, 4, 5}));
}

TEST(MpscReceive, CHN_6_a_cancelled_task_receives_nothing_even_if_a_value_is_there) {
  with_channel<int>(1, [](Scope& scope, const Sender<int>& sender, Receiver<int>& receiver) -> Task<void> {
    EXPECT_TRUE(sender.try_send(1).is_ok());
    auto works = [&receiver](Cx cx) -> Task<void> {
      cancel_myself(cx);
      const Outcome<int> value = co_await outcome(receiver.recv(cx));
      EXPECT_TRUE(value.is_cancelled());
    };
    auto task = co_await scope.fiber(std::move(works));
    (void)co_await outcome(std::move(task).join(scope.cx()));
    EXPECT_EQ(receiver.try_recv().value(), 1);
  });
}

TEST(MpscReceive, recv_many_takes_what_is_there_up_to_the_most_that_was_asked_for) {
  with_channel<int>(4, [](Scope& scope, const Sender<int>& sender, Receiver<int>& receiver) -> Task<void> {
    for (int i = 1; i <= 4; ++i) EXPECT_TRUE(sender.try_send(i).is_ok());
    std::vector<int> values;
    const std::size_t three = co_await receiver.recv_many(scope.cx(), values, 3);
    EXPECT_EQ(three, 3U);
    const std::size_t one = co_await receiver.recv_many(scope.cx(), values, 3);
    EXPECT_EQ(one, 1U);
    EXPECT_EQ(values, (std::vector{1, 2, 3, 4}));
  });
}

TEST(MpscReceive, CHN_7_a_receiver_that_leaves_wakes_all_senders_and_destroys_what_is_queued) {
  Log log;
  std::weak_ptr<int> queued;
  (void)run_in_scope([&log, &queued](Scope& scope) -> Task<void> {
    auto made = std::optional(std::move(mpsc<std::shared_ptr<int>>(scope.cx(), 1)).value());
    const Sender<std::shared_ptr<int>> sender = made->sender;
    EXPECT_TRUE(sender.try_send(std::make_shared<int>(1)).is_ok());
    const auto sends = [&sender, &log, &queued](Cx cx) -> Task<void> {
      const Sent<std::shared_ptr<int>> sent = co_await sender.send(cx, std::make_shared<int>(2));
      EXPECT_EQ(sent.error().code, Errc::disconnected);
      EXPECT_EQ(*sent.error().value, 2);
      EXPECT_TRUE(queued.expired());
      log.emplace_back("woken");
    };
    auto first = co_await scope.fiber(sends);
    auto second = co_await scope.fiber(sends);
    co_await settle(scope.cx());
    made.reset();
    co_await std::move(first).join(scope.cx());
    co_await std::move(second).join(scope.cx());
    EXPECT_TRUE(sender.is_closed());
  });
  EXPECT_EQ(log, (Log{"woken", "woken"}));
}

/// A value that holds the way to its own channel.
struct Boomerang {
  std::optional<Sender<std::unique_ptr<Boomerang>>> sender;
  ~Boomerang() {
    if (!sender) return;
    EXPECT_EQ(sender->try_send(nullptr).error().code, Errc::disconnected);
  }
};

TEST(MpscReceive, CHN_7_values_that_are_destroyed_may_use_the_channel) {
  (void)run_clean([](Cx cx) -> Task<void> {
    auto made = std::optional(std::move(mpsc<std::unique_ptr<Boomerang>>(cx, 3)).value());
    for (int i = 0; i < 2; ++i) {
      auto value = std::make_unique<Boomerang>();
      value->sender.emplace(made->sender);
      EXPECT_TRUE(made->sender.try_send(std::move(value)).is_ok());
    }
    made.reset();
    co_return;
  });
}

TEST(MpscReceive, CHN_7_close_stops_the_intake_and_keeps_what_is_queued_and_promised) {
  with_channel<int>(3, [](Scope& scope, const Sender<int>& sender, Receiver<int>& receiver) -> Task<void> {
    EXPECT_TRUE(sender.try_send(1).is_ok());
    Permit<int> permit = co_await sender.reserve(scope.cx());
    receiver.close();
    EXPECT_EQ(sender.try_send(9).error().code, Errc::disconnected);
    const Sent<int> late = co_await sender.send(scope.cx(), 8);
    EXPECT_EQ(late.error().code, Errc::disconnected);
    EXPECT_EQ(late.error().value, 8);
    EXPECT_TRUE(std::move(permit).send(2).is_ok());
    const int first = co_await receiver.recv(scope.cx());
    const int second = co_await receiver.recv(scope.cx());
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 2);
    EXPECT_EQ(receiver.try_recv().error().code(), Errc::disconnected);
  });
}

TEST(MpscReceive, CHN_7_a_permit_keeps_the_channel_open_when_its_sender_is_gone) {
  (void)run_in_scope([](Scope& scope) -> Task<void> {
    auto made = std::move(mpsc<int>(scope.cx(), 1)).value();
    auto works = [sender = std::optional(std::move(made.sender))](Cx cx) mutable -> Task<void> {
      Permit<int> permit = co_await sender->reserve(cx);
      sender.reset();
      co_await sleep(cx, ms(1));
      EXPECT_TRUE(std::move(permit).send(6).is_ok());
    };
    auto sending = co_await scope.fiber(std::move(works));
    const int value = co_await made.receiver.recv(scope.cx());
    EXPECT_EQ(value, 6);
    const Outcome<int> none = co_await outcome(made.receiver.recv(scope.cx()));
    EXPECT_EQ(none.error().code(), Errc::disconnected);
  });
}

TEST(MpscReceive, QUI_4_a_channel_outlives_the_scope_that_made_it_and_a_deadline_ends_a_wait) {
  (void)run_clean([](Cx cx) -> Task<void> {
    std::optional<Mpsc<int>> made;
    const auto body = [&made](Scope& scope) -> Task<void> {
      made.emplace(std::move(mpsc<int>(scope.cx(), 1)).value());
      EXPECT_TRUE(made->sender.try_send(1).is_ok());
      co_return;
    };
    co_await scope(cx, body);
    const auto narrowed = cx.with_deadline(cx.now() + ms(5));
    const Outcome<Permit<int>> late = co_await outcome(made->sender.reserve(narrowed));
    EXPECT_TRUE(late.is_cancelled());
    EXPECT_EQ(late.reason().kind(), CancelKind::deadline);
    EXPECT_EQ(made->receiver.try_recv().value(), 1);
    EXPECT_EQ(made->receiver.counts().reserved, 0U);
  });
}

}  // namespace
}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
