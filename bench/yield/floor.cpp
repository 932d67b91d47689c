// A frame goes to the end of the queue.
#include "bench/peers/floor.hpp"

namespace bench::peers::floor {
namespace {

Task<int> yield_often(std::uint64_t times, std::uint64_t& count, Latch& latch) {
  for (std::uint64_t i = 0; i < times; ++i) co_await floor::yield();
  count += times;
  latch.count_down();
  co_return 0;
}

Task<std::uint64_t> yield_round(Round& round) {
  std::uint64_t count = 0;
  Latch latch(10);
  for (int i = 0; i < 10; ++i) yield_often(round.size / 10, count, latch).detach();
  co_await latch.wait();
  co_return count;
}

const FloorWork yield_work("yield", yield_round);

}  // namespace
}  // namespace bench::peers::floor
