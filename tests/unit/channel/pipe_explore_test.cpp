// The bounded channels in every schedule, with a cancel at every await point: no letter is lost, none is doubled.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "calm/channel/mpmc.hpp"
#include "calm/channel/mpsc.hpp"
#include "calm/channel/tracked.hpp"
#include "calm/cx/scope.hpp"
#include "calm/lab/explore.hpp"
#include "tests/unit/channel/channel_bench.hpp"
#include "tests/unit/channel/ledger.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

enum class How : std::uint8_t { permit, send, evict, tracked };
enum class Take : std::uint8_t { next, ack, nack_first };

/// What is explored: who takes part, and where a cancel strikes.
struct Exchange {
  std::uint32_t capacity = 1;
  How how = How::permit;
  int letters = 2;       // of each sender
  int first_strike = 0;  // the first sender is cancelled at this await point of it; 0: it is not
  Take take = Take::next;
  int receivers = 1;             // 2: a work queue; what is said of the receiver is said of the first one
  int receiver_strike = 0;       // the receiver, likewise
  int leave_after = 100;         // so many letters, then the receiver is gone
  bool close = false;            // another task closes the channel at any time
  bool cancel_first = false;     // another task cancels the first sender at any time
  bool cancel_receiver = false;  // or the receiver

  /// Gives: true when letters may be destroyed in the queue.
  [[nodiscard]] bool may_drop() const {
    return receivers == 1 && (receiver_strike != 0 || leave_after < 100 || cancel_receiver);
  }
};

struct SendLetters {
  Sender<Letter> sender;
  Ledger* ledger;
  int name;
  int letters;
  How how;
  int strike;

  Task<void> operator()(Cx cx) {
    for (int number = 1; number <= letters; ++number) {
      if (number == strike) cancel_myself(cx);
      if (how == How::permit) {
        Permit<Letter> permit = co_await sender.reserve(cx);
        settle_sent(std::move(permit).send(Letter(*ledger, name, number)));
      } else if (how == How::send) {
        Sent<Letter> sent = co_await sender.send(cx, Letter(*ledger, name, number));
        settle_sent(std::move(sent));
      } else if (how == How::tracked) {
        const TrackedSender<Letter> tracked(sender);
        TrackedPermit<Letter> permit = co_await tracked.reserve(cx);
        auto sent = std::move(permit).send(Letter(*ledger, name, number));
        if (!sent) std::move(std::move(sent).error().value).give_back();
      } else {
        co_await yield(cx);
        evict(number);
      }
    }
  }

  static void settle_sent(Sent<Letter> sent) {
    if (!sent) std::move(std::move(sent).error().value).give_back();
  }
  void evict(int number) const {
    auto sent = sender.send_evict_oldest(Letter(*ledger, name, number));
    if (!sent) {
      std::move(std::move(sent).error().value).give_back();
    } else if (sent.value()) {
      std::move(*sent.value()).give_back();
    }
  }
};

template <class R>
struct ReceiveAll {
  R receiver;
  Take take;
  int leave_after;
  int strike;

  Task<void> operator()(Cx cx) {
    for (int number = 1; number <= leave_after; ++number) {
      if (number == strike) cancel_myself(cx);
      if (take != Take::next) {
        Outcome<Delivery<Letter>> delivery = co_await outcome(receiver.recv_with_ack(cx));
        if (!delivery) break;
        if (number == strike - 10) cancel_myself(cx);  // with the letter in hand
        co_await yield(cx);
        finish(std::move(delivery).value(), number);
      } else {
        std::optional<Letter> letter = co_await receiver.next(cx);
        if (!letter) break;
        std::move(*letter).receive();
      }
    }
  }
  void finish(Delivery<Letter> delivery, int number) const {
    if (number == 1 && take == Take::nack_first) {
      (void)std::move(delivery).nack();
    } else {
      std::move(delivery.item()).receive();
      (void)std::move(delivery).commit();
    }
  }
};

struct CloseIt {
  Hold<Pipe<Letter>> pipe;
  Task<void> operator()(Cx /*cx*/) const {
    pipe->close();
    co_return;
  }
};

template <class T>
struct CancelIt {
  const Handle<T>* handle;
  Task<void> operator()(Cx /*cx*/) const {
    handle->cancel();
    co_return;
  }
};

struct ExploredExchange {
  Exchange exchange;

  static Task<void> body(Scope& scope, const Exchange& exchange, Ledger& ledger) {
    const Hold<Pipe<Letter>> pipe = std::move(make_pipe<Letter>(scope.cx(), exchange.capacity)).value();
    Sender<Letter> sender(pipe);
    const How second_how = exchange.how == How::evict ? How::permit : exchange.how;
    SendLetters first{sender, &ledger, 1, exchange.letters, exchange.how, exchange.first_strike};
    SendLetters second{std::move(sender), &ledger, 2, exchange.letters, second_how, 0};
    Handle<void> one = co_await scope.fiber(std::move(first));
    Handle<void> two = co_await scope.fiber(std::move(second));
    std::optional<Handle<void>> three;
    if (exchange.receivers == 1) {
      ReceiveAll<Receiver<Letter>> all{Receiver<Letter>(pipe), exchange.take, exchange.leave_after,
                                       exchange.receiver_strike};
      three.emplace(co_await scope.fiber(std::move(all)));
    } else {
      SharedReceiver<Letter> receiver(pipe);
      ReceiveAll<SharedReceiver<Letter>> some{receiver, exchange.take, exchange.leave_after, exchange.receiver_strike};
      ReceiveAll<SharedReceiver<Letter>> rest{std::move(receiver), Take::next, 100, 0};
      three.emplace(co_await scope.fiber(std::move(some)));
      (void)co_await scope.fiber(std::move(rest));
    }
    std::optional<Handle<void>> other;
    CloseIt closes{pipe};
    if (exchange.close) other.emplace(co_await scope.fiber(std::move(closes)));
    if (exchange.cancel_first) other.emplace(co_await scope.fiber(CancelIt<void>{&one}));
    if (exchange.cancel_receiver) other.emplace(co_await scope.fiber(CancelIt<void>{&*three}));
    if (other) co_await std::move(*other).join(scope.cx());
  }

  Task<void> operator()(Cx cx) const {
    Ledger ledger;
    const auto inside = [this, &ledger](Scope& scope) -> Task<void> { co_await body(scope, exchange, ledger); };
    (void)co_await outcome(scope(cx, inside, {.policy = FoldPolicy::collect}));
    ledger.verify(exchange.may_drop());
    const bool all_come = !exchange.may_drop() && !exchange.close && !exchange.cancel_first &&
                          exchange.first_strike == 0 && exchange.how != How::evict;
    if (all_come && ledger.received != 2 * exchange.letters) throw std::logic_error("not every letter came");
  }
};

/// Gives: how many executions there were; all were fine and none is left.
std::uint64_t explore_exchange(const Exchange& exchange) {
  const lab::ExploreReport report = lab::explore(ExploredExchange{exchange});
  EXPECT_TRUE(report.exhausted()) << report;
  EXPECT_TRUE(report.ok()) << report;
  return report.counts.executions;
}

TEST(MpscExplored, I4_two_senders_of_two_letters_and_a_receiver_lose_nothing_in_any_schedule) {
  for (const How how : {How::permit, How::send}) {
    for (const std::uint32_t capacity : {1U, 2U}) {
      EXPECT_GT(explore_exchange({.capacity = capacity, .how = how}), 1U);
    }
  }
}

TEST(MpscExplored, CHN_4_a_sender_cancelled_at_any_await_point_loses_nothing) {
  for (const How how : {How::permit, How::send}) {
    for (const int strike : {1, 2}) (void)explore_exchange({.how = how, .first_strike = strike});
  }
}

TEST(MpscExplored, CHN_4_a_sender_cancelled_by_another_task_at_any_time_loses_nothing) {
  for (const How how : {How::permit, How::send}) (void)explore_exchange({.how = how, .cancel_first = true});
}

TEST(MpscExplored, CHN_4_a_receiver_cancelled_at_any_await_point_or_time_loses_only_what_it_leaves) {
  for (const int strike : {1, 2, 3, 4, 5}) (void)explore_exchange({.receiver_strike = strike});
  (void)explore_exchange({.cancel_receiver = true});
}

TEST(MpscExplored, CHN_7_close_against_send_returns_what_came_too_late) {
  for (const How how : {How::permit, How::send}) (void)explore_exchange({.how = how, .close = true});
}

TEST(MpscExplored, CHN_7_a_receiver_that_leaves_against_senders_that_wait_wakes_them) {
  for (const int letters : {0, 1, 2}) {
    for (const How how : {How::permit, How::send}) (void)explore_exchange({.how = how, .leave_after = letters});
  }
}

TEST(MpscExplored, CHN_5_an_eviction_against_reserve_returns_what_it_takes_out) {
  for (const std::uint32_t capacity : {1U, 2U}) (void)explore_exchange({.capacity = capacity, .how = How::evict});
}

// --- the work queue: whatever happens to one receiver, the other one gets it ---

TEST(MpmcExplored, CHN_11_two_senders_of_two_letters_and_two_receivers_lose_nothing_in_any_schedule) {
  (void)explore_exchange({.how = How::send, .receivers = 2});
}

TEST(MpmcExplored, CHN_4_a_receiver_that_is_cancelled_or_leaves_loses_nothing_while_another_is_there) {
  for (const int strike : {1, 2}) (void)explore_exchange({.how = How::send, .receivers = 2, .receiver_strike = strike});
  (void)explore_exchange({.how = How::send, .receivers = 2, .leave_after = 1});
  (void)explore_exchange({.how = How::send, .letters = 1, .receivers = 2, .cancel_receiver = true});
}

TEST(MpmcExplored, CHN_7_close_and_eviction_against_two_receivers_return_what_came_too_late) {
  (void)explore_exchange({.how = How::send, .letters = 1, .receivers = 2, .close = true});
  (void)explore_exchange({.how = How::evict, .letters = 1, .receivers = 2});
}

// --- tracked permits ---

TEST(TrackedExplored, CHN_9_two_senders_with_tracked_permits_lose_nothing_in_any_schedule) {
  for (const int strike : {0, 1, 2}) (void)explore_exchange({.how = How::tracked, .first_strike = strike});
  (void)explore_exchange({.how = How::tracked, .cancel_first = true});
  (void)explore_exchange({.how = How::tracked, .close = true});
  (void)explore_exchange({.how = How::tracked, .leave_after = 1});
}

// --- acks ---

TEST(AckExplored, CHN_10_two_senders_and_a_receiver_that_acks_and_nacks_lose_nothing_in_any_schedule) {
  for (const Take take : {Take::ack, Take::nack_first}) {
    (void)explore_exchange({.how = How::send, .take = take});
    (void)explore_exchange({.how = How::send, .take = take, .close = true});
  }
}

TEST(AckExplored, CHN_10_a_receiver_cancelled_before_or_with_a_delivery_loses_only_what_it_leaves) {
  for (const int strike : {1, 2, 11, 12}) {
    (void)explore_exchange({.how = How::send, .take = Take::ack, .receiver_strike = strike});
  }
  (void)explore_exchange({.how = How::send, .take = Take::ack, .cancel_receiver = true});
}

}  // namespace
}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
