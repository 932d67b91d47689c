// Waitable timers. The limit has a handler that does nothing, and is cancelled when the work has ended.
#include "bench/peers/asio.hpp"

namespace bench::peers::with_asio {
namespace {

Task<std::uint64_t> timers_cancel(Round& round) {
  std::uint64_t in_time = 0;
  for (std::uint64_t i = 0; i < round.size; ++i) {
    Timer limit(executor(), std::chrono::hours(1));
    limit.async_wait([](asio::error_code /*error*/) {});
    co_await asio::post(executor(), awaiting);
    limit.cancel();
    ++in_time;
  }
  co_return in_time;
}

Task<void> timers_sleep(std::atomic<std::uint64_t>& fired, Latch& latch) {
  Timer timer(executor());
  for (int i = 0; i < 5; ++i) {
    timer.expires_after(std::chrono::milliseconds(1));
    co_await timer.async_wait(awaiting);
    fired.fetch_add(1, std::memory_order_relaxed);
  }
  latch.count_down();
}

Task<std::uint64_t> timers_fire(Round& round) {
  std::atomic<std::uint64_t> fired = 0;
  Latch latch(round.size / 5);
  for (std::uint64_t i = 0; i < round.size / 5; ++i) spawn(timers_sleep(fired, latch));
  co_await latch.wait();
  co_return fired.load();
}

const AsioWork timers_cancel_work("timers.cancel", timers_cancel);
const AsioWork timers_fire_work("timers.fire", timers_fire);

}  // namespace
}  // namespace bench::peers::with_asio
