// Frames in a list.
#include "bench/peers/floor.hpp"

namespace bench::peers::floor {
namespace {

Task<int> memory_wait(Latch& event, std::uint64_t& woken, Latch& all) {
  co_await event.wait();
  ++woken;
  all.count_down();
  co_return 0;
}

Task<std::uint64_t> memory(Round& round) {
  Latch event(1);
  Latch all(round.size);
  std::uint64_t woken = 0;
  const std::uint64_t before = resident_bytes();
  for (std::uint64_t i = 0; i < round.size; ++i) memory_wait(event, woken, all).detach();
  co_await floor::yield();
  round.measured(resident_bytes() - before);
  event.count_down();
  co_await all.wait();
  co_return woken;
}

const FloorWork memory_work("memory", memory);

}  // namespace
}  // namespace bench::peers::floor
