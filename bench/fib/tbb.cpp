// A group for each call that calls further.
#include "bench/peers/tbb.hpp"

namespace bench::peers::with_tbb {
namespace {

std::uint64_t fib_call(std::uint64_t number) {  // NOLINT(misc-no-recursion): that is the workload
  if (number < 2) return number;
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  oneapi::tbb::task_group group;
  group.run([number, &left] { left = fib_call(number - 1); });
  group.run([number, &right] { right = fib_call(number - 2); });
  group.wait();
  return left + right;
}

std::uint64_t fib(Round& round) { return fib_call(round.size); }

const TbbWork fib_work("fib", fib);

}  // namespace
}  // namespace bench::peers::with_tbb
