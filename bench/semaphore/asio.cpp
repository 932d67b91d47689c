// Asio has no semaphore: a channel with room for two is one. What is sent is a permit taken, what is received one given back.
#include "bench/peers/asio_channel.hpp"

namespace bench::peers::with_asio {
namespace {

template <class Channel>
Task<void> semaphore_take(Channel& permits, std::atomic<std::uint64_t>& count, std::uint64_t times, Latch& latch) {
  for (std::uint64_t i = 0; i < times; ++i) {
    co_await permits.async_send(asio::error_code(), i, awaiting);
    co_await asio::post(executor(), awaiting);
    permits.try_receive([](asio::error_code /*error*/, std::uint64_t /*number*/) {});
  }
  count.fetch_add(times, std::memory_order_relaxed);
  latch.count_down();
}

template <class Channel>
Task<std::uint64_t> semaphore_with(Round& round) {
  Channel permits(executor(), 2);
  Latch latch(8);
  std::atomic<std::uint64_t> count = 0;
  for (int i = 0; i < 8; ++i) spawn(semaphore_take(permits, count, round.size / 8, latch));
  co_await latch.wait();
  co_return count.load();
}

Task<std::uint64_t> semaphore(Round& round) {
  return with_channel(round, []<class Channel>(Round& given) { return semaphore_with<Channel>(given); });
}

const AsioWork semaphore_work("semaphore", semaphore);

}  // namespace
}  // namespace bench::peers::with_asio
