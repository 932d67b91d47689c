// measure.hpp — one contender, once: a round to warm up, a round against the clock, one line for tools/bench.py.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <type_traits>

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

/// Adds up the processor time of the calling thread between start() and stop(): what a round must prepare does not count,
/// nor does what other programs do on a busy machine meanwhile. It is for work that one thread does without waiting.
class Stopwatch {
 public:
  void start() noexcept { since_ = now(); }
  void stop() noexcept { took_ += now() - since_; }
  [[nodiscard]] std::chrono::nanoseconds took() const noexcept { return took_; }

 private:
  static std::chrono::nanoseconds now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  std::chrono::nanoseconds since_{0};
  std::chrono::nanoseconds took_{0};
};

/// What one round came to.
struct Round {
  std::uint64_t answer;
  std::chrono::nanoseconds took;
};

/// Gives: the exit code of the program. `round()` does `operations` operations and gives a Round. `note` is shown below the
/// table.
template <class MakeRound>
int measure_rounds(std::uint64_t operations, const MakeRound& round, const char* note) {
  const Round warm = round();
  const Round timed = round();
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  if (timed.answer != warm.answer) {
    std::fprintf(stderr, "the first round answers %llu, the second %llu\n", number(warm.answer), number(timed.answer));
    return 1;
  }
  std::printf("{\"answer\": %llu, \"ns\": %lld, \"operations\": %llu, \"note\": \"%s\"}\n", number(timed.answer),
              static_cast<long long>(timed.took.count()), number(operations), note);
  return 0;
}

/// Gives: the exit code of the program. `work()` does `operations` operations and gives their answer, a std::uint64_t
/// that every contender of the workload must give as well.
template <class Work>
  requires std::is_invocable_v<const Work&>
int measure(std::uint64_t operations, const Work& work) {
  const auto round = [&work]() -> Round {
    const auto start = std::chrono::steady_clock::now();
    const std::uint64_t answer = work();
    return {answer, std::chrono::steady_clock::now() - start};
  };
  return measure_rounds(operations, round, "");
}

/// The same; `work(stopwatch)` lets the watch run while it does what counts.
template <class Work>
  requires std::is_invocable_v<const Work&, Stopwatch&>
int measure(std::uint64_t operations, const Work& work, const char* note = "") {
  const auto round = [&work]() -> Round {
    Stopwatch watch;
    const std::uint64_t answer = work(watch);
    return {answer, watch.took()};
  };
  return measure_rounds(operations, round, note);
}

}  // namespace bench
