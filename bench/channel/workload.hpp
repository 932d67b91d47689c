// workload.hpp — values through a channel, one part of it at a time; the part is the program's argument.
//
//   mpsc  two tasks, room for 128 values: one reserves and sends until there is no room and waits, the other receives until
//         there is nothing and waits. The answer sums what was received
//   one   the same, sent by `co_await sender.send(cx, value)`
//   turn  the same as mpsc with room for one value
//   try   one task sends a value and takes it out again
//
// The floor `queue` does `mpsc` and `try` with a std::deque in one function: no tasks, no waiting, no promises.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>

#include "bench/measure.hpp"

namespace bench {

inline constexpr std::uint32_t capacity = 128;

struct PartSize {
  std::string_view name;
  std::uint64_t operations;
};
inline constexpr PartSize part_sizes[] = {
    {"mpsc", 5'000'000}, {"one", 5'000'000}, {"turn", 2'000'000}, {"try", 10'000'000}};

/// How a contender does a part: `run(operations, stopwatch)` gives the answer.
struct PartWork {
  std::string_view name;
  std::uint64_t (*run)(std::uint64_t operations, Stopwatch& watch);
};

/// Exit code of a contender that does not do a part; tools/bench.py leaves it out.
inline constexpr int not_done = 77;

inline int measure_part(int argc, char** argv, std::span<const PartWork> works) {
  const std::string_view name = argc == 2 ? argv[1] : "";
  for (const PartSize& size : part_sizes) {
    if (size.name != name) continue;
    for (const PartWork& work : works) {
      if (work.name != name) continue;
      return measure(size.operations, [&](Stopwatch& watch) { return work.run(size.operations, watch); });
    }
    return not_done;
  }
  std::fprintf(stderr, "no part '%.*s'; bench/channel/PARTS has them\n", static_cast<int>(name.size()), name.data());
  return 2;
}

}  // namespace bench
