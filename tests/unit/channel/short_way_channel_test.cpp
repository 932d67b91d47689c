// Values and places that are there, had without a wait: the same laws hold on the short way, on one worker and in the lab.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "calm/channel/mpmc.hpp"
#include "calm/channel/mpsc.hpp"
#include "calm/cx/scope.hpp"
#include "calm/lab/gtest.hpp"
#include "calm/runtime/run.hpp"
#include "tests/unit/channel/channel_bench.hpp"
#include "tests/unit/channel/parcel.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

/// On one worker of the production runtime, where the short way is, and in the lab, which follows every wait. The task is
/// known not to be cancelled when the program begins.
template <class F>
void run_quiet_program(F program) {
  const auto quiet = [&program](Cx cx) -> Task<void> {
    co_await checkpoint(cx);
    co_await program(cx);
  };
  const Outcome<void> end = block_on(quiet, {.workers = 1});
  EXPECT_TRUE(end.is_ok()) << to_string(end);
  EXPECT_LAB_CLEAN(lab::run({}, quiet));
}

TEST(ShortWayOfChannels, CHN_6_values_come_in_order_then_the_end) {
  run_quiet_program([](Cx cx) -> Task<void> {
    std::optional<Mpsc<std::unique_ptr<int>>> made(std::move(mpsc<std::unique_ptr<int>>(cx, 4)).value());
    Receiver<std::unique_ptr<int>> receiver = std::move(made->receiver);
    for (int i = 1; i <= 3; ++i) {
      auto value = std::make_unique<int>(i);
      const Sent<std::unique_ptr<int>> sent = co_await made->sender.send(cx, std::move(value));
      EXPECT_TRUE(sent.is_ok());
    }
    EXPECT_EQ(receiver.counts(), (Counts{.queued = 3, .reserved = 0, .unacked = 0, .capacity = 4}));
    const std::unique_ptr<int> first = co_await receiver.recv(cx);
    EXPECT_EQ(*first, 1);
    const std::optional<std::unique_ptr<int>> second = co_await receiver.next(cx);
    EXPECT_EQ(second ? **second : 0, 2);
    made.reset();
    const std::optional<std::unique_ptr<int>> third = co_await receiver.next(cx);
    EXPECT_EQ(third ? **third : 0, 3);
    const std::optional<std::unique_ptr<int>> none = co_await receiver.next(cx);
    EXPECT_FALSE(none);
    const Outcome<std::unique_ptr<int>> over = co_await outcome(receiver.recv(cx));
    EXPECT_TRUE(over.is_err() && over.error().code() == Errc::disconnected);
  });
}

TEST(ShortWayOfChannels, CHN_2_CHN_6_a_cancelled_task_neither_sends_nor_receives_what_it_could_have_at_once) {
  run_quiet_program([](Cx cx) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(cx, 4)).value();
    EXPECT_TRUE(made.sender.try_send(1).is_ok());
    const auto body = [&made](Scope& scope) -> Task<void> {
      const auto works = [&made](Cx inner) -> Task<void> {
        co_await checkpoint(inner);
        const Sent<int> sent = co_await made.sender.send(inner, 2);
        EXPECT_TRUE(sent.is_ok());
        cancel_myself(inner);
        const Sent<int> back = co_await made.sender.send(inner, 3);
        EXPECT_TRUE(back.is_err() && back.error().value == 3);
        const Outcome<Permit<int>> permit = co_await outcome(made.sender.reserve(inner));
        EXPECT_TRUE(permit.is_cancelled());
        const int value = co_await made.receiver.recv(inner);
        ADD_FAILURE() << value << " was received";
      };
      (void)co_await scope.fiber(works);
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    EXPECT_EQ(made.receiver.counts(), (Counts{.queued = 2, .reserved = 0, .unacked = 0, .capacity = 4}));
  });
}

TEST(ShortWayOfChannels, OBL_2_a_permit_had_on_it_is_counted_and_keeps_its_place) {
  run_quiet_program([](Cx cx) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(cx, 1)).value();
    {
      Permit<int> permit = co_await made.sender.reserve(cx);
      EXPECT_EQ(made.sender.counts().reserved, 1U);
      EXPECT_EQ(made.sender.try_reserve().error().code(), Errc::full);
      co_await yield(cx);
      EXPECT_EQ(permits_of(cx), 1U);
      EXPECT_TRUE(std::move(permit).send(5).is_ok());
    }
    co_await yield(cx);
    EXPECT_EQ(permits_of(cx), 0U);
    const int value = co_await made.receiver.recv(cx);
    EXPECT_EQ(value, 5);
    {
      const Permit<int> dropped = co_await made.sender.reserve(cx);
    }
    EXPECT_EQ(made.sender.counts().reserved, 0U);
  });
}

TEST(ShortWayOfChannels, CHN_2_who_comes_later_does_not_overtake_on_it) {
  Log log;
  run_quiet_program([&log](Cx cx) -> Task<void> {
    log.clear();
    Mpsc<int> made = std::move(mpsc<int>(cx, 1)).value();
    EXPECT_TRUE(made.sender.try_send(0).is_ok());
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto sends = [&](Cx inner, int number) -> Task<void> {
        co_await checkpoint(inner);
        const Sent<int> sent = co_await made.sender.send(inner, number);
        EXPECT_TRUE(sent.is_ok());
      };
      (void)co_await scope.fiber(sends, 1);
      co_await sleep(scope.cx(), ms(1));
      const int zero = co_await made.receiver.recv(scope.cx());
      EXPECT_EQ(zero, 0);
      const Sent<int> mine = co_await made.sender.send(scope.cx(), 2);  // the place is promised to who waited
      EXPECT_TRUE(mine.is_ok());
    };
    const auto receives = [&](Cx inner) -> Task<void> {
      co_await sleep(inner, ms(5));
      for (int i = 0; i < 2; ++i) {
        const int value = co_await made.receiver.recv(inner);
        log.push_back(std::to_string(value));
      }
    };
    const auto both = [&](Scope& scope) -> Task<void> {
      (void)co_await scope.fiber(receives);
      co_await body(scope);
    };
    co_await scope(cx, both);
    EXPECT_EQ(log, (Log{"1", "2"}));
  });
}

TEST(ShortWayOfChannels, CHN_8_what_could_not_be_moved_is_not_lost_and_its_place_is_free) {
  Parcel::alive = 0;
  run_quiet_program([](Cx cx) -> Task<void> {
    Mpmc<Parcel> made = std::move(mpmc<Parcel>(cx, 2)).value();
    const auto sends = [&made](Cx inner, int moves) -> Task<void> {
      Parcel parcel(1);
      Parcel::moves_until_throw = moves;
      const Sent<Parcel> sent = co_await made.sender.send(inner, std::move(parcel));
      EXPECT_TRUE(sent.is_ok());
    };
    int throws = 0;
    Outcome<void> end = ok();
    do {  // one move after the other fails, until it needs no more of them
      end = co_await outcome(sends(cx, throws + 1));
      if (end.is_panicked()) ++throws;
      EXPECT_EQ(made.sender.counts().reserved, 0U);
      EXPECT_EQ(made.sender.counts().queued, end.is_ok() ? 1U : 0U);
    } while (end.is_panicked() && throws < 100);
    EXPECT_GT(throws, 0);
    Parcel::moves_until_throw = 1;
    const auto receives = [&made](Cx inner) -> Task<int> {
      const Parcel parcel = co_await made.receiver.recv(inner);
      co_return parcel.number();
    };
    const Outcome<int> thrown = co_await outcome(receives(cx));
    EXPECT_TRUE(thrown.is_panicked());
    EXPECT_EQ(made.receiver.counts().queued, 1U);
    const Outcome<int> number = co_await outcome(receives(cx));
    EXPECT_EQ(number.value(), 1);
    EXPECT_EQ(made.receiver.counts().queued, 0U);
  });
  EXPECT_EQ(Parcel::alive, 0);
  Parcel::moves_until_throw = 0;
}

TEST(ShortWayOfChannels, CHN_7_a_place_is_not_had_in_a_channel_that_was_closed) {
  run_quiet_program([](Cx cx) -> Task<void> {
    Mpsc<int> made = std::move(mpsc<int>(cx, 4)).value();
    const Sent<int> before = co_await made.sender.send(cx, 1);
    EXPECT_TRUE(before.is_ok());
    made.receiver.close();
    const Sent<int> after = co_await made.sender.send(cx, 2);
    EXPECT_TRUE(after.is_err() && after.error().code == Errc::disconnected);
    const int value = co_await made.receiver.recv(cx);
    EXPECT_EQ(value, 1);
    const Outcome<int> none = co_await outcome(made.receiver.recv(cx));
    EXPECT_TRUE(none.is_err());
  });
}

/// So many bytes of the same number: some are moved in a turn, more are not.
template <std::size_t size>
struct Bytes {
  std::array<unsigned char, size> all;

  static Bytes of(int number) noexcept {
    Bytes made{};
    made.all.fill(static_cast<unsigned char>(number));
    return made;
  }
  [[nodiscard]] int number() const noexcept {
    for (const unsigned char byte : all) {
      if (byte != all[0]) return -1;
    }
    return all[0];
  }
};
static_assert(Pipe<Bytes<64>>::moves_in_turn && Pipe<int>::moves_in_turn);
static_assert(!Pipe<Bytes<65>>::moves_in_turn && !Pipe<std::unique_ptr<int>>::moves_in_turn);

/// Numbers through a channel that is full, then empty, and so on: some go at once, others wait.
template <class Value>
Task<void> send_and_receive(Cx cx, std::uint16_t workers) {
  constexpr int count = 200;
  Mpsc<Value> made = std::move(mpsc<Value>(cx, 3)).value();
  const auto sends = [&made](Cx inner) -> Task<void> {
    co_await checkpoint(inner);
    for (int i = 0; i < count; ++i) {
      const Sent<Value> sent = co_await made.sender.send(inner, Value::of(i));
      EXPECT_TRUE(sent.is_ok());
    }
    made.receiver.close();
  };
  const auto receives = [&made, workers](Cx inner) -> Task<void> {
    co_await checkpoint(inner);
    for (int i = 0; i < count; ++i) {
      const Value value = co_await made.receiver.recv(inner);
      EXPECT_EQ(value.number(), i) << workers;
    }
    const std::optional<Value> none = co_await made.receiver.next(inner);
    EXPECT_FALSE(none);
  };
  const auto both = [&](Scope& scope) -> Task<void> {
    (void)co_await scope.spawn(receives);
    (void)co_await scope.spawn(sends);
  };
  co_await scope(cx, both);
  EXPECT_EQ(made.receiver.counts(), (Counts{.queued = 0, .reserved = 0, .unacked = 0, .capacity = 3}));
}

TEST(ShortWayOfChannels, CHN_6_values_of_any_size_come_whole_and_in_order) {
  for (const std::uint16_t workers : {std::uint16_t{1}, std::uint16_t{2}}) {
    const auto program = [workers](Cx cx) -> Task<void> {
      co_await send_and_receive<Bytes<8>>(cx, workers);
      co_await send_and_receive<Bytes<64>>(cx, workers);
      co_await send_and_receive<Bytes<65>>(cx, workers);
    };
    const Outcome<void> end = block_on(program, {.workers = workers});
    EXPECT_TRUE(end.is_ok()) << to_string(end);
  }
  EXPECT_LAB_CLEAN(lab::run({}, [](Cx cx) -> Task<void> {
    co_await send_and_receive<Bytes<8>>(cx, 0);
    co_await send_and_receive<Bytes<65>>(cx, 0);
  }));
}

TEST(ShortWayOfChannels, QUI_4_a_wait_keeps_the_channel_when_its_end_is_gone) {
  run_quiet_program([](Cx cx) -> Task<void> {
    std::optional<Mpsc<int>> made(std::move(mpsc<int>(cx, 1)).value());
    std::atomic<bool> begun = false;
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto waits = [&](Cx inner) -> Task<void> {
        co_await checkpoint(inner);
        begun = true;  // a fiber: nobody else runs here before it waits
        const Outcome<int> value = co_await outcome(made->receiver.recv(inner));
        EXPECT_TRUE(value.is_err() && value.error().code() == Errc::disconnected);
      };
      (void)co_await scope.fiber(waits);
      co_await sleep(scope.cx(), ms(1));
      co_await catch_up(scope.cx(), begun);
      made.reset();  // all there was of the channel but that wait
    };
    co_await scope(cx, body);
  });
}

}  // namespace
}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
