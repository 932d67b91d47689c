// A queue without tasks: what moving a value through memory costs at least.
#include <deque>

#include "bench/channel/workload.hpp"

namespace {

template <std::uint64_t batch>
std::uint64_t through_queue(std::uint64_t operations, bench::Stopwatch& watch) {
  std::deque<std::uint64_t> queue;
  std::uint64_t sum = 0;
  watch.start();
  for (std::uint64_t sent = 0; sent < operations;) {
    for (std::uint64_t i = 0; i < batch && sent < operations; ++i) queue.push_back(sent++);
    for (; !queue.empty(); queue.pop_front()) sum += queue.front();
  }
  watch.stop();
  return sum;
}

constexpr bench::PartWork parts[] = {{"mpsc", through_queue<bench::capacity>}, {"try", through_queue<1>}};

}  // namespace

int main(int argc, char** argv) { return bench::measure_part(argc, argv, parts); }
