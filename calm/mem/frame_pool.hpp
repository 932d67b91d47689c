// frame_pool.hpp — memory for coroutine frames: per thread, by size, without a lock.
// Laws:    HND-3 (a stated bound on what is kept)
// Threads: anywhere; a block may be given back on another thread than the one that took it, and stays there
// Cancel:  not applicable
//
// Blocks come in steps of 8 bytes, cut from chunks (block_store.hpp). Above 2 KiB they are the general allocator's. Every
// thread keeps what is given back to it, up to a bound per size, and hands it out again, newest first. At the bound it puts
// all of them into a depot that the threads share, and whoever has none takes such a batch from there: blocks that always
// travel one way come back, and a program that has a million tasks now and then does not ask for memory each time. The depot
// has a bound too; what is beyond goes back to its chunk, and a chunk that has all of its blocks again to the system.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calm/mem/block_store.hpp"

namespace calm::mem {

class FramePool {
 public:
  static constexpr std::size_t step = BlockStore::step;
  static constexpr std::size_t largest = BlockStore::largest;
  static constexpr std::uint32_t kept_per_size = 4096;
  static constexpr std::uint64_t depot_bytes = std::uint64_t{1} << 30;  ///< unless bound_depot() says otherwise

  /// Gives: how many bytes to take for a block that lies at a multiple of 16, as operator new gives it. A frame must: a compiler
  ///        counts on that for its parts, whatever size it has. An object whose type does not ask for it need not.
  static constexpr std::size_t aligned(std::size_t bytes) noexcept {
    constexpr std::size_t align = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
    return (bytes + align - 1) / align * align;
  }

  /// Fails: std::bad_alloc.
  [[nodiscard]] static void* take(std::size_t bytes) {
    return bytes <= largest ? take_pooled(place_of(bytes)) : take_new(bytes);
  }

  /// Needs: a block of take() for as many bytes.
  static void give_back(void* block, std::size_t bytes) noexcept {
    return bytes <= largest ? give_back_pooled(block, place_of(bytes)) : give_back_new(block);
  }

  /// Gives the calling thread's blocks, and those in the depot, back to their chunks, and empty chunks back to the system.
  static void clear() noexcept;

  /// With false the calling thread keeps none from now on: every block is asked for on its own, and AllocationPoints is
  /// asked for every one. It costs nothing: a pool that keeps none is one that is empty and full.
  static void keep_blocks(bool keep) noexcept;

  /// Gives: how many blocks the calling thread keeps.
  [[nodiscard]] static std::uint64_t kept() noexcept;
  /// The depot takes nothing that brings it above so many bytes.
  static void bound_depot(std::uint64_t bytes) noexcept;
  /// Gives: how many bytes of blocks the depot has.
  [[nodiscard]] static std::uint64_t in_depot() noexcept;

 private:
  /// Where a thread has what it keeps of one size: so many bytes behind the smallest. Who makes frames knows their size when it is
  /// compiled, so nothing is left to reckon when one is made.
  enum class Place : std::size_t {};
  static constexpr std::size_t place_bytes = 16;
  static constexpr Place place_of(std::size_t bytes) noexcept { return Place{(bytes - 1) / step * place_bytes}; }

  static void* take_pooled(Place place);
  static void* take_rarely(std::size_t size_class);
  static void* take_one(std::size_t size_class);
  static void give_back_pooled(void* block, Place place) noexcept;
  static void* take_new(std::size_t bytes);
  static void give_back_new(void* block) noexcept;
  static void give_back_rarely(void* block, std::size_t size_class) noexcept;
};

}  // namespace calm::mem
