// parts.hpp — a workload with parts: finds the part that the argument names among those that a contender does, and measures it.
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

/// How a contender does a part: `run(operations, stopwatch)` gives the answer.
struct PartWork {
  std::string_view name;
  std::uint64_t (*run)(std::uint64_t operations, Stopwatch& watch);
};

/// Exit code of a contender that does not do a part; tools/bench.py leaves it out.
inline constexpr int not_done = 77;

/// Gives: the part that the program is asked for, or nothing.
inline std::string_view part_asked(int argc, char** argv) noexcept { return argc == 2 ? argv[1] : ""; }

/// Gives: the exit code of the program. `note` is shown below the table.
inline int measure_part(std::string_view part, const char* workload, std::span<const PartSize> sizes,
                        std::span<const PartWork> works, const char* note = "") {
  for (const PartSize& size : sizes) {
    if (size.name != part) continue;
    for (const PartWork& work : works) {
      if (work.name != part) continue;
      return measure(size.operations, [&](Stopwatch& watch) { return work.run(size.operations, watch); }, note);
    }
    return not_done;
  }
  std::fprintf(stderr, "no part '%.*s'; bench/%s/PARTS has them\n", static_cast<int>(part.size()), part.data(),
               workload);
  return 2;
}

}  // namespace bench
