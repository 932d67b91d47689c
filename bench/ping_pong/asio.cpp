// Two channels of Asio with room for one.
#include "bench/peers/asio_channel.hpp"

namespace bench::peers::with_asio {
namespace {

template <class Channel>
Task<void> ping_pong_answer(Channel& from, Channel& to, std::uint64_t times, Latch& latch) {
  for (std::uint64_t i = 0; i < times; ++i) {
    const std::uint64_t number = co_await from.async_receive(awaiting);
    co_await to.async_send(asio::error_code(), number + 1, awaiting);
  }
  latch.count_down();
}

template <class Channel>
Task<std::uint64_t> ping_pong_through(Round& round) {
  Channel there(executor(), 1);
  Channel back(executor(), 1);
  Latch latch(1);
  spawn(ping_pong_answer(there, back, round.size, latch));
  std::uint64_t number = 0;
  for (std::uint64_t i = 0; i < round.size; ++i) {
    co_await there.async_send(asio::error_code(), number, awaiting);
    number = co_await back.async_receive(awaiting);
  }
  co_await latch.wait();
  co_return number;
}

Task<std::uint64_t> ping_pong(Round& round) {
  return with_channel(round, []<class Channel>(Round& given) { return ping_pong_through<Channel>(given); });
}

const AsioWork ping_pong_work("ping_pong", ping_pong);

}  // namespace
}  // namespace bench::peers::with_asio
