// A handle is joined as soon as its task was spawned.
#include <utility>

#include "bench/peers/calm.hpp"
#include "calm/cx/scope.hpp"

namespace bench::peers {
namespace {

calm::Task<std::uint64_t> spawn_one_number(calm::Cx /*cx*/, std::uint64_t number) { co_return number; }

calm::Task<std::uint64_t> spawn_one(calm::Cx cx, Round& round) {
  const auto body = [&round](calm::Scope& scope) -> calm::Task<std::uint64_t> {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < round.size; ++i) {
      calm::Handle<std::uint64_t> task = co_await scope.spawn(spawn_one_number, i);
      sum += co_await std::move(task).join(scope.cx());
    }
    co_return sum;
  };
  const std::uint64_t sum = co_await calm::scope(cx, body);
  co_return sum;
}

const CalmWork spawn_one_work("spawn_one", spawn_one);

}  // namespace
}  // namespace bench::peers
