// workload.hpp — what the workers of a contention run do, and how much of it.
// Laws:    SHD-2 (each workload is there for the shards that its operation takes), SHD-4
// Threads: constants and values
// Cancel:  not applicable
//
// A round is 64 polls of parked tasks (wake, out of the queue, begin_poll, checkpoint, end_poll) and then, once, the operation
// of the workload. Each worker has a region, a queue and 16 tasks of its own; what workers share is the kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace calm::contention {

enum class Workload : std::uint8_t { polling, spawn, commit, cancel, snapshot };

struct WorkloadRow {
  Workload workload;
  std::string_view name;
  std::string_view operation;  ///< what a round does beside its polls
};

inline constexpr WorkloadRow workload_table[] = {
    {Workload::polling, "polling", "nothing else"},
    {Workload::spawn, "spawn", "a task is spawned, polled and completed"},
    {Workload::commit, "commit", "a promise is reserved and committed in its holder's poll"},
    {Workload::cancel, "cancel", "a region with a child region and 8 parked tasks is cancelled and drained to Closed"},
    {Workload::snapshot, "snapshot", "a snapshot of everything is taken"},
};

/// Gives: the row of this name, or nullptr.
constexpr const WorkloadRow* find_workload(std::string_view name) noexcept {
  for (const WorkloadRow& row : workload_table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

inline constexpr std::uint32_t polls_per_round = 64;
inline constexpr std::uint32_t tasks_per_worker = 16;
inline constexpr std::uint32_t cancelled_tasks = 8;

struct Order {
  Workload workload = Workload::polling;
  std::uint16_t workers = 1;
  double seconds = 0;        ///< how long; 0 when rounds says how much
  std::uint64_t rounds = 0;  ///< of each worker
};

/// What came of a run.
struct Result {
  std::uint64_t rounds = 0;  ///< of all workers
  std::uint64_t ns = 0;      ///< from the common start until the last round of all
  std::string wrong;         ///< what must not be, empty when all is as it must
  std::string evidence;      ///< members of a JSON object; empty without lock metrics
};

/// The kernel as it is: sharded, with its paths that take no lock.
Result run_sharded(const Order& order);

/// The same kernel with words that are plain values and one lock around every operation.
Result run_one_mutex(const Order& order);

}  // namespace calm::contention
