// orders.hpp — short names for memory orders in tests.
// Laws:    none
// Threads: constants
// Cancel:  not applicable
#pragma once

#include <atomic>

namespace calm::explored {

inline constexpr std::memory_order relaxed = std::memory_order_relaxed;
inline constexpr std::memory_order acquire = std::memory_order_acquire;
inline constexpr std::memory_order release = std::memory_order_release;
inline constexpr std::memory_order seq_cst = std::memory_order_seq_cst;

}  // namespace calm::explored
