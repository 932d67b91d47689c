// A coroutine posts itself.
#include "bench/peers/asio.hpp"

namespace bench::peers::with_asio {
namespace {

Task<void> yield_often(std::uint64_t times, std::atomic<std::uint64_t>& count, Latch& latch) {
  for (std::uint64_t i = 0; i < times; ++i) co_await asio::post(executor(), awaiting);
  count.fetch_add(times, std::memory_order_relaxed);
  latch.count_down();
}

Task<std::uint64_t> yield(Round& round) {
  std::atomic<std::uint64_t> count = 0;
  Latch latch(10);
  for (int i = 0; i < 10; ++i) spawn(yield_often(round.size / 10, count, latch));
  co_await latch.wait();
  co_return count.load();
}

const AsioWork yield_work("yield", yield);

}  // namespace
}  // namespace bench::peers::with_asio
