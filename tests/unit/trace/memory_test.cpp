// What the trace does when there is no memory. This program replaces operator new and makes it fail on demand.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>

#include "calm/trace/recorder.hpp"

namespace {

bool memory_is_gone = false;

void* allocate(std::size_t size, std::align_val_t alignment = std::align_val_t(alignof(std::max_align_t))) noexcept {
  if (memory_is_gone) return nullptr;
  const auto unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, (size + unit) / unit * unit);  // never 0 bytes
}

/// No allocation succeeds while one of these lives.
struct NoMemory {
  NoMemory() { memory_is_gone = true; }
  ~NoMemory() { memory_is_gone = false; }
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};

}  // namespace

void* operator new(std::size_t size) {
  if (void* memory = allocate(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept { return allocate(size); }
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(size, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t /*alignment*/, const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}

namespace calm::trace {
namespace {

// HND-3
TEST(NoMemory, a_ring_that_cannot_be_made_says_resource_exhausted) {
  bool refused = false;
  {
    const NoMemory gone;
    const auto ring = Ring::make({.capacity = 1024});
    refused = ring.is_err() && ring.error().code() == Errc::resource_exhausted;
  }
  EXPECT_TRUE(refused);
}

TEST(NoMemory, recording_goes_on) {
  Ring ring = Ring::make({.capacity = 4}).value();
  SequenceSource sequence(Workers::one);
  Recorder recorder(ring, sequence);
  int recorded = 0;
  {
    const NoMemory gone;
    for (int i = 0; i < 10; ++i) recorded += recorder.record({.kind = EventKind::poll}) ? 1 : 0;
  }
  EXPECT_EQ(recorded, 10);
  EXPECT_EQ(ring.snapshot().overwritten, 6U);
}

TEST(NoMemory, a_snapshot_that_cannot_be_taken_leaves_the_ring_as_it_was) {
  Ring ring = Ring::make({.capacity = 4}).value();
  EXPECT_TRUE(ring.push({.kind = EventKind::poll, .sequence = 1}));
  bool thrown = false;
  {
    const NoMemory gone;
    try {
      static_cast<void>(ring.snapshot());
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
  }
  EXPECT_TRUE(thrown);
  EXPECT_EQ(ring.snapshot().events.size(), 1U);
}

}  // namespace
}  // namespace calm::trace
