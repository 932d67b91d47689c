// reorder.hpp — the same execution with fewer preemptions: only steps that commute change places.
// Laws:    LAB-3 (a failure is shown with the fewest preemptions), LAB-4
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "calm/explore/execution.hpp"
#include "calm/explore/program.hpp"

namespace calm::explore {

struct Reordered {
  std::vector<Process> schedule;
  std::uint32_t preemptions = 0;
};

/// Looks at the orders of these steps that only swap steps which commute. An order may stop where the program has failed.
/// Gives: one with as few preemptions as there can be; nothing when more than `most` beginnings would have to be looked at.
/// Needs: a run of this program. Fails: std::bad_alloc; what the program throws.
[[nodiscard]] std::optional<Reordered> with_fewest_preemptions(Program& program, const Execution& run,
                                                               std::size_t most = 20'000);

}  // namespace calm::explore
