// Every inner node spawns ten tasks beside itself, in the scope around all of them, and joins them.
#include <array>
#include <utility>

#include "bench/peers/calm.hpp"
#include "calm/cx/scope.hpp"

namespace bench::peers {
namespace {

calm::Task<std::uint64_t> skynet_node(calm::Cx cx, std::uint64_t first, std::uint64_t leaves) {
  if (leaves == 1) co_return first;
  std::array<calm::Handle<std::uint64_t>, 10> children;
  const std::uint64_t each = leaves / children.size();
  for (std::uint64_t i = 0; i < children.size(); ++i) {
    children[i] = co_await calm::spawn(cx, skynet_node, first + (i * each), each);
  }
  std::uint64_t sum = 0;
  for (auto& child : children) sum += co_await std::move(child).join(cx);
  co_return sum;
}

calm::Task<std::uint64_t> skynet(calm::Cx cx, Round& round) {
  const auto body = [&round](calm::Scope& scope) -> calm::Task<std::uint64_t> {
    const std::uint64_t sum = co_await skynet_node(scope.cx(), 0, round.size);
    co_return sum;
  };
  const std::uint64_t sum = co_await calm::scope(cx, body);
  co_return sum;
}

const CalmWork skynet_work("skynet", skynet);

}  // namespace
}  // namespace bench::peers
