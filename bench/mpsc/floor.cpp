// One ring.
#include "bench/peers/floor_channel.hpp"

namespace bench::peers::floor {
namespace {

Task<int> mpsc_send(Channel& channel, std::uint64_t first, std::uint64_t step, std::uint64_t end, Latch& latch) {
  for (std::uint64_t i = first; i < end; i += step) co_await channel.send(i);
  latch.count_down();
  co_return 0;
}

template <std::uint64_t senders>
Task<std::uint64_t> mpsc(Round& round) {
  Channel channel(128);
  Latch latch(senders);
  for (std::uint64_t i = 0; i < senders; ++i) mpsc_send(channel, i, senders, round.size, latch).detach();
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < round.size; ++i) sum += co_await channel.receive();
  co_await latch.wait();
  co_return sum;
}

const FloorWork mpsc_1_work("mpsc.1", mpsc<1>);
const FloorWork mpsc_4_work("mpsc.4", mpsc<4>);

}  // namespace
}  // namespace bench::peers::floor
