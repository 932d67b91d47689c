// Deliveries that must be acknowledged, and permits that leave proof.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "calm/channel/mpmc.hpp"
#include "calm/channel/mpsc.hpp"
#include "calm/channel/tracked.hpp"
#include "calm/cx/scope.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/shared.hpp"
#include "tests/unit/channel/channel_bench.hpp"
#include "tests/unit/channel/ledger.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

int resolved_to(const lab::LabReport& report, ObligationState to) {
  int count = 0;
  for (const trace::Event& event : report.trace.events) {
    if (event.kind == trace::EventKind::resolve && trace::resolution_in(event.argument) == to) ++count;
  }
  return count;
}

TEST(Delivery, CHN_10_a_nack_or_a_drop_makes_the_value_the_next_one_again) {
  const auto report = run_clean([](Cx cx) -> Task<void> {
    Mpsc<std::unique_ptr<int>> made = std::move(mpsc<std::unique_ptr<int>>(cx, 2)).value();
    for (const int number : {1, 2}) EXPECT_TRUE(made.sender.try_send(std::make_unique<int>(number)).is_ok());
    {
      Delivery<std::unique_ptr<int>> nacked = co_await made.receiver.recv_with_ack(cx);
      EXPECT_EQ(*nacked.item(), 1);
      EXPECT_EQ(made.receiver.counts(), (Counts{.queued = 1, .reserved = 0, .unacked = 1, .capacity = 2}));
      EXPECT_EQ(made.sender.try_send(nullptr).error().code, Errc::full);  // its place stays its own
      EXPECT_TRUE(std::move(nacked).nack());
    }
    {
      const Delivery<std::unique_ptr<int>> dropped = co_await made.receiver.recv_with_ack(cx);
      EXPECT_EQ(*dropped.item(), 1);
    }
    Delivery<std::unique_ptr<int>> kept = co_await made.receiver.recv_with_ack(cx);
    EXPECT_EQ(*kept.item(), 1);
    EXPECT_TRUE(std::move(kept).commit());
    EXPECT_EQ(std::move(kept).commit(), Errc::obligation_already_resolved);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(*made.receiver.try_recv().value(), 2);
    EXPECT_EQ(made.receiver.counts(), (Counts{.queued = 0, .reserved = 0, .unacked = 0, .capacity = 2}));
  });
  EXPECT_EQ(resolved_to(report, ObligationState::aborted), 2);
  EXPECT_EQ(resolved_to(report, ObligationState::committed), 1);
}

TEST(Delivery, CHN_10_who_receives_waits_while_another_has_a_value_that_may_come_back) {
  (void)run_in_scope([](Scope& scope) -> Task<void> {
    auto made = std::optional(std::move(mpmc<int>(scope.cx(), 2)).value());
    const SharedReceiver<int> receiver = made->receiver;
    for (const int value : {1, 2}) EXPECT_TRUE(made->sender.try_send(value).is_ok());
    made.reset();
    Delivery<int> first = co_await receiver.recv_with_ack(scope.cx());
    Delivery<int> second = co_await receiver.recv_with_ack(scope.cx());
    EXPECT_EQ(receiver.try_recv().error().code(), Errc::empty);
    auto waits = [&receiver](Cx cx) -> Task<void> {
      const int value = co_await receiver.recv(cx);
      EXPECT_EQ(value, 2);
      const Outcome<int> none = co_await outcome(receiver.recv(cx));
      EXPECT_EQ(none.error().code(), Errc::disconnected);
    };
    auto waiting = co_await scope.fiber(std::move(waits));
    co_await settle(scope.cx());
    EXPECT_TRUE(std::move(second).nack());
    co_await settle(scope.cx());
    EXPECT_TRUE(std::move(first).commit());
    co_await std::move(waiting).join(scope.cx());
  });
}

TEST(Delivery, CHN_10_a_value_that_is_nacked_when_the_receiver_is_gone_is_destroyed) {
  (void)run_clean([](Cx cx) -> Task<void> {
    auto made = std::optional(std::move(mpsc<std::shared_ptr<int>>(cx, 1)).value());
    auto value = std::make_shared<int>(1);
    EXPECT_TRUE(made->sender.try_send(value).is_ok());
    Delivery<std::shared_ptr<int>> delivery = co_await made->receiver.recv_with_ack(cx);
    made.reset();
    EXPECT_EQ(value.use_count(), 2);
    EXPECT_TRUE(std::move(delivery).nack());
    EXPECT_EQ(value.use_count(), 1);
  });
}

TEST(Delivery, OBL_4_a_cancelled_worker_nacks_what_it_has_not_finished) {
  (void)run_clean([](Cx cx) -> Task<void> {
    const auto body = [](Scope& scope) -> Task<void> {
      Mpmc<int> made = std::move(mpmc<int>(scope.cx(), 2)).value();
      EXPECT_TRUE(made.sender.try_send(7).is_ok());
      auto works = [receiver = made.receiver](Cx inner) -> Task<void> {
        const Delivery<int> delivery = co_await receiver.recv_with_ack(inner);
        EXPECT_EQ(delivery.item(), 7);
        co_await sleep(inner, ms(100));
        ADD_FAILURE() << "not reached";
      };
      auto worker = co_await scope.fiber(std::move(works));
      co_await settle(scope.cx());
      EXPECT_EQ(made.receiver.try_recv().error().code(), Errc::empty);
      worker.cancel();
      (void)co_await outcome(std::move(worker).join(scope.cx()));
      EXPECT_EQ(made.receiver.try_recv().value(), 7);
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  });
}

/// Takes jobs until there are none; the first one it meets is nacked, or the worker cancelled while it has it.
struct AckingWorker {
  SharedReceiver<int> receiver;
  int strike;  // 0: none; 1: nack the first; 2: be cancelled with it
  lab::Shared<int>* done;

  Task<void> operator()(Cx cx) {
    for (int number = 1;; ++number) {
      Outcome<Delivery<int>> delivery = co_await outcome(receiver.recv_with_ack(cx));
      if (!delivery) break;
      if (number == 1 && strike == 2) cancel_myself(cx);
      co_await yield(cx);
      if (number == 1 && strike == 1) {
        (void)std::move(delivery.value()).nack();
        continue;
      }
      done->changed(cx) += delivery.value().item();
      (void)std::move(delivery.value()).commit();
    }
  }
};

struct ExploredAcks {
  int strike;

  Task<void> operator()(Cx cx) const {
    lab::Shared<int> done(cx, 0);
    const auto body = [this, &done](Scope& scope) -> Task<void> {
      Mpmc<int> made = std::move(mpmc<int>(scope.cx(), 2)).value();
      AckingWorker first{made.receiver, strike, &done};
      AckingWorker second{std::move(made.receiver), 0, &done};
      (void)co_await scope.fiber(std::move(first));
      (void)co_await scope.fiber(std::move(second));
      for (const int job : {1, 10}) {
        const Sent<int> sent = co_await made.sender.send(scope.cx(), job);
        if (!sent) throw std::logic_error("nobody took the job");
      }
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    if (done.get(cx) != 11) throw std::logic_error("a job was lost or done twice");
  }
};

TEST(DeliveryExplored, CHN_10_ack_against_nack_and_cancel_does_every_job_once_in_any_schedule) {
  for (const int strike : {0, 1, 2}) {
    const lab::ExploreReport report = lab::explore(ExploredAcks{strike});
    EXPECT_TRUE(report.exhausted()) << report;
    EXPECT_TRUE(report.ok()) << report;
  }
}

// --- tracked permits ---

TEST(Tracked, CHN_9_send_and_abort_give_proof_of_the_promise_they_settle) {
  const auto report = run_clean([](Cx cx) -> Task<void> {
    TrackedMpsc<int> made = std::move(tracked_mpsc<int>(cx, 1)).value();
    TrackedPermit<int> aborted = co_await made.sender.reserve(cx);
    const ObligationId first = aborted.promise();
    EXPECT_TRUE(first);
    co_await yield(cx);
    EXPECT_EQ(permits_of(cx), 0U);  // it has a record instead of a count
    const Outcome<AbortedProof> back = std::move(aborted).abort();
    EXPECT_EQ(back.value().promise(), first);
    TrackedPermit<int> kept = std::move(made.sender.try_reserve(cx)).value();
    const ObligationId second = kept.promise();
    const Outcome<CommittedProof, Unsent<int>> sent = std::move(kept).send(5);
    EXPECT_EQ(sent.value().promise(), second);
    EXPECT_EQ(made.receiver.try_recv().value(), 5);
    // NOLINTNEXTLINE(bugprone-use-after-move): that is the point
    EXPECT_EQ(std::move(kept).send(6).error().code, Errc::obligation_already_resolved);
  });
  EXPECT_EQ(resolved_to(report, ObligationState::aborted), 1);
  EXPECT_EQ(resolved_to(report, ObligationState::committed), 1);
}

TEST(Tracked, CHN_9_a_tracked_permit_does_not_work_for_another_task_and_stays_good) {
  const auto report = run_in_scope([](Scope& scope) -> Task<void> {
    EXPECT_EQ(tracked_mpsc<int>(scope.cx(), 0).error().code(), Errc::invalid_argument);
    TrackedMpsc<int> made = std::move(tracked_mpsc<int>(scope.cx(), 1)).value();
    TrackedPermit<int> permit = co_await made.sender.reserve(scope.cx());
    auto works = [&permit](Cx) -> Task<void> {
      const auto sent = std::move(permit).send(9);
      EXPECT_EQ(sent.error().code, Errc::invalid_argument);
      EXPECT_EQ(sent.error().value, 9);
      EXPECT_EQ(std::move(permit).abort().error().code(), Errc::invalid_argument);
      co_return;
    };
    auto other = co_await scope.fiber(std::move(works));
    co_await std::move(other).join(scope.cx());
    EXPECT_TRUE(std::move(permit).send(3).is_ok());  // NOLINT(bugprone-use-after-move): it was not taken
    EXPECT_EQ(made.receiver.try_recv().value(), 3);
  });
  EXPECT_EQ(resolved_to(report, ObligationState::committed), 1);
}

TEST(Tracked, CHN_9_a_receiver_that_left_means_the_value_back_and_the_promise_aborted) {
  const auto report = run_clean([](Cx cx) -> Task<void> {
    auto made = std::optional(std::move(tracked_mpsc<int>(cx, 1)).value());
    TrackedPermit<int> permit = co_await made->sender.reserve(cx);
    made.reset();
    const auto sent = std::move(permit).send(5);
    EXPECT_EQ(sent.error().code, Errc::disconnected);
    EXPECT_EQ(sent.error().value, 5);
  });
  EXPECT_EQ(resolved_to(report, ObligationState::aborted), 1);
}

TEST(Tracked, OBL_4_a_tracked_permit_that_is_dropped_fails_the_run_and_names_its_place) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    TrackedMpsc<int> made = std::move(tracked_mpsc<int>(cx, 1)).value();
    const TrackedPermit<int> forgotten = co_await made.sender.reserve(cx);
    EXPECT_TRUE(forgotten.promise());
  });
  ASSERT_FALSE(report.is_clean());
  EXPECT_NE(to_string(report).find("ack_test.cpp"), std::string::npos) << to_string(report);
}

TEST(Tracked, OBL_5_what_a_cancelled_task_had_reserved_is_aborted_without_a_complaint) {
  (void)run_clean([](Cx cx) -> Task<void> {
    const auto body = [](Scope& scope) -> Task<void> {
      TrackedMpsc<int> made = std::move(tracked_mpsc<int>(scope.cx(), 1)).value();
      auto reserves = [&made](Cx inner) -> Task<void> {
        const TrackedPermit<int> permit = co_await made.sender.reserve(inner);
        co_await sleep(inner, ms(100));
        ADD_FAILURE() << to_string(permit.promise());
      };
      auto task = co_await scope.fiber(std::move(reserves));
      co_await settle(scope.cx());
      task.cancel();
      (void)co_await outcome(std::move(task).join(scope.cx()));
      EXPECT_EQ(made.receiver.counts().reserved, 0U);
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  });
}

}  // namespace
}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
