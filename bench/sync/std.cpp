// What threads use: made for more than one of them, and paid for with atomic operations.
#include <mutex>
#include <semaphore>

#include "bench/sync/workload.hpp"

namespace {

std::uint64_t lock(std::uint64_t operations, bench::Stopwatch& watch) {
  std::mutex mutex;
  volatile std::uint64_t number = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; ++i) {
    const std::lock_guard guard(mutex);
    number = number + 1;
  }
  watch.stop();
  return number;
}

std::uint64_t acquire(std::uint64_t operations, bench::Stopwatch& watch) {
  std::counting_semaphore<2> semaphore(2);
  volatile std::uint64_t number = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; ++i) {
    semaphore.acquire();
    number = number + 1;
    semaphore.release();
  }
  watch.stop();
  return number;
}

constexpr bench::PartWork parts[] = {{"lock", lock}, {"acquire", acquire}};

}  // namespace

int main(int argc, char** argv) { return bench::measure_part(argc, argv, parts); }
