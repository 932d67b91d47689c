// Timers that live in the sleeping frames.
#include "bench/peers/floor_timers.hpp"

namespace bench::peers::floor {
namespace {

Task<std::uint64_t> timers_cancel(Round& round) {
  std::uint64_t in_time = 0;
  for (std::uint64_t i = 0; i < round.size; ++i) {
    Timer limit;
    timers.add(limit, std::uint64_t{3'600'000});
    co_await floor::yield();
    timers.cancel(limit);
    ++in_time;
  }
  co_return in_time;
}

Task<int> timers_sleep(std::uint64_t& fired, Latch& latch) {
  for (int i = 0; i < 5; ++i) {
    co_await Sleep{1};
    ++fired;
  }
  latch.count_down();
  co_return 0;
}

Task<std::uint64_t> timers_fire(Round& round) {
  std::uint64_t fired = 0;
  Latch latch(round.size / 5);
  for (std::uint64_t i = 0; i < round.size / 5; ++i) timers_sleep(fired, latch).detach();
  co_await latch.wait();
  co_return fired;
}

const FloorWork timers_cancel_work("timers.cancel", timers_cancel);
const FloorWork timers_fire_work("timers.fire", timers_fire);

}  // namespace
}  // namespace bench::peers::floor
