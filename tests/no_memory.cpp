#include "tests/no_memory.hpp"

#include <cstddef>

#include "calm/mem/allocation_points.hpp"

using calm::mem::AllocationPoints;

calm::NoMemory::NoMemory() noexcept { AllocationPoints::refuse_all(true); }
calm::NoMemory::~NoMemory() { AllocationPoints::refuse_all(false); }

calm::OneFailure::OneFailure(std::uint64_t nth) noexcept : nth_(nth) {
  AllocationPoints::watch(nth, AllocationPoints::Caches::left_out);
}
calm::OneFailure::~OneFailure() { AllocationPoints::stop(); }
bool calm::OneFailure::happened() const noexcept { return AllocationPoints::seen() >= nth_; }

// The linker sends calls of calloc here (--wrap).
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names
extern "C" void* __real_calloc(std::size_t count, std::size_t size);
extern "C" void* __wrap_calloc(std::size_t count, std::size_t size) {
  return AllocationPoints::refuse() ? nullptr : __real_calloc(count, size);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
