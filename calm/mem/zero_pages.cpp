#include "calm/mem/zero_pages.hpp"

#include <sys/mman.h>

#include "calm/check/require.hpp"
#include "calm/mem/allocation_points.hpp"

namespace calm::mem {

void* take_zero_pages(std::size_t bytes) noexcept {
  if (AllocationPoints::refuse()) return nullptr;
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;  // NOLINT(performance-no-int-to-ptr): so the system says it
}

void give_back_zero_pages(void* pages, std::size_t bytes) noexcept {
  const bool given = munmap(pages, bytes) == 0;
  CALM_INVARIANT(HND_3, given, bytes);
}

}  // namespace calm::mem
