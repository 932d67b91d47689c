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
#include <span>

#include "bench/parts.hpp"

namespace bench {

inline constexpr std::uint32_t capacity = 128;

inline constexpr PartSize part_sizes[] = {
    {"mpsc", 5'000'000}, {"one", 5'000'000}, {"turn", 2'000'000}, {"try", 10'000'000}};

inline int measure_part(int argc, char** argv, std::span<const PartWork> works) {
  return measure_part(part_asked(argc, argv), "channel", part_sizes, works);
}

}  // namespace bench
