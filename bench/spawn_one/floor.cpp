// A frame is queued and awaited.
#include "bench/peers/floor.hpp"

namespace bench::peers::floor {
namespace {

Task<std::uint64_t> spawn_one_number(std::uint64_t number) { co_return number; }

Task<std::uint64_t> spawn_one(Round& round) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < round.size; ++i) {
    const Task<std::uint64_t> task = spawn_one_number(i);
    task.start();
    sum += co_await task.join();
  }
  co_return sum;
}

const FloorWork spawn_one_work("spawn_one", spawn_one);

}  // namespace
}  // namespace bench::peers::floor
