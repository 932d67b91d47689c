// frame_pool.hpp — memory for coroutine frames: per thread, by size, without a lock.
// Laws:    HND-3 (a stated bound on what is kept)
// Threads: anywhere; a block may be given back on another thread than the one that took it, and stays there
// Cancel:  not applicable
//
// Blocks come in steps of 16 bytes, each as long as the general allocator makes it anyway: that gives a multiple of 16 less
// the word it keeps for itself. Above some 2 KiB they are the general allocator's. Every thread keeps what is given
// back to it, up to a bound per size, and hands it out again, newest first. At the bound it puts all of them into a depot
// that the threads share, and whoever has none takes such a batch from there: blocks that always travel one way come back,
// and a program that has a million tasks now and then does not ask the general allocator each time. The depot has a bound
// too; what is beyond goes back to the general allocator.
#pragma once

#include <cstddef>
#include <cstdint>

namespace calm::mem {

class FramePool {
 public:
  static constexpr std::size_t step = 16;
  static constexpr std::size_t smallest = step + sizeof(void*);
  static constexpr std::size_t largest = smallest + 126 * step;
  static constexpr std::uint32_t kept_per_size = 4096;
  static constexpr std::uint64_t depot_bytes = std::uint64_t{1} << 30;  ///< unless bound_depot() says otherwise

  /// Fails: std::bad_alloc.
  [[nodiscard]] static void* take(std::size_t bytes) {
    return bytes <= largest ? take_pooled(bytes, class_of(bytes)) : take_new(bytes);
  }

  /// Needs: a block of take() for as many bytes.
  static void give_back(void* block, std::size_t bytes) noexcept {
    return bytes <= largest ? give_back_pooled(block, class_of(bytes)) : give_back_new(block);
  }

  /// Gives the calling thread's blocks, and those in the depot, back to the general allocator.
  static void clear() noexcept;

  /// With false the calling thread keeps none from now on: every block is an allocation of its own. It costs nothing: a
  /// pool that keeps none is one that is empty and full.
  static void keep_blocks(bool keep) noexcept;

  /// Gives: how many blocks the calling thread keeps.
  [[nodiscard]] static std::uint64_t kept() noexcept;
  /// The depot takes nothing that brings it above so many bytes.
  static void bound_depot(std::uint64_t bytes) noexcept;
  /// Gives: how many bytes of blocks the depot has.
  [[nodiscard]] static std::uint64_t in_depot() noexcept;

 private:
  /// Who makes frames knows their size when it is compiled, so the step is looked up then.
  static constexpr std::size_t class_of(std::size_t bytes) noexcept {
    return bytes <= smallest ? 0 : (bytes - smallest + step - 1) / step;
  }

  static void* take_pooled(std::size_t bytes, std::size_t size_class);
  static void* take_rarely(std::size_t bytes, std::size_t size_class);
  static void give_back_pooled(void* block, std::size_t size_class) noexcept;
  static void* take_new(std::size_t bytes);
  static void give_back_new(void* block) noexcept;
  static void give_back_rarely(void* block, std::size_t size_class) noexcept;
};

}  // namespace calm::mem
