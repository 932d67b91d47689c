// operation.hpp — what the kernel does under locks, and which shards each of these needs: one table.
// Laws:    SHD-1, SHD-2
// Threads: constants
// Cancel:  not applicable
//
// SHD-2 names the shards that an operation may need; where the table has fewer, the same linearisation comes cheaper:
//   create task         has no row: admission is one step on the region's gate word.
//   create_obligation   C, not B→C: it must find its region open, and a close holds C as well. So what a holder of C
//                       reads of the region's state is exact.
//   resolve_obligation  C, not B→A→C, for the same reason. When a finalizing region waits for this obligation, it drops C
//                       and goes on with settle_obligations, which has all three.
//   create_region       B: the tree. So has region_heap: the memory that a region owns.
//   acknowledge         one A, that of the task's home worker.
// Poll, push, pop, steal and wake take no lock; a poll of a task under cancellation takes the A of `acknowledge`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "calm/kernel/shard.hpp"

namespace calm::kernel {

enum class Operation : std::uint8_t {
  create_region,
  start_finalizers,
  create_obligation,
  resolve_obligation,
  settle_obligations,
  complete_task,
  cancel,
  close_region,
  advance_region,
  snapshot,
  acknowledge,
  region_heap,
};

struct OperationRow {
  Operation operation;
  std::string_view name;
  ShardSet shards;  ///< locked in the order of Shard; tasks are those of all workers, or of the one named to the guard
};

inline constexpr OperationRow operation_table[] = {
    {Operation::create_region, "create region", ShardSet::regions},
    {Operation::start_finalizers, "start finalizers", ShardSet::regions | ShardSet::all_tasks},
    {Operation::create_obligation, "create obligation", ShardSet::obligations},
    {Operation::resolve_obligation, "resolve obligation", ShardSet::obligations},
    {Operation::settle_obligations, "settle obligations", ShardSet::everything},
    {Operation::complete_task, "complete task", ShardSet::everything},
    {Operation::cancel, "cancel", ShardSet::everything},
    {Operation::close_region, "close region", ShardSet::everything},
    {Operation::advance_region, "advance region", ShardSet::everything},
    {Operation::snapshot, "snapshot", ShardSet::everything},
    {Operation::acknowledge, "acknowledge", ShardSet::home_tasks},
    {Operation::region_heap, "region heap", ShardSet::regions},
};
inline constexpr std::size_t operation_count = sizeof(operation_table) / sizeof(operation_table[0]);

constexpr const OperationRow& operation_row(Operation operation) noexcept {
  return operation_table[static_cast<std::size_t>(operation)];
}
constexpr ShardSet shards_of(Operation operation) noexcept { return operation_row(operation).shards; }
constexpr std::string_view to_string(Operation operation) noexcept { return operation_row(operation).name; }

namespace detail {

consteval bool operations_are_in_order() {
  for (std::size_t i = 0; i < operation_count; ++i) {
    const OperationRow& row = operation_table[i];
    if (static_cast<std::size_t>(row.operation) != i || row.name.empty() || row.shards == ShardSet::none) return false;
  }
  return operation_count == static_cast<std::size_t>(Operation::region_heap) + 1;
}
static_assert(operations_are_in_order(), "SHD-2: one row for each operation, in order, each with a shard");

/// A row is a set, and a guard walks it in the order of Shard: an order-preserving subsequence by construction. What is
/// left to say is that a row has whole shards and that one A is never mixed with other shards.
consteval bool rows_are_whole() {
  for (const OperationRow& row : operation_table) {
    const bool one_task_shard = takes(row.shards, Shard::tasks) && !contains(row.shards, ShardSet::all_tasks);
    if (one_task_shard && row.shards != ShardSet::home_tasks) return false;
    if (!contains(ShardSet::everything, row.shards)) return false;
  }
  return true;
}
static_assert(rows_are_whole(), "SHD-1: a row is regions, all tasks, obligations, or some of these, or one task shard");

static_assert(takes(shards_of(Operation::close_region), Shard::obligations),
              "SHD-2: obligations are created under C alone because a close holds C");
static_assert(shards_of(Operation::settle_obligations) == ShardSet::everything &&
                  shards_of(Operation::complete_task) == ShardSet::everything &&
                  shards_of(Operation::cancel) == ShardSet::everything &&
                  shards_of(Operation::advance_region) == ShardSet::everything &&
                  shards_of(Operation::snapshot) == ShardSet::everything,
              "SHD-2: what may move regions, tasks and obligations has all three");
static_assert(shards_of(Operation::start_finalizers) == (ShardSet::regions | ShardSet::all_tasks), "SHD-2");

}  // namespace detail
}  // namespace calm::kernel
