// Values that are hard on channels, through each of them: move-only, and with a move that throws.
#include "tests/unit/channel/parcel.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "calm/channel/mpmc.hpp"
#include "calm/channel/oneshot.hpp"
#include "calm/channel/rendezvous.hpp"
#include "calm/channel/tracked.hpp"
#include "calm/channel/watch.hpp"
#include "tests/unit/channel/channel_bench.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

/// Runs `body(scope)`; no parcel is left behind.
template <class F>
void with_parcels(F body) {
  Parcel::alive = 0;
  Parcel::moves_until_throw = 0;
  (void)run_in_scope(body);
  EXPECT_EQ(Parcel::alive, 0);
  EXPECT_EQ(Parcel::moves_until_throw, 0) << "nothing threw";
}

TEST(HardValues, CHN_8_a_work_queue_keeps_what_a_receiver_could_not_move) {
  with_parcels([](Scope& scope) -> Task<void> {
    Mpmc<Parcel> made = std::move(mpmc<Parcel>(scope.cx(), 2)).value();
    const Sent<Parcel> sent = co_await made.sender.send(scope.cx(), Parcel(1));
    EXPECT_TRUE(sent.is_ok());
    Parcel::moves_until_throw = 1;
    const Outcome<Parcel> thrown = co_await outcome(made.receiver.recv(scope.cx()));
    EXPECT_TRUE(thrown.is_panicked());
    EXPECT_EQ(made.receiver.counts().queued, 1U);
    const Parcel parcel = co_await made.receiver.recv(scope.cx());
    EXPECT_EQ(parcel.number(), 1);
  });
}

TEST(HardValues, CHN_8_recv_many_keeps_what_it_could_not_move) {
  with_parcels([](Scope& scope) -> Task<void> {
    Mpmc<Parcel> made = std::move(mpmc<Parcel>(scope.cx(), 3)).value();
    for (const int number : {1, 2, 3}) EXPECT_TRUE(made.sender.try_send(Parcel(number)).is_ok());
    std::vector<Parcel> parcels;
    parcels.reserve(3);
    Parcel::moves_until_throw = 2;
    const Outcome<std::size_t> thrown = co_await outcome(made.receiver.recv_many(scope.cx(), parcels, 3));
    EXPECT_TRUE(thrown.is_panicked());
    EXPECT_EQ(parcels.size(), 1U);
    EXPECT_EQ(made.receiver.counts().queued, 2U);
    const std::size_t rest = co_await made.receiver.recv_many(scope.cx(), parcels, 3);
    EXPECT_EQ(rest, 2U);
    for (std::size_t i = 0; i < parcels.size(); ++i) EXPECT_EQ(parcels[i].number(), static_cast<int>(i) + 1);
  });
}

TEST(HardValues, CHN_11_a_oneshot_whose_value_could_not_be_moved_in_has_ended) {
  with_parcels([](Scope& scope) -> Task<void> {
    Oneshot<Parcel> made = std::move(oneshot<Parcel>(scope.cx())).value();
    Parcel parcel(1);
    Parcel::moves_until_throw = 2;  // into the call, then into its place
    EXPECT_THROW((void)std::move(made.sender).send(std::move(parcel)), std::runtime_error);
    const Outcome<Parcel> none = co_await outcome(made.receiver.recv(scope.cx()));
    EXPECT_EQ(none.error().code(), Errc::disconnected);

    Oneshot<Parcel> other = std::move(oneshot<Parcel>(scope.cx())).value();
    EXPECT_TRUE(std::move(other.sender).send(Parcel(2)).is_ok());
    Parcel::moves_until_throw = 1;
    EXPECT_THROW((void)other.receiver.try_recv(), std::runtime_error);
    EXPECT_EQ(other.receiver.try_recv().value().number(), 2);
  });
}

TEST(HardValues, CHN_11_an_offer_that_could_not_be_moved_stands_for_the_next_receiver) {
  with_parcels([](Scope& scope) -> Task<void> {
    Rendezvous<Parcel> made = std::move(rendezvous<Parcel>(scope.cx())).value();
    auto offers = [sender = made.sender](Cx cx) -> Task<void> {
      const Sent<Parcel> sent = co_await sender.send(cx, Parcel(1));
      EXPECT_TRUE(sent.is_ok());
    };
    auto offering = co_await scope.fiber(std::move(offers));
    co_await settle(scope.cx());
    Parcel::moves_until_throw = 1;
    const Outcome<Parcel> thrown = co_await outcome(made.receiver.recv(scope.cx()));
    EXPECT_TRUE(thrown.is_panicked());
    const Parcel parcel = co_await made.receiver.recv(scope.cx());
    EXPECT_EQ(parcel.number(), 1);
    co_await std::move(offering).join(scope.cx());
  });
}

TEST(HardValues, CHN_9_a_tracked_permit_whose_value_could_not_be_moved_is_aborted) {
  with_parcels([](Scope& scope) -> Task<void> {
    TrackedMpsc<Parcel> made = std::move(tracked_mpsc<Parcel>(scope.cx(), 1)).value();
    TrackedPermit<Parcel> permit = co_await made.sender.reserve(scope.cx());
    Parcel parcel(1);
    Parcel::moves_until_throw = 3;  // into both calls, then into its place
    EXPECT_THROW((void)std::move(permit).send(std::move(parcel)), std::runtime_error);
    EXPECT_FALSE(permit.promise());  // NOLINT(bugprone-use-after-move): that is the point
    EXPECT_EQ(made.sender.counts().reserved, 0U);
  });
}

TEST(HardValues, CHN_10_a_delivery_moves_nothing) {
  with_parcels([](Scope& scope) -> Task<void> {
    Mpmc<Parcel> made = std::move(mpmc<Parcel>(scope.cx(), 1)).value();
    EXPECT_TRUE(made.sender.try_send(Parcel(1)).is_ok());
    Parcel::moves_until_throw = 1;
    Delivery<Parcel> nacked = co_await made.receiver.recv_with_ack(scope.cx());
    EXPECT_TRUE(std::move(nacked).nack());
    Delivery<Parcel> kept = co_await made.receiver.recv_with_ack(scope.cx());
    EXPECT_EQ(kept.item().number(), 1);
    EXPECT_TRUE(std::move(kept).commit());
    EXPECT_EQ(std::exchange(Parcel::moves_until_throw, 0), 1);
  });
}

TEST(HardValues, CHN_11_a_watch_takes_values_that_only_move) {
  (void)run_in_scope([](Scope& scope) -> Task<void> {
    Watch<std::unique_ptr<int>> made = std::move(watch(scope.cx(), std::make_unique<int>(1))).value();
    EXPECT_TRUE(made.sender.send(std::make_unique<int>(2)).is_ok());
    co_await made.receiver.changed(scope.cx());
    EXPECT_EQ(*made.receiver.latest(), 2);
  });
}

}  // namespace
}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
