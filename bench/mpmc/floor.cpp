// One ring.
#include "bench/peers/floor_channel.hpp"

namespace bench::peers::floor {
namespace {

Task<int> mpmc_send(Channel& channel, std::uint64_t first, std::uint64_t end, Latch& latch) {
  for (std::uint64_t i = first; i < end; i += 4) co_await channel.send(i);
  latch.count_down();
  co_return 0;
}

Task<int> mpmc_receive(Channel& channel, std::uint64_t count, std::uint64_t& sum, Latch& latch) {
  for (std::uint64_t i = 0; i < count; ++i) sum += co_await channel.receive();
  latch.count_down();
  co_return 0;
}

Task<std::uint64_t> mpmc(Round& round) {
  Channel channel(128);
  Latch latch(8);
  std::uint64_t sum = 0;
  for (int i = 0; i < 4; ++i) mpmc_receive(channel, round.size / 4, sum, latch).detach();
  for (std::uint64_t i = 0; i < 4; ++i) mpmc_send(channel, i, round.size, latch).detach();
  co_await latch.wait();
  co_return sum;
}

const FloorWork mpmc_work("mpmc", mpmc);

}  // namespace
}  // namespace bench::peers::floor
