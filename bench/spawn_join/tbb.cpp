// One group.
#include <atomic>

#include "bench/peers/tbb.hpp"

namespace bench::peers::with_tbb {
namespace {

std::uint64_t spawn_join(Round& round) {
  std::atomic<std::uint64_t> sum = 0;
  oneapi::tbb::task_group group;
  for (std::uint64_t i = 0; i < round.size; ++i) {
    group.run([i, &sum] { sum.fetch_add(i, std::memory_order_relaxed); });
  }
  group.wait();
  return sum;
}

const TbbWork spawn_join_work("spawn_join", spawn_join);

}  // namespace
}  // namespace bench::peers::with_tbb
