// The scope is the join: it is left when everything in it has ended.
#include <atomic>

#include "bench/peers/calm.hpp"
#include "calm/cx/scope.hpp"

namespace bench::peers {
namespace {

std::atomic<std::uint64_t> spawn_join_sum{0};

calm::Task<> spawn_join_add(calm::Cx /*cx*/, std::uint64_t number) {
  spawn_join_sum.fetch_add(number, std::memory_order_relaxed);
  co_return;
}

calm::Task<std::uint64_t> spawn_join(calm::Cx cx, Round& round) {
  spawn_join_sum = 0;
  const auto body = [&round](calm::Scope& scope) -> calm::Task<> {
    for (std::uint64_t i = 0; i < round.size; ++i) {
      const calm::Handle<void> task = co_await scope.spawn(spawn_join_add, i);
    }
  };
  co_await calm::scope(cx, body);
  co_return spawn_join_sum.load();
}

const CalmWork spawn_join_work("spawn_join", spawn_join);

}  // namespace
}  // namespace bench::peers
