// zero_pages.hpp — memory that is zeros, and that the system gives when it is first written: what nobody writes costs nothing.
// Laws:    HND-3
// Threads: anywhere
// Cancel:  not applicable
#pragma once

#include <cstddef>

namespace calm::mem {

/// Gives: so many zeros, from the beginning of a page on; nullptr without memory. Whole pages are taken.
[[nodiscard]] void* take_zero_pages(std::size_t bytes) noexcept;
/// Needs: as it was taken.
void give_back_zero_pages(void* pages, std::size_t bytes) noexcept;

}  // namespace calm::mem
