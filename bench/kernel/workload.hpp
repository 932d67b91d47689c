// workload.hpp — what the kernel does most often, one part of it at a time; the part is the program's argument.
//
//   spawn       kernel.spawn() without a handle in a region that stays open, host.schedule() into a list, out of the list,
//               begin_poll(), complete() with ok. One task at a time: its record is in the cache. 3 events
//   spawn_many  the same calls for 100 000 tasks: all are spawned, then the list is taken and each is polled and completed.
//               Records come from memory; the host asks each for its id
//   wake        wake() of a parked task, host.schedule(), out of the list, begin_poll(), end_poll(). 1 event
//   checkpoint  checkpoint() in a poll, nothing is cancelled
//   obligation  reserve() of an ack held by the task that is being polled, then commit_and_drop(). 2 events
//   counted     count() of a lock guard in the task's poll, then uncount() by the task itself
//   cancel      cancel() of a region with 100 000 parked tasks. Each is requested, watched and scheduled. 1 event. Spawning
//               and parking them, and letting them go afterwards, is not timed
//   drain       each of those: out of the list, begin_poll(), checkpoint() that acknowledges, complete(); the last one
//               closes the region. 4 events. The cancel is not timed
//   region      create_region(), close(), release(). 4 events
//
// An answer is the number of operations, counted by what they came to: tasks scheduled and polled, promises committed,
// regions Closed. The floors do the least that an operation of this kind needs: `add` one atomic addition that nobody else
// wants, `frame` a frame of 256 bytes from a pool and back; it leaves out the parts that need no memory.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "bench/measure.hpp"

namespace bench {

enum class Part : std::uint8_t { spawn, spawn_many, wake, checkpoint, obligation, counted, cancel, drain, region };

struct PartRow {
  Part part;
  std::string_view name;
  std::uint64_t operations;
};

inline constexpr std::uint64_t many = 100'000;

inline constexpr PartRow part_table[] = {
    {Part::spawn, "spawn", 1'000'000},
    {Part::spawn_many, "spawn_many", many},
    {Part::wake, "wake", 2'000'000},
    {Part::checkpoint, "checkpoint", 10'000'000},
    {Part::obligation, "obligation", 1'000'000},
    {Part::counted, "counted", 5'000'000},
    {Part::cancel, "cancel", many},
    {Part::drain, "drain", many},
    {Part::region, "region", 500'000},
};

/// Exit code of a contender that does not do a part; tools/bench.py leaves it out.
inline constexpr int not_done = 77;

/// `contender.does(part)` says whether it does one; `contender.run(part, operations, stopwatch)` does it and gives how many
/// operations were done, with the watch running for what counts.
template <class Contender>
int measure_part(int argc, char** argv, Contender&& contender, const char* note = "") {
  const std::string_view name = argc == 2 ? argv[1] : "";
  for (const PartRow& row : part_table) {
    if (row.name != name) continue;
    if (!contender.does(row.part)) return not_done;
    const auto work = [&](Stopwatch& watch) { return contender.run(row.part, row.operations, watch); };
    return measure(row.operations, work, row.part == Part::spawn_many ? note : "");
  }
  std::fprintf(stderr, "no part '%.*s'; bench/kernel/PARTS has them\n", static_cast<int>(name.size()), name.data());
  return 2;
}

}  // namespace bench
