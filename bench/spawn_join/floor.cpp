// Frames that count down when they end.
#include "bench/peers/floor.hpp"

namespace bench::peers::floor {
namespace {

Task<int> spawn_join_add(std::uint64_t number, std::uint64_t& sum, Latch& latch) {
  sum += number;
  latch.count_down();
  co_return 0;
}

Task<std::uint64_t> spawn_join(Round& round) {
  std::uint64_t sum = 0;
  Latch latch(round.size);
  for (std::uint64_t i = 0; i < round.size; ++i) spawn_join_add(i, sum, latch).detach();
  co_await latch.wait();
  co_return sum;
}

const FloorWork spawn_join_work("spawn_join", spawn_join);

}  // namespace
}  // namespace bench::peers::floor
