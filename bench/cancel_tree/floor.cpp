// There is no cancellation here: all who wait are woken, and end.
#include "bench/peers/floor.hpp"

namespace bench::peers::floor {
namespace {

Task<int> cancel_tree_wait(Latch& over, std::uint64_t& ended, Latch& all) {
  co_await over.wait();
  ++ended;
  all.count_down();
  co_return 0;
}

Task<std::uint64_t> cancel_tree(Round& round) {
  Latch over(1);
  Latch all(round.size);
  std::uint64_t ended = 0;
  for (std::uint64_t i = 0; i < round.size; ++i) cancel_tree_wait(over, ended, all).detach();
  co_await floor::yield();
  round.restart();
  over.count_down();
  co_await all.wait();
  co_return ended;
}

const FloorWork cancel_tree_work("cancel_tree", cancel_tree);

}  // namespace
}  // namespace bench::peers::floor
