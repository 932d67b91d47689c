// co_spawn for each, and a latch.
#include "bench/peers/asio.hpp"

namespace bench::peers::with_asio {
namespace {

Task<void> spawn_join_add(std::uint64_t number, std::atomic<std::uint64_t>& sum, Latch& latch) {
  sum.fetch_add(number, std::memory_order_relaxed);
  latch.count_down();
  co_return;
}

Task<std::uint64_t> spawn_join(Round& round) {
  std::atomic<std::uint64_t> sum = 0;
  Latch latch(round.size);
  for (std::uint64_t i = 0; i < round.size; ++i) spawn(spawn_join_add(i, sum, latch));
  co_await latch.wait();
  co_return sum.load();
}

const AsioWork spawn_join_work("spawn_join", spawn_join);

}  // namespace
}  // namespace bench::peers::with_asio
