// block_store.hpp — memory for blocks of a few sizes, without a word for each of them: it comes in chunks that are cut up.
// Laws:    HND-3 (a stated bound on what is kept)
// Threads: anywhere; one at a time, behind a lock, so ask for many at once
// Cancel:  not applicable
//
// A chunk is 256 KiB of the system's memory, aligned to its size, cut into blocks of one size. Its header counts those that
// are out and links those that came back, so a block needs none: the chunk follows from its address. A chunk whose blocks are
// all back is cut anew for whoever needs one, or goes back to the system: eight such chunks are kept. One that has a block out
// stays, and its other blocks are the first to be taken again: so what is kept is at most what there was, and 2 MiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace calm::mem {

/// A block that nobody uses, in a list of such.
struct FreeBlock {
  FreeBlock* next;
};

class BlockStore {
 public:
  static constexpr std::size_t step = 8;  ///< sizes are multiples of this
  static constexpr std::size_t sizes = 256;
  static constexpr std::size_t largest = step * sizes;
  static constexpr std::size_t chunk_bytes = std::size_t{256} * 1024;
  static constexpr std::uint32_t chunks_kept = 8;

  constexpr BlockStore() noexcept = default;
  BlockStore(const BlockStore&) = delete;
  BlockStore& operator=(const BlockStore&) = delete;

  /// Blocks that are linked, ascending where they are new. Each lies at a multiple of 16 when its size is one, otherwise at one
  /// of 8: what must lie at a multiple of 16 has such a size.
  struct Taken {
    FreeBlock* first = nullptr;
    std::uint32_t count = 0;
  };
  /// Needs: a multiple of `step`, `largest` at most; one at least. Gives: one at least, and so many at most; none without memory.
  [[nodiscard]] Taken take(std::size_t bytes, std::uint32_t count) noexcept;

  /// Needs: a list of blocks of this store, of any sizes.
  void give_back(FreeBlock* first) noexcept;

  /// Gives the chunks that nobody has a block of back to the system.
  void clear() noexcept;

  /// Gives: how many chunks it has of the system.
  [[nodiscard]] std::uint64_t chunks() const noexcept;

 private:
  struct Chunk;

  [[nodiscard]] Chunk* chunk_for(std::size_t bytes) noexcept;
  static void link(Chunk*& first, Chunk& chunk) noexcept;
  static void unlink(Chunk*& first, Chunk& chunk) noexcept;
  void release(Chunk& chunk) noexcept;

  mutable std::mutex mutex_;
  Chunk* open_[sizes]{};  // those with room, by size
  Chunk* empty_ = nullptr;
  std::uint32_t empty_count_ = 0;
  std::uint64_t chunks_ = 0;
};

}  // namespace calm::mem
