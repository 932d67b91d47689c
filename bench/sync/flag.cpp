// The floor: a word that says how much is taken, looked at and written each time.
#include "bench/sync/workload.hpp"

namespace {

template <std::uint32_t all>
std::uint64_t take(std::uint64_t operations, bench::Stopwatch& watch) {
  volatile std::uint32_t taken = 0;
  volatile std::uint64_t number = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; ++i) {
    if (taken == all) break;
    taken = taken + 1;
    number = number + 1;
    taken = taken - 1;
  }
  watch.stop();
  return number;
}

constexpr bench::PartWork parts[] = {{"lock", take<1>}, {"acquire", take<2>}};

}  // namespace

int main(int argc, char** argv) { return bench::measure_part(argc, argv, parts); }
