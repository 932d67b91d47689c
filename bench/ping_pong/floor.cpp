// Two rings with room for one.
#include "bench/peers/floor_channel.hpp"

namespace bench::peers::floor {
namespace {

Task<int> ping_pong_answer(Channel& from, Channel& to, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) {
    const std::uint64_t number = co_await from.receive();
    co_await to.send(number + 1);
  }
  co_return 0;
}

Task<std::uint64_t> ping_pong(Round& round) {
  Channel there(1);
  Channel back(1);
  const Task<int> other = ping_pong_answer(there, back, round.size);
  other.start();
  std::uint64_t number = 0;
  for (std::uint64_t i = 0; i < round.size; ++i) {
    co_await there.send(number);
    number = co_await back.receive();
  }
  (void)co_await other.join();
  co_return number;
}

const FloorWork ping_pong_work("ping_pong", ping_pong);

}  // namespace
}  // namespace bench::peers::floor
