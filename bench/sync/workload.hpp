// workload.hpp — locks and permits, one part at a time; the part is the program's argument.
//
//   lock     a number in a lock is made larger by one, again and again, by who has the lock to itself. The answer is the number
//   acquire  the same with one of two permits of a semaphore
//   hand     two tasks want one lock; each gives way while it has it, so the other always waits, and each unlock hands it over.
//            The answer is how often it was had
//
// `std` takes std::mutex and std::counting_semaphore; `flag` the least there is on one thread: a word that says taken.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>

#include "bench/measure.hpp"

namespace bench {

struct PartSize {
  std::string_view name;
  std::uint64_t operations;
};

inline constexpr PartSize part_sizes[] = {{"lock", 20'000'000}, {"acquire", 20'000'000}, {"hand", 2'000'000}};

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
  std::fprintf(stderr, "no part '%.*s'; bench/sync/PARTS has them\n", static_cast<int>(name.size()), name.data());
  return 2;
}

}  // namespace bench
