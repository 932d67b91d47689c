// holdings_steps.hpp — a look at a few tasks that takes a moment, not at everything. Definitions for basic_kernel.hpp.
// Laws:    SCH-3, SHD-2 (B→A→C)
// Threads: see basic_kernel.hpp
// Cancel:  not applicable
#pragma once

#include <algorithm>
#include <array>

#include "calm/kernel/kernel.hpp"

namespace calm::kernel {

template <lockfree::AtomicsPolicy Atomics>
Holdings BasicKernel<Atomics>::holdings(Worker& worker, std::span<Task* const> tasks) {
  constexpr std::uint64_t ms = 1'000'000;
  CALM_REQUIRE(SCH_3, tasks.size() <= holdings_tasks_max, tasks.size());
  Holdings seen;
  std::array<const Region*, holdings_tasks_max> regions{};
  std::size_t region_count = 0;
  const Locked<Operation::snapshot> held(shards_, worker.order());
  for (const Task* const task : tasks) {
    for (std::uint8_t kind = 0; kind < counted_kind_count; ++kind) seen.obligations += task->counted_open(kind);
    const std::uint32_t first = task->terms().held.get();
    const Obligation* promise = first == 0 ? nullptr : obligations_.find(first);
    for (std::uint32_t i = 0; promise != nullptr && i < holdings_each_max; ++i, promise = promise->after) {
      ++seen.obligations;
      seen.obligation_age_ms +=
          static_cast<std::uint64_t>(std::max<std::int64_t>((worker.now() - promise->since).ns(), 0)) / ms;
    }
    const Region& region = region_of(*task);
    const auto known = std::span(regions).first(region_count);
    if (std::find(known.begin(), known.end(), &region) != known.end()) continue;
    regions[region_count++] = &region;
    seen.finalizers += region.cleanup_live;
    const Task* finalizer = region.finalizers;
    for (std::uint32_t i = 0; finalizer != nullptr && i < holdings_each_max; ++i, finalizer = finalizer->queue_link) {
      ++seen.finalizers;
    }
    const RegionState state = region.state.get();
    if (state != RegionState::open && state != RegionState::closed) ++seen.closing_regions;
  }
  return seen;
}

}  // namespace calm::kernel
