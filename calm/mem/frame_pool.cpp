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
  FreeBlock* free;
  std::uint32_t
      room;  // for how many more; 0 before the thread's first block comes back, so that one look serves for both
};

constexpr std::size_t classes = FramePool::largest / FramePool::step;

/// The blocks of a thread. It is nothing but zeros at first and has no destructor, so that reaching it takes no guard;
/// `sweeper` empties it at the thread's end.
struct Cache {
  enum class Life : std::uint8_t { unused, used, over };
  SizeClass sizes[classes];
  Life life;

  void clear() noexcept {
    for (SizeClass& size : sizes) {
      while (size.free != nullptr) {
        FreeBlock* const block = size.free;
        size.free = block->next;
        ::operator delete(block);
      }
      size.room = life == Life::used ? FramePool::kept_per_size : 0;
    }
  }
};

constinit thread_local Cache cache{};

/// What a thread has that keeps no blocks: none to take, no room to give one back. Never written.
constinit Cache nothing{};

// The calling thread's cache, or `nothing`. It is one word with a place that is known when the program starts, also in a
// library of its own: reaching it takes no call. A cache itself is too large for that, such places are few.
[[gnu::tls_model("initial-exec")]] constinit thread_local Cache* current = &nothing;

struct Sweeper {
  Sweeper() noexcept {
    cache.life = Cache::Life::used;
    cache.clear();
    current = &cache;
  }
  Sweeper(const Sweeper&) = delete;
  Sweeper& operator=(const Sweeper&) = delete;
  ~Sweeper() {
    current = &nothing;
    cache.life = Cache::Life::over;
    cache.clear();
  }
};

void keep(SizeClass& size, void* block) noexcept {
  --size.room;
  size.free = ::new (block) FreeBlock{size.free};
}

// Under AddressSanitizer every frame is a block of its own, so that a use after its end is found.
#if defined(CALM_FRAMES_UNPOOLED_)
constexpr bool pooled = false;
#else
constexpr bool pooled = true;
#endif

}  // namespace

// The thread's cache is reached in these functions only, out of line: in a coroutine a compiler may keep the address of a
// thread_local across a suspension, and another thread may resume (tests/compiler/thread_local_across_suspension.cpp).

/// From now on the thread's blocks are kept, until it ends.
[[gnu::noinline]] static void begin_thread() noexcept { static thread_local const Sweeper sweeper; }

[[gnu::noinline]] void* FramePool::take_new(std::size_t bytes) {
  return ::operator new(pooled && bytes <= largest ? (class_of(bytes) + 1) * step : bytes);
}

[[gnu::noinline]] void FramePool::give_back_new(void* block) noexcept { ::operator delete(block); }

/// The thread's first block, or one too many.
[[gnu::noinline]] void FramePool::give_back_rarely(void* block, std::size_t size_class) noexcept {
  if (cache.life != Cache::Life::unused) return give_back_new(block);
  begin_thread();
  keep(cache.sizes[size_class], block);
}

[[gnu::noinline]] void* FramePool::take_pooled(std::size_t bytes, std::size_t size_class) {
  CALM_SLOW(HND_3, bytes != 0);
  SizeClass& size = current->sizes[size_class];
  FreeBlock* const block = size.free;
  if (block == nullptr) [[unlikely]]
    return take_new(bytes);
  size.free = block->next;
  ++size.room;
  return block;
}

[[gnu::noinline]] void FramePool::give_back_pooled(void* block, std::size_t size_class) noexcept {
  if (!pooled) return give_back_new(block);
  SizeClass& size = current->sizes[size_class];
  if (size.room == 0) [[unlikely]]
    return give_back_rarely(block, size_class);
  keep(size, block);
}

void FramePool::clear() noexcept { cache.clear(); }

void FramePool::keep_blocks(bool keep) noexcept {
  if (cache.life == Cache::Life::unused) begin_thread();
  cache.clear();
  if (keep) return;
  for (SizeClass& size : cache.sizes) size.room = 0;
}

std::uint64_t FramePool::kept() noexcept {
  if (cache.life != Cache::Life::used) return 0;
  std::uint64_t sum = 0;
  for (const SizeClass& size : cache.sizes) sum += size.free == nullptr ? 0 : kept_per_size - size.room;
  return sum;
}

}  // namespace calm::mem
