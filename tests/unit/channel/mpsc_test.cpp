// The bounded channel, law by law, in single runs of the lab.
#include "calm/channel/mpsc.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calm/cx/scope.hpp"
#include "calm/lab/lab.hpp"
#include "tests/unit/channel/channel_bench.hpp"
#include "tests/unit/channel/parcel.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

/// Runs `body(scope)` in a scope of the lab, whose children may fail.
template <class F>
lab::LabReport run_in_scope(F body) {
  return run_clean(
      [body](Cx cx) -> Task<void> { (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect})); });
}

Task<void> reserve_and_note(Cx cx, const Sender<int>& sender, Log& log, std::string name) {
  Permit<int> permit = co_await sender.reserve(cx);
  log.push_back(name + " has a place");
  co_await sleep(cx, ms(1));
  EXPECT_TRUE(std::move(permit).send(1).is_ok());
}

TEST(Mpsc, CHN_1_capacity_0_is_an_argument_error) {
  (void)run_clean([](Cx cx) -> Task<void> {
    const Outcome<Mpsc<int>> made = mpsc<int>(cx, 0);
    EXPECT_TRUE(made.is_err());
    EXPECT_EQ(made.error().code(), Errc::invalid_argument);
    EXPECT_NE(made.error().message().find("room for 1"), std::string_view::npos);
    co_return;
  });
}

TEST(Mpsc, CHN_1_values_and_permits_share_the_places) {
  (void)run_clean([](Cx cx) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(cx, 2)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
    EXPECT_TRUE(sender.try_send(1).is_ok());
    Permit<int> permit = co_await sender.reserve(cx);
    EXPECT_EQ(sender.counts(), (Counts{.queued = 1, .reserved = 1, .unacked = 0, .capacity = 2}));
    EXPECT_EQ(sender.try_reserve().error().code(), Errc::full);
    EXPECT_TRUE(std::move(permit).abort());
    EXPECT_EQ(receiver.counts(), (Counts{.queued = 1, .reserved = 0, .unacked = 0, .capacity = 2}));
  });
}

TEST(Mpsc, CHN_2_places_go_to_those_who_wait_in_the_order_they_came) {
  Log log;
  (void)run_in_scope([&log](Scope& scope) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(scope.cx(), 1)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
    Permit<int> first = co_await sender.reserve(scope.cx());
    static constexpr const char* names[] = {"a", "b", "c"};
    for (const char* const name : names) {
      auto reserves = [&sender, &log, name](Cx cx) -> Task<void> { co_await reserve_and_note(cx, sender, log, name); };
      auto waiting = co_await scope.fiber(std::move(reserves));
      co_await settle(scope.cx());
    }
    EXPECT_TRUE(std::move(first).abort());
    for (int i = 0; i < 3; ++i) {
      const int value = co_await receiver.recv(scope.cx());
      EXPECT_EQ(value, 1);
    }
  });
  EXPECT_EQ(log, (Log{"a has a place", "b has a place", "c has a place"}));
}

TEST(Mpsc, CHN_2_try_reserve_is_full_while_someone_waits_or_was_granted_and_has_not_run) {
  Log log;
  (void)run_in_scope([&log](Scope& scope) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(scope.cx(), 1)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
    Permit<int> first = co_await sender.reserve(scope.cx());
    auto works = [&sender, &log](Cx cx) -> Task<void> { co_await reserve_and_note(cx, sender, log, "a"); };
    auto waiting = co_await scope.fiber(std::move(works));
    co_await settle(scope.cx());
    EXPECT_EQ(sender.try_reserve().error().code(), Errc::full);
    EXPECT_TRUE(std::move(first).abort());
    EXPECT_TRUE(log.empty());
    EXPECT_EQ(sender.try_reserve().error().code(), Errc::full);  // the place is a's
    EXPECT_EQ(sender.try_send(7).error().value, 7);
    co_await std::move(waiting).join(scope.cx());
    EXPECT_EQ(receiver.try_recv().value(), 1);
  });
}

TEST(Mpsc, CHN_2_cancellation_comes_before_a_receiver_that_is_gone_and_that_before_room) {
  (void)run_in_scope([](Scope& scope) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(scope.cx(), 1)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
    const auto cancelled = [&sender](Cx cx) -> Task<void> {
      cancel_myself(cx);
      const Outcome<Permit<int>> permit = co_await outcome(sender.reserve(cx));
      EXPECT_TRUE(permit.is_cancelled());
    };
    auto with_room = co_await scope.fiber(cancelled);
    (void)co_await outcome(std::move(with_room).join(scope.cx()));
    EXPECT_EQ(sender.counts().reserved, 0U);
    {
      const Receiver<int> last = std::move(receiver);
    }
    const Outcome<Permit<int>> permit = co_await outcome(sender.reserve(scope.cx()));
    EXPECT_TRUE(permit.is_err());
    EXPECT_EQ(permit.error().code(), Errc::disconnected);
    auto without_receiver = co_await scope.fiber(cancelled);
    (void)co_await outcome(std::move(without_receiver).join(scope.cx()));
  });
}

TEST(Mpsc, CHN_3_a_value_comes_back_when_the_receiver_has_left_since) {
  (void)run_clean([](Cx cx) -> Task<void> {
    auto made = std::optional(std::move(mpsc<std::unique_ptr<int>>(cx, 1)).value());
    const Sender<std::unique_ptr<int>> sender = made->sender;
    Permit<std::unique_ptr<int>> permit = co_await sender.reserve(cx);
    made.reset();
    Sent<std::unique_ptr<int>> sent = std::move(permit).send(std::make_unique<int>(5));
    EXPECT_EQ(sent.error().code, Errc::disconnected);
    EXPECT_EQ(*sent.error().value, 5);
    EXPECT_EQ(sender.counts().reserved, 0U);
  });
}

TEST(Mpsc, CHN_3_a_permit_that_is_aborted_or_dropped_lets_the_next_one_in) {
  Log log;
  (void)run_in_scope([&log](Scope& scope) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(scope.cx(), 1)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
    for (const bool drop : {false, true}) {
      std::optional<Permit<int>> permit(co_await sender.reserve(scope.cx()));
      auto works = [&sender, &log, drop](Cx cx) -> Task<void> {
        co_await reserve_and_note(cx, sender, log, drop ? "after a drop" : "after an abort");
      };
      auto waiting = co_await scope.fiber(std::move(works));
      co_await settle(scope.cx());
      if (drop) {
        permit.reset();
      } else {
        EXPECT_TRUE(std::move(*permit).abort());
      }
      const int value = co_await receiver.recv(scope.cx());
      EXPECT_EQ(value, 1);
    }
  });
  EXPECT_EQ(log, (Log{"after an abort has a place", "after a drop has a place"}));
}

TEST(Mpsc, CHN_3_a_permit_is_spent_once) {
  (void)run_clean([](Cx cx) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(cx, 2)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
    Permit<int> permit = co_await sender.reserve(cx);
    EXPECT_TRUE(std::move(permit).send(1).is_ok());
    // NOLINTBEGIN(bugprone-use-after-move): that is the point
    const Sent<int> again = std::move(permit).send(2);
    EXPECT_EQ(again.error().code, Errc::obligation_already_resolved);
    EXPECT_EQ(again.error().value, 2);
    EXPECT_EQ(std::move(permit).abort(), Errc::obligation_already_resolved);
    // NOLINTEND(bugprone-use-after-move)
    EXPECT_EQ(receiver.counts(), (Counts{.queued = 1, .reserved = 0, .unacked = 0, .capacity = 2}));
  });
}

TEST(Mpsc, CHN_3_a_permit_does_not_work_for_another_task) {
  (void)run_in_scope([](Scope& scope) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(scope.cx(), 1)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
    Permit<int> permit = co_await sender.reserve(scope.cx());
    auto works = [&permit](Cx) -> Task<void> {
      const Sent<int> sent = std::move(permit).send(9);
      EXPECT_EQ(sent.error().code, Errc::invalid_argument);
      EXPECT_EQ(sent.error().value, 9);
      EXPECT_EQ(std::move(permit).abort(), Errc::invalid_argument);
      co_return;
    };
    auto other = co_await scope.fiber(std::move(works));
    co_await std::move(other).join(scope.cx());
    EXPECT_TRUE(std::move(permit).send(3).is_ok());  // NOLINT(bugprone-use-after-move): it was not taken
    EXPECT_EQ(receiver.try_recv().value(), 3);
  });
}

TEST(Mpsc, OBL_2_permits_are_counted_for_the_task_that_holds_them) {
  (void)run_clean([](Cx cx) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(cx, 4)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
    Permit<int> sent = co_await sender.reserve(cx);
    Permit<int> aborted = co_await sender.reserve(cx);
    {
      const Permit<int> dropped = std::move(sender.try_reserve()).value();
      co_await yield(cx);
      EXPECT_EQ(permits_of(cx), 3U);
    }
    co_await yield(cx);
    EXPECT_EQ(permits_of(cx), 2U);
    EXPECT_TRUE(std::move(sent).send(1).is_ok());
    EXPECT_TRUE(std::move(aborted).abort());
    co_await yield(cx);
    EXPECT_EQ(permits_of(cx), 0U);
  });
}

TEST(Mpsc, CHN_4_a_cancelled_reserve_takes_no_place_and_those_behind_it_move_up) {
  Log log;
  (void)run_in_scope([&log](Scope& scope) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(scope.cx(), 1)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
    Permit<int> permit = co_await sender.reserve(scope.cx());
    const auto waits = [&sender, &log](Cx cx) -> Task<void> { co_await reserve_and_note(cx, sender, log, "one"); };
    auto first = co_await scope.fiber(waits);
    co_await settle(scope.cx());
    auto second = co_await scope.fiber(waits);
    co_await settle(scope.cx());
    EXPECT_TRUE(std::move(permit).abort());  // the place is the first one's, who has not run yet
    first.cancel();
    const Outcome<void> end = co_await outcome(std::move(first).join(scope.cx()));
    EXPECT_TRUE(end.is_cancelled());
    co_await std::move(second).join(scope.cx());
    EXPECT_EQ(receiver.try_recv().value(), 1);
    EXPECT_EQ(receiver.try_recv().error().code(), Errc::empty);
    EXPECT_EQ(receiver.counts().reserved, 0U);
  });
  EXPECT_EQ(log, (Log{"one has a place"}));
}

TEST(Mpsc, CHN_4_a_cancelled_recv_takes_no_value) {
  (void)run_in_scope([](Scope& scope) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(scope.cx(), 1)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
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

TEST(Mpsc, CHN_5_the_oldest_value_goes_when_there_is_no_room) {
  (void)run_in_scope([](Scope& scope) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(scope.cx(), 2)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
    EXPECT_EQ(sender.send_evict_oldest(1).value(), std::nullopt);
    EXPECT_EQ(sender.send_evict_oldest(2).value(), std::nullopt);
    EXPECT_EQ(sender.send_evict_oldest(3).value(), 1);
    EXPECT_EQ(receiver.try_recv().value(), 2);
    Permit<int> first = co_await sender.reserve(scope.cx());
    EXPECT_EQ(sender.send_evict_oldest(4).value(), 3);  // the other place is promised
    EXPECT_EQ(receiver.try_recv().value(), 4);
    Permit<int> second = co_await sender.reserve(scope.cx());
    const auto full = sender.send_evict_oldest(5);
    EXPECT_EQ(full.error().code, Errc::full);
    EXPECT_EQ(full.error().value, 5);
    receiver.close();
    EXPECT_EQ(sender.send_evict_oldest(6).error().code, Errc::disconnected);
    EXPECT_TRUE(std::move(first).abort());
    EXPECT_TRUE(std::move(second).abort());
  });
}

TEST(Mpsc, CHN_5_an_eviction_takes_no_place_from_those_who_wait) {
  Log log;
  (void)run_in_scope([&log](Scope& scope) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(scope.cx(), 1)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
    EXPECT_TRUE(sender.try_send(1).is_ok());
    auto works = [&sender, &log](Cx cx) -> Task<void> { co_await reserve_and_note(cx, sender, log, "a"); };
    auto waiting = co_await scope.fiber(std::move(works));
    co_await settle(scope.cx());
    EXPECT_EQ(sender.send_evict_oldest(2).value(), 1);
    EXPECT_EQ(receiver.try_recv().value(), 2);
    EXPECT_EQ(sender.send_evict_oldest(3).error().code, Errc::full);  // a has the place
    co_await std::move(waiting).join(scope.cx());
  });
}

TEST(Mpsc, CHN_6_values_come_in_order_then_the_end) {
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

TEST(Mpsc, CHN_6_a_cancelled_task_receives_nothing_even_if_a_value_is_there) {
  (void)run_in_scope([](Scope& scope) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(scope.cx(), 1)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
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

TEST(Mpsc, recv_many_takes_what_is_there_up_to_the_most_that_was_asked_for) {
  (void)run_clean([](Cx cx) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(cx, 4)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
    for (int i = 1; i <= 4; ++i) EXPECT_TRUE(sender.try_send(i).is_ok());
    std::vector<int> values;
    const std::size_t three = co_await receiver.recv_many(cx, values, 3);
    EXPECT_EQ(three, 3U);
    const std::size_t one = co_await receiver.recv_many(cx, values, 3);
    EXPECT_EQ(one, 1U);
    EXPECT_EQ(values, (std::vector{1, 2, 3, 4}));
  });
}

TEST(Mpsc, CHN_7_a_receiver_that_leaves_wakes_all_senders_and_destroys_what_is_queued) {
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

TEST(Mpsc, CHN_7_values_that_are_destroyed_may_use_the_channel) {
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

TEST(Mpsc, CHN_7_close_stops_the_intake_and_keeps_what_is_queued_and_promised) {
  (void)run_clean([](Cx cx) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(cx, 3)).value();
    [[maybe_unused]] Sender<int>& sender = made.sender;
    [[maybe_unused]] Receiver<int>& receiver = made.receiver;
    EXPECT_TRUE(sender.try_send(1).is_ok());
    Permit<int> permit = co_await sender.reserve(cx);
    receiver.close();
    EXPECT_EQ(sender.try_send(9).error().code, Errc::disconnected);
    const Sent<int> late = co_await sender.send(cx, 8);
    EXPECT_EQ(late.error().code, Errc::disconnected);
    EXPECT_EQ(late.error().value, 8);
    EXPECT_TRUE(std::move(permit).send(2).is_ok());
    const int first = co_await receiver.recv(cx);
    const int second = co_await receiver.recv(cx);
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 2);
    EXPECT_EQ(receiver.try_recv().error().code(), Errc::disconnected);
  });
}

TEST(Mpsc, CHN_7_a_permit_keeps_the_channel_open_when_its_sender_is_gone) {
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

TEST(Mpsc, CHN_8_a_cancelled_send_gives_the_value_back_with_the_reason) {
  (void)run_in_scope([](Scope& scope) -> Task<void> {
    Mpsc<std::unique_ptr<int>> made = std::move(mpsc<std::unique_ptr<int>>(scope.cx(), 1)).value();
    [[maybe_unused]] Sender<std::unique_ptr<int>>& sender = made.sender;
    [[maybe_unused]] Receiver<std::unique_ptr<int>>& receiver = made.receiver;
    EXPECT_TRUE(sender.try_send(nullptr).is_ok());
    auto works = [&sender](Cx cx) -> Task<void> {
      Sent<std::unique_ptr<int>> sent = co_await sender.send(cx, std::make_unique<int>(3));
      EXPECT_EQ(sent.error().code, Errc::cancelled);
      EXPECT_EQ(sent.error().reason.message(), "enough");
      EXPECT_EQ(*sent.error().value, 3);
    };
    auto waiting = co_await scope.fiber(std::move(works));
    co_await settle(scope.cx());
    waiting.cancel("enough");
    (void)co_await outcome(std::move(waiting).join(scope.cx()));
    EXPECT_EQ(receiver.counts().queued, 1U);
    EXPECT_EQ(sender.try_send(std::make_unique<int>(4)).error().code, Errc::full);
  });
}

TEST(Mpsc, CHN_8_a_move_that_throws_leaves_the_channel_as_it_was) {
  Parcel::alive = 0;
  (void)run_clean([](Cx cx) -> Task<void> {
    Mpsc<Parcel> made = std::move(mpsc<Parcel>(cx, 1)).value();
    [[maybe_unused]] Sender<Parcel>& sender = made.sender;
    [[maybe_unused]] Receiver<Parcel>& receiver = made.receiver;
    Permit<Parcel> permit = co_await sender.reserve(cx);
    Parcel parcel(1);
    Parcel::moves_until_throw = 2;  // into the call, then into its place
    EXPECT_THROW((void)std::move(permit).send(std::move(parcel)), std::runtime_error);
    EXPECT_EQ(sender.counts().reserved, 0U);
    EXPECT_TRUE(sender.try_send(Parcel(2)).is_ok());
    Parcel::moves_until_throw = 1;
    EXPECT_THROW((void)receiver.try_recv(), std::runtime_error);
    EXPECT_EQ(receiver.counts().queued, 1U);
    const Outcome<Parcel> received = receiver.try_recv();
    EXPECT_EQ(received.value().number(), 2);
    EXPECT_EQ(receiver.counts(), (Counts{.queued = 0, .reserved = 0, .unacked = 0, .capacity = 1}));
    co_await yield(cx);
    EXPECT_EQ(permits_of(cx), 0U);
  });
  EXPECT_EQ(Parcel::alive, 0);
}

TEST(Mpsc, QUI_4_a_channel_outlives_the_scope_that_made_it_and_a_deadline_ends_a_wait) {
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
