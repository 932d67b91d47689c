// workload.hpp — the meet of four thousand budgets, again and again, each time from another start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/measure.hpp"

namespace bench {

inline constexpr std::size_t budget_count = 4096;
inline constexpr std::size_t rounds = 2000;

/// A budget in numbers; 2^64 - 1 says none or infinite.
struct Raw {
  std::uint64_t deadline_ns;
  std::uint64_t polls;
  std::uint64_t cost;
  std::uint8_t priority;
};

/// Gives: a large number, or none in one case out of four.
constexpr std::uint64_t some_limit(Numbers& numbers) noexcept {
  const std::uint64_t number = numbers.next();
  return (number & 3) == 0 ? UINT64_MAX : number >> 2;
}

/// `make(raw)` gives the contender's budget.
template <class Make>
auto make_budgets(Make make) {
  Numbers numbers;
  std::vector<decltype(make(Raw{}))> all;
  all.reserve(budget_count);
  for (std::size_t i = 0; i < budget_count; ++i) {
    const Raw raw{.deadline_ns = some_limit(numbers),
                  .polls = some_limit(numbers),
                  .cost = some_limit(numbers),
                  .priority = static_cast<std::uint8_t>(numbers.next())};
    all.push_back(make(raw));
  }
  return all;
}

/// `meet_all(budgets, start)` gives the meet of all and the start in numbers.
template <class Make, class MeetAll>
int measure_meets(Make make, MeetAll meet_all) {
  return measure(budget_count * rounds, [budgets = make_budgets(make), meet_all] {
    std::uint64_t answer = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
      const Raw met = meet_all(budgets, budgets[round]);
      answer = answer * 31 + (met.deadline_ns ^ met.polls ^ met.cost ^ met.priority) + round;
    }
    return answer;
  });
}

}  // namespace bench
