// workload.hpp — programs that are explored until nothing is left; one operation is one execution.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bench/measure.hpp"

namespace bench {

inline constexpr std::size_t thread_count = 3;
inline constexpr std::size_t access_count = 10;
inline constexpr std::size_t word_count = 4;
inline constexpr int additions = 3;
inline constexpr int messages = 10;

/// A read or a write of one of the words.
struct Access {
  std::size_t word;
  bool write;
};

/// What the threads do: ten accesses each, two in five of them writes, to four words that all share.
constexpr std::array<std::array<Access, access_count>, thread_count> make_accesses() {
  std::array<std::array<Access, access_count>, thread_count> all{};
  Numbers numbers;
  for (auto& mine : all) {
    for (Access& access : mine) {
      const std::uint64_t number = numbers.next() >> 20;
      access = {number % word_count, number / word_count % 5 < 2};
    }
  }
  return all;
}
inline constexpr auto accesses = make_accesses();

// How many executions there are: a wrong number is a wrong answer.
inline constexpr std::uint64_t executions_of_threads = 95'351;
inline constexpr std::uint64_t executions_of_lastzero = 147'456;
inline constexpr std::uint64_t executions_of_tasks = 1'680;  // nine additions, three of each task: 9! / (3!)^3
inline constexpr int rounds_of_messages = 50;
inline constexpr std::uint64_t executions_of_messages = 2'000;  // 40 in each round

}  // namespace bench
