// Timers in a std::set by time and number.
#include <set>
#include <utility>
#include <vector>

#include "bench/timer/workload.hpp"

namespace {

using bench::Stopwatch;
using Entry = std::pair<std::uint64_t, std::uint64_t>;  // time, number of the arming

std::uint64_t arm_and_cancel(std::uint64_t operations, Stopwatch& watch) {
  std::set<Entry> timers;
  bench::Numbers numbers;
  std::uint64_t armed = 0;
  for (; armed < bench::pending_few; ++armed) {
    timers.emplace(100'000'000'000 + numbers.next() % bench::half_minute_ns, armed);
  }
  std::uint64_t cancelled = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; ++i) {
    const auto at = timers.emplace(i * 1'000 + 1'000 + numbers.next() % bench::half_minute_ns, armed++).first;
    timers.erase(at);
    ++cancelled;
  }
  watch.stop();
  return cancelled;
}

std::uint64_t arm_and_fire(std::uint64_t operations, Stopwatch& watch) {
  std::set<Entry> timers;
  bench::Numbers numbers;
  std::uint64_t armed = 0;
  const auto arm = [&](std::uint64_t now) {
    timers.emplace(now + (1 + numbers.next() % 10'000) * bench::ms_ns, armed++);
  };
  while (armed < bench::pending_many) arm(0);
  std::uint64_t sum = 0;
  std::uint64_t fired = 0;
  watch.start();
  for (std::uint64_t tick = 1; fired < operations; ++tick) {
    const std::uint64_t now = tick * bench::ms_ns;
    while (timers.begin()->first <= now) {
      ++fired;
      sum += timers.begin()->first;
      timers.erase(timers.begin());
      arm(now);
      if (fired == operations) break;
    }
  }
  watch.stop();
  return sum;
}

std::uint64_t arm_a_million(std::uint64_t operations, Stopwatch& watch) {
  std::set<Entry> timers;
  std::vector<std::set<Entry>::iterator> handles(operations);
  bench::Numbers numbers;
  std::uint64_t cancelled = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; ++i) {
    handles[i] = timers.emplace(1 + numbers.next() % bench::twenty_hours_ns, i).first;
  }
  for (std::uint64_t i = 0; i < operations; ++i, ++cancelled) timers.erase(handles[bench::other_order(i)]);
  watch.stop();
  return cancelled;
}

constexpr bench::PartWork parts[] = {{"cancel", arm_and_cancel}, {"fire", arm_and_fire}, {"many", arm_a_million}};

}  // namespace

int main(int argc, char** argv) { return bench::measure_timers(argc, argv, parts, ""); }
