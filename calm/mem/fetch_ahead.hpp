// fetch_ahead.hpp — asks the processor for memory that will be needed soon.
// Laws:    none
// Threads: anywhere; nothing is read or written
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>

namespace calm::mem {

/// Needs: nothing; an address without memory behind it does no harm.
[[gnu::always_inline]] inline void fetch_ahead(const void* from, std::size_t bytes) noexcept {
  constexpr std::size_t line = 64;
  for (std::size_t offset = 0; offset < bytes; offset += line) {
    // Reckoned as a number: behind an address without memory a pointer may not even be formed.
    // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is read through it
    __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from) + offset));
  }
}

}  // namespace calm::mem
