// Every allocation fails in turn, in programs with channels, locks and callbacks: an error or a panic, and nothing is lost.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "calm/channel/broadcast.hpp"
#include "calm/channel/mpmc.hpp"
#include "calm/channel/mpsc.hpp"
#include "calm/channel/oneshot.hpp"
#include "calm/channel/rendezvous.hpp"
#include "calm/channel/tracked.hpp"
#include "calm/channel/watch.hpp"
#include "calm/cx/from_callback.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "calm/sync/mutex.hpp"
#include "calm/sync/notify.hpp"
#include "calm/sync/once_cell.hpp"
#include "calm/sync/pool.hpp"
#include "calm/sync/rwlock.hpp"
#include "calm/sync/semaphore.hpp"
#include "tests/unit/channel/ledger.hpp"
#include "tests/unit/lab/strike.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

using lab::Ends;
using lab::strike;

/// Counts a channel that could not be made; that is never anything but resource_exhausted.
template <class T>
int refused(const Outcome<T>& made) {
  if (made) return 0;
  EXPECT_EQ(made.error().code(), Errc::resource_exhausted);
  return 1;
}

/// A letter that is lost fails the test; an allocation that fails meanwhile is one more.
void expect_accounted(const Ledger& ledger, bool may_drop) {
  try {
    ledger.verify(may_drop);
  } catch (const std::logic_error& lost) {
    ADD_FAILURE() << lost.what();
  }
}

TEST(ChannelAllocations, HND_3_a_channel_without_memory_is_an_error_and_no_exception) {
  Ends ends;
  int missing = 0;
  (void)strike(
      [&missing](Cx cx) -> Task<int> {
        missing += refused(mpsc<int>(cx, 2));
        missing += refused(mpmc<int>(cx, 2));
        missing += refused(tracked_mpsc<int>(cx, 2));
        missing += refused(oneshot<int>(cx));
        missing += refused(watch<int>(cx, 1));
        missing += refused(broadcast<int>(cx, 2));
        missing += refused(rendezvous<int>(cx));
        co_return 0;
      },
      ends);
  EXPECT_GE(missing, 7 + 5);  // most have a part that is allocated by itself
  EXPECT_EQ(ends.exhausted + ends.other, 0);
}

/// Sends letters in all ways there are, and keeps what comes back.
Task<void> send_letters(Cx cx, Sender<Letter> sender, Ledger& ledger) {
  Sent<Letter> first = co_await sender.send(cx, Letter(ledger, 1, 1));
  if (!first) std::move(std::move(first).error().value).give_back();
  Permit<Letter> permit = co_await sender.reserve(cx);
  Sent<Letter> second = std::move(permit).send(Letter(ledger, 1, 2));
  if (!second) std::move(std::move(second).error().value).give_back();
  const TrackedSender<Letter> tracked(sender);
  TrackedPermit<Letter> promised = co_await tracked.reserve(cx);
  auto third = std::move(promised).send(Letter(ledger, 1, 3));
  if (!third) std::move(std::move(third).error().value).give_back();
  auto evicted = sender.send_evict_oldest(Letter(ledger, 1, 4));
  if (!evicted) std::move(std::move(evicted).error().value).give_back();
  if (evicted && evicted.value()) std::move(*evicted.value()).give_back();
}

/// Receives them in all ways there are.
Task<void> receive_letters(Cx cx, SharedReceiver<Letter> receiver) {
  {
    Delivery<Letter> delivery = co_await receiver.recv_with_ack(cx);
    std::move(delivery.item()).receive();
    (void)std::move(delivery).commit();
  }
  std::vector<Letter> letters;
  (void)co_await receiver.recv_many(cx, letters, 2);
  for (Letter& letter : letters) std::move(letter).receive();
  for (;;) {
    std::optional<Letter> letter = co_await receiver.next(cx);
    if (!letter) break;
    std::move(*letter).receive();
  }
}

TEST(ChannelAllocations, I4_HND_3_every_letter_is_accounted_for_whichever_allocation_fails) {
  Ends ends;
  const auto report = strike(
      [](Cx cx) -> Task<int> {
        Ledger ledger;
        const auto body = [&ledger](Scope& scope) -> Task<void> {
          Mpmc<Letter> made = co_await mpmc<Letter>(scope.cx(), 2);
          (void)co_await scope.fiber(receive_letters, std::move(made.receiver));
          (void)co_await scope.fiber(send_letters, std::move(made.sender), std::ref(ledger));
        };
        const Outcome<void> end = co_await outcome(scope(cx, body));
        expect_accounted(ledger, !end);
        co_return 0;
      },
      ends);
  EXPECT_GT(report.points_seen, 10U);
  EXPECT_GT(ends.ok, 1);
}

TEST(ChannelAllocations, CHN_6_recv_many_takes_nothing_that_it_has_no_room_for) {
  Ends ends;
  int kept = 0;
  (void)strike(
      [&kept](Cx cx) -> Task<int> {
        Mpsc<int> made = co_await mpsc<int>(cx, 3);
        for (const int value : {1, 2, 3}) (void)made.sender.try_send(value);
        std::vector<int> values;
        const Outcome<std::size_t> count = co_await outcome(made.receiver.recv_many(cx, values, 3));
        EXPECT_EQ(values.size() + made.receiver.counts().queued, 3U);
        if (!count) ++kept;
        co_return 0;
      },
      ends);
  EXPECT_GE(kept, 2);  // the vector grows more than once
}

TEST(ChannelAllocations, CHN_11_the_rest_of_the_family_waits_and_wakes_without_memory) {
  Ends ends;
  (void)strike(
      [](Cx cx) -> Task<int> {
        Ledger ledger;
        const auto body = [&ledger](Scope& scope) -> Task<void> {
          Rendezvous<Letter> meeting = co_await rendezvous<Letter>(scope.cx());
          Watch<int> watched = co_await watch<int>(scope.cx(), 0);
          Broadcast<int> air = co_await broadcast<int>(scope.cx(), 1);
          const auto listens = [](Cx inner, MeetingReceiver<Letter> receiver, WatchReceiver<int> latest,
                                  BroadcastReceiver<int> heard) -> Task<void> {
            Letter letter = co_await receiver.recv(inner);
            std::move(letter).receive();
            co_await latest.changed(inner);
            (void)co_await heard.recv(inner);
          };
          (void)co_await scope.fiber(listens, std::move(meeting.receiver), std::move(watched.receiver),
                                     std::move(air.receiver));
          Sent<Letter> sent = co_await meeting.sender.send(scope.cx(), Letter(ledger, 1, 1));
          if (!sent) std::move(std::move(sent).error().value).give_back();
          (void)watched.sender.send(1);
          (void)air.sender.send(1);
        };
        const Outcome<void> end = co_await outcome(scope(cx, body));
        expect_accounted(ledger, false);
        co_return end.is_ok() ? 1 : 0;
      },
      ends);
  EXPECT_GT(ends.ok, 1);
}

/// All that can be held, one after the other, while another task does the same.
struct Locks {
  explicit Locks(CxOf<> cx) : mutex(cx, 0), rwlock(cx, 0), semaphore(cx, 1), notify(cx), cell(cx), pool(cx, {1}) {}
  Mutex<int> mutex;
  RwLock<int> rwlock;
  Semaphore semaphore;
  Notify notify;
  OnceCell<int> cell;
  Pool<int> pool;
};

Task<void> use_locks(Cx cx, Locks& locks) {
  {
    const Mutex<int>::Guard held = co_await locks.mutex.lock(cx);
    co_await yield(cx);
  }
  {
    const auto written = co_await locks.rwlock.write(cx);
    co_await yield(cx);
  }
  {
    const auto read = co_await locks.rwlock.read(cx);
    co_await yield(cx);
  }
  {
    const Semaphore::Permit permit = co_await locks.semaphore.acquire(cx, 1);
    co_await yield(cx);
  }
  const auto make = [](Cx inner) -> Task<int> {
    co_await yield(inner);
    co_return 7;
  };
  const int* const value = co_await locks.cell.get_or_make(cx, make);
  EXPECT_EQ(*value, 7);
  {
    const Pool<int>::Lease lease = co_await locks.pool.checkout(cx);
    EXPECT_EQ(*lease, 1);
    co_await yield(cx);
  }
  locks.notify.notify_one();
  co_await locks.notify.wait(cx);
}

TEST(SyncAllocations, CHN_12_HND_3_locks_are_free_again_whichever_allocation_fails) {
  Ends ends;
  (void)strike(
      [](Cx cx) -> Task<int> {
        Locks locks(cx);
        const auto body = [&locks](Scope& scope) -> Task<void> {
          (void)co_await scope.fiber(use_locks, std::ref(locks));
          (void)co_await scope.fiber(use_locks, std::ref(locks));
        };
        (void)co_await outcome(scope(cx, body));
        EXPECT_FALSE(locks.mutex.is_locked());
        {
          const auto written = co_await locks.rwlock.write(cx);
        }
        EXPECT_TRUE(locks.semaphore.try_acquire(cx, 1).has_value());
        co_return 0;
      },
      ends);
  EXPECT_GT(ends.ok, 1);
}

TEST(CallbackAllocations, HND_3_a_callback_without_memory_starts_nothing) {
  Ends ends;
  int started = 0;
  int heard = 0;
  (void)strike(
      [&started, &heard](Cx cx) -> Task<int> {
        const auto start = [&started](const Completion<int>& done) {
          ++started;
          (void)done(1);
        };
        const int value = co_await from_callback<int>(cx, start, waits_on, drops_late);
        heard += value;
        co_return 0;
      },
      ends);
  EXPECT_EQ(heard, started);
  EXPECT_GE(ends.panicked, 1);
}

}  // namespace
}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
