// strategies.hpp — other ways through the executions of a program: all of them, few switches first, or at random.
// Laws:    LAB-5
// Threads: one
// Cancel:  not applicable
//
// They visit some executions more than once; what they are for is to check the optimal one, to find a bug soon, and to find
// the way to it with the fewest preemptions.
#pragma once

#include <cstdint>
#include <optional>

#include "calm/explore/program.hpp"
#include "calm/explore/report.hpp"
#include "calm/explore/tally.hpp"

namespace calm::explore {

/// Every order of steps, depth first, without any reduction.
/// With `preemptions`, only those that leave a process which could go on at most so often.
Report explore_all(Program& program, const Options& options = {}, std::uint32_t preemptions = UINT32_MAX,
                   Listener* listener = nullptr);

/// Orders of steps at random: options.max_executions of them.
Report explore_random(Program& program, const Options& options, std::uint64_t seed, Listener* listener = nullptr);

/// Probabilistic concurrency testing, after Burckhardt and others: processes have priorities at random, and at depth - 1
/// places, chosen at random, the one that runs falls behind all others. A bug of this depth is found with a probability that
/// is known. options.max_executions runs. Needs: a depth of at least 1.
Report explore_pct(Program& program, const Options& options, std::uint64_t seed, std::uint32_t depth,
                   Listener* listener = nullptr);

/// Gives: a way to a problem with as few preemptions as there can be, looked for among those with at most `most`; nothing
///        when there is none, or when options.max_executions are not enough to say so.
struct Shortest {
  Failure failure;
  std::uint32_t preemptions = 0;
};
std::optional<Shortest> fewest_preemptions(Program& program, const Options& options, std::uint32_t most);

/// Gives: how often the schedule leaves a process that could go on.
std::uint32_t count_preemptions(Program& program, const std::vector<Process>& schedule,
                                const std::vector<Way>& ways = {});

}  // namespace calm::explore
