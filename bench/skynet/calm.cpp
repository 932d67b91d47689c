// Every inner node is a task with a scope of its own: no task outlives its parent.
#include <array>
#include <optional>
#include <utility>

#include "bench/peers/calm.hpp"
#include "calm/cx/scope.hpp"

namespace bench::peers {
namespace {

struct SkynetNode {
  std::uint64_t first;
  std::uint64_t leaves;

  static calm::Task<std::uint64_t> run(calm::Cx cx, std::uint64_t first, std::uint64_t leaves) {
    if (leaves == 1) co_return first;
    const std::uint64_t sum = co_await calm::scope(cx, SkynetNode{first, leaves});
    co_return sum;
  }
  calm::Task<std::uint64_t> operator()(calm::Scope& scope) const {
    std::array<std::optional<calm::Handle<std::uint64_t>>, 10> children;
    const std::uint64_t each = leaves / children.size();
    for (std::uint64_t i = 0; i < children.size(); ++i) {
      children[i] = co_await scope.spawn(SkynetNode::run, first + (i * each), each);
    }
    std::uint64_t sum = 0;
    for (auto& child : children) sum += co_await std::move(*child).join(scope.cx());
    co_return sum;
  }
};

calm::Task<std::uint64_t> skynet(calm::Cx cx, Round& round) {
  const std::uint64_t sum = co_await SkynetNode::run(cx, 0, round.size);
  co_return sum;
}

const CalmWork skynet_work("skynet", skynet);

}  // namespace
}  // namespace bench::peers
