// Primitives that tasks on several workers share: nothing is lost, nothing is had twice, and nobody waits for ever.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "calm/channel/broadcast.hpp"
#include "calm/channel/mpmc.hpp"
#include "calm/channel/mpsc.hpp"
#include "calm/channel/oneshot.hpp"
#include "calm/channel/rendezvous.hpp"
#include "calm/channel/tracked.hpp"
#include "calm/channel/watch.hpp"
#include "calm/combinator/bulkhead.hpp"
#include "calm/combinator/hedge.hpp"
#include "calm/combinator/join.hpp"
#include "calm/combinator/map_reduce.hpp"
#include "calm/combinator/race.hpp"
#include "calm/combinator/task_set.hpp"
#include "calm/cx/from_callback.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "calm/runtime/run.hpp"
#include "calm/sync/barrier.hpp"
#include "calm/sync/latch.hpp"
#include "calm/sync/mutex.hpp"
#include "calm/sync/notify.hpp"
#include "calm/sync/once_cell.hpp"
#include "calm/sync/pool.hpp"
#include "calm/sync/rwlock.hpp"
#include "calm/sync/select.hpp"
#include "calm/sync/semaphore.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)
// NOLINTBEGIN(cppcoreguidelines-avoid-const-or-ref-data-members)

class SharedBy : public testing::TestWithParam<std::uint16_t> {
 protected:
  template <class F>
  auto run_program(F program) {
    RunOptions options{.workers = GetParam(), .seed = 11};
    options.flavour = Flavour::multi_worker;
    return block_on(std::move(program), options);
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, SharedBy, testing::Values(std::uint16_t{2}, std::uint16_t{4}),
                         [](const auto& tested) { return std::to_string(tested.param); });

/// So many tasks of the same work, `work(cx, number)`.
template <class F>
struct Crowd {
  int tasks;
  F work;

  Task<void> operator()(Scope& scope) const {
    for (int number = 0; number < tasks; ++number) (void)co_await scope.spawn(work, number);
  }
};
template <class F>
Crowd(int, F) -> Crowd<F>;

Task<void> give_way(Cx cx, int number) {
  if (number % 3 == 0) co_await yield(cx);
}

// --- sync ---

struct AddsLocked {
  Mutex<std::uint64_t>& sum;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 200; ++i) {
      Mutex<std::uint64_t>::Guard held = co_await sum.lock(cx);
      ++*held;
      co_await give_way(cx, i + number);
    }
  }
};
Task<std::uint64_t> locked_sum(Cx cx) {
  Mutex<std::uint64_t> sum(cx, 0);
  const Crowd crowd{8, AddsLocked{sum}};
  co_await scope(cx, crowd);
  const Mutex<std::uint64_t>::Guard held = co_await sum.lock(cx);
  co_return *held;
}
TEST_P(SharedBy, CHN_12_a_mutex_lets_one_task_in_at_a_time) {
  const Outcome<std::uint64_t> sum = run_program(locked_sum);
  ASSERT_TRUE(sum.is_ok()) << to_string(sum);
  EXPECT_EQ(sum.value(), 1600U);
}

struct TwoNumbers {
  int a = 0;
  int b = 0;
};
struct ReadsAndWrites {
  RwLock<TwoNumbers>& numbers;
  std::atomic<int>& torn;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 100; ++i) {
      if ((i + number) % 4 == 0) {
        const auto writes = co_await numbers.write(cx);
        ++writes->a;
        co_await give_way(cx, i);
        ++writes->b;
      } else {
        const auto reads = co_await numbers.read(cx);
        if (reads->a != reads->b) ++torn;
        co_await give_way(cx, i);
      }
    }
  }
};
Task<int> read_and_written(Cx cx) {
  RwLock<TwoNumbers> numbers(cx, {});
  std::atomic<int> torn{0};
  const Crowd crowd{8, ReadsAndWrites{numbers, torn}};
  co_await scope(cx, crowd);
  const auto reads = co_await numbers.read(cx);
  co_return torn != 0 ? -1 : reads->a;
}
TEST_P(SharedBy, CHN_12_readers_of_an_rwlock_never_meet_a_writer) {
  const Outcome<int> count = run_program(read_and_written);
  ASSERT_TRUE(count.is_ok()) << to_string(count);
  EXPECT_EQ(count.value(), 200);
}

struct TakesPermits {
  Semaphore& permits;
  std::atomic<int>& inside;
  std::atomic<int>& too_many;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 100; ++i) {
      const std::uint32_t wants = 1 + static_cast<std::uint32_t>(i + number) % 3;
      const Semaphore::Permit permit = co_await permits.acquire(cx, wants);
      const int count = static_cast<int>(wants);
      if (inside.fetch_add(count) + count > 3) ++too_many;
      co_await give_way(cx, i);
      inside.fetch_sub(count);
    }
  }
};
Task<int> permits_taken(Cx cx) {
  Semaphore permits(cx, 3);
  std::atomic<int> inside{0};
  std::atomic<int> too_many{0};
  const Crowd crowd{8, TakesPermits{permits, inside, too_many}};
  co_await scope(cx, crowd);
  co_return too_many != 0 ? -1 : static_cast<int>(permits.free());
}
TEST_P(SharedBy, CHN_12_no_more_permits_are_out_than_a_semaphore_has) {
  const Outcome<int> free = run_program(permits_taken);
  ASSERT_TRUE(free.is_ok()) << to_string(free);
  EXPECT_EQ(free.value(), 3);
}

struct Paddles {
  Notify& mine;
  Notify& yours;
  Task<void> operator()(Cx cx, int number) const {
    Notify& waits = number == 0 ? mine : yours;
    Notify& tells = number == 0 ? yours : mine;
    for (int i = 0; i < 200; ++i) {
      co_await waits.wait(cx);
      tells.notify_one();
    }
  }
};
Task<void> paddled(Cx cx) {
  Notify one(cx);
  Notify other(cx);
  one.notify_one();
  const Crowd crowd{2, Paddles{one, other}};
  co_await scope(cx, crowd);
}
TEST_P(SharedBy, CHN_12_a_notification_is_never_lost) { EXPECT_TRUE(run_program(paddled).is_ok()); }

struct Meets {
  Barrier& barrier;
  std::atomic<int>& leaders;
  Task<void> operator()(Cx cx, int /*number*/) const {
    for (int i = 0; i < 100; ++i) {
      const bool leads = co_await barrier.arrive(cx);
      if (leads) ++leaders;
    }
  }
};
Task<int> met(Cx cx) {
  Barrier barrier(cx, 4);
  std::atomic<int> leaders{0};
  const Crowd crowd{4, Meets{barrier, leaders}};
  co_await scope(cx, crowd);
  co_return leaders.load();
}
TEST_P(SharedBy, CHN_12_every_round_of_a_barrier_has_one_leader) {
  const Outcome<int> leaders = run_program(met);
  ASSERT_TRUE(leaders.is_ok()) << to_string(leaders);
  EXPECT_EQ(leaders.value(), 100);
}

struct CountsDown {
  Latch& latch;
  Task<void> operator()(Cx /*cx*/) const {
    latch.count_down();
    co_return;
  }
};
/// The latch ends as soon as its wait has: whoever opened it may not have returned yet.
Task<int> latched_in(Scope& scope) {
  int opened = 0;
  for (int i = 0; i < 300; ++i) {
    Latch latch(scope.cx(), 1);
    (void)co_await scope.spawn(CountsDown{latch});
    co_await latch.wait(scope.cx());
    ++opened;
  }
  co_return opened;
}
Task<int> latched(Cx cx) {
  const int opened = co_await scope(cx, latched_in);
  co_return opened;
}
TEST_P(SharedBy, CHN_12_who_was_granted_may_end_the_primitive_at_once) {
  const Outcome<int> opened = run_program(latched);
  ASSERT_TRUE(opened.is_ok()) << to_string(opened);
  EXPECT_EQ(opened.value(), 300);
}

struct MakesNumber {
  std::atomic<int>& makers;
  Task<int> operator()(Cx cx) const {
    ++makers;
    co_await yield(cx);
    co_return 42;
  }
};
struct AsksCell {
  OnceCell<int>& cell;
  std::atomic<int>& makers;
  std::atomic<int>& answers;
  Task<void> operator()(Cx cx, int /*number*/) const {
    const MakesNumber make{makers};
    const int* const value = co_await cell.get_or_make(cx, make);
    answers += *value;
  }
};
Task<int> asked(Cx cx) {
  OnceCell<int> cell(cx);
  std::atomic<int> makers{0};
  std::atomic<int> answers{0};
  const Crowd crowd{16, AsksCell{cell, makers, answers}};
  co_await scope(cx, crowd);
  co_return makers == 1 ? answers.load() : -1;
}
TEST_P(SharedBy, CHN_12_a_cell_is_made_once) {
  const Outcome<int> answers = run_program(asked);
  ASSERT_TRUE(answers.is_ok()) << to_string(answers);
  EXPECT_EQ(answers.value(), 16 * 42);
}

struct UsesPool {
  Pool<int>& pool;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 50; ++i) {
      Pool<int>::Lease object = co_await pool.checkout(cx);
      ++*object;  // a plain number: two who have it at a time would lose one
      co_await give_way(cx, i + number);
      object.give_back();
    }
  }
};
Task<int> pooled(Cx cx) {
  std::vector<int> objects(3, 0);
  Pool<int> pool(cx, std::move(objects));
  const Crowd crowd{8, UsesPool{pool}};
  co_await scope(cx, crowd);
  int sum = 0;
  Pool<int>::Lease a = co_await pool.checkout(cx);
  Pool<int>::Lease b = co_await pool.checkout(cx);
  Pool<int>::Lease c = co_await pool.checkout(cx);
  sum = *a + *b + *c;
  a.give_back();
  b.give_back();
  c.give_back();
  co_return sum;
}
TEST_P(SharedBy, CHN_12_an_object_of_a_pool_is_out_once) {
  const Outcome<int> sum = run_program(pooled);
  ASSERT_TRUE(sum.is_ok()) << to_string(sum);
  EXPECT_EQ(sum.value(), 400);
}

struct Selects {
  Mutex<int>& a;
  Mutex<int>& b;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 100; ++i) {
      Mutex<int>& first = (i + number) % 2 == 0 ? a : b;
      Mutex<int>& second = (i + number) % 2 == 0 ? b : a;
      auto chosen = co_await select(cx, first.lock(cx), second.lock(cx));
      if (chosen.index() == 0) {
        ++*std::get<0>(chosen);
      } else {
        ++*std::get<1>(chosen);
      }
      co_await give_way(cx, i);
    }
  }
};
Task<int> selected(Cx cx) {
  Mutex<int> a(cx, 0);
  Mutex<int> b(cx, 0);
  const Crowd crowd{6, Selects{a, b}};
  co_await scope(cx, crowd);
  const Mutex<int>::Guard in_a = co_await a.lock(cx);
  const Mutex<int>::Guard in_b = co_await b.lock(cx);
  co_return *in_a + *in_b;
}
TEST_P(SharedBy, COM_5_what_select_did_not_choose_goes_to_the_next) {
  const Outcome<int> sum = run_program(selected);
  ASSERT_TRUE(sum.is_ok()) << to_string(sum);
  EXPECT_EQ(sum.value(), 600);
}

// --- channels ---

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
TEST_P(SharedBy, CHN_11_each_value_of_a_work_queue_goes_to_one_receiver) {
  const Outcome<int> received = run_program(worked);
  ASSERT_TRUE(received.is_ok()) << to_string(received);
  EXPECT_EQ(received.value(), 300);
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
TEST_P(SharedBy, CHN_7_senders_learn_that_the_receiver_left_and_no_value_stays_behind) {
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
TEST_P(SharedBy, CHN_11_a_oneshot_brings_its_answer) {
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
TEST_P(SharedBy, CHN_11_a_broadcast_is_heard_or_known_to_be_missed_by_everybody) {
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
TEST_P(SharedBy, CHN_11_who_watches_sees_whole_values_and_the_last_one) {
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
TEST_P(SharedBy, CHN_11_a_rendezvous_hands_each_value_to_one) {
  const Outcome<int> taken = run_program(handed);
  ASSERT_TRUE(taken.is_ok()) << to_string(taken);
  EXPECT_EQ(taken.value(), 300);
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
TEST_P(SharedBy, CHN_9_tracked_sends_from_several_workers_all_arrive) {
  const Outcome<int> sum = run_program(tracked);
  ASSERT_TRUE(sum.is_ok()) << to_string(sum);
  EXPECT_EQ(sum.value(), 150);
}

// --- fibers and combinators ---

Task<int> number_after(Cx cx, int value, int yields) {
  for (int i = 0; i < yields; ++i) co_await yield(cx);
  co_return value;
}
Task<int> doubled(Cx cx, int value) {
  co_await yield(cx);
  co_return 2 * value;
}
struct Combines {
  std::atomic<int>& wrong;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 5; ++i) {
      auto both = co_await join(cx, number_after(cx, number, 3), number_after(cx, i, 1));
      if (std::get<0>(both) != number || std::get<1>(both) != i) ++wrong;
      const int first = co_await race(cx, number_after(cx, 1, 50), number_after(cx, 2, 1));
      if (first != 2 && first != 1) ++wrong;
      std::vector<int> inputs(6, 1);
      const Monoid sum{0, std::plus<>()};
      const int total = co_await map_reduce(cx, std::move(inputs), doubled, sum, {.parallel = 2});
      if (total != 12) ++wrong;
      co_await yield(cx);
    }
  }
};
Task<int> combined(Cx cx) {
  std::atomic<int> wrong{0};
  const Crowd crowd{8, Combines{wrong}};
  co_await scope(cx, crowd);
  co_return wrong.load();
}
TEST_P(SharedBy, COM_1_combinators_in_many_tasks_come_to_their_values) {
  const Outcome<int> wrong = run_program(combined);
  ASSERT_TRUE(wrong.is_ok()) << to_string(wrong);
  EXPECT_EQ(wrong.value(), 0);
}

Task<void> stays(Cx cx, std::thread::id home, std::atomic<int>* strayed) {
  for (int i = 0; i < 20; ++i) {
    if (std::this_thread::get_id() != home) ++*strayed;
    co_await yield(cx);
  }
}
Task<void> fibers_in(Scope& scope, std::atomic<int>* strayed) {
  const std::thread::id home = std::this_thread::get_id();
  for (int i = 0; i < 3; ++i) (void)co_await scope.fiber(stays, home, strayed);
  co_await stays(scope.cx(), home, strayed);
}
struct FiberBody {
  std::atomic<int>* strayed;
  CALM_CORO_WRAPPER Task<void> operator()(Scope& scope) const { return fibers_in(scope, strayed); }
};
struct HasFibers {
  std::atomic<int>& strayed;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 5; ++i) {
      const FiberBody body{&strayed};
      co_await scope(cx, body);
      co_await give_way(cx, number);
    }
  }
};
Task<int> fibers_stay(Cx cx) {
  std::atomic<int> strayed{0};
  const Crowd crowd{8, HasFibers{strayed}};
  co_await scope(cx, crowd);
  co_return strayed.load();
}
TEST_P(SharedBy, TSK_4_fibers_and_their_owner_stay_on_one_worker) {
  const Outcome<int> strayed = run_program(fibers_stay);
  ASSERT_TRUE(strayed.is_ok()) << to_string(strayed);
  EXPECT_EQ(strayed.value(), 0);
}

struct CallsBack {
  Task<void> operator()(Cx cx, int number) const {
    const auto body = [number](Scope& scope) -> Task<void> {
      for (int i = 0; i < 20; ++i) {
        const auto start = [&scope, i](Completion<int> done) { (void)scope.spawn(&call, std::move(done), i); };
        const int got = co_await from_callback<int>(scope.cx(), start, waits_on, drops_late);
        if (got != i) co_await fail(Errc::conflict);
        co_await give_way(scope.cx(), i + number);
      }
    };
    co_await scope(cx, body);
  }
  static Task<void> call(Cx /*cx*/, Completion<int> done, int value) {
    done(value);
    co_return;
  }
};
Task<void> called_back(Cx cx) {
  const Crowd crowd{4, CallsBack{}};
  co_await scope(cx, crowd);
}
TEST_P(SharedBy, I4_a_callback_from_another_worker_ends_the_wait) {
  const Outcome<void> end = run_program(called_back);
  EXPECT_TRUE(end.is_ok()) << to_string(end);
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
TEST_P(SharedBy, CAN_13_a_cancel_under_load_leaves_no_lock_and_no_permit_behind) {
  const Outcome<int> rounds = run_program(stopped_under_load);
  ASSERT_TRUE(rounds.is_ok()) << to_string(rounds);
  EXPECT_EQ(rounds.value(), 10);
}

// NOLINTEND(cppcoreguidelines-avoid-const-or-ref-data-members)
// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
