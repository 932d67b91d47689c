// forced_end.hpp — the exception a task ends with when its clean-up overran and its region asked for a panic.
// Laws:    CAN-8
// Threads: the exception may be rethrown anywhere
// Cancel:  after the last resort
#pragma once

#include <exception>

namespace calm::kernel {

class ForcedEnd : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "calm: the clean-up budget of a cancelled task ran out and its frame was dropped [CAN-8]";
  }
};

/// Gives: the exception; without memory the one that says so.
std::exception_ptr forced_end() noexcept;

}  // namespace calm::kernel
