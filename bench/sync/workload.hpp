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
#include <span>

#include "bench/parts.hpp"

namespace bench {

inline constexpr PartSize part_sizes[] = {{"lock", 20'000'000}, {"acquire", 20'000'000}, {"hand", 2'000'000}};

inline int measure_part(int argc, char** argv, std::span<const PartWork> works) {
  return measure_part(part_asked(argc, argv), "sync", part_sizes, works);
}

}  // namespace bench
