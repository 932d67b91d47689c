// shard.hpp — the three lockable parts of the kernel's state, their order, and sets of them.
// Laws:    SHD-1
// Threads: constants
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string_view>

namespace calm::kernel {

/// In the order in which they are locked: B, A, C. There is one A for each worker, the others are single.
enum class Shard : std::uint8_t {
  regions,      ///< B
  tasks,        ///< A: tasks with their frames and queue links
  obligations,  ///< C
};

inline constexpr std::string_view shard_names[] = {"regions", "tasks", "obligations"};

constexpr std::string_view to_string(Shard shard) noexcept { return shard_names[static_cast<std::uint8_t>(shard)]; }

/// How many workers there can be at most; their indexes are below it.
inline constexpr std::uint16_t workers_max = 1024;

/// A set of shards. Whoever has the tasks of all workers has those of each: all_tasks contains home_tasks.
enum class ShardSet : std::uint8_t {
  none = 0,
  regions = 1,
  home_tasks = 2,  ///< one A: that of the worker at which a task is at home
  all_tasks = 6,   ///< every A
  obligations = 8,
  everything = 15,
};

constexpr ShardSet operator|(ShardSet a, ShardSet b) noexcept {
  return static_cast<ShardSet>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

/// Gives: true when `set` contains all of `part`.
constexpr bool contains(ShardSet set, ShardSet part) noexcept { return (set | part) == set; }

/// Gives: true when the set has this shard, for tasks one or all of them.
constexpr bool takes(ShardSet set, Shard shard) noexcept {
  switch (shard) {
    case Shard::regions:
      return contains(set, ShardSet::regions);
    case Shard::tasks:
      return contains(set, ShardSet::home_tasks);
    case Shard::obligations:
      return contains(set, ShardSet::obligations);
  }
  return false;
}

static_assert(Shard::regions < Shard::tasks && Shard::tasks < Shard::obligations, "SHD-1: B, then A, then C");
static_assert((ShardSet::regions | ShardSet::all_tasks | ShardSet::obligations) == ShardSet::everything);
static_assert(contains(ShardSet::all_tasks, ShardSet::home_tasks));
static_assert(!contains(ShardSet::home_tasks, ShardSet::all_tasks));

}  // namespace calm::kernel
