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
#include <span>
#include <string>
#include <string_view>

#include "bench/parts.hpp"

namespace bench {

inline constexpr std::uint64_t pending_few = 1'000;
inline constexpr std::uint64_t pending_many = 10'000;
inline constexpr std::uint64_t million = 1'000'000;
inline constexpr std::uint64_t ms_ns = 1'000'000;
inline constexpr std::uint64_t twenty_hours_ns = 72'000'000'000'000;
inline constexpr std::uint64_t half_minute_ns = 30'000'000'000;

inline constexpr PartSize part_sizes[] = {
    {"cancel", 5'000'000}, {"fire", 5'000'000}, {"sleep", 1'000'000}, {"many", million}};

/// `bytes` says what a timer costs, below the table of the part that has a million.
inline int measure_timers(int argc, char** argv, std::span<const PartWork> works, const std::string& bytes) {
  const std::string_view part = part_asked(argc, argv);
  return measure_part(part, "timer", part_sizes, works, part == "many" ? bytes.c_str() : "");
}

/// Gives: where each of a million places comes when all are visited in another order.
constexpr std::uint64_t other_order(std::uint64_t i) noexcept { return i * 7'919 % million; }

}  // namespace bench
