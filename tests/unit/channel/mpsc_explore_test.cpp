// The bounded channel in every schedule, with a cancel at every await point: no letter is lost, none is doubled.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "calm/channel/mpsc.hpp"
#include "calm/cx/scope.hpp"
#include "calm/lab/explore.hpp"
#include "tests/unit/channel/channel_bench.hpp"
#include "tests/unit/channel/ledger.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

enum class How : std::uint8_t { permit, send, evict };

/// What is explored: who takes part, and where a cancel strikes.
struct Exchange {
  std::uint32_t capacity = 1;
  How how = How::permit;
  int first_strike = 0;          // the first sender is cancelled at this await point of it; 0: it is not
  int receiver_strike = 0;       // the receiver, likewise
  int leave_after = 100;         // so many letters, then the receiver is gone
  bool close = false;            // another task closes the channel at any time
  bool cancel_first = false;     // another task cancels the first sender at any time
  bool cancel_receiver = false;  // or the receiver

  /// Gives: true when letters may be destroyed in the queue.
  [[nodiscard]] bool may_drop() const { return receiver_strike != 0 || leave_after < 100 || cancel_receiver; }
};

struct SendTwo {
  Sender<Letter> sender;
  Ledger* ledger;
  int name;
  How how;
  int strike;

  Task<void> operator()(Cx cx) {
    for (int number = 1; number <= 2; ++number) {
      if (number == strike) cancel_myself(cx);
      if (how == How::permit) {
        Permit<Letter> permit = co_await sender.reserve(cx);
        settle_sent(std::move(permit).send(Letter(*ledger, name, number)));
      } else if (how == How::send) {
        Sent<Letter> sent = co_await sender.send(cx, Letter(*ledger, name, number));
        settle_sent(std::move(sent));
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

struct ReceiveAll {
  Receiver<Letter> receiver;
  int leave_after;
  int strike;

  Task<void> operator()(Cx cx) {
    for (int number = 1; number <= leave_after; ++number) {
      if (number == strike) cancel_myself(cx);
      std::optional<Letter> letter = co_await receiver.next(cx);
      if (!letter) break;
      std::move(*letter).receive();
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
    Mpsc<Letter> ends{Sender<Letter>(pipe), Receiver<Letter>(pipe)};
    const How second_how = exchange.how == How::evict ? How::permit : exchange.how;
    SendTwo first{ends.sender, &ledger, 1, exchange.how, exchange.first_strike};
    SendTwo second{std::move(ends.sender), &ledger, 2, second_how, 0};
    ReceiveAll receive{std::move(ends.receiver), exchange.leave_after, exchange.receiver_strike};
    Handle<void> one = co_await scope.fiber(std::move(first));
    Handle<void> two = co_await scope.fiber(std::move(second));
    Handle<void> three = co_await scope.fiber(std::move(receive));
    std::optional<Handle<void>> other;
    CloseIt closes{pipe};
    if (exchange.close) other.emplace(co_await scope.fiber(std::move(closes)));
    if (exchange.cancel_first) other.emplace(co_await scope.fiber(CancelIt<void>{&one}));
    if (exchange.cancel_receiver) other.emplace(co_await scope.fiber(CancelIt<void>{&three}));
    if (other) co_await std::move(*other).join(scope.cx());
  }

  Task<void> operator()(Cx cx) const {
    Ledger ledger;
    const auto inside = [this, &ledger](Scope& scope) -> Task<void> { co_await body(scope, exchange, ledger); };
    (void)co_await outcome(scope(cx, inside, {.policy = FoldPolicy::collect}));
    ledger.verify(exchange.may_drop());
    const bool all_come = !exchange.may_drop() && !exchange.close && !exchange.cancel_first &&
                          exchange.first_strike == 0 && exchange.how != How::evict;
    if (all_come && ledger.received != 4) throw std::logic_error("not every letter came");
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

}  // namespace
}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
