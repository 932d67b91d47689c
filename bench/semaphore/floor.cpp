// A count of two, handed on.
#include "bench/peers/floor_permits.hpp"

namespace bench::peers::floor {
namespace {

Task<int> semaphore_take(Permits& permits, std::uint64_t& count, std::uint64_t times, Latch& latch) {
  for (std::uint64_t i = 0; i < times; ++i) {
    co_await permits.acquire();
    co_await floor::yield();
    permits.release();
  }
  count += times;
  latch.count_down();
  co_return 0;
}

Task<std::uint64_t> semaphore(Round& round) {
  Permits permits(2);
  Latch latch(8);
  std::uint64_t count = 0;
  for (int i = 0; i < 8; ++i) semaphore_take(permits, count, round.size / 8, latch).detach();
  co_await latch.wait();
  co_return count;
}

const FloorWork semaphore_work("semaphore", semaphore);

}  // namespace
}  // namespace bench::peers::floor
