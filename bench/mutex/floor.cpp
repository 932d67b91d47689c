// A count of one.
#include "bench/peers/floor_permits.hpp"

namespace bench::peers::floor {
namespace {

Task<int> mutex_count(Permits& lock, std::uint64_t& number, std::uint64_t times, Latch& latch) {
  for (std::uint64_t i = 0; i < times; ++i) {
    co_await lock.acquire();
    ++number;
    lock.release();
  }
  latch.count_down();
  co_return 0;
}

Task<std::uint64_t> mutex(Round& round) {
  Permits lock(1);
  Latch latch(4);
  std::uint64_t number = 0;
  for (int i = 0; i < 4; ++i) mutex_count(lock, number, round.size / 4, latch).detach();
  co_await latch.wait();
  co_return number;
}

const FloorWork mutex_work("mutex", mutex);

}  // namespace
}  // namespace bench::peers::floor
