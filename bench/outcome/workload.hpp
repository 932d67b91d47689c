// workload.hpp — a number travels up through ten calls; each adds to it. In one journey out of eight one of them fails,
// and the error travels the rest of the way.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/measure.hpp"

namespace bench {

inline constexpr int depth = 10;
inline constexpr std::uint64_t journeys = 1 << 20;
inline constexpr int failure_code = 26;

struct Journey {
  int add;
  int fails_at;  ///< the call that fails, or -1
};

inline std::vector<Journey> make_journeys() {
  Numbers numbers;
  std::vector<Journey> all;
  all.reserve(journeys);
  for (std::uint64_t i = 0; i < journeys; ++i) {
    const std::uint64_t number = numbers.next();
    const int level = static_cast<int>(number >> 40) % depth;
    all.push_back({.add = static_cast<int>(number >> 8 & 0xFF), .fails_at = (number & 7) == 0 ? level : -1});
  }
  return all;
}

/// Gives: what one journey adds to the answer.
constexpr std::uint64_t points(int value) noexcept { return static_cast<std::uint64_t>(value); }
constexpr std::uint64_t points_of_failure(int code) noexcept { return 1'000'000U + static_cast<std::uint64_t>(code); }

/// `travel(journey)` gives the points of one.
template <class Travel>
int measure_journeys(Travel travel) {
  return measure(journeys, [all = make_journeys(), travel] {
    std::uint64_t answer = 0;
    for (const Journey& journey : all) answer += travel(journey);
    return answer;
  });
}

}  // namespace bench
