// All wait on one timer, which is cancelled: that is how Asio tells many of an event. Who sleeps has a timer of its own.
#include "bench/peers/asio.hpp"

#include <mutex>

namespace bench::peers::with_asio {
namespace {

/// What a round and its tasks share.
struct MemoryRound {
  std::atomic<std::uint64_t> waiting{0};
  std::atomic<std::uint64_t> woken{0};
  Latch all;
};

/// A timer is for one thread at a time, and with several workers tasks come to it on several.
struct MemoryEvent {
  Timer timer{executor(), std::chrono::steady_clock::time_point::max()};
  std::mutex mutex;

  auto wait(asio::error_code& why) {
    const auto join = [this](auto handler) {
      const std::lock_guard hold(mutex);
      timer.async_wait(std::move(handler));
    };
    auto token = asio::redirect_error(awaiting, why);
    return asio::async_initiate<decltype(token), void(asio::error_code)>(join, token);
  }
  void happens() {
    const std::lock_guard hold(mutex);
    timer.cancel();
  }
};

Task<void> memory_wait(MemoryEvent& event, MemoryRound& shared) {
  shared.waiting.fetch_add(1, std::memory_order_relaxed);
  asio::error_code why;
  co_await event.wait(why);
  shared.woken.fetch_add(1, std::memory_order_relaxed);
  shared.all.count_down();
}

Task<void> memory_all_wait(Round& round, MemoryRound& shared) {
  while (shared.waiting.load(std::memory_order_relaxed) < round.size) co_await asio::post(executor(), awaiting);
}

Task<std::uint64_t> memory(Round& round) {
  MemoryEvent event;
  MemoryRound shared{.all = Latch(round.size)};
  const std::uint64_t before = resident_bytes();
  for (std::uint64_t i = 0; i < round.size; ++i) spawn(memory_wait(event, shared));
  co_await memory_all_wait(round, shared);
  round.measured(resident_bytes() - before);
  event.happens();
  co_await shared.all.wait();
  co_return shared.woken.load();
}

Task<void> memory_sleep_until(std::chrono::steady_clock::time_point wake_at, MemoryRound& shared) {
  shared.waiting.fetch_add(1, std::memory_order_relaxed);
  Timer timer(executor(), wake_at);
  co_await timer.async_wait(awaiting);
  shared.woken.fetch_add(1, std::memory_order_relaxed);
  shared.all.count_down();
}

Task<std::uint64_t> memory_sleep(Round& round) {
  // Far enough: all are asleep before.
  const auto wake_at =
      std::chrono::steady_clock::now() + std::chrono::microseconds(100'000 + 8 * static_cast<std::int64_t>(round.size));
  MemoryRound shared{.all = Latch(round.size)};
  const std::uint64_t before = resident_bytes();
  for (std::uint64_t i = 0; i < round.size; ++i) spawn(memory_sleep_until(wake_at, shared));
  co_await memory_all_wait(round, shared);
  round.measured(resident_bytes() - before);
  if (std::chrono::steady_clock::now() >= wake_at) co_return 0;  // not all were asleep at once
  co_await shared.all.wait();
  co_return shared.woken.load();
}

const AsioWork memory_work("memory", memory);
const AsioWork memory_sleep_work("memory.sleep", memory_sleep);

}  // namespace
}  // namespace bench::peers::with_asio
