// program_campaign.hpp — many programs in a row, and what is said when one of them fails.
// Laws:    I6, LAB-3, LAB-6
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "program_run.hpp"

namespace calm::programs {

struct Campaign {
  std::string said{};        ///< empty when all is well; else what broke, the shrunk program, and how to run it again
  std::uint64_t digest = 0;  ///< XXH64 over every seed and its digests: the same in every build
  std::uint64_t steps = 0;
  Coverage coverage{};
};

enum class Trouble : std::uint8_t { none, some };

/// Runs the programs of the seeds first .. first + count - 1, each twice, up to the first that fails. `each` is told of
/// every one of them.
Campaign campaign(std::uint64_t first, std::uint64_t count, Trouble trouble = Trouble::none,
                  const std::function<void(std::uint64_t seed, const Digests&)>& each = {});

/// Gives: what is wrong with the program, shrunk, as people and shells want to read it; empty when nothing is.
std::string verdict(const Program& program);

}  // namespace calm::programs
