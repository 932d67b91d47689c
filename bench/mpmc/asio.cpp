// One channel of Asio; it takes as many receivers as one likes.
#include "bench/peers/asio_channel.hpp"

namespace bench::peers::with_asio {
namespace {

template <class Channel>
Task<void> mpmc_send(Channel& channel, std::uint64_t first, std::uint64_t end, Latch& latch) {
  for (std::uint64_t i = first; i < end; i += 4) co_await channel.async_send(asio::error_code(), i, awaiting);
  latch.count_down();
}

template <class Channel>
Task<void> mpmc_receive(Channel& channel, std::uint64_t count, std::atomic<std::uint64_t>& all, Latch& latch) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += co_await channel.async_receive(awaiting);
  all.fetch_add(sum, std::memory_order_relaxed);
  latch.count_down();
}

template <class Channel>
Task<std::uint64_t> mpmc_through(Round& round) {
  Channel channel(executor(), 128);
  Latch latch(8);
  std::atomic<std::uint64_t> sum = 0;
  for (int i = 0; i < 4; ++i) spawn(mpmc_receive(channel, round.size / 4, sum, latch));
  for (std::uint64_t i = 0; i < 4; ++i) spawn(mpmc_send(channel, i, round.size, latch));
  co_await latch.wait();
  co_return sum.load();
}

Task<std::uint64_t> mpmc(Round& round) {
  return with_channel(round, []<class Channel>(Round& given) { return mpmc_through<Channel>(given); });
}

const AsioWork mpmc_work("mpmc", mpmc);

}  // namespace
}  // namespace bench::peers::with_asio
