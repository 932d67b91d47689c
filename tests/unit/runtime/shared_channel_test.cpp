// Room channel on several workers: nothing is lost, and nothing comes twice. At the end a cancel under load, of locks too.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calm/channel/broadcast.hpp"
#include "calm/channel/mpmc.hpp"
#include "calm/channel/mpsc.hpp"
#include "calm/channel/oneshot.hpp"
#include "calm/channel/registered.hpp"
#include "calm/channel/rendezvous.hpp"
#include "calm/channel/tracked.hpp"
#include "calm/channel/watch.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "calm/sync/mutex.hpp"
#include "calm/sync/semaphore.hpp"
#include "tests/unit/runtime/shared_by.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)
// NOLINTBEGIN(cppcoreguidelines-avoid-const-or-ref-data-members)

class SharedChannel : public SharedBy {};
INSTANTIATE_TEST_SUITE_P(Workers, SharedChannel, some_workers(), name_of_workers);

struct Sends {
  channel::Sender<std::string> out;
  int values;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < values; ++i) {
      if (i % 3 == 0) {
        channel::Permit<std::string> permit = co_await out.reserve(cx);
        (void)std::move(permit).send(std::string(40, 'x'));
      } else {
        const channel::Sent<std::string> sent = co_await out.send(cx, std::string(40, 'x'));
        if (!sent) co_return;
      }
      co_await give_way(cx, i + number);
    }
  }
};
struct Receives {
  channel::SharedReceiver<std::string> in;
  std::atomic<int>& received;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0;; ++i) {
      if ((i + number) % 5 == 0) {
        Outcome<channel::Delivery<std::string>> end = co_await outcome(in.recv_with_ack(cx));
        if (!end.is_ok()) break;
        channel::Delivery<std::string> delivery = std::move(end).value();
        if (i % 2 == 0) {
          (void)std::move(delivery).nack();
          continue;
        }
        (void)std::move(delivery).commit();
      } else {
        const std::optional<std::string> value = co_await in.next(cx);
        if (!value) break;
        if (value->size() != 40) received = -100000;
      }
      ++received;
    }
  }
};
Task<void> work_queue_in(Scope& scope, std::atomic<int>* received) {
  channel::Mpmc<std::string> ends = co_await channel::mpmc<std::string>(scope.cx(), 3);
  const Sends sends{ends.sender, 100};
  const Receives receives{ends.receiver, *received};
  for (int i = 0; i < 3; ++i) (void)co_await scope.spawn(sends, i);
  for (int i = 0; i < 3; ++i) (void)co_await scope.spawn(receives, i);
}
struct WorkQueue {
  std::atomic<int>* received;
  CALM_CORO_WRAPPER Task<void> operator()(Scope& scope) const { return work_queue_in(scope, received); }
};
Task<int> worked(Cx cx) {
  std::atomic<int> received{0};
  const WorkQueue body{&received};
  co_await scope(cx, body);
  co_return received.load();
}
TEST_P(SharedChannel, CHN_11_each_value_of_a_work_queue_goes_to_one_receiver) {
  const Outcome<int> received = run_program(worked);
  ASSERT_TRUE(received.is_ok()) << to_string(received);
  EXPECT_EQ(received.value(), 300);
}

Task<void> drains_slowly(Cx cx, channel::SharedReceiver<int> in, std::shared_ptr<std::atomic<int>> received) {
  while (true) {
    const std::optional<int> value = co_await in.next(cx);
    if (!value) break;
    co_await give_way(cx, *value);
    ++*received;
  }
}
Task<void> fills(Cx cx, channel::Sender<int> out) {
  for (int i = 0; i < 20; ++i) (void)co_await out.send(cx, i);
}
/// A scope whose channel is received from outside it, many times over. Gives: how often it was left too early.
Task<int> drained_in(Scope& outer) {
  int early = 0;
  for (int round = 0; round < 50; ++round) {
    const auto received = std::make_shared<std::atomic<int>>(0);
    const auto body = [&outer, &received](Scope& inner) -> Task<void> {
      channel::Mpmc<int> ends = co_await channel::mpmc<int>(inner, 50);
      for (int i = 0; i < 2; ++i) (void)co_await outer.spawn(drains_slowly, ends.receiver, received);
      for (int i = 0; i < 2; ++i) (void)co_await inner.spawn(fills, ends.sender);
    };
    co_await scope(outer.cx(), body);
    // What is received last may be on its way to be counted.
    if (*received < 40 - 2) ++early;
  }
  co_return early;
}
CALM_CORO_WRAPPER Task<int> drained(Cx cx) { return scope(cx, drained_in); }
TEST_P(SharedChannel, QUI_4_a_scope_is_not_left_before_its_channel_is_drained) {
  const Outcome<int> early = run_program(drained);
  ASSERT_TRUE(early.is_ok()) << to_string(early);
  EXPECT_EQ(early.value(), 0);
}

struct CountedValue {
  static inline std::atomic<int> alive{0};
  CountedValue() { ++alive; }
  CountedValue(CountedValue&& /*other*/) noexcept { ++alive; }
  CountedValue& operator=(CountedValue&&) = delete;
  ~CountedValue() { --alive; }
};
struct SendsUntilAlone {
  channel::Sender<CountedValue> out;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0;; ++i) {
      if ((i + number) % 4 == 0) {
        auto evicted = out.send_evict_oldest(CountedValue());
        if (!evicted && evicted.error().code == Errc::disconnected) break;
        co_await yield(cx);
      } else {
        const channel::Sent<CountedValue> sent = co_await out.send(cx, CountedValue());
        if (!sent) break;
      }
    }
  }
};
Task<void> takes_some(Cx cx, channel::Receiver<CountedValue> in, int count) {
  for (int i = 0; i < count; ++i) (void)co_await in.recv(cx);
}
Task<int> abandoned_in(Scope& scope) {
  for (int round = 0; round < 10; ++round) {
    channel::Mpsc<CountedValue> ends = co_await channel::mpsc<CountedValue>(scope.cx(), 2);
    const SendsUntilAlone sends{std::move(ends.sender)};
    for (int i = 0; i < 3; ++i) (void)co_await scope.spawn(sends, i);
    (void)co_await scope.spawn(takes_some, std::move(ends.receiver), 20 + round);
  }
  co_return 1;
}
Task<int> abandoned(Cx cx) {
  const int done = co_await scope(cx, abandoned_in);
  co_return done;
}
TEST_P(SharedChannel, CHN_7_senders_learn_that_the_receiver_left_and_no_value_stays_behind) {
  CountedValue::alive = 0;
  const Outcome<int> done = run_program(abandoned);
  EXPECT_TRUE(done.is_ok()) << to_string(done);
  EXPECT_EQ(CountedValue::alive, 0);
}

struct Asks {
  Task<void> operator()(Cx cx, int number) const {
    const auto body = [number](Scope& scope) -> Task<void> {
      for (int i = 0; i < 20; ++i) {
        channel::Oneshot<int> ends = co_await channel::oneshot<int>(scope.cx());
        (void)co_await scope.spawn(&answer, std::move(ends.sender), i + number);
        const int got = co_await ends.receiver.recv(scope.cx());
        if (got != i + number) co_await fail(Errc::conflict);
      }
    };
    co_await scope(cx, body);
  }
  static Task<void> answer(Cx /*cx*/, channel::OneshotSender<int> out, int value) {
    (void)std::move(out).send(value);
    co_return;
  }
};
Task<void> answered(Cx cx) {
  const Crowd crowd{4, Asks{}};
  co_await scope(cx, crowd);
}
TEST_P(SharedChannel, CHN_11_a_oneshot_brings_its_answer) {
  const Outcome<void> end = run_program(answered);
  EXPECT_TRUE(end.is_ok()) << to_string(end);
}

struct Hears {
  std::atomic<std::uint64_t>* heard;
  Task<void> operator()(Cx cx, channel::BroadcastReceiver<std::string> in) const {
    for (;;) {
      Outcome<channel::Heard<std::string>> next = co_await outcome(in.recv(cx));
      if (!next.is_ok()) break;
      *heard += 1 + next.value().missed;
    }
  }
};
Task<void> says_all(Cx cx, channel::BroadcastSender<std::string> out) {
  for (int i = 0; i < 300; ++i) {
    (void)out.send("a value that is not short enough to be kept in place");
    co_await give_way(cx, i);
  }
}
Task<void> broadcast_in(Scope& scope, std::atomic<std::uint64_t>* heard) {
  channel::Broadcast<std::string> ends = co_await channel::broadcast<std::string>(scope.cx(), 4);
  const Hears hears{heard};
  (void)co_await scope.spawn(hears, ends.receiver);
  (void)co_await scope.spawn(hears, ends.receiver);
  (void)co_await scope.spawn(hears, std::move(ends.receiver));
  (void)co_await scope.spawn(says_all, std::move(ends.sender));
}
struct BroadcastBody {
  std::atomic<std::uint64_t>* heard;
  CALM_CORO_WRAPPER Task<void> operator()(Scope& scope) const { return broadcast_in(scope, heard); }
};
Task<std::uint64_t> broadcasted(Cx cx) {
  std::atomic<std::uint64_t> heard{0};
  const BroadcastBody body{&heard};
  co_await scope(cx, body);
  co_return heard.load();
}
TEST_P(SharedChannel, CHN_11_a_broadcast_is_heard_or_known_to_be_missed_by_everybody) {
  const Outcome<std::uint64_t> heard = run_program(broadcasted);
  ASSERT_TRUE(heard.is_ok()) << to_string(heard);
  EXPECT_EQ(heard.value(), 900U);
}

Task<int> watches(Cx cx, channel::WatchReceiver<std::vector<int>> in) {
  for (;;) {
    const std::vector<int>& latest = in.latest();
    const int value = latest.front();
    if (latest.back() != value) co_return -1;
    if (value == 200) co_return 1;
    co_await in.changed(cx);
  }
}
Task<void> tells(Cx cx, channel::WatchSender<std::vector<int>> out) {
  for (int i = 1; i <= 200; ++i) {
    (void)out.send(std::vector<int>(8, i));
    co_await give_way(cx, i);
  }
}
Task<int> watched_in(Scope& scope) {
  channel::Watch<std::vector<int>> ends = co_await channel::watch(scope.cx(), std::vector<int>(8, 0));
  Handle<int> a = co_await scope.spawn(watches, ends.receiver);
  Handle<int> b = co_await scope.spawn(watches, std::move(ends.receiver));
  (void)co_await scope.spawn(tells, std::move(ends.sender));
  const int first = co_await std::move(a).join(scope.cx());
  const int second = co_await std::move(b).join(scope.cx());
  co_return first + second;
}
Task<int> watched(Cx cx) {
  const int both = co_await scope(cx, watched_in);
  co_return both;
}
TEST_P(SharedChannel, CHN_11_who_watches_sees_whole_values_and_the_last_one) {
  const Outcome<int> both = run_program(watched);
  ASSERT_TRUE(both.is_ok()) << to_string(both);
  EXPECT_EQ(both.value(), 2);
}

struct Offers {
  channel::MeetingSender<std::string> out;
  Task<void> operator()(Cx cx, int /*number*/) const {
    for (int i = 0; i < 100; ++i) (void)co_await out.send(cx, std::string(30, 'y'));
  }
};
struct TakesOffers {
  channel::MeetingReceiver<std::string> in;
  std::atomic<int>& taken;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0;; ++i) {
      Outcome<std::string> value = (i + number) % 4 == 0 ? in.try_recv() : Outcome<std::string>(err(Errc::empty));
      if (!value.is_ok()) value = co_await outcome(in.recv(cx));
      if (!value.is_ok()) break;
      if (value.value().size() == 30) ++taken;
    }
  }
};
Task<void> rendezvous_in(Scope& scope, std::atomic<int>* taken) {
  channel::Rendezvous<std::string> ends = co_await channel::rendezvous<std::string>(scope.cx());
  const Offers offers{ends.sender};
  const TakesOffers takes{ends.receiver, *taken};
  for (int i = 0; i < 3; ++i) (void)co_await scope.spawn(offers, i);
  for (int i = 0; i < 3; ++i) (void)co_await scope.spawn(takes, i);
}
struct RendezvousBody {
  std::atomic<int>* taken;
  CALM_CORO_WRAPPER Task<void> operator()(Scope& scope) const { return rendezvous_in(scope, taken); }
};
Task<int> handed(Cx cx) {
  std::atomic<int> taken{0};
  const RendezvousBody body{&taken};
  co_await scope(cx, body);
  co_return taken.load();
}
TEST_P(SharedChannel, CHN_11_a_rendezvous_hands_each_value_to_one) {
  const Outcome<int> taken = run_program(handed);
  ASSERT_TRUE(taken.is_ok()) << to_string(taken);
  EXPECT_EQ(taken.value(), 300);
}

Task<void> sends_one_later(Cx cx, channel::Sender<int> out, int value) {
  co_await yield(cx);
  (void)co_await out.send(cx, value);
}
/// Receives what is there, value after value, then one that is not there yet; after so many that are ready at once it gives way in
/// between (SCH-10), and somewhere here that is where the channel is empty.
Task<int> receives_until_it_waits(Scope& scope) {
  int wrong = 0;
  for (int there = 100; there < 140; ++there) {
    channel::Mpsc<int> ends = co_await channel::mpsc<int>(scope.cx(), 200);
    for (int i = 0; i < there; ++i) (void)ends.sender.try_send(i);
    Handle<void> later = co_await scope.spawn(sends_one_later, std::move(ends.sender), there);
    for (int i = 0; i <= there; ++i) {
      const int value = co_await ends.receiver.recv(scope.cx());
      if (value != i) ++wrong;
    }
    co_await std::move(later).join(scope.cx());
    const std::optional<int> none = co_await ends.receiver.next(scope.cx());
    if (none) ++wrong;
  }
  co_return wrong;
}
CALM_CORO_WRAPPER Task<int> received_until_waiting(Cx cx) { return scope(cx, receives_until_it_waits); }
TEST_P(SharedChannel, CHN_6_SCH_10_who_finds_a_channel_empty_after_any_number_of_values_waits_for_the_next) {
  const Outcome<int> wrong = run_program(received_until_waiting);
  ASSERT_TRUE(wrong.is_ok()) << to_string(wrong);
  EXPECT_EQ(wrong.value(), 0);
}

struct Volleys {
  int rounds;
  Task<void> operator()(Cx cx, int number) const {
    const auto body = [this, number](Scope& scope) -> Task<void> {
      channel::Mpsc<int> there = co_await channel::mpsc<int>(scope.cx(), 1);
      channel::Mpsc<int> back = co_await channel::mpsc<int>(scope.cx(), 1);
      (void)co_await scope.spawn(&returns, std::move(there.receiver), std::move(back.sender));
      int at = number;
      for (int i = 0; i < rounds; ++i) {
        (void)co_await there.sender.send(scope.cx(), at);
        const int came = co_await back.receiver.recv(scope.cx());
        if (came != at + 1) co_await fail(Errc::conflict);
        at = came;
        co_await give_way(scope.cx(), i + number);
      }
    };
    co_await scope(cx, body);
  }
  static Task<void> returns(Cx cx, channel::Receiver<int> in, channel::Sender<int> out) {
    while (true) {
      const std::optional<int> value = co_await in.next(cx);
      if (!value) break;
      const channel::Sent<int> sent = co_await out.send(cx, *value + 1);
      if (!sent) break;
    }
  }
};
Task<void> volleyed(Cx cx) {
  const Crowd crowd{6, Volleys{200}};
  co_await scope(cx, crowd);
}
TEST_P(SharedChannel, CHN_4_CHN_6_who_waits_in_turns_of_who_is_alone_and_of_others_gets_each_value_once) {
  const Outcome<void> end = run_program(volleyed);
  EXPECT_TRUE(end.is_ok()) << to_string(end);
}

/// Whoever of them waits when the senders are gone, or the channel is closed under it, is told so.
Task<void> takes_until_refused(Cx cx, channel::SharedReceiver<int> in, std::shared_ptr<std::atomic<int>> told) {
  while (true) {
    const Outcome<int> value = co_await outcome(in.recv(cx));
    if (value.is_ok()) continue;
    if (value.is_err() && value.error().code() == Errc::disconnected) ++*told;
    break;
  }
}
Task<void> takes_until_over(Cx cx, channel::SharedReceiver<int> in, std::shared_ptr<std::atomic<int>> told) {
  while (true) {
    const std::optional<int> value = co_await in.next(cx);
    if (!value) break;
  }
  ++*told;
}
Task<void> sends_some(Cx cx, channel::Sender<int> out, int count) {
  for (int i = 0; i < count; ++i) {
    (void)co_await out.send(cx, i);
    co_await give_way(cx, i);
  }
}
Task<int> refused_in(Scope& scope) {
  const auto told = std::make_shared<std::atomic<int>>(0);
  for (int round = 0; round < 60; ++round) {
    channel::Mpmc<int> ends = co_await channel::mpmc<int>(scope.cx(), 2);
    for (int i = 0; i < 2; ++i) {
      (void)co_await scope.spawn(takes_until_refused, ends.receiver, told);
      (void)co_await scope.spawn(takes_until_over, ends.receiver, told);
    }
    (void)co_await scope.spawn(sends_some, std::move(ends.sender), round % 7);
    co_await give_way(scope.cx(), round);
  }
  while (told->load() < 240) co_await yield(scope.cx());
  co_return told->load();
}
CALM_CORO_WRAPPER Task<int> refused(Cx cx) { return scope(cx, refused_in); }
TEST_P(SharedChannel, CHN_6_all_who_wait_for_a_value_learn_that_none_will_come) {
  const Outcome<int> told = run_program(refused);
  ASSERT_TRUE(told.is_ok()) << to_string(told);
  EXPECT_EQ(told.value(), 240);
}

struct SendsTracked {
  channel::TrackedSender<int> out;
  Task<void> operator()(Cx cx, int /*number*/) const {
    for (int i = 0; i < 50; ++i) {
      channel::TrackedPermit<int> permit = co_await out.reserve(cx);
      (void)std::move(permit).send(1);
    }
  }
};
Task<int> sums(Cx cx, channel::Receiver<int> in) {
  int sum = 0;
  for (;;) {
    const std::optional<int> value = co_await in.next(cx);
    if (!value) break;
    sum += *value;
  }
  co_return sum;
}
Task<int> tracked_in(Scope& scope) {
  channel::TrackedMpsc<int> ends = co_await channel::tracked_mpsc<int>(scope.cx(), 2);
  Handle<int> sum = co_await scope.spawn(sums, std::move(ends.receiver));
  {
    const SendsTracked sends{std::move(ends.sender)};
    for (int i = 0; i < 3; ++i) (void)co_await scope.spawn(sends, i);
  }
  const int value = co_await std::move(sum).join(scope.cx());
  co_return value;
}
Task<int> tracked(Cx cx) {
  const int sum = co_await scope(cx, tracked_in);
  co_return sum;
}
TEST_P(SharedChannel, CHN_9_tracked_sends_from_several_workers_all_arrive) {
  const Outcome<int> sum = run_program(tracked);
  ASSERT_TRUE(sum.is_ok()) << to_string(sum);
  EXPECT_EQ(sum.value(), 150);
}

// --- cancel under load ---

struct NeverDone {
  Mutex<int>& mutex;
  Semaphore& permits;
  channel::Sender<std::string> out;
  channel::SharedReceiver<std::string> in;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0;; ++i) {
      switch ((i + number) % 4) {
        case 0: {
          const Mutex<int>::Guard held = co_await mutex.lock(cx);
          co_await give_way(cx, i);
          break;
        }
        case 1: {
          const Semaphore::Permit permit = co_await permits.acquire(cx, 2);
          co_await give_way(cx, i);
          break;
        }
        case 2: {
          const channel::Sent<std::string> sent = co_await out.send(cx, std::string(40, 'z'));
          if (!sent) co_await checkpoint(cx);
          break;
        }
        default:
          (void)co_await in.recv(cx);
      }
    }
  }
};
Task<void> stopped_in_the_middle(Scope& scope, Mutex<int>* mutex, Semaphore* permits) {
  channel::Mpmc<std::string> ends = co_await channel::mpmc<std::string>(scope.cx(), 2);
  const NeverDone work{*mutex, *permits, std::move(ends.sender), std::move(ends.receiver)};
  for (int i = 0; i < 16; ++i) (void)co_await scope.spawn(work, i);
  for (int i = 0; i < 30; ++i) co_await yield(scope.cx());
  scope.cancel("enough");
}
struct StoppedBody {
  Mutex<int>* mutex;
  Semaphore* permits;
  CALM_CORO_WRAPPER Task<void> operator()(Scope& scope) const { return stopped_in_the_middle(scope, mutex, permits); }
};
Task<int> stopped_under_load(Cx cx) {
  Mutex<int> mutex(cx, 0);
  Semaphore permits(cx, 3);
  int cancelled = 0;
  for (int round = 0; round < 10; ++round) {
    const StoppedBody body{&mutex, &permits};
    const Outcome<void> end = co_await outcome(scope(cx, body));
    if (end.is_cancelled()) ++cancelled;
    if (mutex.is_locked() || permits.free() != 3) co_return -1;
  }
  co_return cancelled;
}
TEST_P(SharedChannel, CAN_13_a_cancel_under_load_leaves_no_lock_and_no_permit_behind) {
  const Outcome<int> rounds = run_program(stopped_under_load);
  ASSERT_TRUE(rounds.is_ok()) << to_string(rounds);
  EXPECT_EQ(rounds.value(), 10);
}

// NOLINTEND(cppcoreguidelines-avoid-const-or-ref-data-members)
// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
