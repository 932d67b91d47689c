// One channel of Asio.
#include "bench/peers/asio_channel.hpp"

namespace bench::peers::with_asio {
namespace {

template <class Channel>
Task<void> mpsc_send(Channel& channel, std::uint64_t first, std::uint64_t step, std::uint64_t end, Latch& latch) {
  for (std::uint64_t i = first; i < end; i += step) co_await channel.async_send(asio::error_code(), i, awaiting);
  latch.count_down();
}

template <std::uint64_t senders, class Channel>
Task<std::uint64_t> mpsc_through(Round& round) {
  Channel channel(executor(), 128);
  Latch latch(senders);
  for (std::uint64_t i = 0; i < senders; ++i) spawn(mpsc_send(channel, i, senders, round.size, latch));
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < round.size; ++i) sum += co_await channel.async_receive(awaiting);
  co_await latch.wait();
  co_return sum;
}

template <std::uint64_t senders>
Task<std::uint64_t> mpsc(Round& round) {
  return with_channel(round, []<class Channel>(Round& given) { return mpsc_through<senders, Channel>(given); });
}

const AsioWork mpsc_1_work("mpsc.1", mpsc<1>);
const AsioWork mpsc_4_work("mpsc.4", mpsc<4>);

}  // namespace
}  // namespace bench::peers::with_asio
