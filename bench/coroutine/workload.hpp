// workload.hpp — what coroutine code does most often, one part of it at a time; the part is the program's argument.
//
//   child  co_await of a coroutine that gives its argument. An answer is the sum of what the children gave
//   nest   ten coroutines, each with a variable whose destructor counts, awaited from the inside of each other; the
//          innermost gives a number, each adds one. The answer sums the numbers and the counts
//   leave  the same ten; the innermost ends with an error, the coroutine that called the first one sees it and goes on.
//          Entering the ten frames is timed as well. The answer sums the error codes and the counts
//   yield  one task that gives way again and again, alone in its host
//   step   two tasks that do so in the lab, so that each step is a choice between them; 100 runs of 10 000 steps
//   spawn  spawn() in an open scope, then join(): two dispatches by the host of one thread
//
// The floors do the least there is to do: `function` calls functions that are not inlined, `malloc` and `pool` run
// coroutines that know nothing but their caller, with frames from malloc and from a list of free ones. `exception` does
// `leave` by throwing through calm's coroutines.
#pragma once

#include <cstdint>
#include <span>

#include "bench/parts.hpp"

namespace bench {

inline constexpr int depth = 10;
inline constexpr std::uint64_t failure_code = 26;

inline constexpr PartSize part_sizes[] = {
    {"child", 10'000'000}, {"nest", 5'000'000}, {"leave", 5'000'000},
    {"yield", 5'000'000},  {"step", 1'000'000}, {"spawn", 1'000'000},
};

inline int measure_part(int argc, char** argv, std::span<const PartWork> works) {
  return measure_part(part_asked(argc, argv), "coroutine", part_sizes, works);
}

/// A variable with a destructor that cannot be left out.
class Leaving {
 public:
  explicit Leaving(std::uint64_t& count) noexcept : count_(count) {}
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;
  ~Leaving() { ++count_; }

 private:
  std::uint64_t& count_;
};

}  // namespace bench
