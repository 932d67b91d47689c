// One group, waited for after each task.
#include "bench/peers/tbb.hpp"

namespace bench::peers::with_tbb {
namespace {

std::uint64_t spawn_one(Round& round) {
  std::uint64_t sum = 0;
  oneapi::tbb::task_group group;
  for (std::uint64_t i = 0; i < round.size; ++i) {
    group.run([i, &sum] { sum += i; });
    group.wait();
  }
  return sum;
}

const TbbWork spawn_one_work("spawn_one", spawn_one);

}  // namespace
}  // namespace bench::peers::with_tbb
