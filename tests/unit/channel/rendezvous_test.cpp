// Hand to hand: a send ends when somebody has taken the value; single runs, then every schedule.
#include "calm/channel/rendezvous.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "calm/cx/scope.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/lab.hpp"
#include "tests/unit/channel/channel_bench.hpp"
#include "tests/unit/channel/ledger.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

TEST(Rendezvous, CHN_11_a_send_ends_when_the_value_was_taken) {
  Log log;
  (void)run_clean([&log](Cx cx) -> Task<void> {
    const auto body = [&log](Scope& scope) -> Task<void> {
      Rendezvous<std::unique_ptr<int>> made = std::move(rendezvous<std::unique_ptr<int>>(scope.cx())).value();
      EXPECT_EQ(made.receiver.try_recv().error().code(), Errc::empty);
      auto sends = [&log, sender = std::move(made.sender)](Cx inner) -> Task<void> {
        const Sent<std::unique_ptr<int>> sent = co_await sender.send(inner, std::make_unique<int>(4));
        EXPECT_TRUE(sent.is_ok());
        log.emplace_back("sent");
      };
      (void)co_await scope.fiber(std::move(sends));
      co_await settle(scope.cx());
      EXPECT_TRUE(log.empty());
      const std::unique_ptr<int> value = co_await made.receiver.recv(scope.cx());
      EXPECT_EQ(*value, 4);
      log.emplace_back("received");
      const Outcome<std::unique_ptr<int>> none = co_await outcome(made.receiver.recv(scope.cx()));
      EXPECT_EQ(none.error().code(), Errc::disconnected);
    };
    co_await scope(cx, body);
  });
  EXPECT_EQ(log, (Log{"received", "sent"}));
}

TEST(Rendezvous, CHN_8_a_value_that_nobody_takes_comes_back) {
  (void)run_clean([](Cx cx) -> Task<void> {
    auto made = std::optional(std::move(rendezvous<int>(cx)).value());
    const MeetingSender<int> sender = made->sender;
    const auto narrowed = cx.with_deadline(cx.now() + ms(1));
    const Sent<int> late = co_await sender.send(narrowed, 1);
    EXPECT_EQ(late.error().code, Errc::cancelled);
    EXPECT_EQ(late.error().value, 1);
    made.reset();
    const Sent<int> alone = co_await sender.send(cx, 2);
    EXPECT_EQ(alone.error().code, Errc::disconnected);
    EXPECT_EQ(alone.error().value, 2);
  });
}

TEST(Rendezvous, CHN_7_a_receiver_that_leaves_ends_the_offers_and_the_waits_of_its_own) {
  (void)run_in_scope([](Scope& scope) -> Task<void> {
    auto made = std::optional(std::move(rendezvous<int>(scope.cx())).value());
    const MeetingSender<int> sender = made->sender;
    auto takes = [&made](Cx cx) -> Task<void> {
      const Outcome<int> value = co_await outcome(made->receiver.recv(cx));
      EXPECT_EQ(value.error().code(), Errc::disconnected);
    };
    auto taking = co_await scope.fiber(std::move(takes));
    co_await settle(scope.cx());
    made.reset();
    co_await std::move(taking).join(scope.cx());
  });
}

struct MeetingPlan {
  int receivers = 1;
  int second_letters = 1;
  int leave_after = 100;  // so many letters, then the first receiver is gone
  int sender_strike = 0;
  int receiver_strike = 0;
  bool cancel_sender = false;
  bool cancel_receiver = false;
};

struct OfferLetters {
  MeetingSender<Letter> sender;
  Ledger* ledger;
  int name;
  int letters;
  int strike;

  Task<void> operator()(Cx cx) {
    for (int number = 1; number <= letters; ++number) {
      if (number == strike) cancel_myself(cx);
      Sent<Letter> sent = co_await sender.send(cx, Letter(*ledger, name, number));
      if (!sent) std::move(std::move(sent).error().value).give_back();
    }
  }
};

struct TakeAll {
  MeetingReceiver<Letter> receiver;
  int strike;
  int leave_after;

  Task<void> operator()(Cx cx) {
    for (int number = 1; number <= leave_after; ++number) {
      if (number == strike) cancel_myself(cx);
      Letter letter = co_await receiver.recv(cx);
      std::move(letter).receive();
    }
  }
};

struct StopIt {
  const Handle<void>* handle;
  Task<void> operator()(Cx /*cx*/) const {
    handle->cancel();
    co_return;
  }
};

struct ExploredMeeting {
  MeetingPlan plan;

  Task<void> operator()(Cx cx) const {
    Ledger ledger;
    const auto body = [this, &ledger](Scope& scope) -> Task<void> {
      Rendezvous<Letter> made = std::move(rendezvous<Letter>(scope.cx())).value();
      OfferLetters one{made.sender, &ledger, 1, 2, plan.sender_strike};
      OfferLetters two{std::move(made.sender), &ledger, 2, plan.second_letters, 0};
      TakeAll take{made.receiver, plan.receiver_strike, plan.leave_after};
      TakeAll other_take{std::move(made.receiver), 0, 100};
      Handle<void> first = co_await scope.fiber(std::move(one));
      (void)co_await scope.fiber(std::move(two));
      Handle<void> taking = co_await scope.fiber(std::move(take));
      if (plan.receivers == 2) {
        (void)co_await scope.fiber(std::move(other_take));
      } else {
        const TakeAll gone = std::move(other_take);
      }
      std::optional<Handle<void>> other;
      if (plan.cancel_sender) other.emplace(co_await scope.fiber(StopIt{&first}));
      if (plan.cancel_receiver) other.emplace(co_await scope.fiber(StopIt{&taking}));
      if (other) co_await std::move(*other).join(scope.cx());
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    ledger.verify(false);  // nothing is ever between the hands
  }
};

TEST(RendezvousExplored, CHN_11_every_value_is_received_or_comes_back_in_every_schedule) {
  const MeetingPlan plans[] = {{},
                               {.sender_strike = 1},
                               {.sender_strike = 2},
                               {.receiver_strike = 1},
                               {.receiver_strike = 2},
                               {.receiver_strike = 3},
                               {.cancel_sender = true},
                               {.cancel_receiver = true},
                               {.leave_after = 0},
                               {.leave_after = 1},
                               {.second_letters = 2}};
  for (const MeetingPlan& plan : plans) {
    const lab::ExploreReport report = lab::explore(ExploredMeeting{plan});
    EXPECT_TRUE(report.exhausted()) << report;
    EXPECT_TRUE(report.ok()) << report;
  }
}

TEST(RendezvousExplored, CHN_11_two_senders_and_two_receivers_lose_nothing_in_any_schedule) {
  const MeetingPlan plans[] = {
      {.receivers = 2}, {.receivers = 2, .leave_after = 1}, {.receivers = 2, .receiver_strike = 1}};
  for (const MeetingPlan& plan : plans) {
    const lab::ExploreReport report = lab::explore(ExploredMeeting{plan});
    EXPECT_TRUE(report.exhausted()) << report;
    EXPECT_TRUE(report.ok()) << report;
  }
}

/// Three wait to take. One offers through a sender that is not its own; another task ends that sender and cancels the offer.
struct ExploredWithdrawal {
  Task<void> operator()(Cx cx) const {
    const auto body = [](Scope& scope) -> Task<void> {
      Rendezvous<int> made = std::move(rendezvous<int>(scope.cx())).value();
      std::optional<MeetingSender<int>> sender(std::move(made.sender));
      const auto takes = [](Cx inner, MeetingReceiver<int> receiver) -> Task<void> {
        const int value = co_await receiver.recv(inner);
        if (value != 1) throw std::logic_error("another value");
      };
      for (int i = 0; i < 3; ++i) (void)co_await scope.fiber(takes, made.receiver);
      const auto offers = [&sender](Cx inner) -> Task<void> {
        if (!sender) co_return;
        const Sent<int> sent = co_await sender->send(inner, 1);
        (void)sent.is_ok();
      };
      Handle<void> offering = co_await scope.fiber(offers);
      const auto spoils = [&sender, &offering](Cx inner) -> Task<void> {
        co_await yield(inner);
        sender.reset();
        offering.cancel();
      };
      Handle<void> spoiling = co_await scope.fiber(spoils);
      co_await std::move(spoiling).join(scope.cx());
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  }
};

TEST(RendezvousExplored, CHN_4_an_offer_that_is_withdrawn_when_no_other_can_come_leaves_nobody_waiting) {
  const lab::ExploreReport report = lab::explore(ExploredWithdrawal{});
  EXPECT_TRUE(report.exhausted()) << report;
  EXPECT_TRUE(report.ok()) << report;
}

}  // namespace
}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
