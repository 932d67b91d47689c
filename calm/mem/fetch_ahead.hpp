// fetch_ahead.hpp — asks the processor for memory that will be needed soon.
// Laws:    none
// Threads: anywhere; nothing is read or written
// Cancel:  not applicable
#pragma once

#include <cstddef>

namespace calm::mem {

/// Needs: nothing; an address without memory behind it does no harm.
[[gnu::always_inline]] inline void fetch_ahead(const void* from, std::size_t bytes) noexcept {
  constexpr std::size_t line = 64;
  for (std::size_t offset = 0; offset < bytes; offset += line) {
    __builtin_prefetch(static_cast<const std::byte*>(from) + offset);
  }
}

}  // namespace calm::mem
