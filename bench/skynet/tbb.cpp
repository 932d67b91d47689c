// A group for each inner node.
#include <array>
#include <numeric>

#include "bench/peers/tbb.hpp"

namespace bench::peers::with_tbb {
namespace {

std::uint64_t skynet_node(std::uint64_t first, std::uint64_t leaves) {  // NOLINT(misc-no-recursion): a tree
  if (leaves == 1) return first;
  std::array<std::uint64_t, 10> sums{};
  const std::uint64_t each = leaves / sums.size();
  oneapi::tbb::task_group group;
  for (std::uint64_t i = 0; i < sums.size(); ++i) {
    group.run([first, each, i, &sums] { sums[i] = skynet_node(first + (i * each), each); });
  }
  group.wait();
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

std::uint64_t skynet(Round& round) { return skynet_node(0, round.size); }

const TbbWork skynet_work("skynet", skynet);

}  // namespace
}  // namespace bench::peers::with_tbb
