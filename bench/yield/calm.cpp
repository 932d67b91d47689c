// Ten tasks that give way to each other.
#include <atomic>

#include "bench/peers/calm.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"

namespace bench::peers {
namespace {

std::atomic<std::uint64_t> yield_count{0};

calm::Task<> yield_often(calm::Cx cx, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) co_await calm::yield(cx);
  yield_count.fetch_add(times, std::memory_order_relaxed);
}

calm::Task<std::uint64_t> yield(calm::Cx cx, Round& round) {
  yield_count = 0;
  const auto body = [&round](calm::Scope& scope) -> calm::Task<> {
    for (int i = 0; i < 10; ++i) {
      const calm::Handle<void> task = co_await scope.spawn(yield_often, round.size / 10);
    }
  };
  co_await calm::scope(cx, body);
  co_return yield_count.load();
}

const CalmWork yield_work("yield", yield);

}  // namespace
}  // namespace bench::peers
