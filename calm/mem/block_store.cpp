#include "calm/mem/block_store.hpp"

#include <sys/mman.h>

#include <new>
#include <utility>

#include "calm/check/probe.hpp"
#include "calm/check/require.hpp"
#include "calm/mem/allocation_points.hpp"

namespace calm::mem {

/// What a chunk begins with. Blocks that were never taken are not touched: pages that nobody wrote to cost nothing.
struct BlockStore::Chunk {
  Chunk* before = nullptr;
  Chunk* after = nullptr;
  FreeBlock* back = nullptr;  // those that came back
  std::size_t block_bytes = 0;
  std::uint32_t fresh = 0;  // offset of the first one that was never taken
  std::uint32_t out = 0;

  static constexpr std::uint32_t begin = 64;

  [[nodiscard]] bool has_fresh() const noexcept { return fresh + block_bytes <= chunk_bytes; }
  [[nodiscard]] bool has_room() const noexcept { return back != nullptr || has_fresh(); }

  /// Needs: room.
  [[nodiscard]] FreeBlock* take() noexcept {
    ++out;
    if (back != nullptr) return std::exchange(back, back->next);
    std::byte* const at = reinterpret_cast<std::byte*>(this) + fresh;
    fresh += static_cast<std::uint32_t>(block_bytes);
    return ::new (static_cast<void*>(at)) FreeBlock{nullptr};
  }
};

namespace {

/// Gives: memory of the system, aligned to its size; nullptr when there is none.
void* map_chunk() noexcept {
  constexpr std::size_t bytes = BlockStore::chunk_bytes;
  const auto map = [](std::size_t size) noexcept {
    void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);  // NOLINT: the system's macro casts
  };
  const auto misplaced = [](const std::byte* at) noexcept { return reinterpret_cast<std::uintptr_t>(at) % bytes; };
  if (AllocationPoints::refuse()) return nullptr;
  // The system puts one beside the last one, most of the time.
  std::byte* const exact = map(bytes);
  if (exact == nullptr || misplaced(exact) == 0) return exact;
  ::munmap(exact, bytes);
  std::byte* const wide = map(2 * bytes);
  if (wide == nullptr) return nullptr;
  const std::size_t skipped = misplaced(wide) == 0 ? 0 : bytes - misplaced(wide);
  if (skipped != 0) ::munmap(wide, skipped);
  if (skipped != bytes) ::munmap(wide + skipped + bytes, bytes - skipped);
  return wide + skipped;
}

}  // namespace

void BlockStore::link(Chunk*& first, Chunk& chunk) noexcept {
  chunk.before = nullptr;
  chunk.after = first;
  if (first != nullptr) first->before = &chunk;
  first = &chunk;
}

void BlockStore::unlink(Chunk*& first, Chunk& chunk) noexcept {
  (chunk.before == nullptr ? first : chunk.before->after) = chunk.after;
  if (chunk.after != nullptr) chunk.after->before = chunk.before;
}

/// Gives: one with room; nullptr without memory.
BlockStore::Chunk* BlockStore::chunk_for(std::size_t bytes) noexcept {
  Chunk*& open = open_[(bytes / step) - 1];
  if (open != nullptr) return open;
  void* memory = empty_;
  if (memory != nullptr) {
    --empty_count_;
    unlink(empty_, *empty_);
  } else {
    memory = map_chunk();
    if (memory == nullptr) {
      CALM_PROBE("block store: no memory for a chunk");
      return nullptr;
    }
    ++chunks_;
  }
  static_assert(sizeof(Chunk) <= Chunk::begin && Chunk::begin % 16 == 0 && Chunk::begin + largest <= chunk_bytes);
  auto* const chunk = ::new (memory) Chunk{.block_bytes = bytes, .fresh = Chunk::begin};
  link(open, *chunk);
  return chunk;
}

BlockStore::Taken BlockStore::take(std::size_t bytes, std::uint32_t count) noexcept {
  CALM_SLOW(HND_3, bytes != 0 && bytes <= largest && bytes % step == 0, bytes);
  Taken taken;
  FreeBlock** last = &taken.first;
  const std::lock_guard turn(mutex_);
  Chunk* const chunk = chunk_for(bytes);
  if (chunk == nullptr) return taken;
  for (; taken.count < count && chunk->has_room(); ++taken.count) {
    *last = chunk->take();
    last = &(*last)->next;
  }
  *last = nullptr;
  if (!chunk->has_room()) unlink(open_[(bytes / step) - 1], *chunk);
  return taken;
}

void BlockStore::give_back(FreeBlock* first) noexcept {
  if (first == nullptr) return;
  const std::lock_guard turn(mutex_);
  while (FreeBlock* const block = first) {
    first = block->next;
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(block) % chunk_bytes;
    auto& chunk = *reinterpret_cast<Chunk*>(reinterpret_cast<std::byte*>(block) - offset);
    CALM_SLOW(HND_3, chunk.out != 0 && (offset - Chunk::begin) % chunk.block_bytes == 0, offset);
    Chunk*& open = open_[(chunk.block_bytes / step) - 1];
    if (!chunk.has_room()) link(open, chunk);
    block->next = chunk.back;
    chunk.back = block;
    if (--chunk.out != 0) continue;
    unlink(open, chunk);
    release(chunk);
  }
}

/// Needs: in no list; no block of it is out.
void BlockStore::release(Chunk& chunk) noexcept {
  if (empty_count_ < chunks_kept) {
    ++empty_count_;
    return link(empty_, chunk);
  }
  CALM_PROBE("block store: a chunk too many is empty");
  --chunks_;
  ::munmap(&chunk, chunk_bytes);
}

void BlockStore::clear() noexcept {
  const std::lock_guard turn(mutex_);
  while (Chunk* const chunk = empty_) {
    unlink(empty_, *chunk);
    --chunks_;
    ::munmap(chunk, chunk_bytes);
  }
  empty_count_ = 0;
}

std::uint64_t BlockStore::chunks() const noexcept {
  const std::lock_guard turn(mutex_);
  return chunks_;
}

}  // namespace calm::mem
