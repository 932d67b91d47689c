// Depth first: the newest frame runs first, and is still in the cache.
#include <array>
#include <optional>

#include "bench/peers/floor.hpp"

namespace bench::peers::floor {
namespace {

Task<std::uint64_t> skynet_node(std::uint64_t first, std::uint64_t leaves) {
  if (leaves == 1) co_return first;
  std::array<std::optional<Task<std::uint64_t>>, 10> children;
  const std::uint64_t each = leaves / children.size();
  for (std::uint64_t i = 0; i < children.size(); ++i) {
    children[i] = skynet_node(first + (i * each), each);
    children[i]->start();
  }
  std::uint64_t sum = 0;
  for (auto& child : children) sum += co_await child->join();
  co_return sum;
}

Task<std::uint64_t> skynet(Round& round) {
  const Task<std::uint64_t> root = skynet_node(0, round.size);
  root.start();
  const std::uint64_t sum = co_await root.join();
  co_return sum;
}

const FloorWork skynet_work("skynet", skynet);

}  // namespace
}  // namespace bench::peers::floor
