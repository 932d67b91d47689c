// report.hpp — what an exploration came to.
// Laws:    LAB-5, LAB-6
// Threads: values
// Cancel:  not applicable
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "calm/explore/program.hpp"

namespace calm::explore {

struct Options {
  std::uint64_t max_executions = UINT64_MAX;
  /// Of one execution; beyond them it is cut short, said to have no end, and the exploration ends with it. At most 65 535.
  std::uint32_t max_steps = 10'000;
  std::uint64_t max_fingerprints = 1U << 22;  ///< kept to be counted; beyond them they are not
  bool stop_at_first_problem = false;
  const std::atomic<bool>* stop = nullptr;  ///< set by another thread or a signal: end with the next execution
};

/// One thing that went wrong, and the way there.
struct Failure {
  std::string problem;
  std::uint64_t execution = 0;  ///< the how manieth found it, from 1
  std::vector<Process> schedule;
  std::vector<Way> ways{};  ///< the ways its steps went; empty when all went way 0
};

struct Report {
  std::uint64_t executions = 0;
  std::uint64_t blocked = 0;  ///< runs that came to nothing new; none in optimal exploration
  std::uint64_t deadlocks = 0;
  std::uint64_t lassos = 0;     ///< executions that end with someone who repeats itself for ever
  std::uint64_t cut_short = 0;  ///< executions of too many steps
  std::uint64_t buggy = 0;      ///< executions with a problem
  std::uint64_t fingerprints = 0;
  bool fingerprints_known = true;  ///< false when there were too many to keep
  std::uint64_t steps = 0;         ///< events of all executions, counted once where they share a beginning
  std::uint64_t replayed = 0;      ///< steps that only led back to a branch
  bool exhausted = false;
  std::vector<Failure> failures{};  ///< the first few

  [[nodiscard]] bool ok() const noexcept { return buggy == 0; }
  /// Gives: how many executions it took to find the first problem; 0 when there is none.
  [[nodiscard]] std::uint64_t first_problem() const noexcept {
    return failures.empty() ? 0 : failures.front().execution;
  }
};

}  // namespace calm::explore
