#include "calm/mem/frame_pool.hpp"

#include <atomic>
#include <mutex>
#include <new>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/mem/allocation_points.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define CALM_FRAMES_UNPOOLED_ 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CALM_FRAMES_UNPOOLED_ 1
#endif
#endif

namespace calm::mem {
namespace {

/// One line of the processor's cache has all of it.
struct alignas(16) SizeClass {
  FreeBlock* free;
  std::uint32_t
      room;  // for how many more; 0 before the thread's first block comes back, so that one look serves for both
};

constexpr std::size_t classes = BlockStore::sizes;

constexpr std::size_t block_bytes(std::size_t size_class) noexcept { return (size_class + 1) * FramePool::step; }

/// How many a thread that has none takes at once: what is 16 KiB together, and no more than 64.
constexpr std::uint32_t taken_at_once(std::size_t size_class) noexcept {
  constexpr std::size_t bytes = std::size_t{16} * 1024;
  constexpr std::size_t most = 64;
  const std::size_t count = bytes / block_bytes(size_class);
  return static_cast<std::uint32_t>(count < most ? count : most);
}
static_assert(taken_at_once(classes - 1) > 0 && taken_at_once(0) < FramePool::kept_per_size);

constinit BlockStore store;

/// Batches of blocks that no thread keeps, `kept_per_size` in each. A step here is one in so many, so a mutex will do.
class Depot {
 public:
  /// Needs: the first of a batch.
  void put(FreeBlock* first, std::size_t size_class) noexcept {
    const std::uint64_t bytes = bytes_of(size_class);
    {
      const std::lock_guard turn(mutex_);
      if (this->bytes() + bytes <= bound_) {
        bytes_.store(this->bytes() + bytes, std::memory_order_relaxed);
        auto* const batch = ::new (static_cast<void*>(first)) Batch{first->next, batches_[size_class]};
        batches_[size_class] = batch;
        return;
      }
    }
    store.give_back(first);
  }
  /// Gives: the first of a batch, or nullptr.
  [[nodiscard]] FreeBlock* take(std::size_t size_class) noexcept {
    const std::lock_guard turn(mutex_);
    Batch* const batch = batches_[size_class];
    if (batch == nullptr) return nullptr;
    batches_[size_class] = batch->below;
    bytes_.store(bytes() - bytes_of(size_class), std::memory_order_relaxed);
    return ::new (static_cast<void*>(batch)) FreeBlock{batch->next};
  }
  void bound(std::uint64_t bytes) noexcept {
    const std::lock_guard turn(mutex_);
    bound_ = bytes;
  }
  void clear() noexcept {
    for (std::size_t size_class = 0; size_class < classes; ++size_class) {
      while (FreeBlock* const first = take(size_class)) store.give_back(first);
    }
  }
  /// Gives: how many there were a moment ago.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  /// What the first block of a batch holds.
  struct Batch {
    FreeBlock* next;
    Batch* below;
  };
  static std::uint64_t bytes_of(std::size_t size_class) noexcept {
    return std::uint64_t{FramePool::kept_per_size} * block_bytes(size_class);
  }

  std::mutex mutex_;
  std::uint64_t bound_ = FramePool::depot_bytes;
  Batch* batches_[classes]{};
  std::atomic<std::uint64_t> bytes_{0};  // written in a turn
};

constinit Depot depot;

/// The blocks of a thread. It is nothing but zeros at first and has no destructor, so that reaching it takes no guard;
/// `sweeper` empties it at the thread's end.
struct Cache {
  enum class Life : std::uint8_t { unused, used, over };
  SizeClass sizes[classes];
  Life life;

  void clear() noexcept {
    for (SizeClass& size : sizes) {
      store.give_back(std::exchange(size.free, nullptr));
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

/// Gives: what the thread has of the size that is so many bytes behind the smallest.
SizeClass& size_at(std::size_t at) noexcept {
  return *reinterpret_cast<SizeClass*>(reinterpret_cast<std::byte*>(current->sizes) + at);
}
constexpr std::size_t class_at(std::size_t at) noexcept { return at / sizeof(SizeClass); }

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
  size.free = ::new (block) FreeBlock{size.free};
  --size.room;
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

[[gnu::noinline]] void* FramePool::take_new(std::size_t bytes) { return ::operator new(bytes); }

[[gnu::noinline]] void FramePool::give_back_new(void* block) noexcept { ::operator delete(block); }

/// The thread's first block, or one too many.
[[gnu::noinline]] void FramePool::give_back_rarely(void* block, std::size_t size_class) noexcept {
  SizeClass& size = cache.sizes[size_class];
  if (cache.life == Cache::Life::unused) {
    begin_thread();
  } else if (size.free == nullptr) {
    return store.give_back(::new (block) FreeBlock{nullptr});  // it keeps none
  } else {
    depot.put(std::exchange(size.free, nullptr), size_class);
    size.room = kept_per_size;
  }
  keep(size, block);
}

/// The thread has none of this size.
[[gnu::noinline]] void* FramePool::take_rarely(std::size_t size_class) {
  if (cache.life == Cache::Life::unused) begin_thread();
  SizeClass& size = cache.sizes[size_class];
  const bool keeps = cache.life == Cache::Life::used && size.room == kept_per_size;
  if (!keeps) return take_one(size_class);
  if (FreeBlock* const first = depot.take(size_class)) {
    size.free = first->next;
    size.room = 1;
    return first;
  }
  const auto [first, count] = store.take(block_bytes(size_class), taken_at_once(size_class));
  if (first == nullptr) throw std::bad_alloc();
  size.free = first->next;
  size.room = kept_per_size - (count - 1);
  return first;
}

/// For a thread that keeps none. Where each is an allocation that may fail, that of a chunk is not one more.
[[gnu::noinline]] void* FramePool::take_one(std::size_t size_class) {
  if (AllocationPoints::refuse_cached()) throw std::bad_alloc();
  const AllocationPoints::Pause pause;
  FreeBlock* const block = store.take(block_bytes(size_class), 1).first;
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

[[gnu::noinline]] void* FramePool::take_pooled(Place place) {
  const auto at = static_cast<std::size_t>(place);
  static_assert(place_bytes == sizeof(SizeClass));
  CALM_SLOW(HND_3, at < sizeof(Cache::sizes), at);
  if (!pooled) return take_new(block_bytes(class_at(at)));
  SizeClass& size = size_at(at);
  FreeBlock* const block = size.free;
  if (block == nullptr) [[unlikely]]
    return take_rarely(class_at(at));
  size.free = block->next;
  ++size.room;
  return block;
}

[[gnu::noinline]] void FramePool::give_back_pooled(void* block, Place place) noexcept {
  const auto at = static_cast<std::size_t>(place);
  if (!pooled) return give_back_new(block);
  SizeClass& size = size_at(at);
  if (size.room == 0) [[unlikely]]
    return give_back_rarely(block, class_at(at));
  keep(size, block);
}

void FramePool::clear() noexcept {
  cache.clear();
  depot.clear();
  store.clear();
}

void FramePool::bound_depot(std::uint64_t bytes) noexcept { depot.bound(bytes); }

std::uint64_t FramePool::in_depot() noexcept { return depot.bytes(); }

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
