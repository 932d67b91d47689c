// measure.hpp — one contender, once: a round to warm up, a round against the clock, one line for tools/bench.py.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>

namespace bench {

/// Numbers that look random and are the same in every program (xorshift64).
class Numbers {
 public:
  constexpr std::uint64_t next() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15;
};

/// Gives: the exit code of the program. `work()` does `operations` operations and gives their answer, a std::uint64_t
/// that every contender of the workload must give as well.
template <class Work>
int measure(std::uint64_t operations, const Work& work) {
  const std::uint64_t warm = work();
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t answer = work();
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  if (answer != warm) {
    std::fprintf(stderr, "the first round answers %llu, the second %llu\n", static_cast<unsigned long long>(warm),
                 static_cast<unsigned long long>(answer));
    return 1;
  }
  std::printf("{\"answer\": %llu, \"ns\": %lld, \"operations\": %llu}\n", static_cast<unsigned long long>(answer),
              static_cast<long long>(took.count()), static_cast<unsigned long long>(operations));
  return 0;
}

}  // namespace bench
