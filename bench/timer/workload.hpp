// workload.hpp — what timers are asked for, one part of it at a time; the part is the program's argument.
//
//   cancel  the timeout that is never needed: armed 1 µs to 30 s from now, then cancelled. 1 000 others stay pending, and
//           the clock goes on by 1 µs each time. The answer is the number of cancels
//   fire    timers of 1 to 10 000 ms; each that goes off is armed anew. The answer sums their times
//   sleep   1 000 tasks in the lab's clock sleep 1 to 100 ms, again and again; needs a runtime
//   many    1 000 000 timers of up to 20 h are armed, then cancelled in another order. The answer is the number of cancels
//
// The floor `set` is what the standard library offers: a std::set of times and numbers, whose nodes are allocated.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "bench/measure.hpp"

namespace bench {

inline constexpr std::uint64_t pending_few = 1'000;
inline constexpr std::uint64_t pending_many = 10'000;
inline constexpr std::uint64_t million = 1'000'000;
inline constexpr std::uint64_t ms_ns = 1'000'000;
inline constexpr std::uint64_t twenty_hours_ns = 72'000'000'000'000;
inline constexpr std::uint64_t half_minute_ns = 30'000'000'000;

struct TimerPart {
  std::string_view name;
  std::uint64_t operations;
};

inline constexpr TimerPart timer_parts[] = {
    {"cancel", 5'000'000}, {"fire", 5'000'000}, {"sleep", 1'000'000}, {"many", million}};

/// How a contender does a part: `run(operations, stopwatch)` gives the answer.
struct TimerWork {
  std::string_view name;
  std::uint64_t (*run)(std::uint64_t operations, Stopwatch& watch);
};

/// Exit code of a contender that does not do a part; tools/bench.py leaves it out.
inline constexpr int not_done = 77;

inline int measure_timers(int argc, char** argv, std::span<const TimerWork> works, const std::string& bytes) {
  const std::string_view name = argc == 2 ? argv[1] : "";
  for (const TimerPart& part : timer_parts) {
    if (part.name != name) continue;
    for (const TimerWork& work : works) {
      if (work.name != name) continue;
      return measure(
          part.operations, [&](Stopwatch& watch) { return work.run(part.operations, watch); },
          name == "many" ? bytes.c_str() : "");
    }
    return not_done;
  }
  std::fprintf(stderr, "no part '%.*s'; bench/timer/PARTS has them\n", static_cast<int>(name.size()), name.data());
  return 2;
}

/// Gives: where each of a million places comes when all are visited in another order.
constexpr std::uint64_t other_order(std::uint64_t i) noexcept { return i * 7'919 % million; }

}  // namespace bench
