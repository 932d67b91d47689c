// Children leave their sums in the frame of their parent, which a latch keeps waiting.
#include <array>
#include <numeric>

#include "bench/peers/asio.hpp"

namespace bench::peers::with_asio {
namespace {

Task<std::uint64_t> skynet_sum(std::uint64_t first, std::uint64_t leaves);

Task<void> skynet_node(std::uint64_t first, std::uint64_t leaves, std::uint64_t& sum, Latch& latch) {
  if (leaves == 1) {
    sum = first;
  } else {
    sum = co_await skynet_sum(first, leaves);
  }
  latch.count_down();
}

Task<std::uint64_t> skynet_sum(std::uint64_t first, std::uint64_t leaves) {
  std::array<std::uint64_t, 10> sums{};
  Latch latch(sums.size());
  const std::uint64_t each = leaves / sums.size();
  for (std::uint64_t i = 0; i < sums.size(); ++i) spawn(skynet_node(first + (i * each), each, sums[i], latch));
  co_await latch.wait();
  co_return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

Task<std::uint64_t> skynet(Round& round) {
  const std::uint64_t sum = co_await skynet_sum(0, round.size);
  co_return sum;
}

const AsioWork skynet_work("skynet", skynet);

}  // namespace
}  // namespace bench::peers::with_asio
