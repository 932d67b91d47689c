#include "calm/mem/frame_pool.hpp"

#include <new>

#include "calm/check/require.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define CALM_FRAMES_UNPOOLED_ 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CALM_FRAMES_UNPOOLED_ 1
#endif
#endif

namespace calm::mem {
namespace {

struct FreeBlock {
  FreeBlock* next;
};

struct SizeClass {
  FreeBlock* free = nullptr;
  std::uint32_t count = 0;
};

constexpr std::size_t classes = FramePool::largest / FramePool::step;

struct Cache {
  SizeClass sizes[classes];

  Cache() noexcept = default;
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  ~Cache() { clear(); }

  void clear() noexcept {
    for (SizeClass& size : sizes) {
      while (size.free != nullptr) {
        FreeBlock* const block = size.free;
        size.free = block->next;
        ::operator delete(block);
      }
      size.count = 0;
    }
  }
};

thread_local Cache cache;

constexpr std::size_t class_of(std::size_t bytes) noexcept {
  return (bytes + FramePool::step - 1) / FramePool::step - 1;
}

// Under AddressSanitizer every frame is a block of its own, so that a use after its end is found.
#if defined(CALM_FRAMES_UNPOOLED_)
constexpr bool pooled = false;
#else
constexpr bool pooled = true;
#endif

}  // namespace

void* FramePool::take(std::size_t bytes) {
  if (!pooled || bytes > largest) return ::operator new(bytes);
  CALM_SLOW(HND_3, bytes != 0);
  SizeClass& size = cache.sizes[class_of(bytes)];
  if (FreeBlock* const block = size.free) [[likely]] {
    size.free = block->next;
    --size.count;
    return block;
  }
  return ::operator new((class_of(bytes) + 1) * step);
}

void FramePool::give_back(void* block, std::size_t bytes) noexcept {
  SizeClass* const size = pooled && bytes <= largest ? &cache.sizes[class_of(bytes)] : nullptr;
  if (size == nullptr || size->count == kept_per_size) {
    ::operator delete(block);
    return;
  }
  auto* const free = ::new (block) FreeBlock{size->free};
  size->free = free;
  ++size->count;
}

void FramePool::clear() noexcept { cache.clear(); }

void FramePool::keep_blocks(bool keep) noexcept {
  cache.clear();
  for (SizeClass& size : cache.sizes) size.count = keep ? 0 : kept_per_size;
}

std::uint64_t FramePool::kept() noexcept {
  std::uint64_t sum = 0;
  for (const SizeClass& size : cache.sizes) sum += size.free == nullptr ? 0 : size.count;
  return sum;
}

}  // namespace calm::mem
