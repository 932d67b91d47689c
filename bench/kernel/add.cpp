// The floor of an atomic step: one addition to a word that no other thread wants.
#include <atomic>

#include "bench/kernel/workload.hpp"

namespace {

class Add {
 public:
  static bool does(bench::Part /*part*/) { return true; }

  std::uint64_t run(bench::Part /*part*/, std::uint64_t operations, bench::Stopwatch& watch) {
    const std::uint64_t before = word_.load(std::memory_order_relaxed);
    watch.start();
    for (std::uint64_t i = 0; i < operations; ++i) word_.fetch_add(1, std::memory_order_acq_rel);
    watch.stop();
    return word_.load(std::memory_order_relaxed) - before;
  }

 private:
  std::atomic<std::uint64_t> word_{0};
};

}  // namespace

int main(int argc, char** argv) { return bench::measure_part(argc, argv, Add()); }
