// All wait on one timer, which is cancelled: that is how Asio tells many of an event.
#include "bench/peers/asio.hpp"

namespace bench::peers::with_asio {
namespace {

Task<void> memory_wait(Timer& event, std::uint64_t& waiting, std::uint64_t& woken, Latch& all) {
  ++waiting;
  asio::error_code why;
  co_await event.async_wait(asio::redirect_error(awaiting, why));
  ++woken;
  all.count_down();
}

Task<std::uint64_t> memory(Round& round) {
  Timer event(executor(), std::chrono::steady_clock::time_point::max());
  Latch all(round.size);
  std::uint64_t waiting = 0;
  std::uint64_t woken = 0;
  const std::uint64_t before = resident_bytes();
  for (std::uint64_t i = 0; i < round.size; ++i) spawn(memory_wait(event, waiting, woken, all));
  while (waiting < round.size) co_await asio::post(executor(), awaiting);
  round.measured(resident_bytes() - before);
  event.cancel();
  co_await all.wait();
  co_return woken;
}

const AsioWork memory_work("memory", memory);

}  // namespace
}  // namespace bench::peers::with_asio
