// fence_model.hpp — the fence of a whole process for the explorer's threads.
// Laws:    LAB-8
// Threads: those of one explored program
// Cancel:  not applicable
#pragma once

#include <atomic>

namespace calm::explored {

/// What the system's fence does for both sides, said with the orders of their own steps.
struct ModelFence {
  static constexpr std::memory_order order = std::memory_order_seq_cst;
  static bool prepare() noexcept { return true; }
  static void light() noexcept {}
  static void heavy() noexcept {}
};
}  // namespace calm::explored
