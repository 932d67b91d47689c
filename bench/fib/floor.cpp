// Depth first: the newest frame runs first, and is still in the cache.
#include "bench/peers/floor.hpp"

namespace bench::peers::floor {
namespace {

Task<std::uint64_t> fib_call(std::uint64_t number) {
  if (number < 2) co_return number;
  const Task<std::uint64_t> left = fib_call(number - 1);
  left.start();
  const Task<std::uint64_t> right = fib_call(number - 2);
  right.start();
  std::uint64_t sum = co_await right.join();
  sum += co_await left.join();
  co_return sum;
}

Task<std::uint64_t> fib(Round& round) {
  const Task<std::uint64_t> root = fib_call(round.size);
  root.start();
  const std::uint64_t number = co_await root.join();
  co_return number;
}

const FloorWork fib_work("fib", fib);

}  // namespace
}  // namespace bench::peers::floor
