// The floor on one thread. With timers pending it looks at the clock when nothing else is to be done.
#include "bench/peers/floor.hpp"

#include "bench/peers/floor_timers.hpp"

namespace bench::peers::floor {
namespace {

bool run_on_floor(const Asked& asked, Function* function, Report& report) {
  for (int i = 0; i < asked.rounds; ++i) {
    Round round(asked.size);
    Task<std::uint64_t> root = function(round);
    root.start();
    run_ready();
    while (!timers.empty()) {
      timers.fire_or_sleep();
      run_ready();
    }
    if (!root.is_done()) return false;
    if (!report.add(round, root.value())) return false;
  }
  return true;
}

}  // namespace
}  // namespace bench::peers::floor

int main(int argc, char** argv) {
  namespace floor = bench::peers::floor;
  return bench::peers::main<floor::Function>(argc, argv, 1, floor::run_on_floor);
}
