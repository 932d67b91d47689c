// not_deterministic.hpp — the error of a program that does not do the same again.
// Laws:    LAB-3, LAB-5, I6
// Threads: a value
// Cancel:  not applicable
#pragma once

#include <stdexcept>
#include <string>

#include "calm/explore/execution.hpp"

namespace calm::explore {

/// The program was led along a way it had gone before, and something else happened. Exploration cannot go on.
class NotDeterministic : public std::runtime_error {
 public:
  NotDeterministic(const Execution& before, Process process, const std::string& what)
      : std::runtime_error(
            "calm: the program is not deterministic: after " + std::to_string(before.size()) + " steps process " +
            std::to_string(process) + " " + what +
            " [I6]; next: look for what it reads that a run does not reset: addresses, clocks, globals") {}
};

}  // namespace calm::explore
