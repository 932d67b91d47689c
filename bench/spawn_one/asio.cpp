// co_spawn with use_awaitable: queued, run and awaited.
#include "bench/peers/asio.hpp"

namespace bench::peers::with_asio {
namespace {

Task<std::uint64_t> spawn_one_number(std::uint64_t number) { co_return number; }

Task<std::uint64_t> spawn_one(Round& round) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < round.size; ++i) {
    sum += co_await asio::co_spawn(executor(), spawn_one_number(i), awaiting);
  }
  co_return sum;
}

const AsioWork spawn_one_work("spawn_one", spawn_one);

}  // namespace
}  // namespace bench::peers::with_asio
