// The bounded channel, law by law, in single runs of the lab: places, permits, sends.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "calm/channel/mpsc.hpp"
#include "calm/cx/scope.hpp"
#include "tests/unit/channel/channel_bench.hpp"
#include "tests/unit/channel/parcel.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

Task<void> reserve_and_note(Cx cx, const Sender<int>& sender, Log& log, std::string name) {
  Permit<int> permit = co_await sender.reserve(cx);
  log.push_back(name + " has a place");
  co_await sleep(cx, ms(1));
  EXPECT_TRUE(std::move(permit).send(1).is_ok());
}

TEST(MpscSend, CHN_1_capacity_0_is_an_argument_error) {
  (void)run_clean([](Cx cx) -> Task<void> {
    const Outcome<Mpsc<int>> made = mpsc<int>(cx, 0);
    EXPECT_TRUE(made.is_err());
    EXPECT_EQ(made.error().code(), Errc::invalid_argument);
    EXPECT_NE(made.error().message().find("room for 1"), std::string_view::npos);
    co_return;
  });
}

TEST(MpscSend, CHN_1_values_and_permits_share_the_places) {
  with_channel<int>(2, [](Scope& scope, const Sender<int>& sender, Receiver<int>& receiver) -> Task<void> {
    EXPECT_TRUE(sender.try_send(1).is_ok());
    Permit<int> permit = co_await sender.reserve(scope.cx());
    EXPECT_EQ(sender.counts(), (Counts{.queued = 1, .reserved = 1, .unacked = 0, .capacity = 2}));
    EXPECT_EQ(sender.try_reserve().error().code(), Errc::full);
    EXPECT_TRUE(std::move(permit).abort());
    EXPECT_EQ(receiver.counts(), (Counts{.queued = 1, .reserved = 0, .unacked = 0, .capacity = 2}));
  });
}

TEST(MpscSend, CHN_2_places_go_to_those_who_wait_in_the_order_they_came) {
  Log log;
  with_channel<int>(1, [&log](Scope& scope, const Sender<int>& sender, Receiver<int>& receiver) -> Task<void> {
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

TEST(MpscSend, CHN_2_try_reserve_is_full_while_someone_waits_or_was_granted_and_has_not_run) {
  Log log;
  with_channel<int>(1, [&log](Scope& scope, const Sender<int>& sender, Receiver<int>& receiver) -> Task<void> {
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

TEST(MpscSend, CHN_2_cancellation_comes_before_a_receiver_that_is_gone_and_that_before_room) {
  with_channel<int>(1, [](Scope& scope, const Sender<int>& sender, Receiver<int>& receiver) -> Task<void> {
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

TEST(MpscSend, CHN_3_a_value_comes_back_when_the_receiver_has_left_since) {
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

TEST(MpscSend, CHN_3_a_permit_that_is_aborted_or_dropped_lets_the_next_one_in) {
  Log log;
  with_channel<int>(1, [&log](Scope& scope, const Sender<int>& sender, Receiver<int>& receiver) -> Task<void> {
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

TEST(MpscSend, CHN_3_a_permit_is_spent_once) {
  with_channel<int>(2, [](Scope& scope, const Sender<int>& sender, Receiver<int>& receiver) -> Task<void> {
    Permit<int> permit = co_await sender.reserve(scope.cx());
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

TEST(MpscSend, CHN_3_a_permit_does_not_work_for_another_task) {
  with_channel<int>(1, [](Scope& scope, const Sender<int>& sender, Receiver<int>& receiver) -> Task<void> {
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

TEST(MpscSend, OBL_2_permits_are_counted_for_the_task_that_holds_them) {
  with_channel<int>(4, [](Scope& scope, const Sender<int>& sender, Receiver<int>& /*receiver*/) -> Task<void> {
    Permit<int> sent = co_await sender.reserve(scope.cx());
    Permit<int> aborted = co_await sender.reserve(scope.cx());
    {
      const Permit<int> dropped = std::move(sender.try_reserve()).value();
      co_await yield(scope.cx());
      EXPECT_EQ(permits_of(scope.cx()), 3U);
    }
    co_await yield(scope.cx());
    EXPECT_EQ(permits_of(scope.cx()), 2U);
    EXPECT_TRUE(std::move(sent).send(1).is_ok());
    EXPECT_TRUE(std::move(aborted).abort());
    co_await yield(scope.cx());
    EXPECT_EQ(permits_of(scope.cx()), 0U);
  });
}

TEST(MpscSend, CHN_4_a_cancelled_reserve_takes_no_place_and_those_behind_it_move_up) {
  Log log;
  with_channel<int>(1, [&log](Scope& scope, const Sender<int>& sender, Receiver<int>& receiver) -> Task<void> {
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

TEST(MpscSend, CHN_5_the_oldest_value_goes_when_there_is_no_room) {
  with_channel<int>(2, [](Scope& scope, const Sender<int>& sender, Receiver<int>& receiver) -> Task<void> {
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

TEST(MpscSend, CHN_5_an_eviction_takes_no_place_from_those_who_wait) {
  Log log;
  with_channel<int>(1, [&log](Scope& scope, const Sender<int>& sender, Receiver<int>& receiver) -> Task<void> {
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

TEST(MpscSend, CHN_8_a_cancelled_send_gives_the_value_back_with_the_reason) {
  with_channel<std::unique_ptr<int>>(1,
                                     [](Scope& scope, const Sender<std::unique_ptr<int>>& sender,
                                        Receiver<std::unique_ptr<int>>& receiver) -> Task<void> {
                                       EXPECT_TRUE(sender.try_send(nullptr).is_ok());
                                       auto works = [&sender](Cx cx) -> Task<void> {
                                         Sent<std::unique_ptr<int>> sent =
                                             co_await sender.send(cx, std::make_unique<int>(3));
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

TEST(MpscSend, CHN_8_a_move_that_throws_leaves_the_channel_as_it_was) {
  Parcel::alive = 0;
  with_channel<Parcel>(1, [](Scope& scope, const Sender<Parcel>& sender, Receiver<Parcel>& receiver) -> Task<void> {
    Permit<Parcel> permit = co_await sender.reserve(scope.cx());
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
    co_await yield(scope.cx());
    EXPECT_EQ(permits_of(scope.cx()), 0U);
  });
  EXPECT_EQ(Parcel::alive, 0);
}

}  // namespace
}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
